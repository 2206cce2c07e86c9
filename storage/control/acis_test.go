package control_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// aci makes the nth annotation: every third is for andreas, the others for eleni.
func aci(n int) *xmlschema.ACI {
	a := &xmlschema.ACI{
		ID: fmt.Sprintf("aci%d", n), URD: fmt.Sprintf("u%d", n%4), Owner: "eleni",
		URI: fmt.Sprintf("http://a.example/%d", n%5), Title: "Title", Format: xmlschema.FormatHTML, Urgency: 1,
		Relevance: n % 101, UpdateTime: time.Unix(int64(1e9+n), 0).UTC(), Summary: "a «word» & more",
		Docbase: xmlschema.Docbase{Version: 1},
	}
	if n%3 == 0 {
		a.Owner = "andreas"
	}
	return a
}

func putACIs(t *testing.T, s *control.Store, acis ...*xmlschema.ACI) int {
	t.Helper()
	stored, err := s.PutACIs(t.Context(), acis)
	ok(t, err)
	return stored.Added
}

func numbers(acis []control.ACI) []int64 {
	var all []int64
	for _, a := range acis {
		all = append(all, a.Seq)
	}
	return all
}

func TestRepeatingNeverAlertsTwice(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "control.db")
	s := openAt(t, path)
	ctx := t.Context()
	if n := putACIs(t, s, aci(1), aci(2), aci(1)); n != 2 {
		t.Errorf("%d are new, want 2", n)
	}
	taken, err := s.Take(ctx, "eleni")
	ok(t, err)
	if got := numbers(taken); !slices.Equal(got, []int64{1, 2}) {
		t.Fatalf("took %v", got)
	}
	if diff := cmp.Diff(aci(1), taken[0].ACI); diff != "" {
		t.Error(diff)
	}
	ok(t, s.Close())

	s = openAt(t, path)
	again := aci(1)
	again.Summary = "made again"
	if n := putACIs(t, s, again, aci(2)); n != 0 {
		t.Errorf("%d are new after a repeat, want 0", n)
	}
	if taken, err = s.Take(ctx, "eleni"); err != nil || len(taken) != 0 {
		t.Errorf("took %v again: %v", numbers(taken), err)
	}
	all := gather(t, s.ACIs(ctx, control.Filter{}))
	if got := numbers(all); !slices.Equal(got, []int64{1, 2}) {
		t.Fatalf("stored %v", got)
	}
	if all[0].Summary != aci(1).Summary || all[0].Retrieved.IsZero() {
		t.Errorf("the repeat left %+v, retrieved %v", all[0].ACI, all[0].Retrieved)
	}
	if putACIs(t, s, aci(4)); numbers(gather(t, s.ACIs(ctx, control.Filter{After: 2})))[0] != 3 {
		t.Error("a new one did not get the next number")
	}
}

func TestTakeGivesEachOwnerTheirsOnce(t *testing.T) {
	t.Parallel()
	s := open(t)
	expired := aci(5)
	expired.Expired = true
	putACIs(t, s, aci(1), aci(2), aci(3), aci(4), expired)
	for _, c := range []struct {
		owner string
		want  []int64
	}{{"eleni", []int64{1, 2, 4}}, {"eleni", nil}, {"andreas", []int64{3}}, {"stranger", nil}} {
		taken, err := s.Take(t.Context(), c.owner)
		ok(t, err)
		if got := numbers(taken); !slices.Equal(got, c.want) {
			t.Errorf("%s took %v, want %v", c.owner, got, c.want)
		}
		for _, a := range taken {
			if a.Retrieved.IsZero() {
				t.Errorf("%d was taken, but not marked", a.Seq)
			}
		}
	}
}

// Who takes so many at a time gets what waits in its order, each once, and hears whether more waits.
func TestTakingSomeAtATime(t *testing.T) {
	t.Parallel()
	s := open(t)
	putACIs(t, s, aci(1), aci(2), aci(3), aci(4), aci(5))
	for _, c := range []struct {
		owner string
		most  int
		want  []int64
		more  bool
	}{
		{"eleni", 2, []int64{1, 2}, true}, {"andreas", 1, []int64{3}, false}, {"eleni", 1, []int64{4}, true}, {"stranger", 5, nil, false},
		{"eleni", 5, []int64{5}, false}, {"eleni", 5, nil, false},
	} {
		taken, more, err := s.Of(c.owner).Take(t.Context(), c.most)
		ok(t, err)
		if got := numbers(taken); !slices.Equal(got, c.want) || more != c.more {
			t.Errorf("%s took %v, more %t, want %v, %t", c.owner, got, more, c.want, c.more)
		}
	}
}

func TestFiltersCombine(t *testing.T) {
	t.Parallel()
	s := open(t)
	var all []*xmlschema.ACI
	for n := range 60 {
		all = append(all, aci(n))
	}
	putACIs(t, s, all...)
	for _, f := range []control.Filter{
		{}, {Owner: "andreas"}, {URD: "u2"}, {URL: "http://a.example/3"}, {Since: time.Unix(1e9+30, 0)}, {After: 50}, {Limit: 7},
		{Owner: "eleni", URD: "u1", After: 10, Limit: 3}, {Owner: "eleni", URL: "http://a.example/1", Since: time.Unix(1e9+20, 0)},
		{XPath: "/aci[@relevance > 40]"}, {XPath: "/aci[@owner='andreas' and @relevance > 20]", After: 30, Limit: 4},
		{XPath: "/aci[@owner='andreas']", Owner: "eleni"}, {XPath: "/aci[uri='http://a.example/2']", URD: "u3"},
	} {
		var want []int64
		for i, a := range all {
			seq := int64(i + 1)
			if f.Limit > 0 && len(want) == f.Limit {
				break
			}
			if (f.Owner == "" || f.Owner == a.Owner) && (f.URD == "" || f.URD == a.URD) && (f.URL == "" || f.URL == a.URI) &&
				!a.UpdateTime.Before(f.Since) && seq > f.After && matchesByHand(f.XPath, a) {
				want = append(want, seq)
			}
		}
		if got := numbers(gather(t, s.ACIs(t.Context(), f))); !slices.Equal(got, want) {
			t.Errorf("%+v: %v, want %v", f, got, want)
		}
	}
}

// matchesByHand reports what the expressions of the test above mean for an ACI.
func matchesByHand(xpath string, a *xmlschema.ACI) bool {
	switch xpath {
	case "/aci[@relevance > 40]":
		return a.Relevance > 40
	case "/aci[@owner='andreas' and @relevance > 20]":
		return a.Owner == "andreas" && a.Relevance > 20
	case "/aci[@owner='andreas']":
		return a.Owner == "andreas"
	case "/aci[uri='http://a.example/2']":
		return a.URI == "http://a.example/2"
	}
	return xpath == ""
}

func TestAFollowerIsWokenAndMissesNothing(t *testing.T) {
	t.Parallel()
	s := open(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	const count = 40
	followed := make(chan []int64)
	go func() {
		defer close(followed)
		var seen []int64
		for len(seen) < count {
			next, err := s.NextACIs(ctx, int64(len(seen)), 3)
			if err != nil || len(next) > 3 {
				t.Errorf("%d ACIs: %v", len(next), err)
				return
			}
			seen = append(seen, numbers(next)...)
		}
		followed <- seen
	}()
	for n := range count {
		putACIs(t, s, aci(n), aci(0)) // the second is a repeat, but for the first time
	}
	seen := <-followed
	if len(seen) != count || !slices.IsSorted(seen) || len(slices.Compact(seen)) != count {
		t.Errorf("followed %v", seen)
	}
	cancel()
	if _, err := s.NextACIs(ctx, count, 3); !errors.Is(err, context.Canceled) {
		t.Errorf("waiting for nothing: %v", err)
	}
}

func TestTheLastACIIsWhereNewOnesBegin(t *testing.T) {
	t.Parallel()
	s := open(t)
	for _, want := range []int64{0, 2} {
		last, err := s.LastACI(t.Context())
		ok(t, err)
		if last != want {
			t.Errorf("the last is %d, want %d", last, want)
		}
		putACIs(t, s, aci(1), aci(2))
	}
	putACIs(t, s, aci(3))
	if next, err := s.NextACIs(t.Context(), 2, 0); err != nil || len(next) != 1 || next[0].ID != "aci3" {
		t.Errorf("after the last: %v, %v", numbers(next), err)
	}
}

func TestPuttingACIsIsAllOrNothing(t *testing.T) {
	t.Parallel()
	s := open(t)
	nobodys := aci(2)
	nobodys.Owner = ""
	if n, err := s.PutACIs(t.Context(), []*xmlschema.ACI{aci(1), nobodys}); err == nil || n.Added+n.Withheld+n.Mirrors+len(n.New) != 0 {
		t.Errorf("%+v: %v", n, err)
	}
	if all := gather(t, s.ACIs(t.Context(), control.Filter{})); len(all) != 0 {
		t.Errorf("stored %v", numbers(all))
	}
}
