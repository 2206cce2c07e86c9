package controltest

import (
	"errors"
	"time"

	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/fsck"
)

func pausedStartNothing(s *session) {
	get := func(id string) control.URD {
		u, err := s.store.Get(s.ctx, id)
		s.ok(err)
		return u
	}
	a, b := urd("a", "eleni", "http://a.example/"), urd("b", "eleni", "http://a.example/")
	a.At = "0 8 * * *"
	s.put(a, b)
	before := get("a")
	crawl := before.Crawl.ID
	since, err := s.store.TimesSince(s.ctx, "a")
	s.ok(err)

	a.Paused, a.Title, a.Labels = true, "Offers", []string{"boats", "work"}
	s.same("effect of pausing", s.put(a), "[changed]")
	s.same("effect of pausing again", s.put(a), "[unchanged]")
	s.reopen()
	paused := get("a")
	s.must(paused.Paused && paused.Crawl.ID == "" && paused.Interest == before.Interest && paused.Revision > before.Revision, "paused: %+v", paused)
	s.same("title and labels", paused.Title+" "+paused.Labels[1], "Offers work")
	s.same("that want the crawl", ids(all(s, s.store.ByCrawl(s.ctx, crawl))), "[b]")
	mine, err := s.store.IDsByCrawl(s.ctx, "eleni", crawl)
	s.ok(err)
	s.same("of eleni", mine, "[b]")
	s.same("paused ones", ids(all(s, s.store.Query(s.ctx, "//urd[@state='paused']"))), "[a]")
	s.same("of both labels", ids(all(s, s.store.Query(s.ctx, "/urd[@labels='boats work' and @owner='eleni']"))), "[a]")
	none, err := s.store.TimesSince(s.ctx, "a")
	s.must(err == nil && none.IsZero(), "the times of a paused URD count since %v, %v", none, err)
	changed := all(s, s.store.Revised(s.ctx, before.Revision+1))
	s.must(len(changed) == 1 && changed[0].URD.Paused, "followers see %+v", changed)

	b.Paused = true
	s.put(b)
	_, err = s.store.StartOf(s.ctx, crawl)
	s.must(errors.Is(err, control.ErrNotFound), "the start of a crawl of which all are paused: %v", err)

	a.Paused = false
	s.put(a)
	resumed := get("a")
	s.same("crawl when it is resumed", resumed.Crawl.ID, crawl)
	s.same("interest when it is resumed", resumed.Interest, before.Interest)
	again, err := s.store.TimesSince(s.ctx, "a")
	s.must(err == nil && again.After(since) && !again.After(time.Now()), "the times of one that is resumed count since %v, and before since %v, %v", again, since, err)

	newInterestsAreOfTheResumption(s)
	s.ok(s.store.Check(s.ctx, false, func(f fsck.Finding) { s.must(false, "found %+v", f) }))
}

// newInterestsAreOfTheResumption: what nobody could be shown, because it was asked for while paused, is new when that
// ends.
func newInterestsAreOfTheResumption(s *session) {
	c := urd("c", "eleni", "http://a.example/")
	put := func(what string, interest int64) control.URD {
		s.put(c)
		u, err := s.store.Get(s.ctx, "c")
		s.ok(err)
		if interest < 0 {
			interest = u.Revision
		}
		s.same("interest of one that is "+what, u.Interest, interest)
		return u
	}
	const isNew = -1
	c.Paused = true
	put("added paused", 0)
	c.Urgency = 3
	put("changed in urgency while paused", 0)
	c.Paused = false
	was := put("resumed for the first time", isNew).Interest
	c.Title = "Title"
	put("given a title", was)
	c.Paused = true
	put("paused", was)
	c.Keywords.Threshold = 1
	put("changed while paused", 0)
	c.Paused = false
	put("resumed with another interest", isNew)
	c.Paused, c.Depth = true, 2
	put("changed and paused at once", 0)
	c.Paused, c.Depth = false, 3
	put("changed and resumed at once", isNew)
}
