package controltest

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema/httprequest"
)

func startsAreFound(s *session) {
	posted := urd("c", "eleni", "http://a.example/")
	posted.Request = &httprequest.Request{Method: http.MethodPost, Body: "x"}
	s.put(urd("a", "eleni", "http://a.example/"), urd("b", "costas", "http://a.example/"), posted,
		urd("d", "eleni", "http://a.example/x/*"), urd("e", "eleni", "http://b.example/"))
	s.reopen()
	s.same("on the host", ids(all(s, s.store.ByHost(s.ctx, "a.example"))), "[a b c d]")
	crawl := func(id string) string {
		u, err := s.store.Get(s.ctx, id)
		s.ok(err)
		return u.Crawl.ID
	}
	plain, post := crawl("a"), crawl("c")
	s.same("that share a crawl", ids(all(s, s.store.ByCrawl(s.ctx, plain, post))), "[a b c]")
	mine, err := s.store.IDsByCrawl(s.ctx, "eleni", plain, post)
	s.ok(err)
	s.same("of eleni", slices.Sorted(slices.Values(mine)), "[a c]")

	start, err := s.store.StartOf(s.ctx, plain)
	s.ok(err)
	s.same("start", start, "http://a.example/")
	marked, err := s.store.StartOf(s.ctx, post)
	s.ok(err)
	s.must(marked != start, "two requests begin at %s", start)
	request, err := s.store.RequestOf(s.ctx, plain)
	s.must(err == nil && request == nil, "a plain GET is asked by %+v, %v", request, err)
	request, err = s.store.RequestOf(s.ctx, post)
	s.ok(err)
	s.same("request", request, posted.Request)
	guarded := urd("f", "eleni", "http://c.example/")
	guarded.Secret = "bank"
	s.put(guarded)
	from, secret, err := s.store.SourceOf(s.ctx, crawl("f"))
	s.ok(err)
	s.same("source", from+" "+secret, "http://c.example/ bank")
	from, secret, err = s.store.SourceOf(s.ctx, post)
	s.ok(err)
	s.same("source of a request", from+secret, marked)

	s.ok(s.store.Delete(s.ctx, "a"))
	_, err = s.store.StartOf(s.ctx, plain)
	s.ok(err) // costas still wants it
	s.ok(s.store.Delete(s.ctx, "b"))
	_, err = s.store.StartOf(s.ctx, plain)
	s.must(errors.Is(err, control.ErrNotFound), "the start of a crawl that is not wanted: %v", err)
	_, err = s.store.RequestOf(s.ctx, plain)
	s.must(errors.Is(err, control.ErrNotFound), "the request of a crawl that is not wanted: %v", err)
	_, _, err = s.store.SourceOf(s.ctx, plain)
	s.must(errors.Is(err, control.ErrNotFound), "the source of a crawl that is not wanted: %v", err)
}

func timesAreKept(s *session) {
	since := func(id string) time.Time {
		at, err := s.store.TimesSince(s.ctx, id)
		s.ok(err)
		return at
	}
	a := urd("a", "eleni", "http://a.example/")
	a.At = "0 8 * * *"
	began := time.Now().Truncate(time.Millisecond)
	s.put(a, urd("b", "eleni", "http://b.example/"))
	given := since("a")
	s.must(!given.Before(began) && !given.After(time.Now()), "times that were given since %v count since %v", began, given)
	s.must(since("b").IsZero(), "no times count since %v", since("b"))
	s.reopen()
	a.Urgency = 3
	s.put(a)
	s.same("since, when something else was changed", since("a"), given)
	all, err := s.store.AllTimesSince(s.ctx)
	s.ok(err)
	s.same("of all", all, map[string]time.Time{"a": given})
	a.At = "0 9 * * *"
	s.put(a)
	s.must(since("a").After(given), "other times count since %v", since("a"))
	a.At = ""
	s.put(a)
	s.must(since("a").IsZero(), "times that were taken away count since %v", since("a"))
	a.At = "0 9 * * *"
	s.put(a)
	s.ok(s.store.Delete(s.ctx, "a"))
	all, err = s.store.AllTimesSince(s.ctx)
	s.ok(err)
	s.same("of all, when the URD was removed", len(all), 0)
}

func copiesAreAwaited(s *session) {
	s.put(urd("a", "eleni", "http://a.example/"))
	reached := s.revision()
	ended, cancel := context.WithCancel(s.ctx)
	cancel()
	late, early := s.store.Keep(0), s.store.Keep(reached)
	s.must(errors.Is(s.store.Copied(ended, reached), context.Canceled), "a copy that is late is not waited for")
	copied := make(chan error, 1)
	go func() { copied <- s.store.Copied(s.ctx, reached) }()
	late.At(reached)
	s.ok(<-copied)
	late.Close()
	s.must(errors.Is(s.store.Copied(ended, reached+1), context.Canceled), "the copy that is left is not waited for")
	early.Close()
	early.Close()
	s.ok(s.store.Copied(ended, reached+1))
}
