package fetch

import (
	"net/http"
	"net/netip"
	"strings"
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
		if diff := cmp.Diff(want, s.treatment(origin, c.took, c.crawlDelay, now)); diff != "" {
			t.Errorf("%+v: %s", c, diff)
		}
	}
}

func TestAnAdmittedHostIsNotMadeToWait(t *testing.T) {
	t.Parallel()
	url := serve(t, func(http.ResponseWriter, *http.Request) {})
	r, _ := one(t, local(), get(url+"/"))
	if diff := cmp.Diff([]webrace.HostReport{{Parallel: 64}}, r.reports); diff != "" {
		t.Error(diff)
	}
}

func TestRequestsBackOffEverLonger(t *testing.T) {
	t.Parallel()
	if backoff(0) != firstBackoff {
		t.Errorf("first %v", backoff(0))
	}
	for i := range 100 {
		a, b := backoff(i), backoff(i+1)
		if b < a || b > maxBackoff || a < maxBackoff && b != min(a*backoffFactor, maxBackoff) {
			t.Errorf("%v after %d failures, then %v", a, i, b)
		}
	}
}

func TestAHostThatFailsAgainAndAgainIsLeftAlone(t *testing.T) {
	t.Parallel()
	s := &streaks{byHost: make(map[string]streak)}
	now := time.Now()
	fail := func(began time.Duration, at time.Duration, want time.Duration) {
		t.Helper()
		if got := s.failed("h", now.Add(began), now.Add(at)); got != want {
			t.Errorf("failed at %v: pause of %v, want %v", at, got, want)
		}
	}
	fail(0, 1, 0)
	fail(0, 2, 0) // was in flight together with the first
	fail(1, 3, 0)
	fail(5, 6, time.Second)
	fail(4, 7, time.Second)
	fail(8, 9, 2*time.Second)
	if got := s.failed("other", now, now); got != 0 {
		t.Errorf("another host: %v", got)
	}
	s.answered("h")
	fail(10, 11, 0)
	for i := range time.Duration(100) {
		s.failed("h", now.Add(20+2*i), now.Add(21+2*i))
	}
	fail(1000, 1001, maxPause)
	for i := range 3 * maxHosts {
		s.failed(time.Duration(i).String(), now, now)
		if len(s.byHost) > maxHosts {
			t.Fatalf("%d hosts remembered", len(s.byHost))
		}
	}
}

func TestFailuresOfAHostReachItsReport(t *testing.T) {
	t.Parallel()
	url := says(t, "nonsense\r\n\r\n")
	made, err := newStage(local(), pipeline.NewEnv("p", "fetch", nil))
	if err != nil {
		t.Fatal(err)
	}
	s := made.(*stage)
	defer s.Close()
	s.streaks.failed("127.0.0.1", time.Time{}, time.Now()) // of another host
	for range 3 {
		err = s.Process(t.Context(), &pipeline.Item{Value: get(url)}, discard{})
	}
	if err == nil || s.streaks.byHost[strings.Trim(strings.TrimPrefix(url, "http://"), "/")].failures != 3 {
		t.Errorf("%v, streaks %+v", err, s.streaks.byHost)
	}
	well := serve(t, func(http.ResponseWriter, *http.Request) {})
	host := strings.TrimPrefix(well, "http://")
	s.streaks.failed(host, time.Time{}, time.Now())
	if err := s.Process(t.Context(), &pipeline.Item{Value: get(well + "/")}, discard{}); err != nil || s.streaks.byHost[host].failures != 0 {
		t.Errorf("%v, streaks %+v after an answer", err, s.streaks.byHost)
	}
	all := runWith(t, local(), func(fresh *stage) { fresh.streaks = s.streaks }, get(url))
	if r := all.byRequest[0].reports; len(r) != 1 || r[0].Parallel != 0 || time.Until(r[0].NotBefore) <= 0 {
		t.Errorf("reports %+v", r)
	}
}

func TestWarningsAreGivenOnce(t *testing.T) {
	t.Parallel()
	o := &onceEach{seen: make(map[string]struct{})}
	if !o.first("a") || o.first("a") || !o.first("b") {
		t.Error("not once each")
	}
	for i := range 3 * maxHosts {
		o.first(time.Duration(i).String())
		if len(o.seen) > maxHosts {
			t.Fatalf("%d remembered", len(o.seen))
		}
	}
}

func TestRetryAfterIsASecondCountOrADate(t *testing.T) {
	t.Parallel()
	now := time.Date(2006, 1, 2, 15, 4, 5, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"0": 0, "7": 7 * time.Second, " 7\t": 7 * time.Second, "3600": time.Hour, "3601": time.Hour,
		"99999999999999999999999": time.Hour, "9223372036854775807": time.Hour,
		"Mon, 02 Jan 2006 15:04:15 GMT":  10 * time.Second,
		"Monday, 02-Jan-06 15:04:15 GMT": 10 * time.Second,
		"Mon Jan  2 15:04:15 2006":       10 * time.Second,
		"Mon, 02 Jan 2006 15:04:00 GMT":  0,
		"Mon, 02 Jan 2106 15:04:00 GMT":  time.Hour,
		"":                               -1, "-1": -1, "1.5": -1, "soon": -1, "7s": -1, "Mon, 32 Jan 2006 15:04:15 GMT": -1,
	} {
		at, ok := retryAfter(value, now, time.Hour)
		if ok != (want >= 0) || ok && at != now.Add(want) {
			t.Errorf("%q: %v, %v, want %v", value, at, ok, want)
		}
	}
}

func FuzzRetryAfter(f *testing.F) {
	for _, s := range []string{"120", "Fri, 31 Dec 1999 23:59:59 GMT", "", "99999999999999999999", "-5"} {
		f.Add(s, int64(time.Hour))
	}
	f.Fuzz(func(t *testing.T, s string, limit int64) {
		limit = max(0, limit)
		now := time.Date(2006, 1, 2, 15, 4, 5, 0, time.UTC)
		at, ok := retryAfter(s, now, time.Duration(limit))
		if ok && (at.Before(now) || at.Sub(now) > time.Duration(limit)) || !ok && !at.IsZero() {
			t.Errorf("%q, at most %v: %v, %v", s, time.Duration(limit), at, ok)
		}
	})
}
