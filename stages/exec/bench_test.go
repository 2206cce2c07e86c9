package exec

import (
	"context"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
)

// BenchmarkItem is the time an item takes that the program passes on as it came, with 32 in flight.
func BenchmarkItem(b *testing.B) {
	python, err := osexec.LookPath("python3")
	if err != nil {
		b.Skip("python3 is not here")
	}
	script := filepath.Join(b.TempDir(), "keep.py")
	library, err := filepath.Abs("../../cmd/internal/scaffold/python")
	if err != nil {
		b.Fatal(err)
	}
	source := fmt.Sprintf("import sys\nsys.path.insert(0, %q)\nfrom webrace_stage import stage\n@stage()\ndef keep(item, options):\n    yield item.keep()\nkeep.run()\n", library)
	if err := os.WriteFile(script, []byte(source), 0o600); err != nil {
		b.Fatal(err)
	}
	for _, size := range []int{1 << 10, 70 << 10} {
		document := &webrace.Document{
			URL: "https://example.org/", Outcome: webrace.Fetched, Status: 200, MediaType: "text/html", Title: "A page",
			Body: []byte(strings.Repeat("x", size)), Links: []string{"https://example.org/a", "https://example.org/b"},
		}
		for _, program := range [][]string{{os.Args[0]}, {python, script}} {
			name := filepath.Base(program[0])
			if program[0] == os.Args[0] {
				name = "go"
			}
			b.Run(fmt.Sprintf("%s/%dKB", name, size>>10), func(b *testing.B) {
				o := defaults
				o.Command, o.Env = program, map[string]pipeline.Secret{"PROGRAM": pipeline.NewSecret("work")}
				run(b, o, document)
			})
		}
	}
}

func run(b *testing.B, o Options, value any) {
	impl, err := newStage(o, pipeline.NewEnv("bench", "stage", nil))
	if err != nil {
		b.Fatal(err)
	}
	s := impl.(*stage)
	if err := s.Open(b.Context()); err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	work := make(chan *pipeline.Item)
	var workers sync.WaitGroup
	b.ResetTimer()
	for range 32 {
		workers.Go(func() {
			for it := range work {
				if err := s.Process(b.Context(), it, nowhere{}); err != nil {
					b.Error(err)
				}
			}
		})
	}
	for range b.N {
		work <- &pipeline.Item{Value: value}
	}
	close(work)
	workers.Wait()
	b.StopTimer()
}

type nowhere struct{}

func (nowhere) Emit(context.Context, *pipeline.Item) error           { return nil }
func (nowhere) EmitTo(context.Context, string, *pipeline.Item) error { return nil }
