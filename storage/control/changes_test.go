package control_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

func now(t *testing.T, s *control.Store) control.Point {
	t.Helper()
	p, err := s.Now(t.Context())
	ok(t, err)
	return p
}

func TestACheckIsAskedForDurably(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "control.db")
	s := openAt(t, path)
	ctx := t.Context()
	put(t, s, urd("a", "eleni", "http://a.example/"), urd("b", "eleni", "http://b.example/"), urd("c", "eleni", "http://c.example/"))
	began := time.Now()
	for _, id := range []string{"c", "a", "c"} {
		ok(t, s.CheckNow(ctx, id))
	}
	if err := s.CheckNow(ctx, "none"); !errors.Is(err, control.ErrNotFound) || !strings.Contains(err.Error(), "none") {
		t.Errorf("checking what is not there: %v", err)
	}
	ok(t, s.Close())
	s = openAt(t, path)
	if p := now(t, s); p != (control.Point{Revision: 3, Checks: 3}) {
		t.Errorf("at %+v", p)
	}
	changed := urd("c", "eleni", "http://elsewhere.example/")
	put(t, s, changed)
	for id, asked := range map[string]bool{"a": true, "b": false, "c": true} {
		u, err := s.Get(ctx, id)
		ok(t, err)
		if asked != u.CheckAsked.After(began.Add(-time.Millisecond)) || !asked && !u.CheckAsked.IsZero() {
			t.Errorf("%s was asked for at %v", id, u.CheckAsked)
		}
	}
	for since, want := range map[int64][]string{0: {"a", "c"}, 2: {"c"}, 3: {}} {
		got := gather(t, s.Asked(ctx, since))
		if !slices.Equal(ids(got), want) {
			t.Errorf("after %d: %v, want %v", since, ids(got), want)
		}
		for _, u := range got {
			if u.CheckAsked.IsZero() || u.Crawl.ID == "" {
				t.Errorf("%s lacks a part: %+v", u.ID, u)
			}
		}
	}
}

func TestEveryChangeWakesAndNothingElse(t *testing.T) {
	t.Parallel()
	s := open(t)
	a := urd("a", "eleni", "http://a.example/")
	for _, step := range []struct {
		name string
		do   func() error
		want control.Point
	}{
		{"add", func() error { _, err := s.Put(t.Context(), []*xmlschema.URD{a}); return err }, control.Point{Revision: 1}},
		{"ask", func() error { return s.CheckNow(t.Context(), "a") }, control.Point{Revision: 1, Checks: 1}},
		{"set a quota", func() error { return s.SetQuota(t.Context(), "eleni", 5) }, control.Point{Revision: 1, Checks: 1, Quotas: 1}},
		{"remove", func() error { return s.Delete(t.Context(), "a") }, control.Point{Revision: 2, Checks: 1, Quotas: 1}},
	} {
		before := now(t, s)
		reached := make(chan control.Point, 1)
		go func() {
			p, err := s.NextChange(t.Context(), before)
			if err != nil {
				t.Errorf("%s: %v", step.name, err)
			}
			reached <- p
		}()
		ok(t, step.do())
		if got := <-reached; got != step.want {
			t.Errorf("%s: woken at %+v, want %+v", step.name, got, step.want)
		}
	}
	at := now(t, s)
	if p, err := s.NextChange(t.Context(), control.Point{}); err != nil || p != at {
		t.Errorf("from the beginning: %+v, %v", p, err)
	}
	putACIs(t, s, aci(1))
	ok(t, s.SetCursor(t.Context(), "x", 1))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if p, err := s.NextChange(ctx, at); err == nil {
		t.Errorf("an ACI and a cursor changed the URD base to %+v", p)
	}
}

func TestAURDOfAnotherOwnerIsNotReplaced(t *testing.T) {
	t.Parallel()
	s := open(t)
	put(t, s, urd("a", "eleni", "http://a.example/"))
	taken := urd("a", "andreas", "http://evil.example/")
	_, err := s.Put(t.Context(), []*xmlschema.URD{urd("b", "andreas", "http://b.example/"), taken})
	for _, want := range []string{"eleni", "andreas", `"a"`, "remove"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %s", err, want)
		}
	}
	if got := ids(gather(t, s.All(t.Context()))); !slices.Equal(got, []string{"a"}) {
		t.Errorf("stored %v", got)
	}
	ok(t, s.Delete(t.Context(), "a"))
	put(t, s, taken)
}

func TestURDsAreFoundByHost(t *testing.T) {
	t.Parallel()
	s := open(t)
	put(t, s,
		urd("start", "eleni", "http://WWW.a.example:8080/x"), urd("prefix", "eleni", "https://www.a.example/x*"),
		urd("open-prefix", "eleni", "http://www.a.example*"), urd("other", "eleni", "http://b.example/"), urd("all", "eleni", "*"))
	if got := ids(gather(t, s.ByHost(t.Context(), "www.a.example"))); !slices.Equal(got, []string{"start", "prefix"}) {
		t.Errorf("found %v", got)
	}
}

func TestQuotasAndUsageAreKept(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "control.db")
	s := openAt(t, path)
	ctx := t.Context()
	put(t, s, urd("a", "eleni", "http://a.example/"), urd("b", "eleni", "http://b.example/"), urd("c", "costas", "http://b.example/"))
	ok(t, s.SetQuota(ctx, "eleni", 100))
	ok(t, s.SetQuota(ctx, "eleni", 50))
	ok(t, s.SetQuota(ctx, "zoe", 7))
	ok(t, s.SetQuota(ctx, "andreas", 7))
	ok(t, s.SetQuota(ctx, "andreas", 0))
	for _, err := range []error{s.SetQuota(ctx, "", 5), s.SetQuota(ctx, "eleni", -1), s.AddUsage(ctx, "yesterday", nil, nil)} {
		if err == nil {
			t.Error("nonsense was accepted")
		}
	}
	ok(t, s.AddUsage(ctx, "2026-11-21", map[string]float64{"eleni": 1.5, "costas": 2}, map[string]int64{"used a": 4, "used b_": 5}))
	ok(t, s.AddUsage(ctx, "2026-11-21", map[string]float64{"eleni": 0.25}, nil))
	if got, err := s.Cursors(ctx, "used "); err != nil || len(got) != 2 || got["a"] != 4 || got["b_"] != 5 {
		t.Errorf("cursors %v, %v", got, err)
	}
	if got, err := s.Cursors(ctx, "used _"); err != nil || len(got) != 0 {
		t.Errorf("cursors %v, %v", got, err)
	}
	ok(t, s.AddUsage(ctx, "2024-01-01", map[string]float64{"eleni": 9}, nil))
	ok(t, s.AddUsage(ctx, "2026-11-22", map[string]float64{"eleni": 1}, nil))
	ok(t, s.Close())
	s = openAt(t, path)
	if got := gather(t, s.Owners(ctx)); !slices.Equal(got, []control.Owner{{"costas", 1, 0}, {"eleni", 2, 50}, {"zoe", 0, 7}}) {
		t.Errorf("owners %+v", got)
	}
	for owner, want := range map[string]int{"eleni": 50, "costas": 0, "stranger": 0} {
		if got, err := s.Quota(ctx, owner); err != nil || got != want {
			t.Errorf("quota of %s is %d, %v", owner, got, err)
		}
	}
	for day, want := range map[string]map[string]float64{
		"2026-11-21": {"eleni": 1.75, "costas": 2}, "2026-11-22": {"eleni": 1}, "2026-11-23": {}, "2024-01-01": {},
	} {
		got, err := s.Usage(ctx, day)
		if err != nil || len(got) != len(want) || got["eleni"] != want["eleni"] || got["costas"] != want["costas"] {
			t.Errorf("%s: %v, %v, want %v", day, got, err, want)
		}
	}
}
