package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"testing"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/smalldisk"
	"github.com/webrace/webrace/xmlschema"
)

// bulkySite puts n pages there that take some 100 KB each to store, all linked to by the start,
// and returns a request for them.
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

const diskIsFull = "is full: paused; it goes on when there are"

func TestAFullDiskPausesTheRunAndRoomLetsItGoOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	disk := smalldisk.New(t, 20)
	w.data = disk.Path
	const pages = 200
	urds := w.bulkySite(pages)
	p := w.start(urds, "search", "--set", "frontier.leases=8")
	p.waitUntil(diskIsFull)
	before := len(w.requestsInOrder())
	disk.Resize(200)
	p.waitUntil("it goes on")
	p.mustExit(cli.OK)
	all := before + len(w.requestsInOrder())
	if before >= all || all != 1+pages {
		t.Errorf("%d requests before the pause, %d altogether, want %d", before, all, 1+pages)
	}
	mustSay(t, p.said(), fmt.Sprintf("%d pages", 1+pages), "0 errors", fmt.Sprintf("%d documents indexed", 1+pages))
	if told := w.news(); len(told) != pages {
		t.Errorf("told of %d pages, want %d", len(told), pages)
	}
	for i := range pages {
		if path := fmt.Sprintf("/%d", i+1); len(w.versions(path)) != 1 {
			t.Errorf("%s: %d versions", path, len(w.versions(path)))
		}
	}
}

func TestWhoDoesNotWaitForRoomLosesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	disk := smalldisk.New(t, 20)
	w.data = disk.Path
	const pages = 200
	urds := w.bulkySite(pages)
	p := w.start(urds)
	p.waitUntil(diskIsFull)
	p.signal(os.Interrupt)
	p.waitUntil("once there is room on the disk")
	p.signal(os.Interrupt)
	p.mustExit(cli.Interrupted)
	mustSay(t, p.said(), "goes on from here")
	disk.Resize(200)
	w.run(urds, askAll...)
	if told := w.news(); len(told) != pages {
		t.Errorf("told of %d pages, want %d", len(told), pages)
	}
}
