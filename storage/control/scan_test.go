package control_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"testing"

	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// A base that is large enough for two scanners is scanned in order, whole, and as it was at one moment.
func TestALargeScanIsInOrderAndOfOneMoment(t *testing.T) {
	t.Parallel()
	count := 9000
	if testing.Short() {
		count = 2500
	}
	s := open(t)
	all := make([]*xmlschema.URD, count)
	for i := range all {
		all[i] = benchURD(i)
		all[i].Urgency = 1
	}
	put(t, s, all...)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var writing sync.WaitGroup
	writing.Go(func() { // every write changes all URDs of an owner, in one transaction
		for n := 0; ctx.Err() == nil; n++ {
			first, last := *all[10], *all[count-10]
			first.Urgency, last.Urgency = 2+n%2, 2+n%2
			if _, err := s.Put(context.WithoutCancel(ctx), []*xmlschema.URD{&first, &last}); err != nil {
				t.Error(err)
				return
			}
		}
	})
	scans := 10
	if testing.Short() {
		scans = 2
	}
	for range scans {
		found := gather(t, s.Query(t.Context(), "/urd[string-length(@id) > 3]"))
		if len(found) != count || !slices.IsSorted(ids(found)) {
			t.Fatalf("%d URDs, or not in order", len(found))
		}
		if a, b := found[10].Urgency, found[count-10].Urgency; a != b {
			t.Fatalf("a scan saw half of a transaction: %d and %d", a, b)
		}
	}
	cancel()
	writing.Wait()
	if found := gather(t, s.Query(t.Context(), "/urd[urgency/@urgent='1' and keywords/keyword/@weight > 4 and contains(uri, 'page77')]")); !slices.Equal(ids(found), wanted(all)) {
		t.Errorf("found %v, want %v", ids(found), wanted(all))
	}
}

// wanted returns what the last expression of the test above means.
func wanted(all []*xmlschema.URD) (want []string) {
	for i, u := range all {
		heavy := slices.ContainsFunc(u.Keywords.Keywords, func(k xmlschema.Keyword) bool { return k.Weight > 4 })
		if heavy && i != 10 && i != len(all)-10 && slices.Contains([]int{77, 770 + i%10, 7700 + i%100}, i) {
			want = append(want, u.ID)
		}
	}
	return want
}

func TestAScanMayBeLeftAndCancelled(t *testing.T) {
	t.Parallel()
	s := open(t)
	count := 5000
	if testing.Short() {
		count = 1500
	}
	all := make([]*xmlschema.URD, count)
	for i := range all {
		all[i] = benchURD(i)
	}
	put(t, s, all...)
	for round := range 20 { // more often than there are readers
		n := 0
		for u, err := range s.Query(t.Context(), "//keyword") {
			ok(t, err)
			if u.ID != fmt.Sprintf("u%07d", n) {
				t.Fatalf("round %d: %s is the %dth", round, u.ID, n)
			}
			if n++; n > round*3 {
				break
			}
		}
	}
	for name, read := range map[string]func(context.Context) iter.Seq2[control.URD, error]{
		"scan": func(ctx context.Context) iter.Seq2[control.URD, error] { return s.Query(ctx, "//keyword") },
		"rows": s.All,
	} {
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		var last error
		for _, err := range read(ctx) {
			if last = err; err == nil {
				n++
			}
			if n == 10 {
				cancel()
			}
		}
		cancel()
		if n != 10 || !errors.Is(last, context.Canceled) {
			t.Errorf("%s, cancelled at the 10th: %d URDs, then %v", name, n, last)
		}
	}
	if got := len(gather(t, s.All(t.Context()))); got != len(all) {
		t.Errorf("%d URDs afterwards", got)
	}
}
