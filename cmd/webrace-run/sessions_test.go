package main

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/cmd/internal/storecmd"
	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/admin"
	"github.com/webrace/webrace/pipeline/config"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/diskspace"
)

func init() { programs["webrace-run-sessions"] = runSessions }

// sessionNames are those of a process with two sessions: their data directories lie under that of the process.
var sessionNames = []string{"0", "1"}

// runSessions is webrace-run for the pipelines webrace and search, in a session for each of two directories: DATA.
func runSessions() {
	p, loaded, err := newSessions(os.Args[1])
	if err == nil {
		_, err = p.run(context.Background(), loaded, sessionPipelines)
	}
	for _, s := range p.sessions {
		s.dir.Close()
	}
	if err != nil {
		cli.Report(os.Stderr, err)
		os.Exit(cli.Failed)
	}
}

var sessionPipelines = []string{"webrace", "search"}

// newSessions returns a process whose sessions have not begun.
func newSessions(data string) (*process, *config.Config, error) {
	globals := cli.Globals{Config: "../../pipelines.toml", Data: data}
	set := []string{"fetch.allow_networks=loopback", "frontier.fresh=0s", fmt.Sprintf("frontier.leases=%d", slowInFlight)}
	load := func() (*config.Config, error) {
		return globals.Load(config.LoadOptions{Run: sessionPipelines, Set: set})
	}
	p := &process{admin: admin.New(), socket: filepath.Join(data, storage.SocketName)}
	loaded, err := load()
	if err == nil {
		p.out, err = newOutput(os.Stderr, "text", "")
	}
	if err != nil {
		return p, nil, err
	}
	p.reloads = &reloads{flags: reloadFlags{limit: patience}, out: p.out, admin: p.admin, load: load}
	p.room = diskspace.New(diskspace.Options{Dir: data, Notify: p.out.paused})
	caches := budgetOf(loaded).caches()
	cache := storage.NewCache(caches)
	defer cache.Unref() // the directories keep it
	options := storage.Options{DiskSpace: p.room, Cache: cache, Caches: caches / int64(len(sessionNames))}
	for _, name := range sessionNames {
		stores, err := cli.Place{Data: filepath.Join(data, name)}.Open(options)
		if err != nil {
			return p, nil, err
		}
		p.sessions = append(p.sessions, &session{name: name, dir: stores.Dir})
	}
	p.commands = storecmd.Answer(p.sessions[0].dir)
	return p, loaded, nil
}

// Two sessions crawl in one process: they are seen at one socket, a kill and a signal reach both, and each goes on with
// its own.
func TestSessionsOfAProcessAreKilledDrainedAndResumedTogether(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	worlds, arrived, letGo := slowWorlds(t, data)
	start := func() *command {
		p := startProgram(t, "webrace-run-sessions", data)
		for i := range worlds {
			await(t, arrived[i], slowInFlight)
		}
		return p
	}

	p := start()
	mustBeSessions(t, data)
	p.signal(os.Kill)
	p.Wait()
	for _, w := range worlds {
		w.awaitEnds(1 + slowInFlight)
	}

	p = start() // with what was in flight
	p.signal(os.Interrupt)
	p.waitUntil("finishing what is in flight")
	for i := range worlds {
		letGo[i]()
	}
	p.mustExit(cli.OK)
	drained := make([][]string, len(worlds))
	for i, w := range worlds {
		drained[i] = w.requests()
		w.mustTellOf("drained session "+sessionNames[i], slowInFlight)
	}

	p = startProgram(t, "webrace-run-sessions", data)
	p.mustExit(cli.OK)
	for i, w := range worlds {
		mustBeDisjoint(t, drained[i], w.requests(), slowPages)
		w.mustTellOf("session "+sessionNames[i]+" at its end", slowPages-slowInFlight)
		mustHaveIndexed(t, w.data, 1+slowPages)
	}
}

// slowWorlds returns a slowSite for each session, and asks its data directory for its pages.
func slowWorlds(t *testing.T, data string) (worlds []*world, arrived []<-chan struct{}, letGo []func()) {
	t.Helper()
	for _, name := range sessionNames {
		w := newWorld(t)
		w.data = filepath.Join(data, name)
		came, open := slowSite(w.site, slowPages)
		t.Cleanup(open)
		worlds, arrived, letGo = append(worlds, w), append(arrived, came), append(letGo, open)
		store, closeDir := openControl(t, w.data)
		if _, err := store.Put(t.Context(), these(w.asks("ann", "/", depth(2), about("tea")))); err != nil {
			t.Fatal(err)
		}
		if err := closeDir(); err != nil {
			t.Fatal(err)
		}
	}
	return worlds, arrived, letGo
}

// mustBeSessions asks the socket of a process for all that runs there, and for the page of one.
func mustBeSessions(t *testing.T, data string) {
	t.Helper()
	var states []admin.State
	client := admin.NewClient(filepath.Join(data, storage.SocketName))
	waitFor(t, func() bool {
		states, _ = client.Pipelines(t.Context()) // nobody answers at first
		return len(states) > 0
	}, func() string { return "the process does not answer" })
	mustBe(t, "what runs", namesOf(states), "search@0", "search@1", "webrace@0", "webrace@1")
	if err := client.Control(t.Context(), "webrace@1", "pause"); err != nil {
		t.Error(err)
	}
	states, err := client.Pipelines(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range states {
		if want := map[bool]string{true: "paused", false: "running"}[s.Name == "webrace@1"]; s.State != want {
			t.Errorf("%s is %s, want %s", s.Name, s.State, want)
		}
	}
}

func mustHaveIndexed(t *testing.T, data string, documents uint64) {
	t.Helper()
	dir := openData(t, data)
	defer dir.Close()
	index, err := dir.Fulltext()
	if err != nil {
		t.Fatal(err)
	}
	if n, err := index.Count(); err != nil || n != documents {
		t.Errorf("%s has %d documents indexed, want %d: %v", data, n, documents, err)
	}
}

func TestSessionsOfAProcessHaveOneBudget(t *testing.T) {
	t.Parallel()
	p, loaded, err := newSessions(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p.memory = pipeline.NewMemory(1 << 20)
	runs, err := p.start(t.Context(), loaded, sessionPipelines)
	if err != nil {
		t.Fatal(err)
	}
	if len(runs) != len(sessionNames)*len(sessionPipelines) || len(p.byName()) != len(runs) {
		t.Errorf("%d pipelines run, by the names %v", len(runs), p.byName())
	}
	for name, run := range p.byName() {
		if run.Memory() != p.memory {
			t.Errorf("%s has a budget of its own", name)
		}
	}
	waitAll(runs)
	for _, s := range p.sessions {
		if err := s.dir.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A source that listens, or reads what sessions share, is in one of them; the others have the rest of its pipeline,
// if that has anything to do without it.
func TestSessionsOfAProcessHaveWhatTheyShareOnce(t *testing.T) {
	t.Parallel()
	dir, listen := t.TempDir(), testutil.FreeAddress(t)
	lines := filepath.Join(dir, "lines.jsonl")
	writeFile(t, lines, "{\"n\":1}\n{\"n\":2}\n")
	loaded, err := config.Parse("test", fmt.Appendf(nil, `version = 1
[pipeline.hook]
flow = ["http-in > drop"]
stage.http-in = { listen = %q, path = "/" }
[pipeline.file]
flow = ["read-file > drop"]
stage.read-file = { paths = [%q] }
`, listen, lines), config.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p, _, err := newSessions(dir)
	if err != nil {
		t.Fatal(err)
	}
	p.sessions[1].elsewhere = func(_ string, s pipeline.Spec) bool { return s.Once || s.PerProcess }
	runs, err := p.start(t.Context(), loaded, []string{"hook", "file"})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.Post("http://"+listen, "application/x-ndjson", strings.NewReader("{\"n\":3}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if answer.Body.Close(); answer.StatusCode != http.StatusOK {
		t.Errorf("http-in answers %s", answer.Status)
	}
	for _, run := range runs {
		if run.Graph().Name == "hook" { // the other one ends by itself
			run.Drain()
		}
	}
	given := make(map[string]int64)
	for name, run := range p.byName() {
		report, err := run.Wait()
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		given[name] = report.Stages["drop"].In
	}
	if want := map[string]int64{"hook@0": 1, "hook@1": 0, "file@0": 2}; !maps.Equal(given, want) {
		t.Errorf("through the pipelines went %v, want %v", given, want)
	}
	for _, s := range p.sessions {
		if err := s.dir.Close(); err != nil {
			t.Error(err)
		}
	}
}

// startProgram starts one of the programs, and kills it when the test ends.
func startProgram(t *testing.T, name string, args ...string) *command {
	t.Helper()
	p := &command{Cmd: exec.Command(name, args...), t: t}
	p.Stdout, p.Stderr = &p.output, &p.output
	p.begin()
	return p
}
