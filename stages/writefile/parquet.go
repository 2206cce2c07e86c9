package writefile

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/codec"
	"github.com/webrace/webrace/pipeline/number"
	"github.com/webrace/webrace/stages/writefile/internal/parquet"
)

// A file of Parquet can be read when its end has been written, and not be added to. So rows are gathered as lines of
// JSON in a file beside it, durable before their items are acknowledged as those of other formats, until a file is
// made of them: when the run ends, or there are enough. What a crash has left there, the next run goes on with. The
// file that is made takes the name of the option, and one of that name is put aside.

// mostColumns is how many columns a file has at most; fields beyond are left out.
const mostColumns = 1000

// rowsInGroup is how many rows are in memory when a file is made.
const rowsInGroup = 20_000

// completeParquet makes a file of the rows that were gathered, and forgets them.
func (o *output) completeParquet(now time.Time) error {
	rows, path := o.part(), o.options.Path
	if o.size == 0 {
		return os.Remove(rows)
	}
	draft := path + ".new"
	columns, err := columnsOf(rows, o.options.Columns)
	if err == nil {
		err = writeParquet(draft, rows, columns)
	}
	if err != nil {
		return fmt.Errorf("write %s of %s: %w", path, rows, err)
	}
	if _, err := os.Lstat(path); err == nil {
		if err := os.Rename(path, o.aside(now)); err != nil {
			return err
		}
	}
	if err := os.Rename(draft, path); err != nil {
		return err
	}
	return errors.Join(syncDir(filepath.Dir(path)), os.Remove(rows))
}

func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	_ = dir.Sync() // some systems have no such thing
	return dir.Close()
}

// appendRow adds a row to those that are gathered: a record, or the fields of another value.
func (o *output) appendRow(lines []byte, value any) ([]byte, error) {
	if record, ok := value.(pipeline.Record); ok {
		return o.encoder.Append(lines, record)
	}
	kind, fields, _, err := codec.Encode(value, o.options.Columns...)
	if err == nil && (len(fields) < len("{}") || fields[0] != '{' || string(fields) == "{}") {
		err = fmt.Errorf("parquet takes records, and what has fields, got %s", kind)
	}
	return append(lines, fields...), err
}

// column is one of a file.
type column struct {
	name string
	kind columnKind
}

// columnKind is what all values of a column are.
type columnKind int8

const (
	nothing columnKind = iota // null everywhere
	boolean
	whole    // numbers without a fraction, which are float64 as well
	decimals // numbers that a float64 tells from all others, as those before
	large    // whole numbers, of which some are an int64 alone
	text
	mixed // written as JSON, as lists and objects are
)

// kindOf tells a value of JSON by how it begins.
func kindOf(value json.RawMessage) columnKind {
	switch value[0] {
	case 'n':
		return nothing
	case 't', 'f':
		return boolean
	case '"':
		return text
	case '{', '[':
		return mixed
	}
	return kindOfNumber(json.Number(value))
}

// kindOfNumber tells in which column a number keeps its value. There is none for one that is longer.
func kindOfNumber(n json.Number) columnKind {
	_, isWhole := number.Whole(n)
	f, _ := number.Float(n)
	switch order, _ := number.Compare(n, f); {
	case order == 0 && isWhole:
		return whole
	case order == 0:
		return decimals
	case isWhole:
		return large
	}
	return mixed
}

func (k columnKind) with(other columnKind) columnKind {
	switch {
	case k == nothing || k == other:
		return other
	case other == nothing || other == whole && (k == decimals || k == large):
		return k
	case k == whole && (other == decimals || other == large):
		return other
	}
	return mixed
}

// of is the type of the column in the file.
func (k columnKind) of() parquet.Type {
	switch k {
	case boolean:
		return parquet.Boolean
	case whole, decimals:
		return parquet.Double
	case large:
		return parquet.Int64
	case mixed:
		return parquet.JSON
	}
	return parquet.String
}

// add adds a value of JSON to a column of the file.
func (k columnKind) add(w *parquet.Writer, i int, raw json.RawMessage) (err error) {
	if len(raw) == 0 || kindOf(raw) == nothing {
		w.Null(i)
		return nil
	}
	switch k {
	case boolean:
		w.Boolean(i, raw[0] == 't')
	case whole, decimals:
		f, _ := number.Float(json.Number(raw))
		w.Double(i, f)
	case large:
		n, _ := number.Whole(json.Number(raw))
		w.Int64(i, n)
	case mixed:
		w.Bytes(i, raw)
	default:
		var s string
		err = json.Unmarshal(raw, &s)
		w.Bytes(i, []byte(s))
	}
	return err
}

// columnsOf finds out what the columns of the rows in a file are, in the order of Parquet's schemas: sorted. If there
// are wanted ones it is these.
func columnsOf(path string, wanted []string) ([]column, error) {
	kinds := make(map[string]columnKind)
	for _, name := range wanted {
		kinds[name] = nothing
	}
	err := eachRow(path, func(row map[string]json.RawMessage) error {
		for name, value := range row {
			before, known := kinds[name]
			if !known && (wanted != nil || len(kinds) >= mostColumns) || name == "" {
				continue
			}
			kinds[name] = before.with(kindOf(value))
		}
		return nil
	})
	var columns []column
	for name, kind := range kinds {
		columns = append(columns, column{name, kind})
	}
	slices.SortFunc(columns, func(a, b column) int { return bytes.Compare([]byte(a.name), []byte(b.name)) })
	if err == nil && len(columns) == 0 {
		err = errors.New("its rows have no fields")
	}
	return columns, err
}

// writeParquet makes a file of rows, durable when it returns.
func writeParquet(path, rows string, columns []column) (err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	defer func() {
		if err == nil {
			err = file.Sync()
		}
		err = errors.Join(err, file.Close())
	}()
	table := make([]parquet.Column, len(columns))
	for i, c := range columns {
		table[i] = parquet.Column{Name: c.name, Type: c.kind.of()}
	}
	out := bufio.NewWriterSize(file, 1<<20)
	w, err := parquet.NewWriter(out, "webrace", table, rowsInGroup)
	if err != nil {
		return err
	}
	err = eachRow(rows, func(fields map[string]json.RawMessage) error {
		for i, c := range columns {
			if err := c.kind.add(w, i, fields[c.name]); err != nil {
				return fmt.Errorf("column %s: %w", c.name, err)
			}
		}
		return w.EndRow()
	})
	return errors.Join(err, w.Close(), out.Flush())
}

// eachRow calls f for each row that was gathered.
func eachRow(path string, f func(row map[string]json.RawMessage) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	d := json.NewDecoder(bufio.NewReaderSize(file, 1<<20))
	for {
		var row map[string]json.RawMessage
		err := d.Decode(&row)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = f(row)
		}
		if err != nil {
			return err
		}
	}
}
