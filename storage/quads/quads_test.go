package quads

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/analyze"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/sparql"
	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/storage/internal/pebbledb"
)

// Random replacements and removals leave what a map would hold.
func TestReplacementsAgainstAMap(t *testing.T) {
	t.Parallel()
	for seed := range testutil.Seeds(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		fs, m := vfs.NewMem(), model{}
		s := open(t, fs)
		s.lexicon.most = []int{remembered, 1, 10}[seed%3]
		for step := range 40 {
			act(t, s, m, rng)
			if step%8 == 7 {
				matches(t, s, m)
			}
			if rng.IntN(20) == 0 {
				must(t, s.Close())
				s = open(t, fs)
			}
		}
		matches(t, s, m)
		sound(t, s)
	}
}

// act does one thing to a store and to its model.
func act(t testing.TB, s *Store, m model, rng *rand.Rand) {
	t.Helper()
	c := randomContext(rng)
	if rng.IntN(6) == 0 {
		must(t, s.Remove(t.Context(), c.URL))
		delete(m, c.URL)
		return
	}
	g := randomGraph(rng, 12)
	durably(t, s, c, g)
	m.replace(c, g)
}

// FuzzReplace is the same with steps that the fuzzer chooses.
func FuzzReplace(f *testing.F) {
	f.Add([]byte("a seed of some length"))
	f.Add([]byte{0, 1, 2, 3, 255, 254, 7, 7, 7})
	f.Fuzz(func(t *testing.T, steps []byte) {
		s, m := open(t, vfs.NewMem()), model{}
		for i, b := range steps[:min(len(steps), 60)] {
			act(t, s, m, rand.New(rand.NewPCG(uint64(b), uint64(i%3))))
		}
		matches(t, s, m)
		sound(t, s)
	})
}

// filledRandomly returns a store and its model.
func filledRandomly(t testing.TB, seed uint64) (*Store, model) {
	rng := rand.New(rand.NewPCG(seed, 2))
	s, m := open(t, vfs.NewMem()), model{}
	for range 30 {
		act(t, s, m, rng)
	}
	return s, m
}

// fits reports whether a quad fits a pattern of terms, with empty ones for places that are not bound.
func fits(q, pattern rdf.Quad) bool {
	is := func(have, want webrace.Term) bool { return want == "" || have == want }
	return is(q.Subject, pattern.Subject) && is(q.Predicate, pattern.Predicate) && is(q.Object, pattern.Object) && is(q.Graph, pattern.Graph)
}

// All 16 patterns, and the 8 of the union graph, find what a walk over all quads finds, each once, with a cursor that
// is used again and again.
func TestPatterns(t *testing.T) {
	t.Parallel()
	for seed := range testutil.Seeds(8) {
		s, m := filledRandomly(t, seed)
		snapshot, err := s.Snapshot()
		must(t, err)
		every := m.quads()
		rng := rand.New(rand.NewPCG(seed, 3))
		for places := range 16 {
			for _, union := range []bool{false, true} {
				if union && places&(1<<graph) != 0 {
					continue
				}
				checkPattern(t, snapshot, every, places, union, rng)
			}
		}
		must(t, snapshot.Close())
	}
}

func checkPattern(t *testing.T, s *Snapshot, every []rdf.Quad, places int, union bool, rng *rand.Rand) {
	t.Helper()
	var c sparql.Cursor
	for try := range 12 {
		pattern := rdf.Quad{}
		from, other := every[rng.IntN(len(every))], every[rng.IntN(len(every))]
		if rng.IntN(3) > 0 {
			other = from // otherwise there may be nothing
		}
		for place, to := range []*webrace.Term{&pattern.Subject, &pattern.Predicate, &pattern.Object, &pattern.Graph} {
			if places&(1<<place) != 0 {
				*to = []webrace.Term{from.Subject, other.Predicate, from.Object, other.Graph}[place]
			}
		}
		want := map[rdf.Quad]bool{}
		for _, q := range every {
			if !fits(q, pattern) || union && q.Graph == "<urn:webrace:provenance>" {
				continue
			}
			if union {
				q.Graph = ""
			}
			want[q] = true
		}
		p := sparql.Pattern{Subject: find(t, s, pattern.Subject), Predicate: find(t, s, pattern.Predicate), Object: find(t, s, pattern.Object), Graph: find(t, s, pattern.Graph)}
		if union {
			p.Graph = sparql.Union
		}
		var found []sparql.Pattern
		if try == 0 {
			var err error
			c, err = s.Cursor(p)
			must(t, err)
			defer c.Close()
			found = drain(t, c, c.Next())
		} else {
			found = drain(t, c, c.Seek(p))
		}
		if again := drain(t, c, c.Seek(p)); !slices.Equal(again, found) {
			t.Fatalf("%+v: the second time in another order", pattern)
		}
		got := map[rdf.Quad]bool{}
		for _, q := range found {
			got[terms(t, s, q)] = true
		}
		if len(got) != len(found) || len(got) != len(want) {
			t.Fatalf("%+v (union: %v): %d found, %d of them different, want %d", pattern, union, len(found), len(got), len(want))
		}
		for q := range want {
			if !got[q] {
				t.Fatalf("%+v (union: %v): %+v is not found", pattern, union, q)
			}
		}
		if n, err := s.Estimate(p); err != nil || n != int64(len(want)) {
			t.Fatalf("%+v: estimate %d, %v; want %d", pattern, n, err, len(want))
		}
	}
}

func find(t *testing.T, s *Snapshot, term webrace.Term) sparql.ID {
	t.Helper()
	if term == "" {
		return 0
	}
	n, err := s.Find(term)
	must(t, err)
	if n == 0 {
		t.Fatalf("%s has no id", term)
	}
	return n
}

func terms(t *testing.T, s *Snapshot, p sparql.Pattern) (q rdf.Quad) {
	t.Helper()
	for i, to := range []*webrace.Term{&q.Subject, &q.Predicate, &q.Object, &q.Graph} {
		n := []sparql.ID{p.Subject, p.Predicate, p.Object, p.Graph}[i]
		if i == graph && n == sparql.Union {
			continue
		}
		var err error
		*to, err = s.Term(n)
		must(t, err)
	}
	return q
}

// A snapshot is one state, whatever changes meanwhile, and a store waits for it.
func TestASnapshotStays(t *testing.T) {
	t.Parallel()
	s, m := filledRandomly(t, 1)
	before := all(t, s)
	snapshot, err := s.Snapshot()
	must(t, err)
	for url := range m {
		must(t, s.Remove(t.Context(), url))
	}
	var got []rdf.Quad
	for q, err := range snapshot.Quads(t.Context(), "") {
		must(t, err)
		got = append(got, q)
	}
	if sortQuads(got); !slices.Equal(got, before) || len(got) == 0 {
		t.Errorf("a snapshot has changed from %d quads to %d", len(before), len(got))
	}
	if left := all(t, s); len(left) > 0 {
		t.Errorf("%d quads are left of contexts that were removed", len(left))
	}
	if now, err := s.Snapshot(); err != nil || now.Revision() == snapshot.Revision() || now.Close() != nil {
		t.Errorf("two states have one revision: %v", err)
	}
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }()
	if _, err := snapshot.Find("<http://example.org/1>"); err != nil {
		t.Error(err)
	}
	must(t, snapshot.Close())
	must(t, <-closed)
	if _, err := s.Snapshot(); !errors.Is(err, ErrClosed) {
		t.Errorf("a snapshot of a closed store: %v", err)
	}
	if _, err := s.Replace(Context{URL: "http://a/"}, &webrace.Graph{}, nil); !errors.Is(err, ErrClosed) {
		t.Errorf("a change of a closed store: %v", err)
	}
}

// A reader beside a writer sees what a context said before or after, and never a mixture.
func TestReadersSeeOneVersion(t *testing.T) {
	t.Parallel()
	s := open(t, vfs.NewMem())
	const size = 20
	version := func(n int) *webrace.Graph {
		g := &webrace.Graph{Whole: true}
		for i := range size {
			g.Triples = append(g.Triples, webrace.Triple{Subject: rdf.NewIRI(fmt.Sprint("http://example.org/", i)),
				Predicate: rdf.NewIRI("http://example.org/version"), Object: rdf.NewString(fmt.Sprint(n))})
		}
		return g
	}
	var writing sync.WaitGroup
	stop := make(chan struct{})
	writing.Go(func() {
		defer close(stop)
		for n := 1; n <= 40; n++ {
			if _, err := s.Replace(Context{URL: "http://example.org/", Version: n, At: someTime}, version(n), nil); err != nil {
				t.Error(err)
			}
		}
	})
	for {
		snapshot, err := s.Snapshot()
		must(t, err)
		objects := map[webrace.Term]int{}
		for q, err := range snapshot.Quads(t.Context(), "<http://example.org/>") {
			must(t, err)
			objects[q.Object]++
		}
		if len(objects) > 1 || len(objects) == 1 && !slices.Contains([]int{size}, sum(objects)) {
			t.Fatalf("a reader sees %v", objects)
		}
		must(t, snapshot.Close())
		select {
		case <-stop:
			writing.Wait()
			return
		default:
		}
	}
}

func sum(counts map[webrace.Term]int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}

// Many writers of the same new terms leave one id for each.
func TestConcurrentWritersShareTerms(t *testing.T) {
	t.Parallel()
	s, m := open(t, vfs.NewMem()), model{}
	s.lexicon.most = 3 // what is remembered is forgotten at once
	var mu sync.Mutex
	var writing sync.WaitGroup
	for w := range 6 {
		writing.Go(func() {
			rng := rand.New(rand.NewPCG(7, 7)) // the same for all
			for range 25 {
				c, g := randomContext(rng), randomGraph(rng, 10)
				c.URL = fmt.Sprint("http://writer.example/", w, "/", c.URL[len(c.URL)-1:])
				done := make(chan error, 1)
				if _, err := s.Replace(c, g, func(err error) { done <- err }); err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				m.replace(c, g)
				mu.Unlock()
				if err := <-done; err != nil {
					t.Error(err)
				}
			}
		})
	}
	writing.Wait()
	matches(t, s, m)
	sound(t, s)
}

// What has not changed is not written, and what is refused changes nothing.
func TestWhatChangesNothing(t *testing.T) {
	t.Parallel()
	s := open(t, vfs.NewMem())
	c := Context{URL: "http://example.org/", Version: 2, At: someTime, MediaType: "text/turtle"}
	g := &webrace.Graph{Whole: true, Triples: []webrace.Triple{{Subject: "<http://a/>", Predicate: "<http://b/>", Object: `"c"`}}}
	if got := durably(t, s, c, g); got != (Change{Added: 1}) {
		t.Errorf("%+v", got)
	}
	before, _ := s.Stats()
	later := c
	later.At = c.At.Add(time.Hour)
	same := func(what string, want Change, c Context, g *webrace.Graph) {
		t.Helper()
		if got := durably(t, s, c, g); got != want {
			t.Errorf("%s: %+v, want %+v", what, got, want)
		}
		if after, _ := s.Stats(); after.Revision != before.Revision {
			t.Errorf("%s: written", what)
		}
	}
	same("the same version, fetched again", Change{}, later, g)
	older := c
	older.Version = 1
	same("an older version", Change{Older: true}, older, &webrace.Graph{Whole: true})
	for what, bad := range map[string]struct {
		url string
		t   webrace.Triple
	}{
		"the store's own graph": {ProvenanceGraph, g.Triples[0]},
		"a relative URL":        {"/a", g.Triples[0]},
		"a literal as subject":  {c.URL, webrace.Triple{Subject: `"a"`, Predicate: "<http://b/>", Object: `"c"`}},
		"a blank predicate":     {c.URL, webrace.Triple{Subject: "<http://a/>", Predicate: "_:b", Object: `"c"`}},
		"an empty object":       {c.URL, webrace.Triple{Subject: "<http://a/>", Predicate: "<http://b/>"}},
		"two lines in a term":   {c.URL, webrace.Triple{Subject: "<http://a/>", Predicate: "<http://b/>", Object: "\"c\n\""}},
		"no UTF-8":              {c.URL, webrace.Triple{Subject: "<http://a/>", Predicate: "<http://b/\xc3>", Object: `"c"`}},
		"an open literal":       {c.URL, webrace.Triple{Subject: "<http://a/>", Predicate: "<http://b/>", Object: `"c`}},
	} {
		_, err := s.Replace(Context{URL: bad.url, Version: 9}, &webrace.Graph{Whole: true, Triples: []webrace.Triple{bad.t}}, nil)
		if after, _ := s.Stats(); err == nil || after.Revision != before.Revision {
			t.Errorf("%s: %v", what, err)
		}
	}
	snapshot, err := s.Snapshot()
	must(t, err)
	defer snapshot.Close()
	if r, found, err := snapshot.Context(c.URL); err != nil || !found || r.Context != c {
		t.Errorf("%+v, %v", r, err)
	}
}

// What fails changes nothing, and the terms that it would have brought are new to the next.
func TestAFailureLeavesNothing(t *testing.T) {
	t.Parallel()
	s := open(t, vfs.NewMem())
	c := Context{URL: "http://example.org/", Version: 1, At: someTime}
	durably(t, s, c, &webrace.Graph{Whole: true})
	before := all(t, s)
	n, err := findTerm(s.db, "<http://example.org/>")
	must(t, err)
	broken := appendID(cspo.start(), n)
	must(t, s.db.Set(broken, nil, pebbledb.Sync))
	g := &webrace.Graph{Whole: true, Triples: []webrace.Triple{{Subject: "<http://new/>", Predicate: "<http://new/p>", Object: `"new"`}}}
	c.Version = 2
	if _, err := s.Replace(c, g, func(error) { t.Error("a change that failed is called back") }); !errors.Is(err, errDamaged) {
		t.Errorf("%v", err)
	}
	must(t, s.db.Delete(broken, pebbledb.Sync))
	if got := all(t, s); !slices.Equal(got, before) {
		t.Errorf("a change that failed leaves\n%s", lines(got))
	}
	if n, err := findTerm(s.db, "<http://new/>"); n != 0 || err != nil || len(s.lexicon.young) > 12 {
		t.Errorf("a change that failed leaves a term: %x, %v", n, err)
	}
	durably(t, s, c, g)
	m := model{}
	m.replace(c, g)
	matches(t, s, m)
	sound(t, s)
}

// Words find the literals that have them all, in whatever form.
func TestWords(t *testing.T) {
	t.Parallel()
	for seed := range testutil.Seeds(4) {
		s, _ := filledRandomly(t, seed)
		snapshot, err := s.Snapshot()
		must(t, err)
		found := 0
		for _, query := range []string{"", "!", "ferry", "ferries", "Fähre", "fahren", "bateau", "πλοιο", "piraeus FERRY", "long words", "words nowhere", "5", "x", "a sea"} {
			var got []sparql.ID
			for n, err := range snapshot.Words(t.Context(), query) {
				must(t, err)
				got = append(got, n)
			}
			found += len(got)
			if want := wordsByHand(t, snapshot, query); !slices.Equal(got, want) {
				t.Errorf("%q finds %x, want %x", query, got, want)
			}
		}
		if found == 0 {
			t.Error("nothing was found at all")
		}
		for _, err := range snapshot.Words(t.Context(), manyWords) {
			if err == nil {
				t.Error("a query of very many words is answered")
			}
		}
		over, end := context.WithCancel(t.Context())
		end()
		for _, err := range snapshot.Words(over, "long nowhere") {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("words are looked for when nobody waits: %v", err)
			}
			found = 0
		}
		if found > 0 {
			t.Error("words are looked for when nobody waits")
		}
		must(t, snapshot.Close())
	}
}

var manyWords = func() (text string) {
	for n := range mostWords + 1 {
		text += fmt.Sprintf("word%d ", n)
	}
	return text
}()

// wordsByHand looks at all literals.
func wordsByHand(t *testing.T, s *Snapshot, query string) (ids []sparql.ID) {
	t.Helper()
	must(t, pebbledb.Scan(s.state, keyOfID(idKey, newID(rdf.Literal, 0)), keyOfID(idKey, newID(rdf.Blank, 0)), func(key, value []byte) (bool, error) {
		literal := webrace.Term(value)
		if d := rdf.Datatype(literal); d != rdf.XSDString && d != rdf.LangString {
			return true, nil
		}
		has, wanted := map[string]bool{}, 0
		analyze.Spellings([]byte(rdf.Value(literal)), func(_, _ int, _, spelt []byte) bool {
			has[analyze.StemIn(analyze.ParseLanguage(rdf.Language(literal)), string(spelt))] = true
			return true
		})
		all := true
		analyze.Spellings([]byte(query), func(_, _ int, _, spelt []byte) bool {
			wanted++
			all = all && slices.ContainsFunc(analyze.Stems(string(spelt)), func(stem string) bool { return has[stem] })
			return true
		})
		if all && wanted > 0 {
			ids = append(ids, idOf(key[1:]))
		}
		return true, nil
	}))
	return ids
}

// A store that is only read can be read, and is not changed.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	disk := vfs.NewMem()
	s, m := open(t, disk), model{}
	act(t, s, m, rand.New(rand.NewPCG(1, 1)))
	act(t, s, m, rand.New(rand.NewPCG(2, 1)))
	must(t, s.Close())
	r, err := Open("quads", Options{FS: disk, ReadOnly: true})
	must(t, err)
	matches(t, r, m)
	if _, err := r.Replace(Context{URL: "http://a/"}, &webrace.Graph{}, nil); !errors.Is(err, ErrReadOnly) || !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a store that is only read is changed: %v", err)
	}
	if err := r.Remove(t.Context(), "http://a/"); !errors.Is(err, ErrReadOnly) {
		t.Errorf("a store that is only read is changed: %v", err)
	}
	must(t, r.Close())
}
