package writefile

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/webrace/webrace/pipeline/codec"
	"github.com/webrace/webrace/pipeline/expression"
)

// row writes the fields of a value as a row of CSV, behind a row of their names if it is the first. It returns
// the columns: those of the first record, in the order that the row has if it is one, unless they were known before. A
// field that a record does not have is empty. One that is no column is an error, unless the columns were chosen.
func row(value any, columns []string, order string, chosen, first bool) (row []byte, known []string, err error) {
	var only []string
	if chosen {
		only = columns
	}
	fields := codec.Fields(value, only...)
	if columns == nil {
		columns = ordered(fields, order)
	}
	cells := make([]string, len(columns))
	for i, name := range columns {
		cells[i] = expression.Text(fields[name])
	}
	if !chosen {
		if err := allAreColumns(fields, columns); err != nil {
			return nil, columns, err
		}
	}
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	if first {
		err = w.Write(columns)
	}
	if err == nil && len(cells) == 1 && cells[0] == "" {
		w.Flush()
		out.WriteString(`""`) // a line without anything is no row
	} else if err == nil {
		err = w.Write(cells)
	}
	w.Flush()
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), columns, err
}

// ordered returns the names of fields: first those that are in a row of names, as they stand there.
func ordered(fields map[string]any, row string) (names []string) {
	all := slices.Sorted(maps.Keys(fields))
	wanted, _ := csv.NewReader(strings.NewReader(row)).Read()
	for _, name := range wanted {
		if at, found := slices.BinarySearch(all, name); found {
			all = slices.Delete(all, at, at+1)
			names = append(names, name)
		}
	}
	return append(names, all...)
}

// allAreColumns refuses fields that would be lost.
func allAreColumns(fields map[string]any, columns []string) error {
	has := 0
	for _, name := range columns {
		if _, ok := fields[name]; ok {
			has++
		}
	}
	if has >= len(fields) {
		return nil
	}
	var lost []string
	for name, value := range fields {
		if value != nil && !slices.Contains(columns, name) {
			lost = append(lost, name)
		}
	}
	if len(lost) == 0 {
		return nil
	}
	slices.Sort(lost)
	return fmt.Errorf("%s is no column of the file, whose first row has %s: name all that there are in the option columns, or only those that are wanted",
		strings.Join(lost, ", "), strings.Join(columns, ", "))
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

// truncateToRows cuts off a last row that has no end. It was not acknowledged. Where rows end is known from the
// beginning on, since a cell may have line breaks.
func truncateToRows(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return err
	}
	whole, err := wholeRows(file)
	if err != nil || whole == info.Size() {
		return err
	}
	return file.Truncate(whole)
}

// wholeRows returns how many bytes are rows that have an end. A quote counts where a cell begins, and from there on to
// the one that closes it.
func wholeRows(in io.Reader) (whole int64, err error) {
	part := make([]byte, 1<<20)
	read, quoted, before := int64(0), false, byte('\n')
	for {
		n, err := in.Read(part)
		for some := part[:n]; len(some) > 0; {
			at := bytes.IndexByte(some, '"')
			if at < 0 {
				at = len(some)
			}
			if line := bytes.LastIndexByte(some[:at], '\n'); line >= 0 && !quoted {
				whole = read + int64(line) + 1
			}
			if at > 0 {
				before = some[at-1]
			}
			read += int64(at)
			if some = some[at:]; len(some) > 0 {
				// a quote behind the one that closed the cell opens it again: it was one within the cell
				opens := !quoted && strings.IndexByte(",\n\"", before) >= 0
				if before = ' '; quoted {
					before = '"'
				}
				quoted, some = opens, some[1:]
				read++
			}
		}
		if errors.Is(err, io.EOF) {
			return whole, nil
		}
		if err != nil {
			return whole, err
		}
	}
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
