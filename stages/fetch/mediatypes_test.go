package fetch

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/webrace/webrace"
)

func TestMediaTypesThatAreNotTakenAreNotRead(t *testing.T) {
	t.Parallel()
	var sent atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", strings.TrimPrefix(r.URL.Path, "/"))
		if r.URL.Path == "/" {
			w.Header()["Content-Type"] = nil
		}
		if r.URL.RawQuery == "endless" {
			for r.Context().Err() == nil {
				n, _ := w.Write(make([]byte, 64<<10))
				sent.Add(int64(n))
			}
			return
		}
		fmt.Fprint(w, "body")
	}))
	defer server.Close()
	linked, start := []webrace.Reach{{Crawl: "c", Distance: 1}}, []webrace.Reach{{Crawl: "b", Distance: 3}, {Crawl: "c"}}
	cases := []struct {
		path  string
		reach []webrace.Reach
		taken bool
	}{
		{"/text/html; charset=utf-8", linked, true}, {"/application/pdf", linked, true}, {"/", linked, true}, {"/application/rss+xml", linked, true},
		{"/image/png", linked, false}, {"/IMAGE/SVG+XML", linked, false}, {"/text/css", linked, false}, {"/video/mp4?endless", linked, false},
		{"/image/png?start", start, true},
	}
	var requests []webrace.Request
	for _, c := range cases {
		requests = append(requests, webrace.Request{URL: server.URL + strings.ReplaceAll(c.path, " ", "%20"), Reach: c.reach, Visit: &webrace.Visit{ETag: "old"}})
	}
	got := run(t, local(), requests...)
	ignored := int64(0)
	for i, c := range cases {
		r := got.byRequest[i]
		if !c.taken {
			ignored++
			if len(r.documents) > 0 || !strings.Contains(r.visit.Error, "is not taken (mime_types: !") || r.visit.Status != 200 || r.visit.ETag != "" {
				t.Errorf("%s: %d documents, learned %+v", c.path, len(r.documents), r.visit)
			}
		} else if len(r.bodies) != 1 || r.bodies[0] != "body" {
			t.Errorf("%s: gave %q, %s", c.path, r.bodies, r.visit.Error)
		}
	}
	if got.counters["ignored_types"] != ignored || got.counters["pages"] != int64(len(cases))-ignored {
		t.Errorf("counted %v", got.counters)
	}
	if n := sent.Load(); n > 16<<20 {
		t.Errorf("%d bytes were sent of a body that is not wanted", n)
	}
}

func TestOnlyMediaTypesThatAreNamedAreTaken(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			w.Header().Set("Content-Type", "text/plain")
			fmt.Fprint(w, "User-agent: *\nDisallow: /private\n")
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, "{}")
	}))
	defer server.Close()
	o := local()
	o.Robots, o.MimeTypes = true, []string{"text/html"}
	linked := []webrace.Reach{{Crawl: "c", Distance: 1}}
	got := run(t, o, webrace.Request{URL: server.URL + "/private", Reach: linked}, webrace.Request{URL: server.URL + "/x", Reach: linked})
	if got.counters["robots_refused"] != 1 || got.counters["ignored_types"] != 1 || !strings.Contains(got.byRequest[1].visit.Error, "no pattern takes it") {
		t.Errorf("counted %v, learned %q: robots.txt is read whatever types are taken", got.counters, got.byRequest[1].visit.Error)
	}
	o.MimeTypes = []string{"text"}
	if err := o.Validate(); err == nil || !strings.Contains(err.Error(), "mime_types") {
		t.Errorf("a type that is none: %v", err)
	}
}
