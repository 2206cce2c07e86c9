package main

import (
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/cmd/internal/remote"
)

var served = regexp.MustCompile(`admin server at (http://\S+)/"`)

func TestARunShowsItselfAtAnAddressIfAskedTo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	arrived, letGo := slowSite(w.site, 2)
	t.Cleanup(letGo)
	p := w.start(these(w.asks("ann", "/", depth(2), about("tea"))), "--admin", "127.0.0.1:0")
	await(t, arrived, 2)
	p.waitUntil("admin server at")
	base := served.FindStringSubmatch(p.said())[1]
	waitFor(t, func() bool { return strings.Contains(read(t, base+"/readyz"), "ok") }, p.said)
	for path, want := range map[string]string{
		"/": `data-pipeline="webrace"`, "/readyz": "ok", "/pipelines/webrace": `"user_agent"`,
		"/metrics": `webrace_stage_busy_items{pipeline="webrace",stage="fetch",type="fetch"}`, "/debug/pprof/": "goroutine",
	} {
		if body := read(t, base+path); !strings.Contains(body, want) {
			t.Errorf("%s says nothing of %s: %s", path, want, body)
		}
	}
	// The commands of webrace-store are for those alone who can open the socket.
	response, err := http.Post(base+remote.Path, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if response.Body.Close(); response.StatusCode != http.StatusNotFound && response.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("the stores answer at the address: %d", response.StatusCode)
	}
	letGo()
	p.mustExit(cli.OK)
}

func read(t *testing.T, url string) string {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestAnAddressThatIsTakenIsSaidBeforeAnythingRuns(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	w := newWorld(t)
	p := w.look("webrace", "--admin", taken.Addr().String())
	p.mustExit(cli.Environment)
	mustSay(t, p.said(), "--admin: listen tcp "+taken.Addr().String())
}
