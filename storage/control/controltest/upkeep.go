package controltest

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/fsck"
)

func iteratorsMayBeLeft(s *session) {
	s.put(urd("a", "eleni", "http://a.example/"), urd("b", "eleni", "http://b.example/"), urd("c", "eleni", "http://c.example/"))
	for range 50 { // more often than there may be reads under way
		for u, err := range s.store.All(s.ctx) {
			s.ok(err)
			s.same("first", u.ID, "a")
			break
		}
	}
	for doing, results := range map[string]func(func(control.URD, error) bool){"All": s.store.All(s.ctx), "Query": s.store.Query(s.ctx, "//keyword[@weight > 3]")} {
		before := ids(all(s, s.store.All(s.ctx)))
		var seen []control.URD
		for u, err := range results {
			s.ok(err)
			if len(seen) == 0 {
				s.put(urd("during"+doing, "eleni", "http://d.example/"))
				_, err = s.store.Get(s.ctx, "during"+doing)
				s.ok(err)
			}
			seen = append(seen, u)
		}
		s.same(doing, ids(seen), before)
	}
}

func endedContextsStop(s *session) {
	s.put(urd("a", "eleni", "http://a.example/"), urd("b", "eleni", "http://b.example/"))
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	var last error
	count := 0
	for _, err := range s.store.All(ctx) {
		cancel()
		last = err
		count++
	}
	s.must(count == 2 && errors.Is(last, context.Canceled), "%d results, the last %v", count, last)
	s.must(errors.Is(s.store.SetCursor(ctx, "x", 1), context.Canceled), "a write goes on")
	_, err := s.store.NextChange(ctx, s.now())
	s.must(errors.Is(err, context.Canceled), "waiting for a change: %v", err)
	s.reopen()
	position, err := s.store.Cursor(s.ctx, "x")
	s.ok(err)
	s.same("what was not written", position, 0)
}

func replacedInPlace(s *session) {
	s.putACIs(aci(1, "eleni"), aci(2, "eleni"))
	_, err := s.store.Take(s.ctx, "eleni")
	s.ok(err)
	s.putACIs(aci(3, "eleni"))
	for n := 2; n <= 3; n++ {
		mended := aci(n, "eleni")
		mended.Title = "Mended"
		s.ok(s.store.ReplaceACI(s.ctx, mended))
	}
	s.must(errors.Is(s.store.ReplaceACI(s.ctx, aci(9, "eleni")), control.ErrNotFound), "replacing what is not there is no error")
	s.reopen()
	stored := all(s, s.store.ACIs(s.ctx, control.Filter{}))
	s.same("stored", seqs(stored), "[1 2 3]")
	s.must(stored[0].Title != "Mended" && stored[1].Title == "Mended", "titles %q, %q", stored[0].Title, stored[1].Title)
	s.same("found by XPath", seqs(all(s, s.store.ACIs(s.ctx, control.Filter{XPath: "/aci[title='Mended']"}))), "[2 3]")
	waiting, err := s.store.Take(s.ctx, "eleni")
	s.ok(err)
	s.same("waiting", seqs(waiting), "[3]")
}

// fill stores something of each kind.
func (s *session) fill() {
	eleni := s.account("eleni")
	channels := []int64{s.channel(eleni, "first"), s.channel(eleni, "second")}
	timed := urd("a", "eleni", "http://a.example/")
	timed.At, timed.Secret = "0 8 * * *", "bank"
	s.put(timed, urd("b", "eleni", "http://b.example/"), urd("c", "costas", "http://a.example/"))
	s.ok(s.store.Delete(s.ctx, "b"))
	s.ok(s.store.CheckNow(s.ctx, "c"))
	s.putACIs(shown(pageA, 1, 10, 20, 0), shown(pageB, 1, 10, 20, 0), aci(2, "eleni"))
	_, err := s.store.Take(s.ctx, "eleni")
	s.ok(err)
	_, err = s.store.Trim(s.ctx, time.Now().Add(time.Hour))
	s.ok(err)
	s.ok(s.store.SetBudget(s.ctx, "costas", &control.Budget{Alerts: 1}))
	s.putACIs(shown(pageC, 1, 30, 40, 0), shown(pageA, 2, 30, 40, 0), aci(3, "costas"), aci(4, "costas"))
	_, err = s.store.Notices(s.ctx, "costas")
	s.ok(err)
	s.ok(s.store.SetQuota(s.ctx, "eleni", 7))
	s.ok(s.store.AddUsage(s.ctx, "2026-11-21", map[string]float64{"eleni": 1.5}, map[string]int64{"meter": 9}))
	s.ok(s.store.SetSecret(s.ctx, "bank", s.basic("hush")))
	s.ok(s.store.SetSession(s.ctx, "bank", "cookies"))
	s.ok(s.store.SetCursor(s.ctx, "p/s", 2))
	s.fillAccount(channels)
	_, err = s.store.PutDeadLetter(s.ctx, control.DeadLetter{ID: "a", Pipeline: "p", Item: []byte("{}")})
	s.ok(err)
}

// fillAccount stores something of each kind that goes with eleni's account, and her channels.
func (s *session) fillAccount(channels []int64) {
	later := time.Now().Add(time.Hour)
	s.ok(s.store.PutWebSession(s.ctx, control.WebSession{Hash: "session", Owner: "eleni", Expires: later}))
	s.ok(s.store.AddToken(s.ctx, "token", control.Token{Owner: "eleni", Purpose: control.PurposeAPI, Expires: later}))
	s.file([]int64{3}, channels...)
	_, err := s.store.Compose(s.ctx, time.Now(), 1, func(int64, []string) string { return "message" })
	s.ok(err)
}

func backedUp(s *session) {
	s.fill()
	at, urds, acis := s.now(), ids(all(s, s.store.All(s.ctx))), seqs(all(s, s.store.ACIs(s.ctx, control.Filter{})))
	to := filepath.Join(s.dir, "copy.db")
	s.ok(s.store.Backup(s.ctx, to))
	s.must(errors.Is(s.store.Backup(s.ctx, to), fs.ErrExist), "a backup is written over")
	s.put(urd("later", "eleni", "http://a.example/"))
	s.putACIs(aci(5, "eleni"))

	original := s.store
	defer func() { s.store = original }()
	copied, err := control.Open(to, control.Options{})
	s.ok(err)
	defer copied.Close()
	s.store = copied
	s.same("point", s.now(), at)
	s.same("URDs", ids(all(s, s.store.All(s.ctx))), urds)
	s.same("ACIs", seqs(all(s, s.store.ACIs(s.ctx, control.Filter{}))), acis)
	s.same("new of what was stored or trimmed", s.putACIs(shown(pageA, 1, 10, 20, 0), aci(2, "eleni"), aci(3, "costas")), 0)
	waiting, err := s.store.Take(s.ctx, "eleni")
	s.ok(err)
	s.same("waiting", len(waiting), 1)
	s.same("added", s.put(urd("more", "eleni", "http://a.example/")), "[added]")
}

func checkFindsNothing(s *session) {
	s.fill()
	for range 2 {
		for _, repair := range []bool{false, true} {
			s.ok(s.store.Check(s.ctx, repair, func(f fsck.Finding) { s.must(false, "found %+v", f) }))
		}
		s.reopen()
	}
}
