package otlp

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/pipeline"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// brisk is a pace at which tests wait for nothing: the clock does not make it send, nor does a failure pause it.
var brisk = pace{
	room: 64, atOnce: 4, every: time.Hour, pause: time.Nanosecond, longest: time.Nanosecond,
	request: time.Minute, farewell: time.Minute,
}

// site is a collector that keeps what it is sent, and answers as it is told.
type site struct {
	*httptest.Server
	mu       sync.Mutex
	answer   func(http.ResponseWriter, *http.Request)
	requests []*http.Request
	names    []string // of the spans
	services map[string]bool
}

func newSite(t *testing.T) *site {
	s := &site{services: make(map[string]bool)}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	if s.answer != nil {
		s.answer(w, r)
		return
	}
	var request struct {
		ResourceSpans []struct {
			Resource   struct{ Attributes []attribute }
			ScopeSpans []struct{ Spans []span }
		}
	}
	if err != nil || json.Unmarshal(body, &request) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	for _, resource := range request.ResourceSpans {
		s.services[resource.Resource.Attributes[0].Value.Text] = true
		for _, span := range resource.ScopeSpans[0].Spans {
			s.names = append(s.names, span.Name)
		}
	}
	_, _ = io.WriteString(w, "{}")
}

func (s *site) say(answer func(http.ResponseWriter, *http.Request)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = answer
}

func (s *site) took() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.names
}

func (s *site) asked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.requests)
}

func collectorAt(t *testing.T, address string, p pace) (*Collector, *testutil.Buffer) {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	l := new(testutil.Buffer)
	s := Settings{Endpoint: u, Service: "crawler", Headers: map[string]string{"Api-Key": "k"}}
	return newCollector(s, slog.New(slog.NewTextHandler(l, nil)), p), l
}

// follow follows leases, of two spans each.
func follow(c *Collector, leases int) {
	tracer := New(1, c)
	for range leases {
		lease := tracer.Lease("webrace")
		lease.Stage("fetch", &pipeline.Item{Value: "x"}, time.Now(), 0)
		lease.End(pipeline.Outcome{})
	}
}

// eventually waits for something that happens in the background.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal(what)
		}
	}
}

func TestSpansComeToACollector(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	c, log := collectorAt(t, s.URL+"/v1/traces", brisk)
	follow(c, 2)
	eventually(t, "what is enough for a request is not sent", func() bool { return len(s.took()) == 4 })
	follow(c, 1) // which is too little for one
	c.Close()
	if got := strings.Join(s.took(), " "); got != "webrace fetch webrace fetch webrace fetch" || !s.services["crawler"] {
		t.Errorf("it has %s of %v", got, s.services)
	}
	if r := s.requests[0]; r.Method != http.MethodPost || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/json" || r.Header.Get("Api-Key") != "k" {
		t.Errorf("the request is %s %s %v", r.Method, r.URL, r.Header)
	}
	if log.String() != "" {
		t.Errorf("it says %s", log)
	}
}

func TestWhatACollectorCannotTakeYetIsSentAgain(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.say(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	p := brisk
	p.every = time.Millisecond
	c, log := collectorAt(t, s.URL, p)
	follow(c, 2)
	eventually(t, "it is not asked again", func() bool { return s.asked() > 2 })
	s.say(nil)
	eventually(t, "nothing is sent again", func() bool { return len(s.took()) == 4 })
	eventually(t, "that it works again is not said", func() bool { return strings.Contains(log.String(), "takes spans again") })
	c.Close()
	if n := strings.Count(log.String(), "level=WARN"); n != 1 || !strings.Contains(log.String(), "503 Service Unavailable") || len(s.took()) != 4 {
		t.Errorf("%d warnings, %d spans: %s", n, len(s.took()), log)
	}
}

func TestWhatACollectorDoesNotWantIsLeftOutAndCounted(t *testing.T) {
	t.Parallel()
	for says, answer := range map[string]func(http.ResponseWriter, *http.Request){
		"spans=4 ": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadRequest) },
		"spans=3 ": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"partialSuccess":{"rejectedSpans":"3","errorMessage":"too old"}}`)
		},
		"spans=2 ": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"partialSuccess":{"rejectedSpans":2}}`)
		},
	} {
		s := newSite(t)
		s.say(answer)
		c, log := collectorAt(t, s.URL, brisk)
		follow(c, 2)
		c.Close()
		if !strings.Contains(log.String(), "spans were left out") || !strings.Contains(log.String(), says) || s.asked() != 1 {
			t.Errorf("%d requests, want %s: %s", s.asked(), says, log)
		}
	}
}

// TestADeadCollectorIsNotWaitedFor has one that nobody listens for, and one that never answers.
func TestADeadCollectorIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	gone := newSite(t)
	gone.Close()
	hanging := newSite(t)
	letGo := make(chan struct{})
	t.Cleanup(func() { close(letGo) })
	hanging.say(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-letGo:
		case <-r.Context().Done():
		}
	})
	for name, s := range map[string]*site{"gone": gone, "hanging": hanging} {
		p := brisk
		p.farewell, p.pause, p.longest = time.Millisecond, time.Hour, time.Hour
		c, log := collectorAt(t, s.URL, p)
		follow(c, 10*p.room) // returns, or the test never ends
		c.mu.Lock()
		kept, lost := len(c.queue), c.lost
		c.mu.Unlock()
		if kept != p.room || lost != int64(19*p.room) {
			t.Errorf("%s: %d spans are kept, and %d left out", name, kept, lost)
		}
		c.Close()
		if !strings.Contains(log.String(), "spans=1280 ") {
			t.Errorf("%s: it says %s", name, log)
		}
	}
}

func TestACollectorIsNotFollowedElsewhere(t *testing.T) {
	t.Parallel()
	elsewhere := newSite(t)
	s := newSite(t)
	s.say(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
	})
	c, log := collectorAt(t, s.URL, brisk)
	follow(c, 2)
	c.Close()
	if elsewhere.asked() != 0 || !strings.Contains(log.String(), "307 Temporary Redirect") {
		t.Errorf("%d requests elsewhere: %s", elsewhere.asked(), log)
	}
}
