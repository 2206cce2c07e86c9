//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestKilledWhileFilesOfValuesAreWritten kills the program again and again while it writes compressed files that its
// lines name, and puts them aside. At each time gunzip reads all of them but what was being written, and in the end
// all: each line is there, in the file of its host, and is whole.
func TestKilledWhileFilesOfValuesAreWritten(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("gunzip"); err != nil {
		t.Skip("gunzip is not installed")
	}
	const lines, kills = 3000, 6
	hosts := []string{"a.example", "b.example", "..", "é/ü", "c"}
	dir, r := t.TempDir(), rand.New(rand.NewPCG(1, 2))
	var log strings.Builder
	want := make(map[string]string) // hosts, by text
	for n := range lines {
		text, host := fmt.Sprintf("%d\n%x", n, r.Uint64()), hosts[r.IntN(len(hosts))]
		line, err := json.Marshal(map[string]string{"host": host, "text": text})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&log, "%s\n", line)
		want[text] = host
	}
	writeFile(t, filepath.Join(dir, "log.jsonl"), log.String())
	config := filepath.Join(dir, "pipelines.toml")
	writeFile(t, config, fmt.Sprintf(`version = 1
[pipeline.sort]
flow = ["read-file > throttle > write-file"]
[pipeline.sort.stage]
read-file = { paths = [%q], format = "jsonl", positions = %q }
throttle = { count = 500, period = "50ms" }
write-file = { path = %q, gzip = true, rotate_size = "4kB", batch = { count = 16, period = "10ms" } }
`, filepath.Join(dir, "log.jsonl"), filepath.Join(dir, "positions"), filepath.Join(dir, "out", "{{host}}.jsonl.gz")))
	run := func() *command {
		return startCommand(t, "sort", "--config", config, "--data", filepath.Join(dir, "data"), "--log", "text")
	}
	written := func() (files []string) {
		files, _ = filepath.Glob(filepath.Join(dir, "out", "*"))
		return files
	}
	for range kills {
		before := len(written())
		p := run()
		waitFor(t, func() bool { return len(written()) > before+1 }, p.said) // some have been put aside
		time.Sleep(time.Duration(r.IntN(20)) * time.Millisecond)             // so that it is killed at different moments
		_ = p.Process.Kill()
		if err := p.Wait(); err == nil {
			t.Fatal("it came to its end before it was killed")
		}
		for _, file := range written() {
			if out, err := exec.Command("gunzip", "--test", file).CombinedOutput(); err != nil && strings.Count(file, "-2") > 0 {
				t.Errorf("%v: %s", err, out)
			}
		}
	}
	run().mustExit(0)
	came := make(map[string]int)
	for _, file := range written() {
		text, err := exec.Command("gunzip", "--to-stdout", file).Output()
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for line := range strings.Lines(string(text)) {
			var is struct{ Host, Text string }
			if err := json.Unmarshal([]byte(line), &is); err != nil || want[is.Text] != is.Host || is.Host == "" {
				t.Fatalf("%s has the line %q: %v", file, line, err)
			}
			name := strings.NewReplacer("..", "%2E%2E", "/", "%2F").Replace(is.Host)
			if base := filepath.Base(file); base != name+".jsonl.gz" && !strings.HasPrefix(base, name+"-2") {
				t.Fatalf("a line of %s is in %s", is.Host, base)
			}
			came[is.Text]++
		}
	}
	again := 0
	for _, text := range slices.Sorted(maps.Keys(want)) {
		if came[text] == 0 {
			t.Errorf("%q did not come", text)
		}
		again += came[text] - 1
	}
	t.Logf("%d lines in %d files, %d of them again", lines, len(written()), again)
}
