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
	Path   string `toml:"path" doc:"the file to write; {{EXPRESSION}} stands for a value of each item, as in out/{{host}}-{{day}}.csv, and {{pagepath(url)}} for the folders and the name of a page's file: none leads out of the folder"`
	Format string `toml:"format" doc:"jsonl: a JSON value a line; text: a text a line, in which line breaks become spaces: jsonl keeps them; csv: a record a row; parquet: likewise, in a file that is made when the run ends or rotate says so; xml: one document of annotations" enum:"jsonl,text,csv,parquet,xml" deprecated:"lines=jsonl"`

	Columns      []string          `toml:"columns" doc:"with csv and parquet: the fields that are written; empty: those in the file's first row, or of the first record, in the order of the CSV that it was read from, and with parquet those of all records. Without it, a record with another field is not written to csv, but fails"`
	Gzip         bool              `toml:"gzip" doc:"compress what is written"`
	RotateSize   pipeline.Size     `toml:"rotate_size" doc:"a file that is larger is put aside under a name with the time, and a new one begun; 0 never does so"`
	RotatePeriod pipeline.Duration `toml:"rotate_period" doc:"likewise a file that has been written to for longer; 0s never does so"`
}

func init() {
	pipeline.Register(pipeline.Spec{
		Type:    "write-file",
		Whole:   "all partitions would write to one file",
		Summary: "writes what it is given to a file, as JSON lines, text, CSV, Parquet or XML",
		Doc: "Lines are appended and are on disk before their items are acknowledged. Of a list, as `batch` makes it, each element is a line. " +
			"A path with values, which name a field or are an expression, makes a file for each; what no name of a file may have is written as %XX, what is beyond 200 bytes becomes a hash, and a value that is empty fails. " +
			"out/{{pagepath(url)}}.jsonl makes a file for each URL, in folders of its host and path: two URLs are never one file, also where files that differ in case are one. " +
			"XML takes annotations only; the document replaces the file of that name when the run ends. Rows of Parquet are gathered in a file beside it, which has " +
			"the name with .part, until a file is made of them; one that has the name is put aside then. A column is of booleans, of numbers or of texts if all its values are, or else of JSON; numbers are doubles, or integers of 64 bits where a double would change one, or else JSON.",
		In:     pipeline.Kinds(pipeline.KindOf[any]()),
		Effect: "write it to a file",
		Batch:  pipeline.Batch{Count: 256, Period: pipeline.Duration(100 * time.Millisecond)},
	}, Options{Format: "jsonl"}, newStage)
}

// NeededParts returns all parts, since all of an item is written; of CSV with columns, these, and what the path names.
func (o Options) NeededParts() []pipeline.Part {
	if len(o.Columns) == 0 {
		return []pipeline.Part{pipeline.AllParts}
	}
	parts, _ := pipeline.PartsOfFields(o.Columns...)
	path, _ := parsePath(o.Path)
	return append(parts, path.parts()...)
}

// Validate refuses to write nowhere.
func (o Options) Validate() error {
	if o.Path == "" {
		return &pipeline.OptionError{Option: "path", Err: errors.New("is not set: name the file to write")}
	}
	path, err := parsePath(o.Path)
	if err == nil && o.Format == "xml" && path.varies() {
		err = errors.New(`with format = "xml", which is one document, there is one file, and no {{…}} in its path`)
	} else if err == nil && o.Format == "parquet" && path.page {
		err = errors.New(`with format = "parquet", whose files are of many rows, pagepath(…) is none of the path: {{host(url)}} makes a file of a host`)
	}
	if err != nil {
		return &pipeline.OptionError{Option: "path", Err: err}
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

// InputKinds returns what can be written in the format.
func (o Options) InputKinds() []pipeline.Kind {
	switch o.Format {
	case "xml":
		return pipeline.Kinds(pipeline.KindOf[*xmlschema.ACI](), pipeline.ListOf[*xmlschema.ACI]())
	case "text":
		return pipeline.Kinds(pipeline.KindOf[string](), pipeline.ListOf[string]())
	}
	return pipeline.Kinds(pipeline.KindOf[any]())
}

// CheckNames refuses columns, and values of the path, that nothing that comes has.
func (o Options) CheckNames(given []pipeline.Kind) error {
	rows := slices.Clone(given)
	for i, kind := range rows {
		if element, known := kind.Element(); known {
			rows[i] = element
		} else if kind.Accepts(pipeline.KindOf[pipeline.List]()) {
			return nil // lists of what is not known
		}
	}
	path, _ := parsePath(o.Path)
	all := path.checkNames(rows)
	for i, name := range o.Columns {
		all = append(all, expression.CheckField(fmt.Sprintf("columns.%d", i), name, rows))
	}
	return errors.Join(all...)
}

// output is one of the files that are written.
type output struct {
	options Options
	values  int // where the last value ends in the path; 0 if it has none

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

const (
	xmlHead = `<acis xmlns="` + xmlschema.Namespace + `">` + "\n"
	xmlFoot = "</acis>\n"
)

// part is where an XML document is written until it is complete.
func (o *output) part() string { return o.options.Path + rowsBeside }

const rowsBeside = ".part"

// Check finds out whether the file can be written. It is not made.
func (o *output) Check(context.Context) error {
	path := o.options.Path
	err := writable.File(path)
	if (o.options.Format == "xml" || o.options.Format == "parquet") && err == nil {
		err = writable.Dir(filepath.Dir(path)) // where it stands until it is complete
	}
	if err != nil {
		return &pipeline.OptionError{Option: "path", Err: err}
	}
	return nil
}

// Open opens the file.
func (o *output) Open(context.Context) error {
	if err := os.MkdirAll(filepath.Dir(o.options.Path), 0o755); err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.written = make(map[string]bool)
	return o.begin()
}

// begin opens the file, and mends what a crash has left at its end.
func (o *output) begin() error {
	path, mode, head := o.options.Path, os.O_APPEND, ""
	switch {
	case o.options.Format == "xml":
		path, mode, head = o.part(), os.O_TRUNC, xmlHead
	case o.options.Format == "parquet":
		path = o.part()
		if err := truncateToLines(path); err != nil {
			return fmt.Errorf("mend %s: %w", path, err)
		}
	case o.options.Gzip:
		if err := truncateToMembers(path); err != nil {
			return fmt.Errorf("mend %s: %w", path, err)
		}
	case o.options.Format == "csv":
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
	o.file, o.regular, o.began = file, err == nil && info.Mode().IsRegular(), time.Now()
	if o.regular {
		o.size = info.Size()
	}
	if o.columns = o.options.Columns; o.options.Format == "csv" && o.size > 0 {
		if o.columns, err = headerOf(path, o.options.Gzip); err != nil {
			return fmt.Errorf("read the header of %s: %w", path, err)
		}
	}
	if head == "" {
		return nil
	}
	return o.write([]byte(head))
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
func (o *output) ProcessBatch(_ context.Context, its []*pipeline.Item, _ pipeline.Emitter) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.rotate(time.Now()); err != nil {
		return err
	}
	o.lines = o.lines[:0]
	failed := make([]error, len(its))
	columns, ids := o.columns, []string(nil)
	for i, it := range its {
		before, columnsBefore, idsBefore := len(o.lines), columns, len(ids)
		for value := range values(it) {
			if failed[i] = o.add(value, it.Meta, &columns, &ids); failed[i] != nil {
				o.lines, columns, ids = o.lines[:before], columnsBefore, ids[:idsBefore]
				break
			}
		}
	}
	if err := o.write(o.lines); err != nil {
		return err
	}
	if o.columns = columns; cap(o.lines) > mostKept {
		o.lines = nil
	}
	for _, id := range ids {
		o.written[id] = true
	}
	if slices.ContainsFunc(failed, func(err error) bool { return err != nil }) {
		return &pipeline.GroupError{Errs: failed}
	}
	return nil
}

// add adds the line of a value to those of the group.
func (o *output) add(value any, meta map[string]string, columns, ids *[]string) (err error) {
	if aci, ok := value.(*xmlschema.ACI); ok && o.options.Format == "xml" {
		if o.written[aci.ID] || slices.Contains(*ids, aci.ID) {
			return nil
		}
		*ids = append(*ids, aci.ID)
	}
	switch o.options.Format {
	case "csv":
		var line []byte
		line, *columns, err = row(value, *columns, meta["columns"], len(o.options.Columns) > 0, o.size == 0 && len(o.lines) == 0)
		o.lines = append(o.lines, line...)
	case "parquet":
		o.lines, err = o.appendRow(o.lines, value)
	default:
		o.lines, err = o.encode(o.lines, value)
	}
	o.lines = append(o.lines, '\n')
	return err
}

// values are that of the item, or those of the list that it is.
func values(it *pipeline.Item) iter.Seq[any] {
	if list, ok := it.Value.(pipeline.List); ok {
		return slices.Values(list)
	}
	return slices.Values([]any{it.Value})
}

func (o *output) write(lines []byte) error {
	if o.failed != nil {
		return o.failed
	}
	if len(lines) == 0 {
		return nil
	}
	if o.options.Gzip {
		lines = compressed(lines)
	}
	n, err := o.file.Write(lines)
	o.size += int64(n)
	if err == nil && o.regular {
		err = o.file.Sync()
	}
	if err != nil {
		o.failed = fmt.Errorf("write %s: %w", o.options.Path, err)
	}
	return o.failed
}

// encode adds a line to others.
func (o *output) encode(lines []byte, value any) ([]byte, error) {
	switch text, isText := value.(string); {
	case o.options.Format == "text" && isText:
		return append(lines, oneLine.Replace(text)...), nil
	case o.options.Format == "text":
		return lines, fmt.Errorf("text takes texts, got %T", value)
	case o.options.Format != "xml":
		return o.encoder.Append(lines, value)
	}
	aci, ok := value.(*xmlschema.ACI)
	if !ok {
		return lines, fmt.Errorf("XML takes annotations, got %T; use format = \"jsonl\"", value)
	}
	// a canonical annotation names its namespace, which here the root has
	return append(lines, strings.Replace(string(aci.Canonical()), ` xmlns="`+xmlschema.Namespace+`"`, "", 1)...), nil
}

var oneLine = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ")

// pause closes the file, to be opened again. Of Parquet, the rows stay where they are.
func (o *output) pause() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.file == nil {
		return nil
	}
	err := errors.Join(o.failed, o.file.Close())
	o.file = nil
	return err
}

// Close completes the file.
func (o *output) Close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.file == nil {
		return nil
	}
	xml := o.options.Format == "xml"
	if xml {
		_ = o.write([]byte(xmlFoot)) // which is what fails below
	}
	err := errors.Join(o.failed, o.file.Close())
	o.file = nil
	switch {
	case err == nil && o.options.Format == "parquet":
		return o.completeParquet(time.Now())
	case !xml:
		return err
	case err != nil:
		return errors.Join(err, os.Remove(o.part()))
	}
	return os.Rename(o.part(), o.options.Path)
}
