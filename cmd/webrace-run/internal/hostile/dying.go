package hostile

import (
	"net/http"
	"sync/atomic"
)

// brief are waits for a host that is taken for dead, shorter than any operator would want them.
var brief = []string{
	"fetch.circuit_failures=3", "fetch.circuit_wait=100ms", "fetch.max_circuit_wait=200ms", "fetch.backoff=50ms", "fetch.max_backoff=100ms",
}

// dyingHost puts a page on another host, which breaks off so many answers before it begins to send whole ones.
func dyingHost(failures int64) func(*Site) {
	return func(s *Site) {
		o := s.another()
		var asked atomic.Int64
		broken := o.hijacked(send(head + "Content-Length: 500\r\n\r\n<p>begun"))
		o.hide(bad, func(w http.ResponseWriter, r *http.Request) {
			if asked.Add(1) <= failures {
				broken(w, r)
				return
			}
			page("<p>alive at "+r.URL.Path)(w, r)
		})
		s.link(o.URL + bad)
	}
}

func dying() []Case {
	return []Case{
		{Name: "dies", Does: "never sends a whole answer any more", Scope: "any", Slow: true, Options: append([]string{"frontier.attempts=5"}, brief...),
			Lay: dyingHost(1000),
			Expect: Expect{
				Counters: some{"errors": 1, "fetch.network_failures": 5, "fetch.circuits_opened": 1},
				Why:      says{"other:" + bad: "body broken off"}, Asked: 5,
			}},
		{Name: "dies-and-rises", Does: "breaks off four answers, and sends whole ones from then on", Scope: "any", Slow: true, Options: append([]string{"frontier.attempts=8"}, brief...),
			Lay: dyingHost(4),
			Expect: Expect{
				Counters: some{"pages": 1, "fetch.network_failures": 4, "fetch.circuits_opened": 1, "fetch.circuits_closed": 1},
				Why:      says{"other:" + bad: "crawl: fetched"}, Asked: 5,
			}},
	}
}
