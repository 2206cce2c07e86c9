package fetch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/httpclient"
)

// newSharedStage makes a stage outside any pipeline.
func newSharedStage(t *testing.T, o Options) *stage {
	t.Helper()
	made, err := newStage(o, pipeline.NewEnv("p", "fetch", nil))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { made.(*stage).Close() })
	return made.(*stage)
}

func TestSubresourcesAreGotByTheRulesOfPages(t *testing.T) {
	t.Parallel()
	o := local()
	o.Robots = true
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/robots.txt":
			fmt.Fprint(w, "User-agent: *\nDisallow: /private/\n")
		case "/moved.js":
			http.Redirect(w, r, "/a.js", http.StatusFound)
		case "/private/a.js":
			t.Error("robots.txt was not obeyed")
		default:
			fmt.Fprintf(w, "%s for %s", r.URL, r.Header.Get("Accept"))
		}
	})
	ask := func(o Options, url string) (*httpclient.Subresource, error) {
		return newSharedStage(t, o).Subresource(t.Context(), httpclient.SubresourceRequest{URL: url, Header: http.Header{"Accept": {"text/x"}}, Limit: 16})
	}
	if p, err := ask(o, url+"/a.js"); err != nil || p.Status != 200 || string(p.Body) != "/a.js for text/x" || p.Truncated {
		t.Errorf("got %+v, %v", p, err)
	}
	if p, err := ask(o, url+"/long.js"); err != nil || len(p.Body) != 16 || !p.Truncated {
		t.Errorf("beyond the limit: %+v, %v", p, err)
	}
	if p, err := ask(o, url+"/moved.js"); err != nil || p.Status != 302 || p.Header.Get("Location") != "/a.js" || p.Body != nil {
		t.Errorf("redirect: %+v, %v", p, err)
	}
	if p, err := ask(o, url+"/private/a.js"); !errors.Is(err, httpclient.ErrRobots) {
		t.Errorf("what robots.txt forbids: %+v, %v", p, err)
	}
	o.AllowNetworks, o.Robots = nil, false
	if p, err := ask(o, url+"/a.js"); !httpclient.IsRefusal(err) {
		t.Errorf("an address that is not admitted: %+v, %v", p, err)
	}
	if p, err := ask(o, "ftp://example.org/"); err == nil {
		t.Errorf("another protocol: %+v", p)
	}
}

func TestSubresourcesAreKeptForOthers(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	url := serve(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, asked.Add(1)) })
	s := newSharedStage(t, local())
	ask := func(path string, keep time.Duration) string {
		p, err := s.Subresource(t.Context(), httpclient.SubresourceRequest{URL: url + path, Limit: 100, Keep: keep})
		if err != nil {
			t.Fatal(err)
		}
		return string(p.Body)
	}
	got := []string{ask("/a", time.Hour), ask("/a", time.Hour), ask("/b", time.Hour), ask("/a", 0), ask("/a", time.Hour)}
	if want := []string{"1", "1", "2", "3", "1"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestSubresourcesAndPagesShareTheSlotsOfAHost asks for subresources and pages of one host at once, which wants to be
// left a pause after each answer.
func TestSubresourcesAndPagesShareTheSlotsOfAHost(t *testing.T) {
	t.Parallel()
	const delay = 100 * time.Millisecond
	var mu sync.Mutex
	var last time.Time
	var inFlight, asked int
	o := local()
	o.Robots = true
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			fmt.Fprint(w, "User-agent: *\nCrawl-delay: 0.1\n")
			return
		}
		mu.Lock()
		inFlight++
		asked++
		if pause := time.Since(last); pause < delay || inFlight > 1 {
			t.Errorf("%s: asked %v after the last answer, with %d in flight", r.URL, pause, inFlight)
		}
		mu.Unlock()
		time.Sleep(10 * time.Millisecond) // as servers take
		mu.Lock()
		defer mu.Unlock()
		inFlight--
		last = time.Now()
	})
	s := newSharedStage(t, o)
	s.limiter.shared.Store(true)
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			if _, err := s.Subresource(t.Context(), httpclient.SubresourceRequest{URL: fmt.Sprintf("%s/part%d", url, i), Limit: 1}); err != nil {
				t.Error(err)
			}
		})
		all.Go(func() {
			request := webrace.Request{URL: fmt.Sprintf("%s/page%d", url, i)}
			end := pipeline.ProcessOne(t.Context(), s, request, func(string, any) error { return nil })
			if errors.Is(end.Err, webrace.ErrNotAsked) && sleepUntil(t.Context(), end.RetryAt) == nil { // it rests from robots.txt
				end = pipeline.ProcessOne(t.Context(), s, request, func(string, any) error { return nil })
			}
			if end.Err != nil {
				t.Error(end.Err)
			}
		})
	}
	all.Wait()
	if asked != 8 {
		t.Errorf("asked %d times, want 8", asked)
	}
}

func TestARestingHostIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		w.Header().Set("Retry-After", "600")
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	s := newSharedStage(t, local())
	if p, err := s.Subresource(t.Context(), httpclient.SubresourceRequest{URL: url + "/part", Limit: 1}); err != nil || p.Status != 503 {
		t.Fatalf("got %+v, %v", p, err)
	}
	if p, err := s.Subresource(t.Context(), httpclient.SubresourceRequest{URL: url + "/another", Limit: 1}); !errors.Is(err, httpclient.ErrResting) {
		t.Errorf("a subresource of a resting host: %+v, %v", p, err)
	}
	end := pipeline.ProcessOne(t.Context(), s, webrace.Request{URL: url + "/page"}, func(string, any) error { return nil })
	report, _ := end.Note.(webrace.HostReport)
	if !strings.Contains(fmt.Sprint(end.Err), "left alone") || time.Until(end.RetryAt) < 9*time.Minute || !report.NotBefore.Equal(end.RetryAt) {
		t.Errorf("a page of a resting host: %v, again at %v, the host not before %v", end.Err, end.RetryAt, report.NotBefore)
	}
	if n := asked.Load(); n != 1 || s.env.Counters()["hosts_resting"] != 1 {
		t.Errorf("the server was asked %d times; counters %v", n, s.env.Counters())
	}
}

func TestWaitingForASlotEndsWithTheContext(t *testing.T) {
	t.Parallel()
	limiter := newHostLimiter()
	limiter.shared.Store(true)
	first, err := limiter.take(t.Context(), "h", patience)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := limiter.take(ctx, "h", patience); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	first.end(webrace.HostReport{})
	if second, err := limiter.take(t.Context(), "h", patience); err != nil || second == nil {
		t.Errorf("after the first slot: %v, %v", second, err)
	}
}

// Who has begun what takes two requests waits for longer: the form of a log-in would be got again and again.
func TestWaitingForASlotTakesAsLongAsTheCallerHasPatience(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limiter := newHostLimiter()
		limiter.shared.Store(true)
		first, err := limiter.take(t.Context(), "h", patience)
		if err != nil {
			t.Fatal(err)
		}
		first.end(webrace.HostReport{NotBefore: time.Now().Add(2 * patience)})
		if _, err := limiter.take(t.Context(), "h", patience); !errors.Is(err, httpclient.ErrResting) {
			t.Errorf("with little patience: %v", err)
		}
		if second, err := limiter.take(t.Context(), "h", 3*patience); err != nil || second == nil {
			t.Errorf("with more: %v, %v", second, err)
		}
	})
}

// What a page with credentials is made of is asked for with them, where they may go, and kept for no other page.
func TestSubresourcesOfPagesWithCredentialsAreAskedForWithThem(t *testing.T) {
	t.Parallel()
	var d, other door
	here, elsewhere := d.server(t), other.server(t)
	o := local()
	s := newSharedStage(t, o)
	with(t, o, credentials.KindBasic, "eleni", hush, here+"/")(s)
	part := func(url, secret string) (*httpclient.Subresource, error) {
		return s.Subresource(t.Context(), httpclient.SubresourceRequest{
			URL: url, Header: http.Header{"Accept": {"text/x"}}, Limit: 100, Keep: time.Hour, Secret: secret, Reach: []webrace.Reach{{Crawl: "c"}},
		})
	}
	p, err := part(here+"/a.js", "bank")
	if err != nil || string(p.Body) != "welcome" {
		t.Fatalf("with credentials: %+v, %v", p, err)
	}
	if trace := fmt.Sprint(p.Header); strings.Contains(trace, hush) || p.Header.Get("Set-Cookie") != "" {
		t.Errorf("the header holds the secret: %s", trace)
	}
	if p, err := part(here+"/a.js", ""); err != nil || p.Status != http.StatusUnauthorized || p.Body != nil {
		t.Errorf("without credentials, afterwards: %+v, %v", p, err)
	}
	if p, err := part(elsewhere+"/a.js", "bank"); err != nil || p.Status != http.StatusUnauthorized || strings.Contains(fmt.Sprint(other.heard), "Basic") {
		t.Errorf("at another host: %+v, %v; it heard %q", p, err, other.heard)
	}
	if _, err := part(here+"/a.js", "unknown"); !errors.Is(err, httpclient.ErrSecret) {
		t.Errorf("with a secret that there is not: %v", err)
	}
}
