//go:build unix

package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/testutil"
)

// receiver is a server of python3, with a way of its own to deal with what it is sent.
type receiver struct{ url, log string }

func startReceiver(t *testing.T, way string) receiver {
	t.Helper()
	program, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed")
	}
	log := filepath.Join(t.TempDir(), "log")
	writeFile(t, log, "")
	c := exec.Command(program, "testdata/sinks/receiver.py", way, log)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return receiver{strings.TrimSpace(url), log}
}

// keys returns what came, how often, by event and key.
func (r receiver) keys(t *testing.T) (all map[string]map[string]int) {
	t.Helper()
	all = make(map[string]map[string]int)
	for line := range strings.Lines(readFile(t, r.log)) {
		key, event, whole := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if !whole || !strings.HasSuffix(line, "\n") {
			continue // it is being written
		}
		if all[event] == nil {
			all[event] = make(map[string]int)
		}
		all[event][key]++
	}
	return all
}

// TestReloadOfASinkThatIsDown has the program deliver to a server that takes nothing, in one of the ways in which
// servers do, and puts another one in its place, and then kills the program: each event comes there, equal ones as
// often as they were sent, and none by another key than the first server was shown.
func TestReloadOfASinkThatIsDown(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"is not there", "refuses", "hangs", "late", "drops"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			reloadOfASinkThatIsDown(t, way)
		})
	}
}

func reloadOfASinkThatIsDown(t *testing.T, way string) {
	const different, equal = 10, 3
	down, up := receiver{url: "http://" + testutil.FreeAddress(t) + "/", log: os.DevNull}, startReceiver(t, "takes")
	if way != "is not there" {
		down = startReceiver(t, way)
	}
	data, listen := t.TempDir(), testutil.FreeAddress(t)
	config := filepath.Join(data, "pipelines.toml")
	deliverTo := func(url string) {
		writeFile(t, config, fmt.Sprintf(`version = 1
[pipeline.pass]
flow = ["http-in > queue > http-out"]
[pipeline.pass.stage]
http-in.listen = %q
http-out = { url = %q, allow_networks = ["loopback"], attempts = 0, backoff = "50ms", max_backoff = "200ms", timeout = "2s", workers = 2 }
`, listen, url))
	}
	deliverTo(down.url)
	arguments := []string{"pass", "--config", config, "--data", data, "--log", "text"}
	p := startCommand(t, arguments...)
	sendEvents(t, p, "http://"+listen, different, equal)
	if way != "is not there" {
		waitFor(t, func() bool { return len(down.keys(t)) >= 2 }, p.said)
	}
	deliverTo(up.url)
	if said := (&world{t: t, data: data}).reload(); !strings.Contains(said, "replaced http-out") {
		t.Fatalf("the reload is answered %q\n%s", said, p.said())
	}
	waitFor(t, func() bool { return len(up.keys(t)) >= different/2 }, p.said)
	_ = p.Process.Kill()
	_ = p.Wait()
	p = startCommand(t, arguments...)
	defer func() {
		_ = p.Process.Kill()
		_ = p.Wait()
	}()
	fault := func() string { return keysFault(different, equal, down.keys(t), up.keys(t)) }
	waitFor(t, func() bool { return fault() == "" }, func() string { return fault() + "\n" + p.said() })
}

// keysFault returns what has not come to those who take it as often as it was sent, or came by another key than others
// were shown.
func keysFault(different, equal int, shown, taken map[string]map[string]int) string {
	for i := range different {
		event := fmt.Sprintf(`{"event":%d}`, i)
		keys := make(map[string]bool)
		for key := range taken[event] {
			keys[key] = true
		}
		if len(keys) != equal {
			return fmt.Sprintf("%s came by %d keys, and was sent %d times", event, len(keys), equal)
		}
		for key := range shown[event] {
			if !keys[key] {
				return fmt.Sprintf("%s came by %s first, and then only by others: %v", event, key, keys)
			}
		}
	}
	return ""
}
