package quads

import (
	"fmt"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
)

// A term that another call has brought, stored and forgotten while this one was looking for it has the id of that call.
func TestATermThatWasForgottenMeanwhileHasOneID(t *testing.T) {
	t.Parallel()
	for forgets := range 4 { // so many other terms come in between
		s := open(t, vfs.NewMem())
		l := &s.lexicon
		l.most = 1
		late := []webrace.Term{"<http://late.example/>"}
		ids, unstored := make([]id, 1), []fresh(nil)
		missing, rotations := l.recall(late, ids, &unstored)
		must(t, l.look(missing, ids))
		say := &webrace.Graph{Whole: true, Triples: []webrace.Triple{{Subject: late[0], Predicate: "<http://p.example/>", Object: late[0]}}}
		durably(t, s, Context{URL: "http://context.example/", Version: 1}, say)
		for n := range forgets {
			_, others, err := l.resolve([]webrace.Term{rdf.NewIRI(fmt.Sprint("http://other.example/", n))})
			must(t, err)
			l.settle(others, true)
		}
		must(t, l.give(missing, ids, &unstored, rotations))
		want, err := findTerm(s.db, late[0])
		must(t, err)
		if ids[0] != want || want == 0 || len(unstored) > 0 {
			t.Errorf("after %d other terms the id is %x, and %x is stored; %d are to be stored", forgets, ids[0], want, len(unstored))
		}
	}
}

// A change that is given up beside one that is committed, both with the same new terms, leaves these to the other.
func TestAChangeIsGivenUpBesideAnother(t *testing.T) {
	t.Parallel()
	s := open(t, vfs.NewMem())
	for n := range 100 {
		terms := []webrace.Term{rdf.NewIRI(fmt.Sprint("http://new.example/", n))}
		_, given, err := s.lexicon.resolve(terms)
		must(t, err)
		ids, kept, err := s.lexicon.resolve(terms)
		must(t, err)
		var both sync.WaitGroup
		both.Go(func() { must(t, s.abandon(&step{batch: s.db.NewBatch(), terms: given})) })
		b := s.db.NewBatch()
		must(t, setTerm(b, terms[0], ids[0]))
		must(t, s.commit(&step{batch: b, terms: kept}, nil))
		both.Wait()
		if again, unstored, err := s.lexicon.resolve(terms); err != nil || again[0] != ids[0] || len(unstored) > 0 {
			t.Errorf("%v: the id was %x and is %x", err, ids, again)
		}
	}
	sound(t, s)
}
