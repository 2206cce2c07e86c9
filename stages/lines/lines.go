// Package lines is the stage that starts a crawl at each of a list of URLs: from the configuration, the
// command line, a file or standard input, one a line. Empty lines and those that begin with # are left
// out.
package lines

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/seed"
)

// Options of the stage.
type Options struct {
	URLs  []string `toml:"urls" doc:"URLs to start at"`
	Path  string   `toml:"path" doc:"a file with one URL a line; - is standard input"`
	Depth int      `toml:"depth" doc:"levels of pages: 1 is the start alone, 2 the pages it links to as well, 0 has no limit"`
	Scope string   `toml:"scope" doc:"how far from the start links are followed" enum:"host,domain,prefix,any"`
}

var defaults = Options{Depth: 1, Scope: string(webrace.ScopeHost)}

func init() {
	pipeline.Register(pipeline.Spec{
		Type:    "lines",
		Once:    true,
		Summary: "starts a crawl at each URL of a list, a file or standard input",
		Doc: "Each is started once, also in a continuous run: a list says nothing of when to come back. URDs do. A line that is no URL goes to the port " +
			"`errors`, or by `on_error` to the dead letters, and is counted by `bad_lines`.",
		Out: []pipeline.Port{{Kind: pipeline.KindOf[webrace.Request](), Doc: "the start of each crawl"}},
	}, defaults, newStage)
}

// Validate refuses URLs that no crawl can start at.
func (o Options) Validate() error {
	if o.Depth < 0 {
		return &pipeline.OptionError{Option: "depth", Err: fmt.Errorf("%d is negative; 0 has no limit", o.Depth)}
	}
	for _, line := range o.URLs {
		if _, err := o.seed(line); err != nil {
			return &pipeline.OptionError{Option: "urls", Err: fmt.Errorf("%q: %w", line, err)}
		}
	}
	return nil
}

func (o Options) seed(line string) (webrace.Request, error) { return seed.Of(line, o.Depth, o.Scope) }

type stage struct {
	options Options
	env     *pipeline.Env
}

var (
	_ pipeline.Source  = (*stage)(nil)
	_ pipeline.Checker = (*stage)(nil)
)

func newStage(o Options, env *pipeline.Env) (any, error) { return &stage{o, env}, nil }

// Check finds out whether the file is there. What is no regular file is not opened, which may wait for
// a process to write to it.
func (s *stage) Check(context.Context) error {
	if s.options.Path == "" || s.options.Path == "-" {
		return nil
	}
	info, err := os.Stat(s.options.Path)
	switch {
	case err == nil && info.IsDir():
		err = fmt.Errorf("%s is a directory", s.options.Path)
	case err == nil && info.Mode().IsRegular():
		var file *os.File
		if file, err = os.Open(s.options.Path); err == nil {
			return file.Close()
		}
	}
	if err != nil {
		return &pipeline.OptionError{Option: "path", Err: err}
	}
	return nil
}

// Run emits a seed a line. A line that is no URL is rejected, and the others go on.
func (s *stage) Run(ctx context.Context, out pipeline.Emitter) error {
	for _, line := range s.options.URLs {
		start, err := s.options.seed(line)
		if err != nil {
			return fmt.Errorf("%q: %w", line, err)
		}
		if err := out.Emit(ctx, &pipeline.Item{Value: start}); err != nil {
			return err
		}
	}
	if s.options.Path == "" {
		return nil
	}
	return s.followFile(ctx, out)
}

// line is one of the input, or why there are no more.
type line struct {
	number int
	text   string
	err    error
}

// followFile emits what a goroutine reads, which is not waited for: nothing interrupts the opening of a
// pipe that no process writes to, nor a read of a terminal.
func (s *stage) followFile(ctx context.Context, out pipeline.Emitter) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	lines := make(chan line)
	go func() {
		defer close(lines)
		if err := s.env.Try(func() error { return s.read(ctx, lines) }); err != nil {
			send(ctx, lines, line{err: err})
		}
	}()
	for {
		select {
		case l, more := <-lines:
			if !more || l.err != nil {
				return l.err
			}
			if err := s.emit(ctx, out, l); err != nil {
				return err
			}
		case <-ctx.Done():
			return nil
		}
	}
}

func (s *stage) read(ctx context.Context, lines chan<- line) error {
	in := os.Stdin
	if s.options.Path != "-" {
		file, err := os.Open(s.options.Path)
		if err != nil {
			return err
		}
		defer file.Close()
		in = file
	}
	reader := bufio.NewReaderSize(in, maxLine)
	for number := 1; ; number++ {
		text, tooLong, err := reader.ReadLine()
		l := line{number: number, text: string(text)}
		for tooLong && err == nil { // its first part is no URL either
			_, tooLong, err = reader.ReadLine()
		}
		if errors.Is(err, io.EOF) && l.text == "" {
			return nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read %s: %w", s.options.Path, err)
		}
		if !send(ctx, lines, l) {
			return nil
		}
	}
}

// maxLine is more than the longest URL has.
const maxLine = 4 * urlnorm.MaxLength

func send(ctx context.Context, lines chan<- line, l line) bool {
	select {
	case lines <- l:
		return true
	case <-ctx.Done():
		return false
	}
}

func (s *stage) emit(ctx context.Context, out pipeline.Emitter, l line) error {
	text := strings.TrimSpace(strings.TrimPrefix(l.text, "\uFEFF"))
	if text == "" || strings.HasPrefix(text, "#") {
		return nil
	}
	start, err := s.options.seed(text)
	if err != nil {
		const shown = 200
		s.env.Counter("bad_lines").Add(1)
		bad := pipeline.Record{"file": s.options.Path, "line": float64(l.number), "text": strings.ToValidUTF8(text[:min(len(text), shown)], "\uFFFD")}
		return pipeline.Reject(ctx, out, &pipeline.Item{Value: bad}, fmt.Errorf("%s, line %d: it is no URL: %w", s.options.Path, l.number, err))
	}
	return out.Emit(ctx, &pipeline.Item{Value: start})
}
