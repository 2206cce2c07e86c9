// Package writefile is the stage that writes what it is given to a file: a JSON value a line, texts, rows of
// CSV or Parquet, or one XML document of annotations. Lines are appended, so a run that is repeated adds to what was
// there, and a line that a crash cut off spoils none but itself; they may be compressed, and a file that has
// become large or old makes room for another. An XML document is written anew, beside the old one, which it
// replaces only when it is complete.
package writefile

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/expression"
	"github.com/webrace/webrace/pipeline/recordjson"
	_ "github.com/webrace/webrace/stages/kinds" // whose fields expressions name
	"github.com/webrace/webrace/stages/writefile/writable"
	"github.com/webrace/webrace/xmlschema"
)

// Options of the stage.
type Options struct {
	Path   string `toml:"path" doc:"the file to write"`
	Format string `toml:"format" doc:"jsonl: a JSON value a line; text: a text a line; csv: a record a row; parquet: likewise, in a file that is made when the run ends or rotate says so; xml: one document of annotations" enum:"jsonl,text,csv,parquet,xml" deprecated:"lines=jsonl"`

	Columns      []string          `toml:"columns" doc:"with csv and parquet: the fields that are written; empty: those in the file's first row, or of the first record, in the order of the CSV that it was read from, and with parquet those of all records. Without it, a record with another field is not written to csv, but fails"`
	Gzip         bool              `toml:"gzip" doc:"compress what is written"`
	RotateSize   pipeline.Size     `toml:"rotate_size" doc:"a file that is larger is put aside under a name with the time, and a new one begun; 0 never does so"`
	RotatePeriod pipeline.Duration `toml:"rotate_period" doc:"likewise a file that has been written to for longer; 0s never does so"`
}

func init() {
	pipeline.Register(pipeline.Spec{
		Type:    "write-file",
		Summary: "writes what it is given to a file, as JSON lines, text, CSV, Parquet or XML",
		Doc: "Lines are appended and are on disk before their items are acknowledged. Of a list, as `batch` makes it, each element is a line. " +
			"XML takes annotations only; the document replaces the file of that name when the run ends. Rows of Parquet are gathered in a file beside it, which has " +
			"the name with .part, until a file is made of them; one that has the name is put aside then. A column is of booleans, of numbers or of texts if all its values are, or else of JSON; numbers are doubles, or integers of 64 bits where a double would change one, or else JSON.",
		In:     pipeline.Kinds(pipeline.KindOf[any]()),
		Effect: "write it to a file",
		Batch:  pipeline.Batch{Count: 256, Period: pipeline.Duration(100 * time.Millisecond)},
	}, Options{Format: "jsonl"}, func(o Options, _ *pipeline.Env) (any, error) { return &stage{options: o}, nil })
}

// NeededParts says that all of an item is written; of CSV with columns, these.
func (o Options) NeededParts() []pipeline.Part {
	if len(o.Columns) == 0 {
		return []pipeline.Part{pipeline.AllParts}
	}
	parts, _ := pipeline.PartsOfFields(o.Columns...)
	return parts
}

// Validate refuses to write nowhere.
func (o Options) Validate() error {
	if o.Path == "" {
		return &pipeline.OptionError{Option: "path", Err: errors.New("is not set: name the file to write")}
	}
	if o.Format != "csv" && o.Format != "parquet" && len(o.Columns) > 0 {
		return &pipeline.OptionError{Option: "columns", Err: errors.New(`goes with format = "csv" and "parquet"`)}
	}
	if o.Format == "parquet" {
		return o.validateParquet()
	}
	if o.Format != "xml" {
		return nil
	}
	for option, set := range map[string]bool{"gzip": o.Gzip, "rotate_size": o.RotateSize > 0, "rotate_period": o.RotatePeriod > 0} {
		if set {
			return &pipeline.OptionError{Option: option, Err: errors.New(`does not go with format = "xml", which is one document`)}
		}
	}
	return nil
}

func (o Options) validateParquet() error {
	if o.Gzip {
		return &pipeline.OptionError{Option: "gzip", Err: errors.New(`does not go with format = "parquet", which is compressed by itself`)}
	}
	for i, name := range o.Columns {
		if name == "" || slices.Contains(o.Columns[:i], name) {
			return &pipeline.OptionError{Option: "columns", Err: fmt.Errorf("%q is empty, or stands twice", name)}
		}
	}
	return nil
}

// InputKinds says what can be written in the format.
func (o Options) InputKinds() []pipeline.Kind {
	switch o.Format {
	case "xml":
		return pipeline.Kinds(pipeline.KindOf[*xmlschema.ACI](), pipeline.ListOf[*xmlschema.ACI]())
	case "text":
		return pipeline.Kinds(pipeline.KindOf[string](), pipeline.ListOf[string]())
	}
	return pipeline.Kinds(pipeline.KindOf[any]())
}

// CheckNames refuses columns that nothing that comes has.
func (o Options) CheckNames(given []pipeline.Kind) error {
	rows := slices.Clone(given)
	for i, kind := range rows {
		if element, known := kind.Element(); known {
			rows[i] = element
		} else if kind.Accepts(pipeline.KindOf[pipeline.List]()) {
			return nil // lists of what is not known
		}
	}
	var all []error
	for i, name := range o.Columns {
		all = append(all, expression.CheckField(fmt.Sprintf("columns.%d", i), name, rows))
	}
	return errors.Join(all...)
}

type stage struct {
	options Options

	mu      sync.Mutex
	file    *os.File
	regular bool            // a disk has to be waited for
	failed  error           // of a write: what is in the file since then is unknown, and nothing is added to it
	written map[string]bool // ids of annotations in the XML document, which has each once
	size    int64
	began   time.Time
	columns []string // of CSV; nil until they are known
	lines   []byte   // of a group; their memory is used again
	encoder recordjson.Encoder
}

const mostKept = 1 << 20 // bytes of memory that is used again

var (
	_ pipeline.BatchProcessor = (*stage)(nil)
	_ pipeline.Opener         = (*stage)(nil)
	_ pipeline.Closer         = (*stage)(nil)
	_ pipeline.Checker        = (*stage)(nil)
)

const (
	xmlHead = `<acis xmlns="` + xmlschema.Namespace + `">` + "\n"
	xmlFoot = "</acis>\n"
)

// part is where an XML document is written until it is complete.
func (s *stage) part() string { return s.options.Path + ".part" }

// Check finds out whether the file can be written. It is not made.
func (s *stage) Check(context.Context) error {
	path := s.options.Path
	err := writable.File(path)
	if (s.options.Format == "xml" || s.options.Format == "parquet") && err == nil {
		err = writable.Dir(filepath.Dir(path)) // where it stands until it is complete
	}
	if err != nil {
		return &pipeline.OptionError{Option: "path", Err: err}
	}
	return nil
}

// Open opens the file.
func (s *stage) Open(context.Context) error {
	if err := os.MkdirAll(filepath.Dir(s.options.Path), 0o755); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.written = make(map[string]bool)
	return s.begin()
}

// begin opens the file, and mends what a crash has left at its end.
func (s *stage) begin() error {
	path, mode, head := s.options.Path, os.O_APPEND, ""
	switch {
	case s.options.Format == "xml":
		path, mode, head = s.part(), os.O_TRUNC, xmlHead
	case s.options.Format == "parquet":
		path = s.part()
		if err := truncateToLines(path); err != nil {
			return fmt.Errorf("mend %s: %w", path, err)
		}
	case s.options.Gzip:
		if err := truncateToMembers(path); err != nil {
			return fmt.Errorf("mend %s: %w", path, err)
		}
	case s.options.Format == "csv":
		if err := truncateToRows(path); err != nil {
			return fmt.Errorf("mend %s: %w", path, err)
		}
	case cutOff(path):
		head = "\n"
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|mode, 0o644)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	s.file, s.regular, s.began = file, err == nil && info.Mode().IsRegular(), time.Now()
	if s.regular {
		s.size = info.Size()
	}
	if s.columns = s.options.Columns; s.options.Format == "csv" && s.size > 0 {
		if s.columns, err = headerOf(path, s.options.Gzip); err != nil {
			return fmt.Errorf("read the header of %s: %w", path, err)
		}
	}
	if head == "" {
		return nil
	}
	return s.write([]byte(head))
}

// cutOff reports whether a crash has left the file's last line without an end.
func cutOff(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return false
	}
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	last := make([]byte, 1)
	_, err = file.ReadAt(last, info.Size()-1)
	return err == nil && last[0] != '\n'
}

// ProcessBatch writes a group of values, without those that cannot be, and waits for the disk once.
func (s *stage) ProcessBatch(_ context.Context, its []*pipeline.Item, _ pipeline.Emitter) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.rotate(time.Now()); err != nil {
		return err
	}
	s.lines = s.lines[:0]
	failed := make([]error, len(its))
	columns, ids := s.columns, []string(nil)
	for i, it := range its {
		before, columnsBefore, idsBefore := len(s.lines), columns, len(ids)
		for value := range values(it) {
			if failed[i] = s.add(value, it.Meta, &columns, &ids); failed[i] != nil {
				s.lines, columns, ids = s.lines[:before], columnsBefore, ids[:idsBefore]
				break
			}
		}
	}
	if err := s.write(s.lines); err != nil {
		return err
	}
	if s.columns = columns; cap(s.lines) > mostKept {
		s.lines = nil
	}
	for _, id := range ids {
		s.written[id] = true
	}
	if slices.ContainsFunc(failed, func(err error) bool { return err != nil }) {
		return &pipeline.GroupError{Errs: failed}
	}
	return nil
}

// add adds the line of a value to those of the group.
func (s *stage) add(value any, meta map[string]string, columns, ids *[]string) (err error) {
	if aci, ok := value.(*xmlschema.ACI); ok && s.options.Format == "xml" {
		if s.written[aci.ID] || slices.Contains(*ids, aci.ID) {
			return nil
		}
		*ids = append(*ids, aci.ID)
	}
	switch s.options.Format {
	case "csv":
		var line []byte
		line, *columns, err = row(value, *columns, meta["columns"], len(s.options.Columns) > 0, s.size == 0 && len(s.lines) == 0)
		s.lines = append(s.lines, line...)
	case "parquet":
		s.lines, err = s.appendRow(s.lines, value)
	default:
		s.lines, err = s.encode(s.lines, value)
	}
	s.lines = append(s.lines, '\n')
	return err
}

// values are that of the item, or those of the list that it is.
func values(it *pipeline.Item) iter.Seq[any] {
	if list, ok := it.Value.(pipeline.List); ok {
		return slices.Values(list)
	}
	return slices.Values([]any{it.Value})
}

func (s *stage) write(lines []byte) error {
	if s.failed != nil {
		return s.failed
	}
	if len(lines) == 0 {
		return nil
	}
	if s.options.Gzip {
		lines = compressed(lines)
	}
	n, err := s.file.Write(lines)
	s.size += int64(n)
	if err == nil && s.regular {
		err = s.file.Sync()
	}
	if err != nil {
		s.failed = fmt.Errorf("write %s: %w", s.options.Path, err)
	}
	return s.failed
}

// encode adds a line to others.
func (s *stage) encode(lines []byte, value any) ([]byte, error) {
	switch text, isText := value.(string); {
	case s.options.Format == "text" && isText:
		return append(lines, oneLine.Replace(text)...), nil
	case s.options.Format == "text":
		return lines, fmt.Errorf("text takes texts, got %T", value)
	case s.options.Format != "xml":
		return s.encoder.Append(lines, value)
	}
	aci, ok := value.(*xmlschema.ACI)
	if !ok {
		return lines, fmt.Errorf("XML takes annotations, got %T; use format = \"jsonl\"", value)
	}
	// a canonical annotation names its namespace, which here the root has
	return append(lines, strings.Replace(string(aci.Canonical()), ` xmlns="`+xmlschema.Namespace+`"`, "", 1)...), nil
}

var oneLine = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ")

// Close completes the file.
func (s *stage) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return nil
	}
	xml := s.options.Format == "xml"
	if xml {
		_ = s.write([]byte(xmlFoot)) // which is what fails below
	}
	err := errors.Join(s.failed, s.file.Close())
	s.file = nil
	switch {
	case err == nil && s.options.Format == "parquet":
		return s.completeParquet(time.Now())
	case !xml:
		return err
	case err != nil:
		return errors.Join(err, os.Remove(s.part()))
	}
	return os.Rename(s.part(), s.options.Path)
}
