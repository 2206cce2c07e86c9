package objects

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/webrace/webrace/storage/fsck"
)

// sound checks everything at rest: what is counted against what is there.
func sound(t testing.TB, s *Store) {
	t.Helper()
	if err := s.CheckDeep(context.Background(), false, func(f fsck.Finding) { t.Errorf("%v", f) }); err != nil {
		t.Fatal(err)
	}
}

// only gives a verdict on versions of some URLs, and keeps the others.
func only(verdict Verdict, chosen func(Version) bool) func(context.Context, []Version) ([]Verdict, error) {
	return func(_ context.Context, versions []Version) ([]Verdict, error) {
		verdicts := make([]Verdict, len(versions))
		for i, v := range versions {
			if chosen(v) {
				verdicts[i] = verdict
			}
		}
		return verdicts, nil
	}
}

func all(Version) bool { return true }

func collect(t testing.TB, s *Store, o CollectOptions) Collected {
	t.Helper()
	c, err := s.Collect(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func number(url string, n int) func(Version) bool {
	return func(v Version) bool { return v.URL == url && v.Number == n }
}

func TestCollectRemovesAllThatBelongsToAVersion(t *testing.T) {
	fs := vfs.NewMem()
	s := open(t, fs, Options{})
	var stored []Version
	for _, body := range []string{"one", "two", "three"} {
		stored = append(stored, put(t, s, page(home, body)))
	}
	put(t, s, page(home+"other", "other"))
	c := collect(t, s, CollectOptions{Verdict: only(Remove, number(home, 2))})
	if c.Versions != 1 || c.Bodies != 1 || c.Kept != 0 || c.Bytes == 0 || uint64(c.Bytes) != s.Stats().DeadBytes {
		t.Errorf("collected %+v, stats are %+v", c, s.Stats())
	}
	sound(t, s)
	_, err1 := s.Get(home, 2)
	_, _, err2 := s.Body(stored[1])
	_, err3 := s.Links(stored[1])
	_, err4 := s.Meta(stored[1])
	_, err5 := s.Pin(stored[1])
	for i, err := range []error{err1, err2, err3, err4, err5} {
		if !errors.Is(err, ErrNotFound) {
			t.Errorf("%d: %v", i+1, err)
		}
	}
	if next, err := s.Next(t.Context(), 1, 10); err != nil || len(next) != 2 || next[0].Number != 3 {
		t.Errorf("the log has %+v, %v", next, err)
	}
	wantBody(t, s, stored[0], "one")
	wantBody(t, s, mustLatest(t, s, home), "three")

	collect(t, s, CollectOptions{Verdict: only(Remove, number(home, 3))})
	if v := mustLatest(t, s, home); v.Number != 1 {
		t.Errorf("the latest version is %+v", v)
	}
	sound(t, s)
	collect(t, s, CollectOptions{Verdict: only(Remove, number(home, 1))})
	if _, err := s.Latest(home); !errors.Is(err, ErrNotFound) {
		t.Errorf("latest: %v", err)
	}
	if st := s.Stats(); st.URLs != 1 || st.Versions != 1 || st.Payloads != 1 {
		t.Errorf("stats are %+v", st)
	}
	sound(t, s)
	s.Close()

	s = open(t, fs, Options{})
	defer s.Close()
	if v := put(t, s, page(home, "three")); v.Number != 4 || v.Seq != 5 || !v.Changed {
		t.Errorf("stored again: %+v", v)
	}
	if v := put(t, s, page(home, "one")); v.Number != 5 {
		t.Errorf("and again: %+v", v)
	}
	sound(t, s)
}

func TestNumbersGoOnAlsoWhenAnOlderVersionIsTheLatest(t *testing.T) {
	s := opened(t, Options{})
	for _, body := range []string{"one", "two", "three"} {
		put(t, s, page(home, body))
	}
	collect(t, s, CollectOptions{Verdict: only(Remove, func(v Version) bool { return v.Number > 1 })})
	if v := put(t, s, page(home, "one")); v.Number != 1 || v.Changed {
		t.Errorf("an equal body: %+v", v)
	}
	if v := put(t, s, page(home, "two")); v.Number != 4 {
		t.Errorf("a new body: %+v", v)
	}
	if v := put(t, s, page(home, "three")); v.Number != 5 {
		t.Errorf("another new body: %+v", v)
	}
	sound(t, s)
}

func TestABodyStaysAsLongAsAVersionHasIt(t *testing.T) {
	s := opened(t, Options{SegmentSize: 1500})
	put(t, s, page(home, "shared"))
	second := put(t, s, page(home+"mirror", "shared"))
	for i := range 5 {
		put(t, s, page(fmt.Sprint(home, "filler", i), fmt.Sprint("body ", i)))
	}
	c := collect(t, s, CollectOptions{Verdict: only(Remove, number(home, 1)), MinAlive: 0.99})
	if c.Versions != 1 || c.Bodies != 0 || c.Segments == 0 {
		t.Errorf("collected %+v", c)
	}
	wantBody(t, s, second, "shared")
	sound(t, s)
	third := put(t, s, page(home+"third", "shared"))
	c = collect(t, s, CollectOptions{Verdict: only(Remove, number(second.URL, 1))})
	if c.Versions != 1 || c.Bodies != 0 {
		t.Errorf("collected %+v", c)
	}
	wantBody(t, s, third, "shared")
	c = collect(t, s, CollectOptions{Verdict: only(Remove, number(third.URL, 1))})
	if c.Versions != 1 || c.Bodies != 1 {
		t.Errorf("collected %+v", c)
	}
	sound(t, s)
}

func TestWhatIsPinnedYoungOrWaitedForStays(t *testing.T) {
	now := noon.Add(48 * time.Hour)
	s := opened(t, Options{Now: func() time.Time { return now }})
	pinned := put(t, s, page(home+"pinned", "pinned"))
	unpin, err := s.Pin(pinned)
	if err != nil {
		t.Fatal(err)
	}
	waited := put(t, s, page(home+"waited", "waited"))
	put(t, s, page(home+"young", "young"))
	touch(t, s, home+"young", now.Add(-time.Minute))
	put(t, s, page(home+"old", "old"))
	options := CollectOptions{
		Verdict: only(Remove, all),
		Grace:   time.Hour,
		Confirm: func(_ context.Context, versions []Version) ([]bool, error) {
			still := make([]bool, len(versions))
			for i, v := range versions {
				if _, err := s.Latest(v.URL); !errors.Is(err, ErrNotFound) {
					t.Errorf("%s is about to go, and can be read: %v", v.URL, err)
				}
				if _, err := s.Pin(v); !errors.Is(err, ErrNotFound) {
					t.Errorf("%s is about to go, and can be pinned: %v", v.URL, err)
				}
				still[i] = v.URL != waited.URL
			}
			return still, nil
		},
	}
	var gone []string
	options.Removed = func(urls []string) error { gone = append(gone, urls...); return nil }
	if c := collect(t, s, options); c.Versions != 1 || c.Kept != 2 || len(gone) != 1 || gone[0] != home+"old" {
		t.Errorf("collected %+v, gone are %+v", c, gone)
	}
	for _, name := range []string{"pinned", "waited", "young"} {
		wantBody(t, s, mustLatest(t, s, home+name), name)
	}
	unpin()
	unpin()
	options.Grace = 0
	if c := collect(t, s, options); c.Versions != 2 {
		t.Errorf("without a pin: %+v", c)
	}
	sound(t, s)
}

// The caller that has to know what was removed is told even if a crash comes in between, until it has taken that.
func TestWhatWasRemovedIsToldUntilItWasTaken(t *testing.T) {
	mem := vfs.NewMem()
	s := open(t, mem, Options{})
	put(t, s, page(home+"a", "a"))
	put(t, s, page(home+"b", "b"))
	killed := errors.New("killed")
	_, err := s.Collect(t.Context(), CollectOptions{Verdict: only(Remove, all), Removed: func([]string) error { return killed }})
	if !errors.Is(err, killed) {
		t.Errorf("collected: %v", err)
	}
	s.Close()
	s = open(t, mem, Options{})
	defer s.Close()
	var told []string
	tell := func(urls []string) error { told = append(told, urls...); return nil }
	for range 2 {
		if err := s.TellRemoved(t.Context(), tell); err != nil || !slices.Equal(told, []string{home + "a", home + "b"}) {
			t.Errorf("told %v, %v", told, err)
		}
	}
	told = nil
	put(t, s, page(home+"c", "c"))
	if _, err := s.Collect(t.Context(), CollectOptions{Verdict: only(Remove, all), Removed: func([]string) error { return killed }}); !errors.Is(err, killed) {
		t.Errorf("collected: %v", err)
	}
	if err := s.TellRemoved(t.Context(), func([]string) error { return killed }); !errors.Is(err, killed) {
		t.Errorf("who does not take it ends with %v", err)
	}
	if err := s.TellRemoved(t.Context(), tell); err != nil || !slices.Equal(told, []string{home + "c"}) {
		t.Errorf("told %v, %v", told, err)
	}
	sound(t, s)
}

// What Confirm is asked about is validated or stored again meanwhile: then it stays.
func TestWhatIsStoredAgainWhileItGoesStays(t *testing.T) {
	s := opened(t, Options{})
	put(t, s, page(home+"same", "same"))
	put(t, s, page(home+"touched", "touched"))
	put(t, s, page(home+"body", "body"))
	c := collect(t, s, CollectOptions{Verdict: only(Remove, all), Confirm: func(_ context.Context, v []Version) ([]bool, error) {
		if v := put(t, s, page(home+"same", "same")); v.Number != 1 || v.Changed {
			t.Errorf("stored again: %+v", v)
		}
		touch(t, s, home+"touched", noon)
		put(t, s, page(home+"other", "body"))
		return []bool{true, true, true}, nil
	}})
	if c.Versions != 1 || c.Bodies != 0 || c.Kept != 2 {
		t.Errorf("collected %+v", c)
	}
	for url, body := range map[string]string{"same": "same", "touched": "touched", "other": "body"} {
		wantBody(t, s, mustLatest(t, s, home+url), body)
	}
	sound(t, s)
}

func TestTheLongestNotValidatedGoFirstUntilTheStoreIsSmallEnough(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes: not in short mode")
	}
	s := opened(t, Options{SegmentSize: 20_000})
	const n = 400
	rng := rand.New(rand.NewPCG(1, 1))
	for _, i := range rng.Perm(n) {
		d := page(fmt.Sprintf("%s%03d", home, i), randomText(rng, 1000))
		d.At = noon.Add(time.Duration(i) * time.Minute)
		put(t, s, d)
	}
	st := s.Stats()
	limit := int64(st.SegmentBytes) / 2
	c := collect(t, s, CollectOptions{Verdict: only(May, all), MaxBytes: limit})
	after := s.Stats()
	live := int64(after.SegmentBytes - after.DeadBytes)
	if live > limit || live < limit-10_000 {
		t.Errorf("%d bytes are in use, %d may be", live, limit)
	}
	if int64(after.SegmentBytes) > limit*8/7+40_000 || c.Segments == 0 || c.Freed != int64(st.SegmentBytes)-int64(after.SegmentBytes) {
		t.Errorf("files have %d bytes, of which %d are dead: %+v", after.SegmentBytes, after.DeadBytes, c)
	}
	for i := range n {
		_, err := s.Latest(fmt.Sprintf("%s%03d", home, i))
		if gone := errors.Is(err, ErrNotFound); gone != (i < c.Versions) {
			t.Errorf("%d of %d removed, and document %d: %v", c.Versions, n, i, err)
		}
	}
	sound(t, s)
	if c := collect(t, s, CollectOptions{Verdict: only(May, all), MaxBytes: limit}); c.Versions != 0 || c.Segments != 0 {
		t.Errorf("a store that is small enough: %+v", c)
	}
}

func randomText(rng *rand.Rand, size int) string {
	var b strings.Builder
	for b.Len() < size {
		fmt.Fprintf(&b, "%x", rng.Uint64())
	}
	return b.String()
}

func TestRewritingGivesTheSpaceBack(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes: not in short mode")
	}
	dir := t.TempDir()
	s, err := Open(dir, Options{SegmentSize: 50_000, Logger: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	rng := rand.New(rand.NewPCG(1, 1))
	bodies := map[string]string{}
	for i := range 300 {
		url := fmt.Sprint(home, i)
		bodies[url] = randomText(rng, 2000)
		put(t, s, page(url, bodies[url]))
	}
	before := s.Stats()
	keep := func(v Version) bool { return strings.HasSuffix(v.URL, "7") }
	c := collect(t, s, CollectOptions{Verdict: only(Remove, func(v Version) bool { return !keep(v) })})
	after := s.Stats()
	if c.Versions != 270 || after.SegmentBytes > before.SegmentBytes/5 || // a tenth is alive, and files take twice that at most
		after.SegmentBytes != uint64(filesSize(t, dir)) {
		t.Errorf("collected %+v; %d bytes became %d, and the files have %d", c, before.SegmentBytes, after.SegmentBytes, filesSize(t, dir))
	}
	sound(t, s)
	for url, body := range bodies {
		if keep(Version{URL: url}) {
			wantBody(t, s, mustLatest(t, s, url), body)
		}
	}
	readStrictly(t, dir)
}

func TestCollectEndsWithItsContextAndItsCallbacks(t *testing.T) {
	s := opened(t, Options{})
	put(t, s, page(home, "x"))
	broken := errors.New("broken")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, o := range map[string]CollectOptions{
		"verdict":  {Verdict: func(context.Context, []Version) ([]Verdict, error) { return nil, broken }},
		"few":      {Verdict: func(context.Context, []Version) ([]Verdict, error) { return nil, nil }},
		"confirm":  {Verdict: only(Remove, all), Confirm: func(context.Context, []Version) ([]bool, error) { return nil, broken }},
		"unsure":   {Verdict: only(Remove, all), Confirm: func(context.Context, []Version) ([]bool, error) { return nil, nil }},
		"canceled": {Verdict: only(Remove, all)},
	} {
		with := t.Context()
		if name == "canceled" {
			with = ctx
		}
		if c, err := s.Collect(with, o); err == nil || c.Versions != 0 {
			t.Errorf("%s: %+v, %v", name, c, err)
		}
		wantBody(t, s, mustLatest(t, s, home), "x")
	}
	sound(t, s)
}

// What is moved is compressed as new records are, and what older ones hold is the same.
func TestRewritingBringsRecordsIntoTheOtherCompression(t *testing.T) {
	for from, to := range map[Compression]Compression{Gzip: Zstd, Zstd: Gzip} {
		dir := t.TempDir()
		s := openAt(t, dir, Options{Compression: from})
		for i := range 20 {
			put(t, s, page(fmt.Sprint(home, i), fmt.Sprint("body ", i%15))) // some are revisits
		}
		if err := s.Compress(to); err != nil {
			t.Fatal(err)
		}
		collect(t, s, CollectOptions{MinAlive: 1, Verdict: only(Remove, func(v Version) bool { return v.URL == home+"3" || v.URL == home+"17" })})
		sound(t, s)
		closeStore(t, s)
		s = openAt(t, dir, Options{})
		if got := s.compression(); got != to {
			t.Errorf("opened again, records are compressed as %v", got)
		}
		for i := range 20 {
			if v, err := s.Latest(fmt.Sprint(home, i)); i == 3 || i == 17 {
				if !errors.Is(err, ErrNotFound) {
					t.Errorf("%d: %v", i, err)
				}
			} else {
				wantBody(t, s, v, fmt.Sprint("body ", i%15))
			}
		}
		sound(t, s)
		closeStore(t, s)
		for name := range segmentBytes(t, dir) {
			if compressionOfName(name) != to {
				t.Errorf("%s is left", name)
			}
		}
	}
}

// A store of which a segment is compressed by zstd is of a format that earlier releases refuse; any other is not.
func TestOnlyAStoreWithZstdHasTheNewFormat(t *testing.T) {
	for c, want := range map[Compression]uint64{Gzip: formatGzip, Zstd: formatZstd} {
		s := opened(t, Options{})
		if err := s.Compress(c); err != nil {
			t.Fatal(err)
		}
		put(t, s, page(home, "body"))
		if n, _, err := get(s, formatKey, decodeNumber); err != nil || n != want {
			t.Errorf("%v: format %d, %v", c, n, err)
		}
	}
}
