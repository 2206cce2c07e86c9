package fetch

import (
	"errors"
	"math"
	"net/http"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
)

func TestHostsAreTreatedAsTheyAreTrusted(t *testing.T) {
	t.Parallel()
	env := pipeline.NewEnv("p", "fetch", nil)
	env.Workers = 64
	made, err := newStage(local(), env)
	if err != nil {
		t.Fatal(err)
	}
	s := made.(*stage)
	defer s.Close()
	s.options.PerHost = 2
	now := time.Now()
	for _, c := range []struct {
		origin           string
		took, crawlDelay time.Duration
		pause            time.Duration
		parallel         int
	}{
		{"8.8.8.8", 10 * time.Millisecond, 0, time.Second, 2},
		{"8.8.8.8", 3 * time.Second, 0, 3 * time.Second, 2},
		{"8.8.8.8", 3 * time.Second, 5 * time.Second, 5 * time.Second, 1},
		{"8.8.8.8", 3 * time.Second, 2 * time.Second, 3 * time.Second, 1},
		{"127.0.0.1", 3 * time.Second, 0, 0, 64},
		{"::ffff:127.0.0.1", 3 * time.Second, 0, 0, 64},
		{"127.0.0.1", 3 * time.Second, 2 * time.Second, 2 * time.Second, 1},
		{"", 0, 0, time.Second, 2}, // nothing is known of the address
	} {
		var origin netip.Addr
		if c.origin != "" {
			origin = netip.MustParseAddr(c.origin)
		}
		want := webrace.HostReport{Parallel: c.parallel}
		if c.pause > 0 {
			want.NotBefore = now.Add(c.pause)
		}
		if diff := cmp.Diff(want, s.hostPolicy(origin, c.took, c.crawlDelay, now)); diff != "" {
			t.Errorf("%+v: %s", c, diff)
		}
	}
}

func TestAnAdmittedHostIsNotMadeToWait(t *testing.T) {
	t.Parallel()
	url := serve(t, func(http.ResponseWriter, *http.Request) {})
	r, _ := one(t, local(), get(url+"/"))
	if diff := cmp.Diff([]webrace.HostReport{{Parallel: 64, Documents: 1}}, r.reports); diff != "" {
		t.Error(diff)
	}
}

// Of this a limit of what a run fetches is told.
func TestAReportTellsOfADocumentThatCame(t *testing.T) {
	t.Parallel()
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/missing":
			http.NotFound(w, r)
		case "/moved":
			http.Redirect(w, r, "/", http.StatusFound)
		default:
			w.Write([]byte("twelve bytes"))
		}
	})
	for path, want := range map[string]int{"/": 1, "/missing": 0, "/moved": 0} {
		r, _ := one(t, local(), get(url+path))
		if len(r.reports) != 1 || r.reports[0].Documents != want || r.reports[0].Bytes != int64(12*want) {
			t.Errorf("%s is reported as %+v", path, r.reports)
		}
	}
}

func TestRequestsBackOffEverLonger(t *testing.T) {
	t.Parallel()
	o := defaultPoliteness
	first, most := time.Duration(o.Backoff), time.Duration(o.MaxBackoff)
	if o.backoff(0) != first {
		t.Errorf("first %v", o.backoff(0))
	}
	for i := range 100 {
		a, b := o.backoff(i), o.backoff(i+1)
		if b < a || b > most || a < most && b != min(a*backoffFactor, most) {
			t.Errorf("%v after %d failures, then %v", a, i, b)
		}
	}
	o.MaxBackoff = o.Backoff
	if got := o.backoff(9); got != first {
		t.Errorf("%v, beyond the bound", got)
	}
	o.MaxBackoff = pipeline.Duration(maxDuration)
	if got := o.backoff(1 << 30); got != maxDuration {
		t.Errorf("%v, want the longest that there is", got)
	}
}

func TestAnAdaptiveDelayGrowsWithTheResponseTime(t *testing.T) {
	t.Parallel()
	o := local()
	o.DelayAdmitted = true
	loopback := netip.MustParseAddr("127.0.0.1")
	for k, want := range map[float64]time.Duration{0: time.Second, 0.1: time.Second, 1: 3 * time.Second, 2.5: 7500 * time.Millisecond} {
		o.AdaptiveDelay = k
		s := newTestStage(t, o)
		if got := s.pause(loopback, 3*time.Second, 0); got != want {
			t.Errorf("%v times 3s: %v, want %v", k, got, want)
		}
		if got := s.pause(loopback, 3*time.Second, 9*time.Second); got != 9*time.Second {
			t.Errorf("%v times 3s with a crawl delay of 9s: %v", k, got)
		}
	}
}

func TestAdmittedHostsMayBeTreatedLikePublicOnes(t *testing.T) {
	t.Parallel()
	url := serve(t, func(http.ResponseWriter, *http.Request) {})
	o := local()
	o.DelayAdmitted, o.PerHost, o.Delay = true, 3, pipeline.Duration(time.Minute)
	before := time.Now()
	r, _ := one(t, o, get(url+"/"))
	if len(r.reports) != 1 || r.reports[0].Parallel != 3 || r.reports[0].NotBefore.Before(before.Add(time.Minute)) {
		t.Errorf("%+v", r.reports)
	}
}

func TestOptionsOfPolitenessThatCannotWorkAreRefused(t *testing.T) {
	t.Parallel()
	for option, breaks := range map[string]func(*Options){
		"delay":            func(o *Options) { o.Delay = -1 },
		"adaptive_delay":   func(o *Options) { o.AdaptiveDelay = math.NaN() },
		"per_host":         func(o *Options) { o.PerHost = 0 },
		"max_crawl_delay":  func(o *Options) { o.MaxCrawlDelay = -1 },
		"max_retry_after":  func(o *Options) { o.MaxRetryAfter = -1 },
		"backoff":          func(o *Options) { o.Backoff = 0 },
		"max_backoff":      func(o *Options) { o.MaxBackoff = o.Backoff - 1 },
		"circuit_failures": func(o *Options) { o.CircuitFailures = -1 },
		"circuit_wait":     func(o *Options) { o.CircuitWait = 0 },
		"max_circuit_wait": func(o *Options) { o.MaxCircuitWait = o.CircuitWait - 1 },
	} {
		o := defaults
		breaks(&o)
		var wrong *pipeline.OptionError
		if err := o.Validate(); !errors.As(err, &wrong) || wrong.Option != option {
			t.Errorf("%s: %v", option, err)
		}
	}
}
