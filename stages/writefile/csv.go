package writefile

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/webrace/webrace/pipeline/codec"
	"github.com/webrace/webrace/pipeline/expression"
)

// row writes the fields of a value as a row of CSV, behind a row of their names if it is the first. It returns
// the columns: those of the first record, unless they were known before. A field that a record does not have
// is empty; one that is no column is left out. A row is always one line, so that one which a crash cut off can
// be told: ends of lines become spaces.
func row(value any, columns []string, first bool) (row []byte, known []string, err error) {
	fields := codec.Fields(value, columns...)
	if columns == nil {
		columns = slices.Sorted(maps.Keys(fields))
	}
	cells := make([]string, len(columns))
	for i, name := range columns {
		cells[i] = oneLine.Replace(expression.Text(fields[name]))
	}
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	if first {
		err = w.Write(columns)
	}
	if err == nil {
		err = w.Write(cells)
	}
	w.Flush()
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), columns, err
}

// headerOf reads the names in the first row of a file.
func headerOf(path string, zipped bool) ([]string, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var in io.Reader = file
	if zipped {
		if in, err = gzip.NewReader(file); err != nil {
			return nil, err
		}
	}
	return csv.NewReader(in).Read()
}

// truncateToLines cuts off a last line that has no end. It was not acknowledged.
func truncateToLines(path string) error {
	if !cutOff(path) {
		return nil
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	end, err := file.Seek(0, io.SeekEnd)
	part := make([]byte, 64<<10)
	for err == nil && end > 0 { // from the end, since a file may be larger than memory
		part = part[:min(int64(len(part)), end)]
		end -= int64(len(part))
		if _, err = file.ReadAt(part, end); err == nil {
			if last := bytes.LastIndexByte(part, '\n'); last >= 0 {
				end += int64(last) + 1
				break
			}
		}
	}
	if err != nil {
		return err
	}
	return file.Truncate(end)
}
