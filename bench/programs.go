package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/exec"
)

// programLimit is the CPU time in µs that an item of a program in Python may take, of both processes.
const programLimit = 25

// stagePrograms are stages in Python: one passes documents on as they come, the other is that of docs/plugins.md.
var stagePrograms = []struct{ name, text string }{
	{"passed on", "@stage()\ndef work(item, options):\n    yield item.keep()\n"},
	{"title changed", "@stage(fields=[\"title\"])\ndef work(item, options):\n    if not item.title:\n        return\n" +
		"    yield item.change(title=item.title.upper())\n"},
}

// programs has documents of 1 KB go through a program in Python, 32 at once.
func (b *bench) programs(rounds int) error {
	python, err := osexec.LookPath("python3")
	if err != nil {
		b.note("exec is left out: %v", err)
		return nil
	}
	documents := 50_000
	if b.quick {
		documents = 20_000
	}
	for _, program := range stagePrograms {
		least := map[int]time.Duration{}
		for round := range rounds + 1 { // the first one proves that it does the work
			for _, n := range []int{1, documents} {
				used, err := runProgram(python, program.text, n)
				if err != nil {
					return fmt.Errorf("exec, %s: %w", program.name, err)
				}
				if round <= 1 || used < least[n] {
					least[n] = used
				}
			}
		}
		name := fmt.Sprintf("exec, Python, document of 1 KB %s, CPU min of both processes", program.name)
		value := float64(least[documents]-least[1]) / float64(documents-1) / float64(time.Microsecond) // without what starting takes
		b.table.value(name, value, "µs", atMost(programLimit))
	}
	return nil
}

// runProgram returns the CPU time that both processes took from beginning to end.
func runProgram(python, text string, documents int) (time.Duration, error) {
	library, err := filepath.Abs("../cmd/internal/scaffold/python")
	if err != nil {
		return 0, err
	}
	dir, err := os.MkdirTemp("", "webrace-bench")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "work.py")
	if err := os.WriteFile(path, []byte("from webrace_stage import stage\n"+text+"work.run()\n"), 0o600); err != nil {
		return 0, err
	}
	document := &webrace.Document{
		URL: "https://example.org/", Outcome: webrace.Fetched, Status: 200, MediaType: "text/html", Title: "A page",
		Text: new(webrace.Text), Body: bytes.Repeat([]byte("x"), 1<<10), Links: []string{"https://example.org/a", "https://example.org/b"},
	}
	arrived, kind, minute := 0, pipeline.KindOf[*webrace.Document](), pipeline.Duration(time.Minute)
	g := pipeline.NewGraph("exec")
	addStage(g, "source", kind, sourceFunc(func(ctx context.Context, out pipeline.Emitter) error {
		for range documents {
			if err := out.Emit(ctx, &pipeline.Item{Value: document}); err != nil {
				return err
			}
		}
		return nil
	}))
	g.AddType("work", "exec", exec.Options{
		Command: []string{python, path}, Takes: []string{"document"}, Gives: []exec.Output{{Kind: "document"}}, Env: map[string]pipeline.Secret{"PYTHONPATH": pipeline.NewSecret(library), "PYTHONDONTWRITEBYTECODE": pipeline.NewSecret("1")},
		Processes: 1, InFlight: 32, MaxFrame: 1 << 20, Timeout: minute, Ready: minute, Grace: minute,
	})
	addStage(g, "end", kind, processor(func(_ context.Context, it *pipeline.Item, _ pipeline.Emitter) error {
		arrived++
		if d := it.Value.(*webrace.Document); !bytes.Equal(d.Body, document.Body) || d.URL != document.URL {
			return errors.New("a document came out as another one")
		}
		return nil
	}))
	g.Wire("source > work > end")
	before := ownCPU() + childrenCPU()
	if err := runGraph(g); err != nil {
		return 0, err
	}
	if arrived != documents {
		return 0, fmt.Errorf("%d of %d documents arrived", arrived, documents)
	}
	return ownCPU() + childrenCPU() - before, nil
}
