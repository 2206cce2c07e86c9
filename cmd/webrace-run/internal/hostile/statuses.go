package hostile

import (
	"net/http"
	"sync/atomic"
	"time"
)

// turns answers each request for /bad with the next of these, and from the last on with that.
func turns(answers ...http.HandlerFunc) func(*Site) {
	return func(s *Site) {
		var n atomic.Int64
		s.handle(bad, func(w http.ResponseWriter, r *http.Request) {
			answers[min(int(n.Add(1)), len(answers))-1](w, r)
		})
	}
}

// later answers with a status, and what f returns as its Retry-After.
func later(status int, f func() string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", f())
		w.WriteHeader(status)
	}
}

func always(s string) func() string { return func() string { return s } }

// status answers with nothing else.
func status(status int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }
}

func inTwoSeconds() string { return time.Now().Add(2 * time.Second).UTC().Format(http.TimeFormat) }

var fine = page("<p>fine at last")

// atSecond is what comes of one bad URL that is a page when it is asked for again.
func atSecond(counter string) Expect {
	return Expect{Counters: some{"pages": 1, counter: 1}, Why: says{bad: "crawl: fetched"}, Asked: 2}
}

func statuses() []Case {
	return []Case{
		{
			Name: "busy-for-seconds", Does: "answers 429, to come back in a second", Slow: true,
			Lay:    turns(later(429, always("1")), fine),
			Expect: atSecond("fetch.status_429"),
		},
		{
			Name: "busy-until-a-date", Does: "answers 429, to come back at a date", Slow: true,
			Lay:    turns(later(429, inTwoSeconds), fine),
			Expect: atSecond("fetch.status_429"),
		},
		{
			Name: "busy-until-the-past", Does: "answers 503, to come back at a date long past",
			Lay:    turns(later(503, always("Thu, 01 Jan 1970 00:00:00 GMT")), fine),
			Expect: atSecond("fetch.status_503"),
		},
		{
			Name: "busy-until-garbage", Does: "answers 429, to come back soon-ish", Slow: true,
			Lay:    turns(later(429, always("soon-ish")), fine),
			Expect: atSecond("fetch.status_429"),
		},
		{
			Name: "busy-for-ages", Does: "answers 429, to come back in longer than the world is old", Slow: true,
			Options: []string{"fetch.max_retry_after=1s", "frontier.attempts=2"},
			Lay:     turns(later(429, always("999999999999999999999999"))),
			Expect:  Expect{Counters: some{"errors": 1, "fetch.status_429": 2}, Why: says{bad: "429 Too Many Requests"}, Asked: 2},
		},
		{
			Name: "unavailable-for-seconds", Does: "answers 503, to come back in a second", Slow: true,
			Lay:    turns(later(503, always("1")), fine),
			Expect: atSecond("fetch.status_503"),
		},
		{
			Name: "unavailable-for-ever", Does: "answers 503 whenever it is asked", Slow: true, Options: []string{"frontier.attempts=2"},
			Lay:    turns(status(503)),
			Expect: Expect{Counters: some{"errors": 1, "fetch.status_503": 2}, Why: says{bad: "503 Service Unavailable"}, Asked: 2},
		},
		{
			Name: "broken-for-ever", Does: "answers 500 whenever it is asked", Slow: true, Options: []string{"frontier.attempts=2"},
			Lay:    turns(status(500)),
			Expect: Expect{Counters: some{"errors": 1, "fetch.status_500": 2}, Why: says{bad: "gave no document: 500 Internal Server Error"}, Asked: 2},
		},
		{
			Name: "broken-for-a-moment", Does: "answers 500 and 502 before it has the page", Slow: true, Options: []string{"fetch.backoff=100ms"},
			Lay:    turns(status(500), status(502), fine),
			Expect: Expect{Counters: some{"pages": 1, "fetch.status_500": 1, "fetch.status_502": 1}, Why: says{bad: "crawl: fetched"}, Asked: 3},
		},
		{
			Name: "broken-by-turns", Does: "has the page, then answers 500, by turns", Options: once,
			Lay:    turns(page("<p>up and down"), status(500)),
			Expect: fetched(),
			Again: &Expect{
				Counters: some{"errors": 1, "fetch.status_500": 1},
				Why:      says{bad: "gave no document: 500 Internal Server Error"}, Asked: 1,
			},
		},
		{
			Name: "gone-and-back", Does: "answers 404, and has the page the next time",
			Lay:    turns(status(404), fine),
			Expect: Expect{Counters: some{"errors": 1, "fetch.status_404": 1}, Why: says{bad: "gave no document: 404 Not Found"}, Asked: 1},
			Again:  &Expect{Counters: some{"pages": 1}, Why: says{bad: "crawl: fetched"}, Asked: 1},
		},
		{
			Name: "asks-for-a-password", Does: "answers 401 and 407",
			Lay: func(s *Site) {
				s.handle(bad, func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("WWW-Authenticate", `Basic realm="give me your passwords"`)
					w.WriteHeader(http.StatusUnauthorized)
				})
				s.handle("/bad-proxy", func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Proxy-Authenticate", `Basic realm="give me your passwords"`)
					w.WriteHeader(http.StatusProxyAuthRequired)
				})
			},
			Expect: Expect{
				Counters: some{"errors": 2, "fetch.status_401": 1, "fetch.status_407": 1},
				Why:      says{bad: "401 Unauthorized", "/bad-proxy": "407 Proxy Authentication Required"}, Asked: 2,
			},
		},
	}
}
