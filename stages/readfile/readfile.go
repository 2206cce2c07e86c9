// Package readfile is the stage that reads files, compressed or not: a text a line, or a record for each line of
// JSON, row of CSV or element of XML, of which no more than one is in memory. With a file of positions it goes on,
// in the next run, where it left off: what had not been dealt with is read again, and what has been added to a file
// is read then. A file of another beginning is another file.
package readfile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/webrace/webrace/pipeline"
)

// Options of the stage.
type Options struct {
	Paths     []string      `toml:"paths" doc:"files to read, one after the other; *, ? and [ ] match names, and - is standard input"`
	Format    string        `toml:"format" doc:"text: a text a line; jsonl: JSON a line; csv: a record a row, whose fields the first row names; xml: a record for each element that record selects" enum:"text,jsonl,csv,xml" deprecated:"lines=jsonl"`
	Record    string        `toml:"record" doc:"with xml: which elements are records: a name, or a path of names such as channel/item, from the root on if it begins with /; * is any name, and prefixes do not count"`
	Separator string        `toml:"separator" doc:"with csv: what stands between the cells of a row"`
	MaxLength pipeline.Size `toml:"max_length" doc:"of a line, row or record; longer ones are left out"`
	Positions string        `toml:"positions" doc:"a file that remembers how far the others have been read; empty: each run reads all"`
}

var defaults = Options{Format: "text", Separator: ",", MaxLength: 1 << 20}

func init() {
	pipeline.Register(pipeline.Spec{
		Type:    "read-file",
		Summary: "reads texts or records from files",
		Doc: "Files may be compressed by gzip. JSON that is no object is the field `value` of a record. Of XML, the attributes of an element and " +
			"the elements in it are its fields, by their names without prefixes; several of one name are a list, and text beside them is the field " +
			"`text`. What cannot be read is left out, reported, and counted by `bad_records`; but XML that is not well-formed cannot be read on, and " +
			"is an error with line and column.",
		Out: []pipeline.Port{{Kind: pipeline.KindOf[pipeline.Record](), Doc: "a record; with format = \"text\" a text"}},
	}, defaults, newStage)
}

// Ports says what is read.
func (o Options) Ports() []pipeline.Port {
	if o.Format == "text" {
		return []pipeline.Port{{Kind: pipeline.KindOf[string](), Doc: "a line"}}
	}
	return []pipeline.Port{{Kind: pipeline.KindOf[pipeline.Record](), Doc: "a record"}}
}

// Validate refuses to read nothing, and patterns that are none.
func (o Options) Validate() error {
	fault := func(option, format string, args ...any) error {
		return &pipeline.OptionError{Option: option, Err: fmt.Errorf(format, args...)}
	}
	if len(o.Paths) == 0 {
		return fault("paths", "is not set: name the files to read")
	}
	for _, path := range o.Paths {
		if _, err := filepath.Match(path, ""); err != nil {
			return fault("paths", "%q: %w", path, err)
		}
	}
	switch comma, size := utf8.DecodeRuneInString(o.Separator); {
	case size == 0 || size != len(o.Separator) || strings.ContainsRune("\"\r\n\uFFFD", comma):
		return fault("separator", "%q is not one character, such as ; or a tab", o.Separator)
	case o.Format == "xml" && o.Record == "":
		return fault("record", `is not set: name the elements that are records, as "item"`)
	case o.Format != "xml" && o.Record != "":
		return fault("record", "is for format = \"xml\" alone")
	case o.Record != "" && !goodPath.MatchString(o.Record):
		return fault("record", `%q is neither a name of elements nor a path of such, as "channel/item"; prefixes are left out`, o.Record)
	case o.MaxLength < 1:
		return fault("max_length", "must be more than 0")
	case o.Positions != "" && slices.Contains(o.Paths, "-"):
		return fault("positions", "standard input has none")
	}
	return nil
}

type stage struct {
	options Options
	env     *pipeline.Env
}

var (
	_ pipeline.Source = (*stage)(nil)
	_ pipeline.Porter = Options{}
)

func newStage(o Options, env *pipeline.Env) (any, error) { return &stage{o, env}, nil }

// Run emits what is in the files. A pattern may match nothing; a file that is named must be there.
func (s *stage) Run(ctx context.Context, out pipeline.Emitter) error {
	paths, err := s.paths()
	if err != nil {
		return err
	}
	positions, err := openPositions(s.options.Positions, s.env.Dry)
	if err != nil {
		return fmt.Errorf("read the positions: %w", err)
	}
	for _, path := range paths {
		if err := s.follow(ctx, path, positions, out); err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
	}
	return nil
}

func (s *stage) paths() (all []string, err error) {
	for _, pattern := range s.options.Paths {
		if pattern == "-" || !strings.ContainsAny(pattern, "*?[") {
			all = append(all, pattern)
			continue
		}
		matched, err := filepath.Glob(pattern)
		if err != nil {
			return nil, err
		}
		all = append(all, matched...)
	}
	return all, nil
}

// entry is one of a file, or why there are no more.
type entry struct {
	number uint64 // from 1, those that are bad included
	value  any
	bad    error
	err    error
}

// mostAtOnce is how many entries the goroutine that reads hands over at once: one by one that costs more than to read
// them. None waits for one that has not come.
const mostAtOnce = 64

// follow emits what a goroutine reads, which is not waited for: nothing interrupts the opening of a pipe that
// no process writes to, nor a read of a terminal.
func (s *stage) follow(ctx context.Context, path string, positions *positions, out pipeline.Emitter) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	entries := make(chan []entry)
	var place *place
	opened := make(chan struct{})
	go func() {
		defer close(entries)
		err := s.env.Try(func() error {
			return s.read(path, func(beginning []byte) {
				place = positions.of(path, beginning)
				close(opened)
			}, func(some []entry) bool { return send(ctx, entries, some) })
		})
		if err != nil {
			send(ctx, entries, []entry{{err: err}})
		}
	}()
	for {
		select {
		case some, more := <-entries:
			if !more {
				return nil
			}
			for _, e := range some {
				if e.err != nil {
					return e.err
				}
				<-opened // before the first entry
				if err := s.emit(ctx, path, place, e, out); err != nil {
					return err
				}
			}
		case <-ctx.Done():
			return nil
		}
	}
}

func send(ctx context.Context, entries chan<- []entry, some []entry) bool {
	select {
	case entries <- some:
		return true
	case <-ctx.Done():
		return false
	}
}

// read reads a file; opened is told its first bytes, before take is called for the entries, some at a time, until it
// says stop.
func (s *stage) read(path string, opened func(beginning []byte), take func([]entry) bool) error {
	in := os.Stdin
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		defer file.Close()
		in = file
	}
	source, beginning, err := unpacked(in)
	if err != nil {
		return err
	}
	opened(beginning)
	next := s.options.reader(source)
	var some []entry
	defer func() {
		if len(some) > 0 {
			take(some)
		}
	}()
	for number := uint64(1); ; number++ {
		value, err := next()
		e := entry{number: number, value: value}
		if err != nil {
			var bad *badRecord
			switch {
			case errors.Is(err, errEnd):
				return nil
			case !errors.As(err, &bad):
				return err
			}
			e.bad = bad
		}
		if some = append(some, e); len(some) < mostAtOnce && s.options.more(source) {
			continue
		}
		taken := take(some)
		if some = nil; !taken {
			return nil
		}
	}
}

// emit passes on an entry that has not been dealt with in a run before.
func (s *stage) emit(ctx context.Context, path string, place *place, e entry, out pipeline.Emitter) error {
	if e.number <= place.after {
		return nil
	}
	if e.bad == nil && s.options.Positions == "" {
		return out.Emit(ctx, &pipeline.Item{Value: e.value})
	}
	place.progress.Begin(e.number)
	ended := func(o pipeline.Outcome) {
		if err := place.progress.End(context.WithoutCancel(ctx), e.number, o.Err == nil); err != nil {
			s.env.Logger.Error("position not saved; records will be read again", "file", path, "error", err)
		}
	}
	if e.bad != nil {
		s.env.Counter("bad_records").Add(1)
		s.env.Logger.Warn("record left out", "file", path, "record", e.number, "error", e.bad)
		ended(pipeline.Outcome{})
		return nil
	}
	return out.Emit(ctx, pipeline.NewItem(e.value, ended))
}
