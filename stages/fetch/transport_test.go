package fetch

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/httpclient/clienttest"
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

// use makes a zone all that a stage knows of names.
func use(z *clienttest.Zone) func(*stage) { return func(s *stage) { s.client.SetResolver(z) } }

func TestNamesAreLookedUpAndCheckedWhenConnecting(t *testing.T) {
	t.Parallel()
	url := serve(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Host) })
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(url, "http://"))
	z := &clienttest.Zone{Hosts: map[string]string{
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
		all := runWith(t, local(), use(z), req)
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
		z := &clienttest.Zone{Hosts: map[string]string{"a.example": addrs}}
		req := get("http://a.example:1/") // nothing listens there
		all := runWith(t, local(), use(z), req)
		if got := all.counters["address_refused"] == 1; got != refused || all.counters["network_failures"] == 1 == refused {
			t.Errorf("%s: counters %v", addrs, all.counters)
		}
	}
}
