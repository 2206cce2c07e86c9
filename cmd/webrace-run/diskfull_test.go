package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/storage/diskspace"
	"github.com/webrace/webrace/xmlschema"
)

// diskIsFull is what a run prints when the disk of its data directory is full.
const diskIsFull = "is full: paused; it goes on when there are"

// bulkyPages is how many pages that speak of tea fillDisk serves besides the start.
const bulkyPages = 200

// bulkySite puts n pages there that take some 100 KB each to store, all linked to by the start, and returns a request
// for them.
func (w *world) bulkySite(n int) []*xmlschema.URD {
	var links []string
	for i := range n {
		path := fmt.Sprintf("/%d", i+1)
		links = append(links, path)
		w.site.handle(path, func(rw http.ResponseWriter, r *http.Request) {
			random := make([]byte, 128_000)
			rand.NewChaCha8([32]byte{byte(i), byte(i >> 8)}).Read(random)
			serveDocument(rw, r, document(fmt.Sprintf("page %d speaks of tea <!-- %x -->", i, random)))
		})
	}
	w.site.page("/", links...)
	return these(w.asks("ann", "/", depth(2), about("tea")))
}

// fillDisk starts a crawl of a bulkySite, with these arguments, over a disk that has not room for it, and waits until
// the run pauses.
func (w *world) fillDisk(args ...string) (disk *testutil.Disk, urds []*xmlschema.URD, paused *command) {
	w.t.Helper()
	disk = testutil.NewDisk(w.t, 20)
	w.data = disk.Path
	urds = w.bulkySite(bulkyPages)
	paused = w.start(urds, args...)
	paused.waitUntil(diskIsFull)
	return disk, urds, paused
}

func TestAFullDiskPausesTheRunAndRoomLetsItGoOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	disk, _, p := w.fillDisk("search", "--set", "frontier.leases=8")
	before := len(w.requestsInOrder())
	disk.Resize(200)
	p.waitUntil("again: it goes on")
	p.mustExit(cli.OK)
	all := before + len(w.requestsInOrder())
	if before >= all || all != 1+bulkyPages {
		t.Errorf("%d requests before the pause, %d altogether, want %d", before, all, 1+bulkyPages)
	}
	mustSay(t, p.said(), fmt.Sprintf("%d pages", 1+bulkyPages), "0 errors", fmt.Sprintf("%d documents indexed", 1+bulkyPages))
	w.mustTellOf("the whole site", bulkyPages)
	for i := range bulkyPages {
		if path := fmt.Sprintf("/%d", i+1); len(w.versions(path)) != 1 {
			t.Errorf("%s: %d versions", path, len(w.versions(path)))
		}
	}
}

func TestWhoDoesNotWaitForRoomLosesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	disk, urds, p := w.fillDisk()
	p.signal(os.Interrupt)
	p.waitUntil("once there is room on the disk")
	p.signal(os.Interrupt)
	p.mustExit(cli.Interrupted)
	mustSay(t, p.said(), "goes on from here")
	disk.Resize(200)
	w.run(urds, askAll...)
	w.mustTellOf("the whole site", bulkyPages)
}

// A command at rest does not wait for room: it reports what is the matter and ends, and once there is room nothing is
// wrong.
func TestCommandsAtRestEndOnAFullDisk(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	disk, urds, p := w.fillDisk()
	p.signal(os.Kill)
	p.Wait()
	rest := filepath.Join(disk.Path, "rest")
	if err := os.WriteFile(rest, make([]byte, 20<<20), 0o600); !diskspace.IsFull(err) {
		t.Fatalf("the disk has room: %v", err)
	}
	for _, command := range []string{"fsck", "gc", "frontier stats"} {
		c := w.atRest(command)
		c.mustExit(cli.Environment)
		mustSay(t, c.said(), "no space left on device", "make room")
	}
	if err := os.Remove(rest); err != nil {
		t.Fatal(err)
	}
	disk.Resize(200)
	w.atRest("fsck").mustExit(cli.OK)
	w.run(urds, askAll...)
	w.mustTellOf("the whole site", bulkyPages)
}

func (w *world) atRest(line string) *command {
	p := &command{Cmd: exec.Command("webrace-store", append(strings.Fields(line), "--data", w.data)...), t: w.t}
	p.Stdout, p.Stderr = &p.output, &p.output
	p.begin()
	return p
}

// A command at rest that fills the disk with quads ends, and reports that; what is there is sound, and once there is
// room the same command goes on.
func TestQuadsAtRestEndOnAFullDisk(t *testing.T) {
	t.Parallel()
	var said strings.Builder
	for n := range 40_000 {
		fmt.Fprintf(&said, "<http://s.example/%d> <http://p.example/> \"%x\" <http://g.example/%d> .\n", n, rand.Uint64(), n/50)
	}
	path := filepath.Join(t.TempDir(), "quads.nq")
	writeFile(t, path, said.String())
	disk := testutil.NewDisk(t, 6)
	w := &world{t: t, data: filepath.Join(disk.Path, "data")}
	full := w.atRest("quads import " + path)
	full.mustExit(cli.Environment)
	mustSay(t, full.said(), "no space left on device", "make room")
	if strings.Contains(full.said(), "goroutine") {
		t.Errorf("it ends like this:\n%s", full.said())
	}
	disk.Resize(200)
	w.atRest("fsck").mustExit(cli.OK)
	w.atRest("quads import " + path).mustExit(cli.OK)
	w.atRest("fsck").mustExit(cli.OK)
	elsewhere := t.TempDir()
	mustSucceed(t, exec.Command("webrace-store", "quads", "import", path, "--data", elsewhere))
	if got, want := digests(t, exportQuads(t, w.data)), digests(t, exportQuads(t, elsewhere)); !maps.Equal(got, want) {
		t.Errorf("%d contexts are not what they are where there was room: %d", len(got), len(want))
	}
}
