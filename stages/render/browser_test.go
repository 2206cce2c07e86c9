package render

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/stagetest"
	"github.com/webrace/webrace/stages/internal/httpclient"
)

// wrapped is a browser that notes its process, so that a test can kill it.
type wrapped struct {
	path, pid string
	mu        sync.Mutex
}

func newWrapped(t *testing.T) *wrapped {
	t.Helper()
	path, err := findBrowser("")
	if err != nil {
		t.Skip("no Chromium is installed")
	}
	w := &wrapped{path: filepath.Join(t.TempDir(), "browser"), pid: filepath.Join(t.TempDir(), "pids")}
	script := fmt.Sprintf("#!/bin/sh\necho $$ >>%s\nexec %s \"$@\"\n", w.pid, path)
	syscall.ForkLock.RLock() // a process that is started meanwhile would hold the file open, which then cannot be run
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(w.path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return w
}

// kill kills all browsers that were started, and returns how many.
func (w *wrapped) kill(t *testing.T) (killed int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	pids, err := os.ReadFile(w.pid)
	if err != nil {
		t.Error(err)
	}
	for _, line := range strings.Fields(string(pids)) {
		pid, err := strconv.Atoi(line)
		if err != nil {
			t.Error(err)
			continue
		}
		process, err := os.FindProcess(pid)
		if err == nil && process.Kill() == nil {
			killed++
		}
	}
	return killed
}

// TestKilledBrowsersCostNoPage kills browsers while they load pages, and looks for what they leave behind.
func TestKilledBrowsersCostNoPage(t *testing.T) {
	dir, err := os.MkdirTemp("", "left") // of a short name
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	t.Setenv("TMPDIR", dir)
	w := newWrapped(t)
	var once sync.Once
	page := `<p id=out></p><script>fetch(location.pathname + ".txt").then(() => out.innerHTML = "made")</script>`
	s := newSite(t).page("/once", page).page("/always", page).page("/never", page).
		handle("/once.txt", func(http.ResponseWriter, *http.Request) { once.Do(func() { w.kill(t) }) }).
		handle("/always.txt", func(http.ResponseWriter, *http.Request) { w.kill(t) }).
		handle("/never.txt", func(http.ResponseWriter, *http.Request) {})
	o := local(t)
	o.Browser = w.path
	got := run(t, o, s, "/once", "/always", "/never")
	got.shows(t, "/once", []string{`<p id="out">made</p>`})
	got.shows(t, "/never", []string{`<p id="out">made</p>`})
	got.wants(t, map[string]int64{"browser_crashes": 3, "rendered": 2, "failed": 1})
	if d := got.documents["/always"]; d.Rendered || !strings.Contains(got.bodies["/always"], "<p id=out></p>") {
		t.Errorf("a page that kills every browser does not go on as it was fetched: %.200q", got.bodies["/always"])
	}
	w.mustBeGone(t)
	if files, err := filepath.Glob(filepath.Join(dir, "webrace-render-*")); err != nil || len(files) > 0 {
		t.Errorf("files are left: %q, %v", files, err)
	}
	if left := processes(t, dir); left != "" {
		t.Errorf("processes are left:\n%s", left)
	}
}

// mustBeGone fails the test if one of the browsers is still there, be it as a zombie.
func (w *wrapped) mustBeGone(t *testing.T) {
	t.Helper()
	pids, err := os.ReadFile(w.pid)
	if err != nil {
		t.Fatal(err)
	}
	for _, pid := range strings.Fields(string(pids)) {
		if stat, err := os.ReadFile("/proc/" + pid + "/stat"); err == nil {
			t.Errorf("process %s is left: %s", pid, stat)
		}
	}
}

func TestABrowserThatDiedWhileIdleIsReplaced(t *testing.T) {
	t.Parallel()
	w := newWrapped(t)
	o := local(t)
	o.Browser = w.path
	p := newPool(o, pipeline.NewEnv("p", "render", nil))
	defer p.close()
	b, err := p.take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p.give(b)
	w.kill(t)
	<-b.lost
	next, err := p.take(t.Context())
	if err != nil || next == b || next.crashed() {
		t.Errorf("got %v, %v", next, err)
	}
	p.give(next)
}

func TestEndingARunEndsItsBrowsers(t *testing.T) {
	t.Parallel()
	o := local(t)
	ctx, cancel := context.WithCancel(t.Context())
	loading := make(chan struct{})
	var once sync.Once
	lent := &pipeline.Resources{}
	pipeline.Provide[httpclient.SubresourceFetcher](lent, fetcher(func(ctx context.Context, r httpclient.SubresourceRequest) (*httpclient.Subresource, error) {
		once.Do(func() { close(loading) })
		<-ctx.Done()
		return nil, ctx.Err()
	}))
	made, err := newStage(o, pipeline.NewEnv("p", "render", lent))
	if err != nil {
		t.Fatal(err)
	}
	s := made.(*stage)
	if err := s.Open(ctx); err != nil {
		t.Fatal(err)
	}
	go func() { <-loading; cancel() }()
	document := &webrace.Document{
		URL: "http://example.org/", Outcome: webrace.Fetched, MediaType: "text/html", Body: []byte("<script src=/never.js></script>"),
	}
	err = s.Process(ctx, &pipeline.Item{Value: document}, nil)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := s.pool.take(t.Context()); err == nil {
		t.Error("a stage that is closed starts browsers")
	}
}

// fetcher gets subresources as a function does.
type fetcher func(context.Context, httpclient.SubresourceRequest) (*httpclient.Subresource, error)

func (p fetcher) Subresource(ctx context.Context, r httpclient.SubresourceRequest) (*httpclient.Subresource, error) {
	return p(ctx, r)
}

func TestWhatIsMissingIsSaidAtTheStart(t *testing.T) {
	o := local(t)
	s := newSite(t).page("/", "")
	open := func(o Options) error {
		_, err := runWith(t, fetching(), o, s, "/")
		return err
	}
	wrong := o
	wrong.Browser = filepath.Join(t.TempDir(), "chromium")
	if err := open(wrong); err == nil || !strings.Contains(err.Error(), "browser: ") {
		t.Errorf("a browser that is not there: %v", err)
	}
	wrong.Browser = "/bin/false"
	if err := open(wrong); err == nil || !strings.Contains(err.Error(), "start /bin/false") {
		t.Errorf("a program that is no browser: %v", err)
	}
	if os.Geteuid() == 0 {
		wrong = o
		wrong.Sandbox = true
		if err := open(wrong); err == nil || !strings.Contains(err.Error(), "sandbox: ") {
			t.Errorf("root with a sandbox: %v", err)
		}
	}
	wrong = o
	wrong.Fetch = "other"
	if err := open(wrong); err == nil || !strings.Contains(err.Error(), "no stage other") {
		t.Errorf("a fetch stage that is not there: %v", err)
	}
	t.Setenv("PATH", t.TempDir())
	if err := open(o); err == nil || !strings.Contains(err.Error(), "apt-get install chromium") {
		t.Errorf("no browser: %v", err)
	}
	if n := s.times("GET /"); n > 0 {
		t.Errorf("something was fetched all the same: %d pages", n)
	}
}

func TestConformance(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts many browsers")
	}
	lent := &pipeline.Resources{}
	pipeline.Provide[httpclient.SubresourceFetcher](lent, fetcher(func(context.Context, httpclient.SubresourceRequest) (*httpclient.Subresource, error) {
		return &httpclient.Subresource{Status: http.StatusOK, Header: http.Header{"Content-Type": {"text/javascript"}}, Body: []byte("1")}, nil
	}))
	page := func(body string) *webrace.Document {
		return &webrace.Document{
			URL: "https://example.org/", Outcome: webrace.Fetched, Status: 200, MediaType: "text/html", Body: []byte(body),
			Header: http.Header{"Content-Type": {"text/html"}}, At: time.Unix(1e9, 0),
		}
	}
	stagetest.Run(t, stagetest.Case{
		Type: "render", Options: local(t), Resources: lent, Patience: 30 * time.Second,
		Inputs: []any{
			page("<script src=a.js></script>"), page("<script>location = '/b'</script>"),
			&webrace.Document{URL: "https://example.org/", Outcome: webrace.NotModified},
		},
	})
}
