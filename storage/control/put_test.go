package control_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/fsck"
	"github.com/webrace/webrace/xmlschema"
)

// TestPuttingManyIsPuttingEach puts URDs all together into one store, and one by one into another: first more than a
// group of them, and then such as are there, come again in the same call, were removed in between, or are refused.
func TestPuttingManyIsPuttingEach(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes: not in short mode")
	}
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 8))
	together, each := open(t), open(t)
	ctx := t.Context()
	for round, count := range []int{600, 1, 60, 40} {
		urds := make([]*xmlschema.URD, count)
		for i := range urds {
			id := i
			if round > 0 {
				id = 580 + random.IntN(40)
			}
			u := urd(fmt.Sprint("<&", id), fmt.Sprint("owner", id%7), fmt.Sprintf("http://a.example/%d", random.IntN(3)))
			for range random.IntN(4) {
				u.Keywords.Keywords = append(u.Keywords.Keywords, xmlschema.Keyword{Key: fmt.Sprint("word", random.IntN(5)), Weight: 3})
			}
			u.Urgency, u.Login, u.LastCheck = random.IntN(3), []string{"", "two\nlines"}[random.IntN(2)], time.Unix(int64(i), 0)
			urds[i] = u
		}
		changes, err := together.Put(ctx, urds)
		ok(t, err)
		var want []control.Change
		step := 1
		if round == 0 {
			step = 100 // each takes a sync
		}
		for some := range slices.Chunk(urds, step) {
			want = append(want, put(t, each, some...)...)
		}
		if diff := cmp.Diff(want, changes); diff != "" {
			t.Fatal(diff)
		}
		for range 6 {
			id := fmt.Sprint("<&", 580+random.IntN(40))
			if got, want := together.Delete(ctx, id), each.Delete(ctx, id); errors.Is(got, control.ErrNotFound) != errors.Is(want, control.ErrNotFound) {
				t.Fatalf("delete %s: %v and %v", id, got, want)
			}
		}
		refused := append(slices.Clone(urds), urd("<&0", "another", "http://a.example/"), urd("new", "eleni", "http://new.example/"))
		if _, err := together.Put(ctx, refused); err == nil {
			t.Fatal("an owner has replaced what another asked for")
		}
		sameURDs(t, together, each)
	}
	ok(t, together.Check(ctx, false, func(f fsck.Finding) { t.Errorf("%+v", f) }))
}

// sameURDs fails unless two stores have the same URDs, revisions, removed ones and keywords.
func sameURDs(t *testing.T, a, b *control.Store) {
	t.Helper()
	for what, of := range map[string]func(*control.Store) any{
		"URDs":      func(s *control.Store) any { return gather(t, s.All(t.Context())) },
		"revisions": func(s *control.Store) any { return gather(t, s.Revised(t.Context(), 0)) },
		"revision":  func(s *control.Store) any { return revision(t, s) },
		"of a word": func(s *control.Store) any {
			return ids(gather(t, s.Query(t.Context(), "/urd[keywords/keyword/@key='word1']")))
		},
	} {
		if diff := cmp.Diff(of(b), of(a)); diff != "" {
			t.Fatalf("%s: %s", what, diff)
		}
	}
}

// A URD that is given twice in one call counts toward a budget as what it is in the end.
func TestBudgetsCountWhatIsLeft(t *testing.T) {
	t.Parallel()
	s := open(t)
	ok(t, s.SetBudget(t.Context(), "eleni", &control.Budget{URDs: 2, Keywords: 3}))
	large, small := urd("a", "eleni", "http://a.example/", "w", "x", "y", "z"), urd("a", "eleni", "http://a.example/", "w")
	put(t, s, large, small, large, small, urd("b", "eleni", "http://b.example/", "x", "y"))
	var beyond *control.BudgetError
	if _, err := s.Put(t.Context(), []*xmlschema.URD{small, large}); !errors.As(err, &beyond) || beyond.Had != 3 || beyond.Would != 6 {
		t.Errorf("%v, want 6 keywords instead of 3 to be refused", err)
	}
}
