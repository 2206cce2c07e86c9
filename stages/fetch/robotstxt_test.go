package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/robots"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/httpclient/clienttest"
	"github.com/webrace/webrace/stages/internal/loadingcache"
)

// obedient returns local options with robots.txt obeyed.
func obedient() Options {
	o := local()
	o.Robots = true
	return o
}

// site serves a robots.txt, and pages that hold their path.
func site(t *testing.T, robotsTxt http.HandlerFunc) string {
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "robots.txt") {
			robotsTxt(w, r)
			return
		}
		fmt.Fprint(w, r.URL.Path)
	})
}

func text(s string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, s) }
}

func TestRobotsTxtIsObeyed(t *testing.T) {
	t.Parallel()
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/robots.txt":
			if r.UserAgent() != defaults.UserAgent {
				t.Errorf("asked by %q", r.UserAgent())
			}
			fmt.Fprint(w, "User-agent: *\nDisallow: /\n\nUser-agent: webrace\nDisallow: /private\nAllow: /private/ok?page=1\n")
		case "/private/no":
			t.Error("asked for what is forbidden")
		default:
			fmt.Fprint(w, "page")
		}
	})
	all := run(t, obedient(), get(url+"/private/no"), get(url+"/private/ok?page=1"), get(url+"/open"), get(url))
	refused := all.byRequest[0]
	if refused.outcome.Err != nil || refused.visit.Error != "refused by robots.txt: Disallow: /private (line 5)" || !refused.visit.At.IsZero() || len(refused.documents) != 0 {
		t.Errorf("%+v", refused)
	}
	if len(refused.reports) != 1 || refused.reports[0] != (webrace.HostReport{}) {
		t.Errorf("reports %+v", refused.reports)
	}
	for _, r := range all.byRequest[1:] {
		if len(r.documents) != 1 {
			t.Errorf("%+v", r)
		}
	}
	if all.counters["robots_refused"] != 1 || all.counters["pages"] != 3 {
		t.Errorf("counters %v", all.counters)
	}
}

func TestRobotsTxtMayBeIgnored(t *testing.T) {
	t.Parallel()
	url := site(t, func(w http.ResponseWriter, r *http.Request) { t.Error("asked") })
	if r, _ := one(t, local(), get(url+"/")); len(r.documents) != 1 {
		t.Errorf("%+v", r)
	}
}

func TestRobotsTxtIsAskedForOnceAHost(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	url := site(t, func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		fmt.Fprint(w, "User-agent: *\nDisallow:\n")
	})
	var requests []webrace.Request
	for i := range 100 {
		requests = append(requests, get(fmt.Sprintf("%s/%d", url, i)))
	}
	all := run(t, obedient(), requests...)
	if all.counters["pages"] != 100 || asked.Load() != 1 || all.counters["robots_fetched"] != 1 {
		t.Errorf("asked %d times, counters %v", asked.Load(), all.counters)
	}
}

func TestWhatStandsForARobotsTxt(t *testing.T) {
	t.Parallel()
	status := func(n int) http.HandlerFunc { return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(n) } }
	redirects := func(n int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if at := strings.Count(r.URL.Path, "x"); at < n+1 { // the name has one itself
				http.Redirect(w, r, "/x"+r.URL.Path, http.StatusFound)
				return
			}
			fmt.Fprint(w, "User-agent: *\nDisallow: /\n")
		}
	}
	long := strings.Repeat("# "+strings.Repeat("x", 97)+"\n", robots.MaxBytes/100)
	for name, c := range map[string]struct {
		answer  http.HandlerFunc
		because string // why a page is refused; empty if it is not
	}{
		"missing":            {status(404), ""},
		"forbidden":          {status(403), ""},
		"empty":              {status(204), ""},
		"failing":            {status(500), "it could not be had: 500 Internal Server Error"},
		"unavailable":        {status(503), "it could not be had: 503 Service Unavailable"},
		"redirected":         {redirects(5), "Disallow: /"},
		"redirected too far": {redirects(6), ""},
		"redirected nowhere": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(301) }, ""},
		"redirected inside": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://10.0.0.1/robots.txt", http.StatusFound)
		}, "it is redirected to where it may not be fetched from"},
		"undecodable": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			fmt.Fprint(w, "x")
		}, "it cannot be read"},
		"compressed": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(clienttest.Encode(t, "gzip", []byte("User-agent: *\nDisallow: /")))
		}, "Disallow: /"},
		"a rule at its end":      {text("User-agent: *\n" + long[:robots.MaxBytes-100] + "Disallow: /"), "Disallow: /"},
		"a rule after its end":   {text("User-agent: *\n" + long + "Disallow: /\n"), ""},
		"half a rule at its end": {text("User-agent: *\n" + long[:robots.MaxBytes-100] + "#" + strings.Repeat("x", 73) + "\nDisallow: /private\n"), ""},
		"endless": {func(w http.ResponseWriter, _ *http.Request) {
			for {
				if _, err := io.WriteString(w, long); err != nil {
					return
				}
			}
		}, ""},
		"no robots.txt": {text("<html>Not found</html>"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := site(t, c.answer)
			r, all := one(t, obedient(), get(url+"/page"))
			if c.because == "" {
				if len(r.documents) != 1 || all.counters["robots_refused"] != 0 {
					t.Errorf("%+v, counters %v", r, all.counters)
				}
				return
			}
			if len(r.documents) != 0 || all.counters["robots_refused"] != 1 || !strings.HasPrefix(r.visit.Error, "refused by robots.txt: "+c.because) {
				t.Errorf("%+v, counters %v", r, all.counters)
			}
		})
	}
}

// TestARobotsTxtThatCannotBeAskedForIsAFailure: nothing is known, so the page has to wait.
func TestARobotsTxtThatCannotBeAskedForIsAFailure(t *testing.T) {
	t.Parallel()
	o := strict()
	o.Robots = true
	url := listen(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
	r, all := one(t, o, get(url))
	if r.outcome.Err == nil || !strings.Contains(r.outcome.Err.Error(), "get robots.txt: ") || r.outcome.RetryAt.IsZero() || all.counters["network_failures"] != 1 {
		t.Errorf("%+v, counters %v", r, all.counters)
	}
}

// TestACrawlDelayIsKept: from the first request on, which is that for robots.txt.
func TestACrawlDelayIsKept(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			fmt.Fprint(w, "User-agent: *\nCrawl-delay: 20\n")
			return
		}
		asked.Add(1)
	})
	s := newTestStage(t, obedient())
	for i := range int64(3) {
		before := time.Now()
		end := pipeline.ProcessOne(t.Context(), s, get(url+"/"), func(string, any) error { return nil })
		report := end.Note.(webrace.HostReport)
		if asked.Load() > 0 {
			t.Fatal("asked for a page while the host rests")
		}
		if !errors.Is(end.Err, webrace.ErrNotAsked) || !end.RetryAt.Equal(report.NotBefore) || i == 0 && end.RetryAt.Before(before.Add(20*time.Second)) {
			t.Errorf("%v, report %+v", end, report)
		}
	}
	s.rested(t, url)
	before := time.Now()
	end := pipeline.ProcessOne(t.Context(), s, get(url+"/"), func(string, any) error { return nil })
	report := end.Note.(webrace.HostReport)
	if end.Err != nil || asked.Load() != 1 || report.Parallel != 1 || report.NotBefore.Before(before.Add(20*time.Second)) {
		t.Errorf("%v, report %+v, asked %d times", end.Err, report, asked.Load())
	}
}

// rested makes it seem long ago that the host was asked for its robots.txt.
func (s *stage) rested(t *testing.T, url string) {
	t.Helper()
	p, _, known := s.robots.cache.Peek(url)
	if !known {
		t.Fatalf("nothing is known of %s", url)
	}
	p.at = time.Time{}
	s.robots.remember(t, url, p, time.Hour)
}

// remember replaces what is known of robots.txt files by that of one host.
func (r *robotsTxts) remember(t *testing.T, url string, p robotsRules, keep time.Duration) {
	t.Helper()
	r.cache = loadingcache.New[robotsRules](robotsMemory)
	_, err := r.cache.Get(t.Context(), url, func(context.Context) (loadingcache.Loaded[robotsRules], error) {
		return loadingcache.Loaded[robotsRules]{Value: p, Keep: keep, Cost: 1}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestACrawlDelayTooLongIsReportedAndCut(t *testing.T) {
	t.Parallel()
	url := site(t, text("User-agent: *\nCrawl-delay: 86400\n"))
	o := obedient()
	o.MaxCrawlDelay = pipeline.Duration(30 * time.Second)
	before := time.Now()
	all := run(t, o, get(url+"/1"), get(url+"/2"))
	for _, r := range all.byRequest {
		if len(r.reports) != 1 || r.reports[0].NotBefore.Before(before.Add(30*time.Second)) || r.reports[0].NotBefore.After(time.Now().Add(30*time.Second)) {
			t.Errorf("reports %+v", r.reports)
		}
	}
	if all.counters["crawl_delays_cut"] != 1 || strings.Count(all.log, "asked=24h0m0s kept=30s") != 1 {
		t.Errorf("counters %v, log %s", all.counters, all.log)
	}
}

// RFC 9309, section 2.3.1.2: the rules that another host answers with count for the one that was asked.
func TestARobotsTxtFromElsewhereIsOfTheHostThatSentThere(t *testing.T) {
	t.Parallel()
	elsewhere := site(t, text("User-agent: *\nDisallow: /private\n"))
	url := site(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere+"/its/robots.txt", http.StatusMovedPermanently)
	})
	all := run(t, obedient(), get(url+"/private"), get(url+"/open"))
	if len(all.byRequest[0].documents) != 0 || len(all.byRequest[1].documents) != 1 || all.counters["robots_refused"] != 1 {
		t.Errorf("%+v, counters %v", all.byRequest, all.counters)
	}
}

// Section 2.4: it is used for a day, and then asked for again. One that could not be had is asked for sooner.
func TestARobotsTxtIsKeptForADay(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		kept   time.Duration
	}{"there": {200, 24 * time.Hour}, "missing": {404, 24 * time.Hour}, "failing": {500, 10 * time.Minute}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int64
			url := site(t, func(w http.ResponseWriter, _ *http.Request) {
				asked.Add(1)
				w.WriteHeader(c.status)
			})
			s := newTestStage(t, obedient())
			fetch := func() {
				_ = pipeline.ProcessOne(t.Context(), s, get(url+"/"), func(string, any) error { return nil })
			}
			fetch()
			fetch()
			p, until, _ := s.robots.cache.Peek(url)
			if left := time.Until(until); asked.Load() != 1 || left > c.kept || left < c.kept-time.Minute {
				t.Errorf("asked for %d times, kept for %v more, want %v", asked.Load(), left, c.kept)
			}
			s.robots.remember(t, url, p, -1)
			fetch()
			if asked.Load() != 2 {
				t.Errorf("asked for %d times after it had run out", asked.Load())
			}
		})
	}
}

// What robots.txt states about the use of a page is noted in the header of its document, and what the server writes
// there is not. Where nothing is stated, nothing is noted.
func TestWhatRobotsTxtStatesAboutUse(t *testing.T) {
	t.Parallel()
	const file = "User-agent: *\nContent-Usage: train-ai=n\n\nUser-agent: webrace\nContent-Usage: search=y\nContent-Usage: /open/ train-ai=y # all of it\nLicense: http://h.example/rsl.xml\nDisallow: /never"
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(webrace.UsageField, "robots.txt:1: Content-Usage: train-ai=y")
		switch {
		case r.URL.Path == "/robots.txt":
			fmt.Fprint(w, file)
		case r.Header.Get("If-None-Match") != "":
			w.WriteHeader(http.StatusNotModified)
		default:
			fmt.Fprint(w, r.URL.Path)
		}
	})
	again := get(url + "/open/again")
	again.Visit = &webrace.Visit{ETag: `"x"`, Digest: webrace.Digest{1}, Version: 1}
	all := run(t, obedient(), get(url+"/page"), get(url+"/open/page?a"), again)
	for i, want := range []string{
		"robots.txt:5: Content-Usage: search=y|robots.txt:7: License: http://h.example/rsl.xml",
		"robots.txt:6: Content-Usage: /open/ train-ai=y|robots.txt:7: License: http://h.example/rsl.xml",
		"robots.txt:6: Content-Usage: /open/ train-ai=y|robots.txt:7: License: http://h.example/rsl.xml",
	} {
		r := all.byRequest[i]
		if len(r.documents) != 1 {
			t.Fatalf("%d: %+v", i, r)
		}
		if got := strings.Join(r.documents[0].Header[webrace.UsageField], "|"); got != want {
			t.Errorf("of %s is noted %q, want %q", r.documents[0].URL, got, want)
		}
	}
	if r, _ := one(t, local(), get(url+"/page")); len(r.documents) != 1 || r.documents[0].Header.Get(webrace.UsageField) != "" {
		t.Errorf("without robots.txt: %+v", r)
	}
}
