// Package print is the stage that shows what comes by on standard output: a line for a person, or JSON
// for a program. What it was given goes on, so that it can be put anywhere in a flow to look.
package print

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/terminal"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/xmlschema"
)

// Options of the stage.
type Options struct {
	Format string `toml:"format" doc:"how a value is shown" enum:"text,json"`
}

func init() {
	pipeline.Register(pipeline.Spec{
		Type:    "print",
		Summary: "shows what comes by on standard output",
		In:      pipeline.Kinds(pipeline.KindOf[any]()),
		Out:     []pipeline.Port{{Name: "passed", Kind: pipeline.SameAsInput, Doc: "what it was given"}},
		Needs:   []pipeline.Part{pipeline.AllParts},
	}, Options{Format: "text"}, func(o Options, env *pipeline.Env) (any, error) {
		out, err := pipeline.Resource[Output](env)
		if err != nil {
			out.Writer = os.Stdout
		}
		return &stage{json: o.Format == "json", out: bufio.NewWriter(out)}, nil
	})
}

// Output is where the stage writes when a program provides one instead of standard output.
type Output struct{ io.Writer }

type stage struct {
	json bool
	mu   sync.Mutex
	out  *bufio.Writer
}

var _ pipeline.Processor = (*stage)(nil)

func (s *stage) Process(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
	line, err := s.line(it.Value)
	if err != nil {
		return err
	}
	if err := s.write(line); err != nil {
		return fmt.Errorf("write to standard output: %w", err)
	}
	return out.EmitTo(ctx, "passed", it)
}

func (s *stage) write(line string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.out.WriteString(terminal.Visible(line) + "\n"); err != nil { // in JSON that is the same text
		return err
	}
	return s.out.Flush()
}

func (s *stage) line(value any) (string, error) {
	if s.json {
		line, err := json.Marshal(value)
		return string(line), err
	}
	return text(value), nil
}

// text says in a line what a value is.
func text(value any) string {
	switch v := value.(type) {
	case webrace.Request:
		return v.URL
	case *webrace.Links:
		return fmt.Sprintf("%s: %d links\n  %s", v.From, len(v.URLs), strings.Join(v.URLs, "\n  "))
	case *webrace.Document:
		return fmt.Sprintf("%s\t%s\t%d\t%s\t%d bytes\t%s", v.URL, v.Outcome, v.Status, terminal.Line(v.MediaType), len(v.Body), terminal.Line(v.Title))
	case *xmlschema.ACI:
		return fmt.Sprintf("%d\t%s\t%s\t%s\t%s", v.Relevance, v.Owner, v.URI, terminal.Line(v.Title), terminal.Line(v.Summary))
	case *pipeline.Failure:
		return terminal.Line(v.Error())
	case fmt.Stringer:
		return terminal.Line(v.String())
	}
	return terminal.Line(fmt.Sprint(value))
}
