package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/webrace/webrace/cmd/webrace-run/demosite"
	"github.com/webrace/webrace/internal/testutil"
)

// image is a container of the image that Dockerfile describes, but for its first stage: the program is built here.
// Its volume is kept from one run to the next.
type image struct {
	t         *testing.T
	root      string // of buildah
	container string
	config    config
}

type config struct {
	Entrypoint  []string
	Healthcheck struct{ Test []string } // begins with CMD
}

func buildImage(t *testing.T) *image {
	t.Helper()
	if testing.Short() {
		t.Skip("links the program, and builds an image")
	}
	if _, err := exec.LookPath("buildah"); err != nil || os.Getuid() != 0 {
		t.Skip("needs root, and the Debian package buildah")
	}
	context := t.TempDir()
	for path, mode := range map[string]os.FileMode{"out": 0o755, "volume/data": 0o700, "etc/ssl/certs": 0o755} { // as by the first stage
		if err := os.MkdirAll(filepath.Join(context, path), mode); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", filepath.Join(context, "out")+"/", "../cmd/webrace-run")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	if err := os.Symlink("webrace-run", filepath.Join(context, "out", "webrace-store")); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile("Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	first, last, found := strings.Cut(string(whole), "\nFROM scratch\n")
	if !found || !strings.Contains(first, "mkdir -p -m 700 /volume/data") || !strings.Contains(first, "ln -s webrace-run /out/webrace-store") {
		t.Fatal("Dockerfile has other stages than this test knows: it replaces the first")
	}
	write(t, filepath.Join(context, "etc/ssl/certs/ca-certificates.crt"), nil)
	dockerfile := filepath.Join(t.TempDir(), "Dockerfile")
	write(t, dockerfile, []byte("FROM scratch AS build\nCOPY . /\nFROM scratch\n"+last))

	i := &image{t: t, root: t.TempDir()}
	i.buildah("bud", "--quiet", "--format", "docker", "--file", dockerfile, "--tag", "webrace", context)
	i.container = strings.TrimSpace(i.buildah("from", "webrace"))
	t.Cleanup(func() { i.buildah("rm", i.container) })
	var about struct{ Docker struct{ Config config } }
	if err := json.Unmarshal([]byte(i.buildah("inspect", i.container)), &about); err != nil {
		t.Fatal(err)
	}
	i.config = about.Docker.Config
	return i
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
}

// command returns the call of buildah with these arguments. It keeps all its files below a directory of the test, and
// needs neither a file system with layers nor namespaces of its own, which root of a container may not have.
func (i *image) command(args ...string) *exec.Cmd {
	c := exec.Command("buildah", append([]string{"--root", filepath.Join(i.root, "root"), "--runroot", filepath.Join(i.root, "run"), "--storage-driver", "vfs"}, args...)...)
	c.Env = append(os.Environ(), "BUILDAH_ISOLATION=chroot")
	return c
}

func (i *image) buildah(args ...string) string {
	i.t.Helper()
	var faults strings.Builder
	c := i.command(args...)
	c.Stderr = &faults
	out, err := c.Output()
	if err != nil {
		i.t.Fatalf("buildah %s: %v\n%s%s", strings.Join(args, " "), err, out, faults.String())
	}
	return string(out)
}

// run runs a program in the container as its user, and returns what it printed.
func (i *image) run(args ...string) string {
	i.t.Helper()
	return i.buildah(append([]string{"run", i.container, "--"}, args...)...)
}

// entry runs the image's entry point.
func (i *image) entry(args ...string) string {
	i.t.Helper()
	return i.run(append(i.config.Entrypoint, args...)...)
}

// service is the entry point while it runs.
type service struct {
	*exec.Cmd
	i   *image
	log testutil.Buffer
}

// start starts the entry point, with a file of the host beside the volume, until it is signalled.
func (i *image) start(volume string, args ...string) *service {
	i.t.Helper()
	s := &service{i: i, Cmd: i.command(append(append([]string{"run", "--volume", volume, i.container, "--"}, i.config.Entrypoint...), args...)...)}
	s.Stdout, s.Stderr = &s.log, &s.log
	if err := s.Start(); err != nil {
		i.t.Fatal(err)
	}
	i.t.Cleanup(func() { // where the test fails
		if pid := s.program(); pid != 0 {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			_ = s.Wait()
		}
	})
	return s
}

// program returns the process of the program itself, which buildah has started: 0 before.
func (s *service) program() int {
	for pid := s.Process.Pid; ; {
		name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
		if strings.TrimSpace(string(name)) == "webrace-run" {
			return pid
		}
		children := ""
		tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
		for _, task := range tasks {
			of, _ := os.ReadFile(task)
			children += string(of)
		}
		if len(strings.Fields(children)) == 0 {
			return 0
		}
		pid, _ = strconv.Atoi(strings.Fields(children)[0])
	}
}

// end sends the program a signal, and waits for its end.
func (s *service) end(signal syscall.Signal) error {
	s.i.t.Helper()
	pid := s.program()
	if pid == 0 {
		s.i.t.Fatalf("the program has ended:\n%s", s.log.String())
	}
	if err := syscall.Kill(pid, signal); err != nil {
		s.i.t.Fatal(err)
	}
	return s.Wait()
}

// until runs a program in the container, beside this one, until it succeeds and prints so many lines.
func (s *service) until(lines int, args ...string) {
	s.i.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		out, err := s.i.command(append([]string{"run", s.i.container, "--"}, args...)...).CombinedOutput()
		if err == nil && strings.Count(string(out), "\n") >= lines && s.program() != 0 {
			return
		}
		if time.Now().After(deadline) {
			s.i.t.Fatalf("%v: %v\n%s\nbeside it\n%s", args, err, out, s.log.String())
		}
	}
}

// untilAsked waits for so many requests.
func (s *service) untilAsked(requests <-chan struct{}, n int) {
	s.i.t.Helper()
	for late := time.After(time.Minute); n > 0; n-- {
		select {
		case <-requests:
		case <-late:
			s.i.t.Fatalf("%d requests are missing:\n%s", n, s.log.String())
		}
	}
}

// The image does what the programs do outside of one: as its user, who may write to the volume alone.
func TestTheImageWorksOnItsVolumeAndSurvivesAKill(t *testing.T) {
	i := buildImage(t)
	if got := i.entry("lint"); !strings.Contains(got, "nothing wrong") {
		t.Errorf("lint says %q", got)
	}
	if got := i.entry("demo"); !strings.Contains(got, "eleni was told of") {
		t.Errorf("demo says\n%s", got)
	}

	requests := make(chan struct{}, 1000)
	demo := demosite.New()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case requests <- struct{}{}:
		default:
		}
		demo.ServeHTTP(w, r)
	}))
	t.Cleanup(site.Close)
	urds := filepath.Join(t.TempDir(), "urds.xml")
	write(t, urds, demosite.URDs(site.URL))
	crawl := func() *service {
		return i.start(urds+":/urds.xml:ro", "webrace", "search", "--continuous", "--urds", "/urds.xml", "--set", `fetch.allow_networks=["127.0.0.0/8"]`)
	}

	s := crawl()
	s.untilAsked(requests, 10) // amid the crawl
	if err := s.end(syscall.SIGKILL); err == nil {
		t.Errorf("a killed program succeeds:\n%s", s.log.String())
	}
	for len(requests) > 0 {
		<-requests
	}
	s = crawl()
	s.untilAsked(requests, 1) // so that the data is its own
	s.until(1, i.config.Healthcheck.Test[1:]...)
	s.until(10, "/bin/webrace-store", "aci", "list")
	if err := s.end(syscall.SIGTERM); err != nil {
		t.Errorf("after the signal to stop: %v\n%s", err, s.log.String())
	}
	i.run("/bin/webrace-store", "fsck", "--deep")
}
