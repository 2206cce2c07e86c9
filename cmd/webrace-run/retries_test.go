package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// inTurn answers each request for a path with the next of some statuses, and with a page once they are over; each asks
// to come back in so many seconds, if that is not empty.
func (w *world) inTurn(path, retryAfter string, statuses ...int) {
	var n atomic.Int64
	w.handle(path, func(rw http.ResponseWriter, r *http.Request) {
		i := int(n.Add(1)) - 1
		if i >= len(statuses) {
			serveDocument(rw, r, document("tea at "+path))
			return
		}
		if retryAfter != "" {
			rw.Header().Set("Retry-After", retryAfter)
		}
		rw.WriteHeader(statuses[i])
	})
}

// TestRetries: a status of the moment is asked for again within the round, at pauses that grow or when the server asks,
// and is what came of the URL when the attempts are over.
func TestRetries(t *testing.T) {
	t.Parallel()
	t.Run("pass", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		var links, want []string
		for _, status := range []int{408, 425, 500, 502, 504, 503} {
			path := "/" + strconv.Itoa(status)
			w.inTurn(path, "", status, status)
			links = append(links, path)
			want = append(want, "200 "+path, strconv.Itoa(status)+" "+path, strconv.Itoa(status)+" "+path)
		}
		w.page("/", links...)
		p := w.start(these(w.asks("ann", "/", depth(2), about("tea"))), "--set", "fetch.backoff=50ms")
		p.mustExit(0)
		want = append(want, "200 /")
		slices.Sort(want)
		mustBe(t, "requests", w.requests(), want...)
		mustBe(t, "told", w.news(), "ann /408", "ann /425", "ann /500", "ann /502", "ann /503", "ann /504")
	})
	t.Run("last", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.page("/", "/broken", "/missing", "/other")
		w.status("/broken", 500)
		w.status("/other", 501)
		p := w.start(these(w.asks("ann", "/", depth(2))), "--set", "fetch.backoff=200ms")
		p.mustExit(0)
		mustSay(t, p.said(), "3 URLs gave no document", w.URL+"/broken: 500 Internal Server Error\n")
		asked := w.requestsInOrder()
		var at []time.Time
		var all []string
		for _, a := range asked {
			all = append(all, a.String())
			if a.path == "/broken" {
				at = append(at, a.at)
			}
		}
		slices.Sort(all)
		mustBe(t, "requests", all, "200 /", "404 /missing", "500 /broken", "500 /broken", "500 /broken", "501 /other")
		if first, second := at[1].Sub(at[0]), at[2].Sub(at[1]); first < 200*time.Millisecond || second < 800*time.Millisecond {
			t.Errorf("asked again after %v, and then after %v: the pauses are 200 ms, and then four times as long", first, second)
		}
		why, _ := w.store("why", w.URL+"/broken")
		mustSay(t, why, "gave no document: 500 Internal Server Error", "status 500")
		w.run(these(w.asks("ann", "/", depth(2))), append(slices.Clone(askAll), "--set", "fetch.retry=[]")...)
		mustBe(t, "requests of a round without", w.requests(), "304 /", "404 /missing", "500 /broken", "501 /other")
	})
	t.Run("Retry-After", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.inTurn("/", "1", 502)
		p := w.start(these(w.asks("ann", "/", depth(1))), "--set", "fetch.backoff=1ms")
		p.mustExit(0)
		asked := w.requestsInOrder()
		if len(asked) != 2 || asked[1].at.Sub(asked[0].at) < time.Second {
			t.Errorf("asked %v, and the server wanted a second", asked)
		}
	})
	t.Run("incomplete", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.page("/", "/length", "/chunk")
		w.handle("/length", breaksOff("Content-Length: 5000\r\n\r\n"+string(document("tea for two", "/next"))))
		w.handle("/chunk", breaksOff("Transfer-Encoding: chunked\r\n\r\n1000\r\n"+string(document("tea for three"))))
		w.page("/next", "tea")
		stdout, _ := w.crawlsTo("-", "--set", "fetch.backoff=50ms")
		mustBe(t, "URLs when it is refused", jsonURLs(t, stdout), w.URL+"/")
		mustBe(t, "requests", w.requests(), "200 /", "200 /chunk", "200 /chunk", "200 /chunk", "200 /length", "200 /length", "200 /length")

		w.data = filepath.Join(t.TempDir(), "kept")
		stdout, _ = w.crawlsTo("-", "--set", "fetch.incomplete=keep")
		mustBe(t, "URLs when it is kept", jsonURLs(t, stdout), w.URL+"/", w.URL+"/chunk", w.URL+"/length", w.URL+"/next")
		for line := range strings.Lines(stdout) {
			var d struct {
				URL       string
				Truncated bool
			}
			if err := json.Unmarshal([]byte(line), &d); err != nil || d.Truncated != (d.URL == w.URL+"/length" || d.URL == w.URL+"/chunk") {
				t.Errorf("%v: %.300s", err, line)
			}
		}
		mustBe(t, "requests", w.requests(), "200 /", "200 /chunk", "200 /length", "200 /next")
		why, _ := w.store("why", w.URL+"/length")
		mustSay(t, why, "it ends early (unexpected EOF): kept as far as it came")
	})
}

// breaksOff sends the fields and the body that it is given, and hangs up.
func breaksOff(rest string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(*statusWriter).ResponseWriter.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		defer conn.Close()
		fmt.Fprint(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"+rest)
	}
}
