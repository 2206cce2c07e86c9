// Package print is the stage that shows what comes by on standard output: a line for a person, or JSON
// for a program. What it was given goes on, so that it can be put anywhere in a flow to look.
package print

import (
	"bufio"
	"bytes"
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
	"github.com/webrace/webrace/pipeline/codec"
	"github.com/webrace/webrace/xmlschema"
	"golang.org/x/term"
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
		return &stage{json: o.Format == "json", out: bufio.NewWriter(out), columns: columnsOf(out.Writer)}, nil
	})
}

// Output is where the stage writes when a program provides one instead of standard output.
type Output struct{ io.Writer }

type stage struct {
	json    bool
	columns int // of a terminal; 0: lines have no end
	mu      sync.Mutex
	out     *bufio.Writer
}

// columnsOf returns how many columns a terminal has; 0 if it is none.
func columnsOf(w io.Writer) int {
	file, isFile := w.(*os.File)
	if !isFile {
		return 0
	}
	columns, _, err := term.GetSize(int(file.Fd()))
	if err != nil {
		return 0
	}
	return columns
}

var _ pipeline.Processor = (*stage)(nil)

func (s *stage) Process(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
	line, isJSON, err := s.line(it.Value)
	if err != nil {
		return err
	}
	if line = terminal.Visible(line); !isJSON { // which is the same text then, and stays a line
		line = terminal.Wrap(line, s.columns)
	}
	if err := s.write(line); err != nil {
		return fmt.Errorf("write to standard output: %w", err)
	}
	return out.EmitTo(ctx, "passed", it)
}

func (s *stage) write(line string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.out.WriteString(line + "\n"); err != nil {
		return err
	}
	return s.out.Flush()
}

func (s *stage) line(value any) (line string, isJSON bool, err error) {
	if s.json {
		line, err := json.Marshal(value)
		return string(line), true, err
	}
	line, isJSON = text(value)
	return line, isJSON, nil
}

// text describes a value in a line. What is said in JSON is to stay a line.
func text(value any) (line string, isJSON bool) {
	line = sentence(value)
	if line != "" {
		return line, false
	}
	return structured(value)
}

// sentence describes a value of a kind of its own; empty for others.
func sentence(value any) string {
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
	case string, []byte:
		return terminal.Line(fmt.Sprintf("%s", v))
	}
	return ""
}

// structured returns a record, or another value of fields, as JSON in a line, by the names of its kind.
func structured(value any) (line string, isJSON bool) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	_, isRecord := value.(codec.Record)
	if !isRecord {
		_, header, _, err := codec.Encode(value)
		if err != nil { // it is no plain data
			return terminal.Line(fmt.Sprint(value)), false
		}
		value = header
	}
	if err := encoder.Encode(value); err != nil {
		return terminal.Line(fmt.Sprint(value)), false
	}
	return strings.TrimSuffix(text.String(), "\n"), true
}
