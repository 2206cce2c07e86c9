package fetch

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/robots"
	"github.com/webrace/webrace/pipeline"
)

// A host's tdmrep.json is asked for once, if that is wanted and robots.txt allows it, and what it states goes with the
// documents of which it speaks. One that cannot be had states nothing.
func TestTheFileOfTheTDMReservationProtocol(t *testing.T) {
	t.Parallel()
	const file = `[{"location": "/mine/", "tdm-reservation": 1, "tdm-policy": "/policy.json"}, {"location": "/", "tdm-reservation": 0}]`
	for name, c := range map[string]struct {
		robots string
		status int
		body   string
		off    bool
		asked  int32
		want   map[string]string
	}{
		"it is there":          {"", 200, file, false, 1, map[string]string{"/mine/a": "tdmrep.json:1: tdm-reservation: 1|tdmrep.json:1: tdm-policy: /policy.json", "/b": "tdmrep.json:2: tdm-reservation: 0"}},
		"beside robots.txt":    {"User-agent: *\nContent-Usage: train-ai=n", 200, file, false, 1, map[string]string{"/b": "robots.txt:2: Content-Usage: train-ai=n|tdmrep.json:2: tdm-reservation: 0"}},
		"it is not wanted":     {"", 200, file, true, 0, map[string]string{"/mine/a": ""}},
		"robots.txt forbids":   {"User-agent: *\nDisallow: /.well-known/", 200, file, false, 0, map[string]string{"/mine/a": "", "/b": ""}},
		"there is none":        {"", 404, file, false, 1, map[string]string{"/mine/a": ""}},
		"the server fails":     {"", 500, file, false, 1, map[string]string{"/mine/a": ""}},
		"it is a page":         {"", 200, "<p>not found", false, 1, map[string]string{"/mine/a": ""}},
		"the connection fails": {"", 0, "", false, 1, map[string]string{"/mine/a": ""}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int32
			url := serve(t, func(w http.ResponseWriter, r *http.Request) {
				switch {
				case r.URL.Path == "/robots.txt":
					fmt.Fprint(w, c.robots)
				case r.URL.Path != robots.TDMRepPath:
					fmt.Fprint(w, "page")
				default:
					asked.Add(1)
					if c.status == 0 {
						panic(http.ErrAbortHandler)
					}
					w.WriteHeader(c.status)
					fmt.Fprint(w, c.body)
				}
			})
			o := obedient()
			o.TDMRep = !c.off
			var requests []webrace.Request
			for path := range c.want {
				requests = append(requests, get(url+path))
			}
			for i, r := range run(t, o, requests...).byRequest {
				if len(r.documents) != 1 {
					t.Fatalf("%s: %+v", requests[i].URL, r)
				}
				want := c.want[strings.TrimPrefix(requests[i].URL, url)]
				if got := strings.Join(r.documents[0].Header[webrace.UsageField], "|"); got != want {
					t.Errorf("of %s is noted %q, want %q", requests[i].URL, got, want)
				}
			}
			if c.status != 0 && asked.Load() != c.asked { // the transport may repeat what failed
				t.Errorf("the file was asked for %d times, want %d", asked.Load(), c.asked)
			}
		})
	}
}

// The host has its pause behind the request for the file, as behind each other.
func TestAHostRestsFromItsTDMFile(t *testing.T) {
	t.Parallel()
	var last atomic.Int64
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		now := time.Now().UnixNano()
		if before := last.Swap(now); before != 0 && time.Duration(now-before) < 150*time.Millisecond {
			t.Errorf("%s was asked for %v behind the request before", r.URL.Path, time.Duration(now-before))
		}
		fmt.Fprint(w, "page")
	})
	o := obedient()
	o.TDMRep, o.DelayAdmitted, o.Delay = true, true, pipeline.Duration(150*time.Millisecond)
	o.AdaptiveDelay = 0
	single, err := NewSingle(o, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer single.Close()
	if _, err := single.Get(t.Context(), get(url+"/page")); err != nil {
		t.Error(err)
	}
}
