package fetch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/netguard"
	"github.com/webrace/webrace/pipeline"
)

func TestAddressesOutsideThePublicInternetAreRefused(t *testing.T) {
	t.Parallel()
	url := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("asked") })
	o := defaults
	all := run(t, o, get(url+"/1"), get(url+"/2"))
	for _, r := range all.byRequest {
		if r.outcome.Err != nil || len(r.documents) != 0 || !strings.Contains(r.visit.Error, "a loopback address") || !r.visit.At.IsZero() {
			t.Errorf("%+v", r)
		}
	}
	if all.counters["address_refused"] != 2 || all.counters["network_failures"] != 0 {
		t.Errorf("counters %v", all.counters)
	}
	if strings.Count(all.log, "level=WARN") != 1 || !strings.Contains(all.log, "--set fetch.allow_networks=") {
		t.Errorf("log: %s", all.log)
	}
}

func TestThePublicWebIsNotAskedWithoutAContact(t *testing.T) {
	t.Parallel()
	o := local()
	all := run(t, o, get("http://8.8.8.8/1"), get("https://8.8.8.8/2")) // refused before a packet is sent
	for _, r := range all.byRequest {
		if r.outcome.Err != nil || !strings.Contains(r.visit.Error, "names no contact") {
			t.Errorf("%+v", r)
		}
	}
	if all.counters["contact_refused"] != 2 || all.counters["network_failures"] != 0 {
		t.Errorf("counters %v", all.counters)
	}
	if strings.Count(all.log, "level=WARN") != 1 || !strings.Contains(all.log, "WEBRACE_CONTACT=") || !strings.Contains(all.log, "--set fetch.user_agent=") {
		t.Errorf("log: %s", all.log)
	}
}

// TestConnectionsAreNotSharedAcrossTrust: a connection that one stage keeps open to an address that it
// may ask does not let another stage in.
func TestConnectionsAreNotSharedAcrossTrust(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	url := serve(t, func(http.ResponseWriter, *http.Request) { asked.Add(1) }) + "/"
	trusting, wary := newTestStage(t, local()), newTestStage(t, defaults)
	for _, s := range []*stage{trusting, wary} {
		if err := s.Process(t.Context(), item(url), discard{}); err != nil {
			t.Fatal(err)
		}
	}
	if asked.Load() != 1 || wary.env.Counters()["address_refused"] != 1 {
		t.Errorf("asked %d times, counters %v", asked.Load(), wary.env.Counters())
	}
}

type discard struct{}

func (discard) Emit(context.Context, *pipeline.Item) error           { return nil }
func (discard) EmitTo(context.Context, string, *pipeline.Item) error { return nil }

func TestConnectionsAreUsedAgain(t *testing.T) {
	t.Parallel()
	var opened atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/missing":
			w.WriteHeader(404)
			fmt.Fprint(w, strings.Repeat("nothing ", 500))
		case "/moved":
			http.Redirect(w, r, "/there", http.StatusFound)
		default:
			fmt.Fprint(w, strings.Repeat("page ", 5000))
		}
	}))
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			opened.Add(1)
		}
	}
	server.Start()
	defer server.Close()
	s := newTestStage(t, local())
	for _, path := range []string{"/a", "/missing", "/b", "/moved", "/c"} {
		if err := s.Process(t.Context(), item(server.URL+path), discard{}); err != nil {
			t.Fatal(err)
		}
	}
	if opened.Load() != 1 {
		t.Errorf("%d connections", opened.Load())
	}
}

// TestEachPageKeepsItsBody: bodies share buffers, but never at once.
func TestEachPageKeepsItsBody(t *testing.T) {
	t.Parallel()
	page := func(path string) string { return strings.Repeat(path, 500+len(path)*len(path)*len(path)) }
	url := serve(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, page(r.URL.Path)) })
	var requests []webrace.Request
	for i := range 300 {
		requests = append(requests, get(fmt.Sprintf("%s/%d", url, i*i*i)))
	}
	all := run(t, local(), requests...)
	for i, r := range all.byRequest {
		if want := page(strings.TrimPrefix(requests[i].URL, url)); len(r.bodies) != 1 || r.bodies[0] != want {
			t.Errorf("%s: wrong body (%+v)", requests[i].URL, r.outcome)
		}
	}
}

// zone is a resolver of a few names.
type zone struct {
	hosts map[string]string // addresses, separated by spaces
	asked atomic.Int64
	gate  chan struct{} // if there is one, answers wait for it
	holds time.Duration
}

func (z *zone) lookup(_ context.Context, host string) ([]netip.Addr, time.Duration, error) {
	z.asked.Add(1)
	if z.gate != nil {
		<-z.gate
	}
	known, ok := z.hosts[host]
	if !ok {
		return nil, -1, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	if known == "busy" {
		return nil, -1, &net.DNSError{Err: "server misbehaving", Name: host, IsTemporary: true}
	}
	var addrs []netip.Addr
	for addr := range strings.FieldsSeq(known) {
		addrs = append(addrs, netip.MustParseAddr(addr))
	}
	return addrs, z.holds, nil
}

// use makes the zone all that a stage knows of names.
func (z *zone) use(s *stage) { s.client.dialer.names.resolver = z }

func TestNamesAreLookedUpAndCheckedWhenConnecting(t *testing.T) {
	t.Parallel()
	url := serve(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Host) })
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(url, "http://"))
	z := &zone{hosts: map[string]string{
		"here.example":    "127.0.0.1",
		"rebound.example": "10.0.0.1",
		"both.example":    "10.0.0.1 ::ffff:127.0.0.1",
		"empty.example":   "",
		"busy.example":    "busy",
	}}
	for host, counter := range map[string]string{
		"here.example": "pages", "both.example": "pages", "rebound.example": "address_refused", "empty.example": "network_failures",
		"busy.example": "network_failures", "nowhere.example": "network_failures",
	} {
		req := get("http://" + host + ":" + port + "/")
		all := runWith(t, local(), z.use, req)
		r := all.byRequest[0]
		if all.counters[counter] != 1 {
			t.Errorf("%s: %+v, counters %v", host, r.outcome, all.counters)
		}
		if counter == "pages" && r.bodies[0] != host+":"+port {
			t.Errorf("%s: the host was named %q", host, r.bodies[0])
		}
	}
}

// TestOneFailureIsToldOfMany: that one address of a host may not be asked matters only if no other may.
func TestOneFailureIsToldOfMany(t *testing.T) {
	t.Parallel()
	for addrs, refused := range map[string]bool{"10.0.0.1 127.0.0.1": false, "127.0.0.1 10.0.0.1": false, "10.0.0.1 10.0.0.2": true} {
		z := &zone{hosts: map[string]string{"a.example": addrs}}
		req := get("http://a.example:1/") // nobody listens there
		all := runWith(t, local(), z.use, req)
		if got := all.counters["address_refused"] == 1; got != refused || all.counters["network_failures"] == 1 == refused {
			t.Errorf("%s: counters %v", addrs, all.counters)
		}
	}
}

func TestANameIsLookedUpOnceInAWhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		z := &zone{hosts: map[string]string{"a.example": "192.0.2.1", "busy.example": "busy"}, gate: make(chan struct{})}
		z.holds = -1
		n := newNames(defaults, func(string) {})
		n.resolver = z
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				if addrs, err := n.resolve(t.Context(), "a.example"); err != nil || len(addrs) != 1 {
					t.Errorf("%v, %v", addrs, err)
				}
			})
		}
		synctest.Wait()
		close(z.gate)
		all.Wait()
		expect := func(when string, host string, want int64) {
			t.Helper()
			before := z.asked.Load()
			_, _ = n.resolve(t.Context(), host)
			if got := z.asked.Load() - before; got != want {
				t.Errorf("%s: %d lookups of %s, want %d", when, got, host, want)
			}
		}
		if z.asked.Load() != 1 {
			t.Errorf("%d lookups at once", z.asked.Load())
		}
		expect("an address", "192.0.2.7", 0)
		time.Sleep(time.Duration(defaults.DNSKeep))
		expect("within its time", "a.example", 0)
		time.Sleep(time.Nanosecond)
		expect("after its time", "a.example", 1)
		expect("unknown", "none.example", 1)
		time.Sleep(time.Duration(defaults.DNSKeepFailures))
		expect("known not to be", "none.example", 0)
		time.Sleep(time.Nanosecond)
		expect("perhaps it is there now", "none.example", 1)
		expect("no answer", "busy.example", 1)
		expect("no answer is nothing to remember", "busy.example", 1)
	})
}

func TestBothFamiliesAreTried(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"192.0.2.1":                         "192.0.2.1",
		"2001:db8::1 2001:db8::2 192.0.2.1": "2001:db8::1 192.0.2.1 2001:db8::2",
		"192.0.2.1 192.0.2.2 192.0.2.3 192.0.2.4 192.0.2.5 2001:db8::1": "192.0.2.1 2001:db8::1 192.0.2.2 192.0.2.3",
		"::ffff:192.0.2.1": "192.0.2.1",
	} {
		var addrs []netip.Addr
		for addr := range strings.FieldsSeq(in) {
			addrs = append(addrs, netip.MustParseAddr(addr))
		}
		if got := strings.Trim(fmt.Sprint(families["any"].order(addrs)), "[]"); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

func TestAMemoStaysWithinItsBudget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMemo[int](10)
		load := func(n, cost int, keep time.Duration) func(context.Context) (loaded[int], error) {
			return func(context.Context) (loaded[int], error) { return loaded[int]{n, keep, cost}, nil }
		}
		for i := range 100 {
			cost := i%4 + 1
			if got, err := m.get(t.Context(), fmt.Sprint(i), load(i, cost, time.Hour)); got != i || err != nil {
				t.Fatalf("got %d, %v", got, err)
			}
			spent := 0
			for _, e := range m.kept.Values() {
				spent += e.loaded.cost
			}
			if m.spent > m.budget || m.spent != spent {
				t.Fatalf("spent %d, counted as %d", spent, m.spent)
			}
			if !m.kept.Contains(fmt.Sprint(i)) {
				t.Fatalf("%d was not remembered", i)
			}
		}
		for _, key := range []string{"x", "y", "x", "z"} { // what was asked for longest ago goes first
			if _, err := m.get(t.Context(), key, load(1, 5, time.Hour)); err != nil {
				t.Fatal(err)
			}
		}
		if keys := m.kept.Keys(); fmt.Sprint(keys) != "[x z]" || m.spent != 10 {
			t.Errorf("%v are remembered, spent %d", keys, m.spent)
		}
		time.Sleep(2 * time.Hour)
		if got, err := m.get(t.Context(), "x", load(2, 7, time.Hour)); got != 2 || err != nil || m.spent != 7 {
			t.Errorf("what has run out is loaded again: got %d, %v, spent %d", got, err, m.spent)
		}
	})
}

// TestAMemoTakesNoMoreTimeOnceItIsFull counts what is looked at: an insertion into a full memo takes out one entry.
func TestAMemoTakesNoMoreTimeOnceItIsFull(t *testing.T) {
	t.Parallel()
	const budget = 1000
	m := newMemo[int](budget)
	for i := range 3 * budget {
		before := m.kept.Len()
		if _, err := m.get(t.Context(), fmt.Sprint(i), func(context.Context) (loaded[int], error) { return loaded[int]{i, time.Hour, 1}, nil }); err != nil {
			t.Fatal(err)
		}
		if want := min(before+1, budget); m.kept.Len() != want || m.kept.Contains(fmt.Sprint(i-budget)) {
			t.Fatalf("%d entries after %d insertions, want %d; the oldest is kept: %t", m.kept.Len(), i+1, want, m.kept.Contains(fmt.Sprint(i-budget)))
		}
	}
}

// BenchmarkMemo asks for ever other keys: 100,000 beyond those that there is room for cost as much each as the first.
func BenchmarkMemo(b *testing.B) {
	for _, hosts := range []int{10_000, 100_000} {
		b.Run(fmt.Sprint(hosts), func(b *testing.B) {
			m := newMemo[int](maxNames)
			insert := func(i int) {
				m.get(b.Context(), strconv.Itoa(i), func(context.Context) (loaded[int], error) { return loaded[int]{i, time.Hour, 1}, nil })
			}
			for i := range hosts {
				insert(i)
			}
			i := hosts
			for b.Loop() {
				insert(i)
				i++
			}
		})
	}
}

func TestAMemoSharesFailuresAndForgetsThem(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMemo[int](10)
		failure := errors.New("failure")
		var loads atomic.Int64
		gate := make(chan struct{})
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() {
				_, err := m.get(t.Context(), "k", func(context.Context) (loaded[int], error) {
					loads.Add(1)
					<-gate
					return loaded[int]{}, failure
				})
				if !errors.Is(err, failure) {
					t.Errorf("error %v", err)
				}
			})
		}
		synctest.Wait()
		close(gate)
		all.Wait()
		if loads.Load() != 1 || len(m.loading)+m.kept.Len() != 0 {
			t.Errorf("%d loads, %d entries", loads.Load(), len(m.loading)+m.kept.Len())
		}
	})
}

// TestAMemoLoadsForThoseWhoStay: when the one who loads goes away, or panics, another takes over.
func TestAMemoLoadsForThoseWhoStay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for name, leave := range map[string]func(context.Context){
			"goes away": func(ctx context.Context) { <-ctx.Done() },
			"panics":    func(ctx context.Context) { <-ctx.Done(); panic("on purpose") },
		} {
			m := newMemo[int](10)
			ctx, cancel := context.WithCancel(t.Context())
			var all sync.WaitGroup
			all.Go(func() {
				defer func() { _ = recover() }()
				_, err := m.get(ctx, "k", func(ctx context.Context) (loaded[int], error) {
					leave(ctx)
					return loaded[int]{value: 1, keep: time.Hour}, nil
				})
				if !errors.Is(err, context.Canceled) {
					t.Errorf("%s: %v", name, err)
				}
			})
			synctest.Wait()
			all.Go(func() {
				got, err := m.get(t.Context(), "k", func(context.Context) (loaded[int], error) {
					return loaded[int]{value: 2, keep: time.Hour}, nil
				})
				if got != 2 || err != nil {
					t.Errorf("%s: got %d, %v", name, got, err)
				}
			})
			synctest.Wait()
			cancel()
			all.Wait()
		}
	})
}

func TestRefusalsAreTold(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]bool{
		&netguard.RefusedError{}:                true,
		fmt.Errorf("dial: %w", &contactError{}): true,
		errors.New("connection refused"):        false,
	} {
		if isRefusal(err) != want {
			t.Errorf("%v: %v", err, !want)
		}
	}
}
