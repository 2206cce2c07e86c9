package main

import (
	"io"
	"os/exec"
	"testing"

	"github.com/webrace/webrace/cmd/internal/cli"
)

// reads has a command read the data directory at rest, until the pipe that is returned was read to its end.
func (w *world) reads(url string) (*exec.Cmd, io.Reader) {
	w.t.Helper()
	c := exec.Command("webrace-store", "cache", "cat", url, "--data", w.data)
	out, err := c.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { c.Process.Kill() })
	if _, err := io.ReadFull(out, make([]byte, 1)); err != nil { // it has the directory open, and the pipe is too small
		w.t.Fatal(err)
	}
	return c, out
}

const isBeingRead = "is being read by another process"

func TestARunWaitsForACommandThatReads(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	urds := w.bulkySite(1)
	w.run(urds)
	reader, out := w.reads(w.site.URL + "/1")
	p := w.start(urds)
	p.waitUntil(isBeingRead)
	if _, err := io.Copy(io.Discard, out); err != nil {
		t.Fatal(err)
	}
	if err := reader.Wait(); err != nil {
		t.Fatal(err)
	}
	p.mustExit(cli.OK)
}

func TestARunDoesNotWaitForEverForACommandThatReads(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	urds := w.bulkySite(1)
	w.run(urds)
	w.reads(w.site.URL + "/1")
	p := w.start(urds)
	p.mustExit(cli.Environment)
	mustSay(t, p.said(), "waiting for that to end", isBeingRead, "try again")
}
