package quads

import (
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/testutil"
)

// A collection leaves what is stored or was imported, and the terms of that; terms that come back get new ids.
func TestCollect(t *testing.T) {
	t.Parallel()
	for seed := range testutil.Seeds(6) {
		s, m := filledRandomly(t, seed)
		_, err := s.Import(t.Context(), parsed(t, []string{"<http://i/> <http://i/> \"imported words\" <http://imported/> .\n"}))
		must(t, err)
		c, err := s.Collect(t.Context(), func(url string) (bool, error) { return strings.HasSuffix(url, "1") || strings.HasSuffix(url, "3"), nil })
		must(t, err)
		m["http://imported/"] = &said{Context: Context{URL: "http://imported/"}, imported: true,
			triples: map[webrace.Triple]bool{{Subject: "<http://i/>", Predicate: "<http://i/>", Object: `"imported words"`}: true}}
		for url, said := range m {
			if !said.imported && !strings.HasSuffix(url, "1") && !strings.HasSuffix(url, "3") {
				delete(m, url)
				c.Contexts--
				c.Quads -= len(said.triples)
			}
		}
		if c.Contexts != 0 || c.Quads != 0 || c.Terms == 0 {
			t.Errorf("seed %d: collected %+v too much", seed, c)
		}
		matches(t, s, m)
		sound(t, s)
		used := map[webrace.Term]bool{"<" + ProvenanceGraph + ">": true}
		for url := range m {
			used[rdf.NewIRI(url)] = true
		}
		for _, q := range m.quads() {
			used[q.Subject], used[q.Predicate], used[q.Object], used[q.Graph] = true, true, true, true
		}
		if st, _ := s.Stats(); st.Terms != int64(len(used)) {
			t.Errorf("seed %d: %d terms are left, and %d used", seed, st.Terms, len(used))
		}
		rng := rand.New(rand.NewPCG(seed, 8))
		for range 10 {
			act(t, s, m, rng)
		}
		matches(t, s, m)
		sound(t, s)
	}
}

// A collection beside writers takes no term from them.
func TestCollectBesideWriters(t *testing.T) {
	t.Parallel()
	s, m := open(t, vfs.NewMem()), model{}
	var writing sync.WaitGroup
	stop := make(chan struct{})
	writing.Go(func() {
		defer close(stop)
		rng := rand.New(rand.NewPCG(1, 10))
		for range 60 {
			act(t, s, m, rng)
		}
	})
	for collecting := true; collecting; {
		_, err := s.Collect(t.Context(), func(string) (bool, error) { return true, nil })
		must(t, err)
		select {
		case <-stop:
			collecting = false
		default:
		}
	}
	writing.Wait()
	matches(t, s, m)
	sound(t, s)
	refused := errors.New("refused")
	durably(t, s, Context{URL: "http://example.org/", Version: 9}, &webrace.Graph{Whole: true})
	if _, err := s.Collect(t.Context(), func(string) (bool, error) { return false, refused }); !errors.Is(err, refused) {
		t.Errorf("%v", err)
	}
}
