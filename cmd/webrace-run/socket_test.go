package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/cmd/internal/storecmd"
	"github.com/webrace/webrace/pipeline/admin"
	"github.com/webrace/webrace/storage"
)

// store runs webrace-store over the world's data directory.
func (w *world) store(args ...string) (said string, status int) {
	var out bytes.Buffer
	status = w.runStore(&out, &out, args...)
	return out.String(), status
}

// runStore runs webrace-store within this process, which saves the start of another, as most of the time of most
// commands is.
func (w *world) runStore(stdout, stderr io.Writer, args ...string) (status int) {
	root := storecmd.New(append([]string{"--data", w.data}, args...))
	root.SetIn(strings.NewReader("hidden\n"))
	root.SetOut(stdout)
	return cli.Execute(w.t.Context(), root, stderr)
}

func TestStoresInUseAreLookedIntoAndChangedThroughTheirOwner(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const pages, inFlight = 6, 2
	arrived, letGo := slowSite(w.site, pages)
	t.Cleanup(letGo)
	p := w.start(these(w.asks("ann", "/", depth(2), about("tea"))), "--set", "frontier.leases=2")
	await(t, arrived, inFlight)

	for _, c := range []struct {
		args   []string
		says   string
		status int
	}{
		{[]string{"frontier", "stats"}, "webrace\t7\t6\t0\t0", cli.OK},
		{[]string{"why", w.URL + "/6"}, "waits for its turn", cli.OK},
		{[]string{"why", w.URL + "/6", "--set", "frontier.path_depth=1"}, "pipeline webrace is running: what it was started with counts", cli.OK},
		{[]string{"urd", "list"}, "ann", cli.OK},
		{[]string{"cache", "ls"}, w.URL + "/\t1\t200", cli.OK},
		{[]string{"urd", "add", "--url", w.URL + "/6", "--owner", "bob", "--keyword", "milk"}, "added", cli.OK},
		{[]string{"urd", "list", "--owner", "bob"}, "milk", cli.OK},
		{[]string{"urd", "rm", "nobody"}, "nobody", cli.Failed},
		{[]string{"urd", "lst"}, "did you mean list", cli.Usage},
	} {
		if said, status := w.store(c.args...); status != c.status || !strings.Contains(said, c.says) {
			t.Errorf("%v ends with %d and says %q, want %d and %q", c.args, status, said, c.status, c.says)
		}
	}
	w.mustBeSeenRunning()
	second := w.look("webrace")
	second.mustExit(cli.Environment)
	mustSay(t, second.said(), "webrace-store works meanwhile")
	letGo()
	p.mustExit(cli.OK)
	if _, err := os.Stat(filepath.Join(w.data, storage.SocketName)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is still there: %v", err)
	}
	if said, status := w.store("urd", "list", "--owner", "bob"); status != cli.OK || !strings.Contains(said, "milk") {
		t.Errorf("after the run: %d, %q", status, said)
	}
}

// mustBeSeenRunning asks the process for its pipelines.
func (w *world) mustBeSeenRunning() {
	w.t.Helper()
	conn, err := admin.Dial(w.t.Context(), filepath.Join(w.data, storage.SocketName))
	if err != nil {
		w.t.Fatal(err)
	}
	defer conn.Close()
	request, err := http.NewRequest("GET", "http://webrace/pipelines", nil)
	if err == nil {
		err = request.Write(conn)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), request)
	if err != nil {
		w.t.Fatal(err)
	}
	defer response.Body.Close()
	var states []admin.State
	if err := json.NewDecoder(response.Body).Decode(&states); err != nil {
		w.t.Fatal(err)
	}
	if len(states) != 1 || states[0].Name != "webrace" || states[0].State != "running" || states[0].Stages["fetch"].Busy == 0 {
		w.t.Errorf("the pipelines are shown as %+v", states)
	}
}

func TestAnOwnerThatIsKilledLeavesASocketThatNobodyMinds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	arrived, letGo := slowSite(w.site, 2)
	t.Cleanup(letGo)
	urds := these(w.asks("ann", "/", depth(2), about("tea")))
	p := w.start(urds)
	await(t, arrived, 2)
	awaitFile(t, filepath.Join(w.data, storage.SocketName)) // it may come after the first requests
	p.signal(os.Kill)
	p.Wait()
	if _, err := os.Stat(filepath.Join(w.data, storage.SocketName)); err != nil {
		t.Fatalf("the test is of no use: %v", err)
	}
	if said, status := w.store("urd", "list"); status != cli.OK || !strings.Contains(said, "ann") {
		t.Errorf("it ends with %d and says %q", status, said)
	}
	letGo()
	w.run(urds)
}

// awaitFile waits until there is a file.
func awaitFile(t *testing.T, path string) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
		_, err := os.Stat(path)
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}
