package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// recordsLimit is the CPU time of a record over that of benthos.
const recordsLimit = 0.25

const recordsFlow = `version = 1
[pipeline.records]
flow = ["read-file > map > route", "route.failed > failed", "route.other > fine"]
[pipeline.records.stage]
read-file = { paths = ["in.jsonl"], format = "jsonl" }
map.set = { slow = "took > 200", level = "upper(level)" }
route.ports = [{ name = "failed", when = "status >= 400" }]
failed = { type = "write-file", path = "failed.jsonl" }
fine = { type = "write-file", path = "fine.jsonl" }
`

// recordsBenthos is the same for benthos, by one thread, so that the order of lines is that of the input.
const recordsBenthos = `
input: { file: { paths: [in.jsonl], scanner: { lines: {} } } }
pipeline:
  threads: 1
  processors:
    - mapping: |
        root = this
        root.slow = this.took > 200
        root.level = this.level.uppercase()
output:
  switch:
    cases:
      - check: this.status >= 400
        output: { file: { path: failed.jsonl, codec: lines } }
      - output: { file: { path: fine.jsonl, codec: lines } }
logger: { level: ERROR }
http: { enabled: false }
`

// tool is a contestant of this benchmark: a program, and the directory that it works in.
type tool struct {
	dir     string
	command []string
	costs   []cost
}

// records has webrace-run and benthos read records from a file, change two fields, and write them to one of two
// files. Both must have written the same.
func (b *bench) records() error {
	records, rounds := 500_000, 3
	if b.quick {
		records, rounds = 50_000, 2
	}
	dir, err := os.MkdirTemp("", "webrace-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := writeRecords(filepath.Join(dir, "in.jsonl"), records); err != nil {
		return err
	}
	program, err := buildRun(dir)
	if err != nil {
		return err
	}
	own := &tool{dir: filepath.Join(dir, "webrace"), command: []string{program, "records", "--config", "../flow.toml", "--data", "data"}}
	tools := []*tool{own}
	if rival := filepath.Join(dir, "benthos-program"); b.quick {
		b.note("records: benthos is left out of a quick look, since it takes minutes to build")
	} else if out, err := goBuild(filepath.Join("peers", "benthos"), rival, "github.com/redpanda-data/benthos/v4/cmd/benthos"); err != nil {
		b.note("records: benthos is left out: %v: %s", err, lastLine(out))
	} else {
		tools = append(tools, &tool{dir: filepath.Join(dir, "benthos"), command: []string{rival, "-c", "../flow.yaml"}})
	}
	for name, text := range map[string]string{"flow.toml": recordsFlow, "flow.yaml": recordsBenthos} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	for round := range rounds + 1 { // the first one proves that they do the same
		for _, t := range tools {
			used, err := t.run(dir)
			if err == nil {
				err = sameFiles(own.dir, t.dir, "failed.jsonl", "fine.jsonl")
			}
			if err != nil {
				return fmt.Errorf("records: %w", err)
			}
			if round > 0 {
				t.costs = append(t.costs, used.cost)
			}
		}
	}
	per := func(t *tool) float64 {
		return float64(best(t.costs, cpuOf)) / float64(records) / float64(time.Microsecond)
	}
	const name = "record read, changed, told apart, written, CPU min"
	if len(tools) == 1 {
		b.table.value(name, per(own), "µs", nil)
		return nil
	}
	b.table.against(name, per(own), "µs", fmt.Sprintf("benthos v4.60.0 %.3g µs", per(tools[1])), per(tools[1]), atMost(recordsLimit))
	return nil
}

func (t *tool) run(dir string) (usage, error) {
	if err := os.RemoveAll(t.dir); err != nil {
		return usage{}, err
	}
	if err := os.Mkdir(t.dir, 0o700); err != nil {
		return usage{}, err
	}
	if err := os.Link(filepath.Join(dir, "in.jsonl"), filepath.Join(t.dir, "in.jsonl")); err != nil {
		return usage{}, err
	}
	c := exec.Command(t.command[0], t.command[1:]...)
	c.Dir = t.dir
	return runProcess(c)
}

// writeRecords writes records of 280 bytes, a line each.
func writeRecords(path string, records int) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(file)
	levels := []string{"info", "warn", "error", "debug"}
	paths := []string{"alpha/bravo/charlie/delta", "echo/foxtrot/golf/hotel", "india/juliet/kilo/lima"}
	for i := range records {
		fmt.Fprintf(out, `{"id":%d,"time":"2026-11-22T%02d:%02d:%02dZ","level":%q,"host":"web-%02d.example.org","method":"GET","path":"/%s",`+
			`"status":%d,"bytes":%d,"took":%d.25,"agent":"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox","tags":["mike","november"]}`+"\n",
			i, i/3600%24, i/60%60, i%60, levels[i%len(levels)], i%40, paths[i%len(paths)], 200+100*(i%5%4), i*7919%100_000, i*31%1000)
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return file.Close()
}

// sameFiles reports files that two directories have different.
func sameFiles(one, other string, names ...string) error {
	for _, name := range names {
		a, err := os.ReadFile(filepath.Join(one, name))
		if err != nil {
			return err
		}
		b, err := os.ReadFile(filepath.Join(other, name))
		if err != nil {
			return err
		}
		if len(a) == 0 || !bytes.Equal(a, b) {
			return fmt.Errorf("%s: %s and %s have written %d and %d bytes that differ", name, filepath.Base(one), filepath.Base(other), len(a), len(b))
		}
	}
	return nil
}

// buildRun builds webrace-run into a directory.
func buildRun(dir string) (program string, err error) {
	program = filepath.Join(dir, "webrace-run")
	if out, err := goBuild("..", program, "./cmd/webrace-run"); err != nil {
		return "", fmt.Errorf("build webrace-run: %w\n%s", err, out)
	}
	return program, nil
}

// goBuild builds a command of the module in a directory.
func goBuild(module, program, command string) (out []byte, err error) {
	build := exec.Command("go", "build", "-o", program, command)
	build.Dir, build.Env = module, append(os.Environ(), "CGO_ENABLED=0")
	return build.CombinedOutput()
}
