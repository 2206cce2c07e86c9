// Package parquet writes tables as files of Apache Parquet (https://parquet.apache.org/docs/file-format/): columns of
// one type each, any of whose values may be missing. Values are written plainly and compressed by Zstandard, in groups
// of rows; each group has the least and the greatest value of each column, by which readers skip groups.
//
// What it guarantees: a file whose Close returned nil holds the rows that were added, in their order. Memory holds a
// group of rows, compressed but for the last megabyte of each column.
package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// magic begins and ends a file.
const magic = "PAR1"

// pageSize is how many bytes of a column are compressed together, or one value if that is longer.
const pageSize = 1 << 20

// Column of a table.
type Column struct {
	Name string
	Type Type
}

// Writer writes a file. Each row is made by one value for each column, or [Writer.Null], and ended by [Writer.EndRow].
type Writer struct {
	out     io.Writer
	name    string
	perRow  int // rows in a group
	columns []*chunk
	packer  *zstd.Encoder
	at      int64 // what is written
	rows    int   // of the group
	all     int64 // of the file
	groups  []group
	err     error
}

// group is a group of rows that is written.
type group struct {
	rows    int
	columns []written
}

// NewWriter returns a writer of a table, with groups of so many rows.
func NewWriter(out io.Writer, name string, columns []Column, rowsInGroup int) (*Writer, error) {
	packer, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(pageSize), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return nil, err
	}
	w := &Writer{out: out, name: name, perRow: rowsInGroup, packer: packer}
	for _, c := range columns {
		w.columns = append(w.columns, &chunk{Column: c})
	}
	w.write([]byte(magic))
	return w, w.err
}

// Null adds no value to a column.
func (w *Writer) Null(column int) { w.columns[column].level(false) }

// Boolean adds a value to a column of booleans.
func (w *Writer) Boolean(column int, b bool) { w.columns[column].boolean(b) }

// Double adds a value to a column of doubles; NaN is none.
func (w *Writer) Double(column int, f float64) { w.columns[column].double(f) }

// Int64 adds a value to a column of integers.
func (w *Writer) Int64(column int, n int64) { w.columns[column].integer(n) }

// Bytes adds a value to a column of texts, or of JSON.
func (w *Writer) Bytes(column int, b []byte) { w.columns[column].bytes(b) }

// EndRow ends a row.
func (w *Writer) EndRow() error {
	w.rows++
	for _, c := range w.columns {
		if c.values+c.page.values != w.rows {
			return fmt.Errorf("column %s has %d values in %d rows", c.Name, c.values+c.page.values, w.rows)
		}
		if c.page.size() >= pageSize {
			c.endPage(w.packer)
		}
	}
	if w.rows == w.perRow {
		w.endGroup()
	}
	return w.err
}

// endGroup writes the rows of a group, column by column.
func (w *Writer) endGroup() {
	if w.rows == 0 {
		return
	}
	g := group{rows: w.rows}
	for _, c := range w.columns {
		c.endPage(w.packer)
		g.columns = append(g.columns, written{chunk: *c, at: w.at, packed: len(c.out)})
		w.write(c.out)
		*c = chunk{Column: c.Column, out: c.out[:0]}
	}
	w.groups, w.all, w.rows = append(w.groups, g), w.all+int64(w.rows), 0
}

// Close writes what readers begin with: what columns there are, and where.
func (w *Writer) Close() error {
	w.endGroup()
	footer := w.footer()
	w.write(footer)
	w.write(binary.LittleEndian.AppendUint32(nil, uint32(len(footer))))
	w.write([]byte(magic))
	return errors.Join(w.err, w.packer.Close())
}

func (w *Writer) write(b []byte) {
	if w.err == nil {
		_, w.err = w.out.Write(b)
		w.at += int64(len(b))
	}
}
