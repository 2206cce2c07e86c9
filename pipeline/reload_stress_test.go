package pipeline

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"
)

// edit writes the next configuration: some of them are wrong, in one way or another. It returns in what way.
func edit(random *rand.Rand) (text, wrong string) {
	var b strings.Builder
	pick := func(words ...string) string { return words[random.IntN(len(words))] }
	first, rest := "shelf > main", "main > sink"
	if random.IntN(2) == 0 {
		rest = "main > extra > sink"
	}
	if random.IntN(3) == 0 {
		rest = strings.Replace(rest, "main >", "main > group >", 1)
	}
	flows := []string{"port, feed > shelf", first, rest}
	if random.IntN(4) == 0 {
		flows[0] = "port > shelf"
	}
	if strings.Contains(rest, "extra") {
		flows = append(flows, "extra.errors > sink")
	}
	fail := "never"
	switch wrong = pick("", "", "", "", "open", "make", "panic", "refuse", "file"); wrong {
	case "open", "make", "panic":
		fail = wrong
	case "file":
		flows = append(flows, "main > nowhere")
	}
	fmt.Fprintf(&b, "version = 1\n[pipeline.p]\nflow = [%s]\n", "\""+strings.Join(flows, "\", \"")+"\"")
	fmt.Fprintf(&b, "[pipeline.p.stage.port]\ngreeting = %q\n", pick("a", "b", "c"))
	if strings.Contains(flows[0], "feed") {
		fmt.Fprintf(&b, "[pipeline.p.stage.feed]\ngreeting = %q\n", pick("a", "b"))
	}
	fmt.Fprintf(&b, "[pipeline.p.stage.shelf]\norder = %q\nworkers = %s\nrefuse = %v\n", pick("a", "b"), pick("1", "3"), wrong == "refuse")
	fmt.Fprintf(&b, "[pipeline.p.stage.main]\ntype = \"step\"\ntag = \"main\"\nbuffer = %s\nworkers = %s\nfail = %q\n", pick("1", "4", "40"), pick("1", "2"), fail)
	if strings.Contains(rest, "extra") {
		fmt.Fprintf(&b, "[pipeline.p.stage.extra]\ntype = \"step\"\ntag = %q\n", pick("x", "y"))
	}
	if strings.Contains(rest, "group") {
		fmt.Fprintf(&b, "[pipeline.p.stage.group]\nbatch = { count = 5, period = \"1h\" }\n")
	}
	return b.String(), wrong
}

const mainFlow = "version = 1\n[pipeline.p]\nflow = [\"port > shelf > main > sink\"]\n[pipeline.p.stage.main]\ntype = \"step\"\ntag = \"main\"\n"

func TestReloadsUnderLoadLoseAndRepeatNothing(t *testing.T) {
	reloads := 200
	if testing.Short() {
		reloads = 40
	}
	files := openFiles(t)
	w := &world{seen: make(map[int]int), queue: &shelf{tree: newTree()}}
	registry := w.registry()
	load := func(text string) (*Graph, error) { return parsed(registry, text) }
	first, err := load(mainFlow)
	if err != nil {
		t.Fatal(err)
	}
	run, err := first.Start(t.Context(), RunOptions{Continuous: true})
	if err != nil {
		t.Fatal(err)
	}
	goroutines := runtime.NumGoroutine() + 1 // of the listener, once somebody accepts
	clients := startClients(t, w, 3)
	random, happened := rand.New(rand.NewPCG(1, 2)), make(map[string]int)
	for range reloads {
		text, wrong := edit(random)
		graph, err := load(text)
		if (err != nil) != (wrong == "file") {
			t.Fatalf("a file with the mistake %q gives %v\n%s", wrong, err, text)
		}
		if err != nil {
			happened["file"]++
			continue
		}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		change, err := run.Reload(ctx, graph)
		cancel()
		switch {
		case (err != nil) != (wrong != ""):
			t.Fatalf("a reload with the mistake %q gives %v\n%s", wrong, err, text)
		case err != nil:
			happened[wrong]++
		default:
			happened["reloaded"]++
			for kind, names := range map[string][]string{"added": change.Added, "removed": change.Removed, "replaced": change.Replaced, "reconfigured": change.Reconfigured, "rewired": change.Rewired} {
				happened[kind] += len(names)
			}
		}
		clients.progress()
	}
	if _, err := run.Reload(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	numbers := clients.stop()
	settle(func() bool { return w.queue.length() == 0 && run.flight.n.Load() == 1 }) // of the queue, which waits
	settle(func() bool { return runtime.NumGoroutine() <= goroutines })
	if n := runtime.NumGoroutine(); n > goroutines {
		t.Errorf("%d goroutines before, %d after %d reloads", goroutines, n, reloads)
	}
	if n := w.opens.Load(); n != 1 {
		t.Errorf("%d steps are open, want main alone", n)
	}
	report := run.Snapshot()
	run.Drain()
	if _, err := run.Wait(); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"open", "make", "panic", "refuse", "file", "reloaded", "added", "removed", "replaced", "reconfigured", "rewired"} {
		if happened[kind] == 0 {
			t.Errorf("%q has not happened in %d reloads: %v", kind, reloads, happened)
		}
	}
	if failed := happened["open"] + happened["make"] + happened["panic"] + happened["refuse"]; report.FailedReloads != int64(failed) || report.Reloads != int64(happened["reloaded"]+1) {
		t.Errorf("the report counts %d reloads and %d that failed; there were %v", report.Reloads, report.FailedReloads, happened)
	}
	w.mustHaveSeenOnce(t, numbers)
	if left := openFiles(t); left > files {
		t.Errorf("%d files were open before, and %d are now", files, left)
	}
}

// mustHaveSeenOnce checks that everything came to the sink once: what the clients sent, and what the feed gave
// as far as it has come.
func (w *world) mustHaveSeenOnce(t *testing.T, sent []int) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, n := range w.seen {
		if n != 1 {
			t.Errorf("item %d came %d times", i, n)
		}
	}
	for _, i := range sent {
		if w.seen[i] == 0 {
			t.Errorf("item %d was sent, and lost", i)
		}
	}
	for i := range w.cursor {
		if n := int(i+1) * 2; w.seen[n] == 0 {
			t.Errorf("item %d of the feed was lost", n)
		}
	}
	if len(sent) == 0 || w.cursor == 0 || len(w.seen) != len(sent)+int(w.cursor) {
		t.Errorf("%d items came; %d were sent, and the feed has come to %d", len(w.seen), len(sent), w.cursor)
	}
	w.queue.mu.Lock()
	defer w.queue.mu.Unlock()
	for i, n := range w.queue.served {
		if n != 1 {
			t.Errorf("the queue handed item %d out %d times", i, n)
		}
	}
}
