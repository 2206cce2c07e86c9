package fulltext

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/testutil"
)

// stored is a cache: the words of each version of each URL. As of real documents, a first version without
// text is not indexed, and a later one takes the place of those before.
type stored map[string]map[int]string

func (c stored) Versions(url string) ([]int, error) {
	return slices.Sorted(maps.Keys(c[url])), nil
}

func (c stored) Document(url string, version int) (Document, bool, error) {
	words := c[url][version]
	return Document{URL: url, Version: version, Title: fmt.Sprint("v", version), Body: words, Date: day.AddDate(0, 0, version)}, isIndexed(version, words), nil
}

func isIndexed(version int, words string) bool { return words != "" || version > 1 }

func (c stored) urls() iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for _, u := range slices.Sorted(maps.Keys(c)) {
			if !yield(u, nil) {
				return
			}
		}
	}
}

func (c stored) put(url string, version int, words string) Document {
	if c[url] == nil {
		c[url] = map[int]string{}
	}
	c[url][version] = words
	d, _, _ := c.Document(url, version)
	return d
}

func (c stored) open(t *testing.T) *Store {
	t.Helper()
	s, err := Open(filepath.Join(t.TempDir(), "fulltext"), Options{Cache: c})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func (s *Store) ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// answers is all that an index returns: to some queries, in all orders, with scores.
func answers(t *testing.T, s *Store) string {
	t.Helper()
	var b strings.Builder
	for d, err := range s.Each(t.Context()) {
		s.ok(t, err)
		fmt.Fprintln(&b, d)
	}
	for _, text := range []string{"alpha", "alpha beta", "beta OR gamma", "-alpha", "be*", `"alpha beta"`, "title:v2", "gama~ -beta", "*"} {
		for _, order := range Sorts {
			for _, history := range []bool{false, true} {
				r, err := s.Search(t.Context(), Query{Text: text, Sort: order, History: history, Size: 1000, Facets: 5})
				s.ok(t, err)
				fmt.Fprintln(&b, text, order, history, r.Total, r.Relaxed, r.Hits, r.Facets)
			}
		}
	}
	return b.String()
}

// TestWhateverComesTheIndexIsTheOneThatIsRebuilt stores versions and removes some, has them come late, early,
// twice and in any order, and opens the index again now and then; what it is in the end is compared with
// one that is made at once, and with the plain rule of what it is to hold.
func TestWhateverComesTheIndexIsTheOneThatIsRebuilt(t *testing.T) {
	t.Parallel()
	for seed := range testutil.Seeds(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 1))
			cache, keep := stored{}, r.IntN(4)
			s := cache.open(t)
			s.ok(t, s.KeepVersions(t.Context(), keep))
			play(t, r, cache, s)
			mustHold(t, s, cache, keep)
			followed := answers(t, s)
			s.ok(t, s.Rebuild(t.Context(), cache.urls(), nil))
			if rebuilt := answers(t, s); rebuilt != followed {
				t.Errorf("keeping %d, the index that followed says %s", keep, firstDifference(followed, rebuilt))
			}
			mustHold(t, s, cache, keep)
		})
	}
}

func firstDifference(a, b string) string {
	first, second := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(first), len(second)) {
		if first[i] != second[i] {
			return first[i] + "\nand the rebuilt one " + second[i]
		}
	}
	return "more, or less"
}

// play changes a cache at random, and tells the index as a follower and the collection of garbage would.
func play(t *testing.T, r *rand.Rand, cache stored, s *Store) {
	t.Helper()
	latest := map[string]int{}
	var log []Document
	at := 0
	follow := func(n int) {
		n = min(n, len(log)-at)
		s.ok(t, s.Index(t.Context(), log[at:at+n]))
		at += n
	}
	for range 120 {
		u := fmt.Sprintf("http://%c.example/%d", 'a'+r.IntN(3), r.IntN(4))
		switch r.IntN(8) {
		default:
			words := []string{"alpha", "beta", "gamma", "alpha beta", "beta alpha gamma", ""}[r.IntN(6)]
			latest[u]++
			if d := cache.put(u, latest[u], words); isIndexed(d.Version, d.Body) {
				log = append(log, d)
			}
		case 4, 5:
			follow(1 + r.IntN(9))
		case 6: // begins again a while ago
			at = max(at-r.IntN(20), 0)
		case 7:
			for version := range cache[u] {
				if r.IntN(2) == 0 {
					delete(cache[u], version)
				}
			}
			s.ok(t, s.Refresh(t.Context(), []string{u}))
			log = slices.DeleteFunc(log, func(d Document) bool { // a follower reads what is stored
				_, kept := cache[d.URL][d.Version]
				return !kept
			})
			at = min(at, len(log))
		}
	}
	follow(len(log))
}

// mustHold wants the index to hold the latest versions of each URL that have text.
func mustHold(t *testing.T, s *Store, cache stored, keep int) {
	t.Helper()
	want := map[Indexed]bool{}
	for u, versions := range cache {
		numbers := slices.Sorted(maps.Keys(versions))
		for i, n := range numbers {
			if (keep == 0 || i >= len(numbers)-keep) && isIndexed(n, versions[n]) {
				want[Indexed{u, n, i < len(numbers)-1}] = true
			}
		}
	}
	for d, err := range s.Each(t.Context()) {
		s.ok(t, err)
		if !want[d] {
			t.Errorf("keeping %d, %+v is indexed; stored is %v", keep, d, cache[d.URL])
		}
		delete(want, d)
	}
	if len(want) > 0 {
		t.Errorf("keeping %d, these are not indexed: %v", keep, want)
	}
}

func TestAnIndexIsSearchedAndFollowsWhileItIsRebuilt(t *testing.T) {
	t.Parallel()
	cache := stored{}
	s := cache.open(t)
	s.ok(t, s.Index(t.Context(), []Document{cache.put("http://a/", 1, "alpha"), cache.put("http://b/", 1, "alpha")}))
	urls := func(yield func(string, error) bool) {
		yield("http://a/", nil)
		s.ok(t, s.Index(t.Context(), []Document{cache.put("http://a/", 2, "beta"), cache.put("http://c/", 1, "beta")}))
		delete(cache, "http://b/")
		s.ok(t, s.Refresh(t.Context(), []string{"http://b/"}))
		for query, want := range map[string]uint64{"alpha": 0, "beta": 2} {
			if r, err := s.Search(t.Context(), Query{Text: query}); err != nil || r.Total != want {
				t.Errorf("meanwhile, %s finds %d, want %d: %v", query, r.Total, want, err)
			}
		}
	}
	done := 0
	s.ok(t, s.Rebuild(t.Context(), urls, func(n int) { done = n }))
	mustHold(t, s, cache, DefaultVersions)
	if done != 1 {
		t.Errorf("progress is %d", done)
	}
	s.ok(t, s.Index(t.Context(), []Document{cache.put("http://d/", 1, "delta")}))
	mustHold(t, s, cache, DefaultVersions)
	path := s.path
	s.ok(t, s.Close())
	again, err := Open(path, Options{Cache: cache})
	s.ok(t, err)
	defer again.Close()
	mustHold(t, again, cache, DefaultVersions)
	if left, _ := filepath.Glob(path + ".*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestARebuildThatFailsLeavesTheIndexAsItWas(t *testing.T) {
	t.Parallel()
	cache := stored{}
	s := cache.open(t)
	s.ok(t, s.Index(t.Context(), []Document{cache.put("http://a/", 1, "alpha")}))
	broken := errors.New("broken")
	if err := s.Rebuild(t.Context(), func(yield func(string, error) bool) { yield("", broken) }, nil); !errors.Is(err, broken) {
		t.Errorf("rebuilt: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Rebuild(ctx, cache.urls(), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("rebuilt: %v", err)
	}
	mustHold(t, s, cache, DefaultVersions)
	if left, _ := filepath.Glob(s.path + ".*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestACrashWhileAnotherIndexIsTakenLeavesOneOfTheTwo(t *testing.T) {
	t.Parallel()
	for name, crash := range map[string]func(path string) error{
		"before": func(path string) error { return os.CopyFS(draftOf(path), os.DirFS(path)) },
		"between": func(path string) error {
			return errors.Join(os.CopyFS(draftOf(path), os.DirFS(path)), os.Rename(path, formerOf(path)))
		},
		"after": func(path string) error { return os.CopyFS(formerOf(path), os.DirFS(path)) },
	} {
		t.Run(name, func(t *testing.T) {
			cache := stored{}
			s := cache.open(t)
			s.ok(t, s.Index(t.Context(), []Document{cache.put("http://a/", 1, "alpha")}))
			s.ok(t, s.Close())
			s.ok(t, crash(s.path))
			s, err := Open(s.path, Options{Cache: cache})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			mustHold(t, s, cache, DefaultVersions)
			s.ok(t, s.Rebuild(t.Context(), cache.urls(), nil))
			mustHold(t, s, cache, DefaultVersions)
			if left, _ := filepath.Glob(s.path + ".*"); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestHowManyVersionsAreKeptIsRememberedAndHoldsForAllAfterARebuild(t *testing.T) {
	t.Parallel()
	cache := stored{}
	s := cache.open(t)
	for version := range 7 {
		s.ok(t, s.Index(t.Context(), []Document{cache.put("http://a/", version+1, "alpha")}))
	}
	mustHold(t, s, cache, DefaultVersions)
	s.ok(t, s.KeepVersions(t.Context(), 2))
	s.ok(t, s.Close())
	s, err := Open(s.path, Options{Cache: cache})
	s.ok(t, err)
	t.Cleanup(func() { s.Close() })
	s.ok(t, s.Rebuild(t.Context(), cache.urls(), nil))
	mustHold(t, s, cache, 2)
	s.ok(t, s.KeepVersions(t.Context(), 0))
	s.ok(t, s.Index(t.Context(), []Document{cache.put("http://a/", 8, "alpha")}))
	mustHold(t, s, cache, 0)
	if err := s.KeepVersions(t.Context(), -1); err == nil {
		t.Error("-1 versions are kept")
	}
}

// A version that the cache does not show yet is found all the same, and stays until the cache has it.
func TestADocumentIsFoundBeforeTheCacheShowsIt(t *testing.T) {
	t.Parallel()
	cache := stored{}
	s := cache.open(t)
	first := cache.put("http://a/", 1, "alpha")
	second := Document{URL: "http://a/", Version: 2, Body: "beta"}
	for range 2 {
		s.ok(t, s.Index(t.Context(), []Document{first, second}))
		s.ok(t, s.Index(t.Context(), []Document{first}))
		if v, err := s.Version("http://a/"); v != 2 || err != nil {
			t.Errorf("version %d is found, %v", v, err)
		}
	}
	s.ok(t, s.Refresh(t.Context(), []string{"http://a/"}))
	mustHold(t, s, cache, DefaultVersions)
}
