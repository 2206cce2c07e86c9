// Package readfile is the stage that reads files, compressed or not: a text a line, or a record for each line of
// JSON, row of CSV or element of XML, of which no more than one is in memory. What cannot be read is left to the error
// policy, with its place, and the rest is read. With a file of positions the stage goes on, in the next run, where it
// left off: what had not been dealt with is read again, and what has been added to a file is read then.
//
// A file is known by its device and inode, by its name, or, if it has been compressed or copied, by its content, and is
// the same as long as it holds what has been read of it: all bytes before the position have the same checksum.
package readfile

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/webrace/webrace/pipeline"
)

// Options of the stage.
type Options struct {
	Paths      []string      `toml:"paths" doc:"files to read, one after the other; *, ? and [ ] match names, and - is standard input"`
	Format     string        `toml:"format" doc:"text: a text a line; jsonl: JSON a line; csv: a record a row, whose fields the first row names; xml: a record for each element that record selects" enum:"text,jsonl,csv,xml" deprecated:"lines=jsonl"`
	Record     string        `toml:"record" doc:"with xml: which elements are records: a name, or a path of names such as channel/item, from the root on if it begins with /; * is any name, and prefixes do not count"`
	Separator  string        `toml:"separator" doc:"with csv: what stands between the cells of a row"`
	MaxLength  pipeline.Size `toml:"max_length" doc:"of a line, row or record; longer ones are left out"`
	LazyQuotes bool          `toml:"lazy_quotes" doc:"with csv: a quote within a cell is one, and no mistake"`
	Positions  string        `toml:"positions" doc:"a file that remembers how far the others have been read, also under another name or compressed; empty: each run reads all"`
	Unfinished string        `toml:"unfinished" doc:"what becomes of a last line without an end: wait leaves it until it has one, take takes it; empty: it waits with positions or follow. At the end of a compressed file it is taken" enum:"wait,take"`
	Follow     bool          `toml:"follow" doc:"in a continuous run, wait for what is added to the files, and for new ones that the paths match"`
}

var defaults = Options{Format: "text", Separator: ",", MaxLength: 1 << 20}

func init() {
	pipeline.Register(pipeline.Spec{
		Type:    "read-file",
		Once:    true,
		Summary: "reads texts or records from files",
		Doc: "Files may be compressed by gzip. JSON that is no object is the field `value` of a record. Of XML, the attributes of an element and " +
			"the elements in it are its fields, by their names without prefixes; several of one name are a list, and text beside them is the field " +
			"`text`. What cannot be read goes to the port `errors`, or by `on_error` to the dead letters, with file, line and byte, and is counted by " +
			"`bad_records`: a line that is no JSON, a row of CSV that has not as many cells as the first. The second column of a name is NAME_2, as the log says; meta `columns` has them in their order. A file that " +
			"cannot be read on, such as a damaged .gz or XML that is not well-formed, is told likewise, and the files behind it are read. With `positions`, a " +
			"file that is renamed, compressed or copied and truncated goes on, and one that holds something else is read from its beginning.",
		Out: []pipeline.Port{{Kind: pipeline.KindOf[pipeline.Record](), Doc: "a record; with format = \"text\" a text"}},
	}, defaults, newStage)
}

// Ports returns what is read.
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
	_, isPath := pathOf(o.Record)
	switch comma, size := utf8.DecodeRuneInString(o.Separator); {
	case size == 0 || size != len(o.Separator) || strings.ContainsRune("\"\r\n\uFFFD", comma):
		return fault("separator", "%q is not one character, such as ; or a tab", o.Separator)
	case o.Format == "xml" && o.Record == "":
		return fault("record", `is not set: name the elements that are records, as "item"`)
	case o.Format != "xml" && o.Record != "":
		return fault("record", "is for format = \"xml\" alone")
	case o.Record != "" && !isPath:
		return fault("record", `%q is neither a name of elements nor a path of such, as "channel/item"; prefixes are left out`, o.Record)
	case o.MaxLength < 1:
		return fault("max_length", "must be more than 0")
	case o.Positions != "" && slices.Contains(o.Paths, "-"):
		return fault("positions", "standard input has none")
	case o.LazyQuotes && o.Format != "csv":
		return fault("lazy_quotes", "is for format = \"csv\" alone")
	case o.Unfinished != "" && o.Format == "xml":
		return fault("unfinished", "is for lines: a document has an end")
	}
	return nil
}

// OwnFile is the file of positions.
func (o Options) OwnFile() (option, path string) { return "positions", o.Positions }

// waits reports whether a last line without an end is left until it has one.
func (o Options) waits() bool {
	if o.Unfinished == "" {
		return o.Positions != "" || o.Follow
	}
	return o.Unfinished == "wait"
}

type stage struct {
	options   Options
	env       *pipeline.Env
	positions *positions
	all       []*target         // that are read now
	told      map[string]string // what was wrong with files when that was told
}

var (
	_ pipeline.Source        = (*stage)(nil)
	_ pipeline.PortsProvider = Options{}

	_ pipeline.FileOwner = Options{}
)

func newStage(o Options, env *pipeline.Env) (any, error) {
	return &stage{options: o, env: env, told: make(map[string]string)}, nil
}

// following reports whether the stage waits for more when it has read all.
func (s *stage) following() bool { return s.options.Follow && s.env.Continuous }

// remembers reports whether files are known again.
func (s *stage) remembers() bool { return s.options.Positions != "" || s.following() }

// Run emits what is in the files, and what is added to them if they are followed.
func (s *stage) Run(ctx context.Context, out pipeline.Emitter) (err error) {
	if s.positions, err = openPositions(s.options.Positions, s.env.Dry, s.env.Logger); err != nil {
		return fmt.Errorf("read the positions %s: %w", s.options.Positions, err)
	}
	defer func() { s.saved(s.positions.rest(true)) }()
	if s.following() {
		return s.keepReading(ctx, out)
	}
	seen := make(readOnce)
	for {
		all, err := s.targets()
		if err != nil {
			return err
		}
		for _, t := range all {
			if t.missing != nil {
				return fmt.Errorf("read %s: %w", t.path, t.missing)
			}
		}
		if err := s.readAll(ctx, seen.others(all), out); !errors.Is(err, errMoved) {
			return err
		}
	}
}

// readAll reads what has not been read of files, one after the other. It returns errMoved if some were renamed
// meanwhile, and are to be looked for again.
func (s *stage) readAll(ctx context.Context, all []*target, out pipeline.Emitter) error {
	s.saved(s.positions.rest(false))
	if s.remembers() {
		if err := s.recognize(all); err != nil {
			return err
		}
		s.saved(s.positions.saveNames())
	}
	var moved error
	for _, t := range all {
		if t.missing != nil || t.copied || t.empty || t.known != nil && t.known.unchanged(t.info) {
			continue
		}
		switch err := s.follow(ctx, t, out); {
		case errors.Is(err, errMoved):
			moved = err
		case err != nil:
			return fmt.Errorf("read %s: %w", t.path, err)
		}
	}
	return moved
}
