package main

import (
	"io"
	"strings"
	"testing"

	"github.com/creack/pty"
	"github.com/webrace/webrace/cmd/internal/cli"
)

func TestTopIsLiveOnATerminal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	arrived, letGo := slowSite(w.site, 1)
	t.Cleanup(letGo)
	run := w.start(these(w.asks("ann", "/", depth(2), about("tea"))))
	await(t, arrived, 1)
	screen, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer screen.Close()
	if err := pty.Setsize(tty, &pty.Winsize{Cols: 60, Rows: 9}); err != nil {
		t.Fatal(err)
	}
	p := newCommand(t, "top", "--data", w.data, "--interval", "100ms")
	p.Stdin, p.Stdout, p.Stderr = tty, tty, tty
	p.begin()
	tty.Close()
	shown := make(chan struct{})
	go func() {
		defer close(shown)
		io.Copy(&p.output, screen) // until no process has the terminal open any more
	}()
	for _, step := range []struct{ sees, types string }{{"in/s", "?"}, {"sort by the next column", "\x1b"}, {"q quit", "q"}} {
		p.waitUntil(step.sees)
		if _, err := io.WriteString(screen, step.types); err != nil {
			t.Fatal(err)
		}
	}
	p.mustExit(cli.OK)
	<-shown
	if !strings.HasSuffix(p.said(), "\x1b[?1049l") {
		t.Errorf("the screen that was there before is not shown again: %q", p.said())
	}
	letGo()
	run.mustExit(cli.OK)
}
