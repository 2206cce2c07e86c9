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
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
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
		Summary: "starts a crawl at each URL of a list, a file or standard input",
		Out:     []pipeline.Port{{Kind: pipeline.KindOf[webrace.Request](), Doc: "the start of each crawl"}},
	}, defaults, newStage)
}

// Validate refuses a list without anything to read, and URLs that are none.
func (o Options) Validate() error {
	if o.Depth < 0 {
		return &pipeline.OptionError{Option: "depth", Err: fmt.Errorf("%d is negative; 0 has no limit", o.Depth)}
	}
	for _, line := range o.URLs {
		if _, err := urlnorm.Parse(line); err != nil {
			return &pipeline.OptionError{Option: "urls", Err: fmt.Errorf("%q: %w", line, err)}
		}
	}
	return nil
}

type stage struct {
	options Options
	env     *pipeline.Env
}

var _ pipeline.Source = (*stage)(nil)

func newStage(o Options, env *pipeline.Env) (any, error) { return &stage{o, env}, nil }

// Run emits a seed a line. A line that is no URL is counted and reported, and the others go on.
func (s *stage) Run(ctx context.Context, out pipeline.Emitter) error {
	for _, line := range s.options.URLs {
		if err := s.emit(ctx, out, line); err != nil {
			return err
		}
	}
	if s.options.Path == "" {
		return nil
	}
	return s.readFile(ctx, out)
}

func (s *stage) readFile(ctx context.Context, out pipeline.Emitter) error {
	in, err := s.open()
	if err != nil {
		return err
	}
	defer in.Close()
	stop := context.AfterFunc(ctx, func() { in.Close() }) // standard input may never end by itself
	defer stop()
	scanner := bufio.NewScanner(in)
	scanner.Buffer(nil, 1<<20)
	for number := 1; scanner.Scan(); number++ {
		line := strings.TrimSpace(strings.TrimPrefix(scanner.Text(), "\uFEFF"))
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if _, err := urlnorm.Parse(line); err != nil {
			s.env.Counter("bad_lines").Add(1)
			s.env.Logger.Warn("line is no URL", "file", s.options.Path, "line", number, "text", line, "error", err)
			continue
		}
		if err := s.emit(ctx, out, line); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return nil
	}
	if err := scanner.Err(); err != nil && !errors.Is(err, os.ErrClosed) {
		return fmt.Errorf("read %s: %w", s.options.Path, err)
	}
	return nil
}

func (s *stage) open() (io.ReadCloser, error) {
	if s.options.Path == "-" {
		return os.Stdin, nil
	}
	return os.Open(s.options.Path)
}

// emit sends the seed of a crawl that a URD with the same start would share.
func (s *stage) emit(ctx context.Context, out pipeline.Emitter, line string) error {
	urd := xmlschema.NewURD("", line)
	urd.Depth, urd.Scope = s.options.Depth, s.options.Scope
	crawl, _, err := control.CrawlOf(urd)
	if err != nil {
		return err
	}
	return out.Emit(ctx, &pipeline.Item{Value: webrace.Request{URL: crawl.Start, Crawl: &crawl}})
}
