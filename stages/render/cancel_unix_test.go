//go:build unix

package render

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/subprocess"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/httpclient"
)

// within fails the test if f does not end, and shows where it is.
func within(t *testing.T, what string, f func()) {
	t.Helper()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		f()
	}()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		stacks := make([]byte, 1<<20)
		t.Fatalf("%s does not end:\n%s", what, stacks[:runtime.Stack(stacks, true)])
	}
}

func TestABrowserIsNotStartedForWhatHasEnded(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o := local(t)
	within(t, "the start of a browser", func() {
		if _, err := startBrowser(ctx, o); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}

// Browsers are given up at all moments of their start.
func TestTheStartOfABrowserEndsWithItsContext(t *testing.T) {
	o := local(t)
	left, err := os.MkdirTemp("", "left") // of a short name
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(left)
	t.Setenv("TMPDIR", left)
	for moment := range 12 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(moment)*30*time.Millisecond)
		within(t, "the start of a browser", func() {
			if b, err := startBrowser(ctx, o); err == nil {
				b.stop()
			}
		})
		cancel()
	}
	if files, err := filepath.Glob(filepath.Join(left, "*")); err != nil || len(files) > 0 {
		t.Errorf("files are left: %q, %v", files, err)
	}
	waitUntilGone(t, left)
}

// waitUntilGone waits for the end of processes that were killed.
func waitUntilGone(t *testing.T, word string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); processes(t, word) != ""; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("processes are left:\n%s", processes(t, word))
		}
	}
}

// A program that never answers stands for a browser that hangs while it starts.
func TestABrowserThatHangsWhileItStartsIsGivenUpWithItsProcesses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := defaults
	o.Sandbox = false
	o.Browser = filepath.Join(dir, "browser")
	script := fmt.Sprintf("#!/bin/sh\ntail -f %[1]s/browser &\n>%[1]s/started\ntail -f %[1]s/browser\n", dir)
	syscall.ForkLock.RLock() // a process that is started meanwhile would hold the file open, which then cannot be run
	err := os.WriteFile(o.Browser, []byte(script), 0o755)
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		for ctx.Err() == nil {
			if _, err := os.Stat(filepath.Join(dir, "started")); err == nil {
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	within(t, "the start of a browser", func() {
		if _, err := startBrowser(ctx, o); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
	waitUntilGone(t, dir)
}

// All processes of the browser are stopped while a page waits for a script, so that it answers nothing any more.
func TestARunEndsAlthoughItsBrowserHangs(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	asked := make(chan struct{}, 1)
	lent := &pipeline.Resources{}
	pipeline.Provide[httpclient.SubresourceFetcher](lent, fetcher(func(ctx context.Context, r httpclient.SubresourceRequest) (*httpclient.Subresource, error) {
		select {
		case asked <- struct{}{}:
		default:
		}
		<-ctx.Done()
		return nil, ctx.Err()
	}))
	made, err := newStage(local(t), pipeline.NewEnv("p", "render", lent))
	if err != nil {
		t.Fatal(err)
	}
	s := made.(*stage)
	if err := s.Open(ctx); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	group := s.pool.idle[0].group.ID()
	go func() {
		<-asked
		if err := syscall.Kill(-group, syscall.SIGSTOP); err != nil {
			t.Error(err)
		}
		cancel()
	}()
	document := &webrace.Document{
		URL: "http://example.org/", Outcome: webrace.Fetched, MediaType: "text/html", Body: []byte("<script src=/never.js></script>"),
	}
	within(t, "the page", func() {
		if err := s.Process(ctx, &pipeline.Item{Value: document}, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
	if len(s.pool.idle) > 0 {
		t.Error("a browser that was given up is kept for another page")
	}
}

// The system may keep a process that was killed, because it waits for a disk.
func TestStoppingABrowserDoesNotWaitForEverForItsProcess(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "browser")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		gone := make(chan struct{})
		b := &browser{dir: dir, group: new(subprocess.Group), cancel: func() { <-gone }}
		if err := b.stop(); err != nil {
			t.Error(err)
		}
		close(gone)
	})
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what it wrote is left: %v", err)
	}
}
