package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	oracle "github.com/parquet-go/parquet-go"
)

// table makes a file of columns of all types; cells are shown as the reader shows them, with "-" for none.
type table struct {
	file  bytes.Buffer
	w     *Writer
	wants [][]string
}

var everyType = []Column{{"boolean", Boolean}, {"double", Double}, {"int64", Int64}, {"json", JSON}, {"string", String}}

func newTable(t *testing.T, rowsInGroup int) *table {
	t.Helper()
	made := &table{}
	w, err := NewWriter(&made.file, "test", everyType, rowsInGroup)
	if err != nil {
		t.Fatal(err)
	}
	made.w = w
	return made
}

// add adds a row; a nil is none.
func (a *table) add(t *testing.T, values ...any) {
	t.Helper()
	var want []string
	for i, v := range values {
		switch v := v.(type) {
		case nil:
			a.w.Null(i)
			want = append(want, "-")
			continue
		case bool:
			a.w.Boolean(i, v)
		case float64:
			a.w.Double(i, v)
		case int64:
			a.w.Int64(i, v)
		case string:
			a.w.Bytes(i, []byte(v))
			want = append(want, fmt.Sprintf("%q", v))
			continue
		}
		want = append(want, fmt.Sprint(v))
	}
	a.wants = append(a.wants, want)
	if err := a.w.EndRow(); err != nil {
		t.Fatal(err)
	}
}

// check has another library read the file: its rows, and that each bound of a group's column holds.
func (a *table) check(t *testing.T) {
	t.Helper()
	if err := a.w.Close(); err != nil {
		t.Fatal(err)
	}
	in, err := oracle.OpenFile(bytes.NewReader(a.file.Bytes()), int64(a.file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	var types []string
	for _, f := range in.Schema().Fields() {
		types = append(types, fmt.Sprint(f.Name(), " ", f.Type(), " ", f.Optional()))
	}
	if want := []string{"boolean BOOLEAN true", "double DOUBLE true", "int64 INT(64,true) true", "json JSON true", "string STRING true"}; !slices.Equal(types, want) {
		t.Fatalf("columns %q", types)
	}
	var got [][]string
	for _, group := range in.RowGroups() {
		rows := rowsOf(t, group)
		for i, chunk := range group.ColumnChunks() {
			checkBounds(t, chunk.(*oracle.FileColumnChunk), i, rows)
		}
		for _, row := range rows {
			var cells []string
			for _, v := range row {
				cells = append(cells, shown(v))
			}
			got = append(got, cells)
		}
	}
	if len(got) != len(a.wants) || int(in.NumRows()) != len(a.wants) {
		t.Fatalf("%d rows, and %d by the footer, want %d", len(got), in.NumRows(), len(a.wants))
	}
	for i := range got {
		if !slices.Equal(got[i], a.wants[i]) {
			t.Fatalf("row %d is %q, want %q", i, got[i], a.wants[i])
		}
	}
}

func shown(v oracle.Value) string {
	switch {
	case v.IsNull():
		return "-"
	case v.Kind() == oracle.ByteArray:
		return fmt.Sprintf("%q", v.ByteArray())
	case v.Kind() == oracle.Double:
		return fmt.Sprint(v.Double())
	case v.Kind() == oracle.Int64:
		return fmt.Sprint(v.Int64())
	}
	return fmt.Sprint(v.Boolean())
}

func rowsOf(t *testing.T, group oracle.RowGroup) (all []oracle.Row) {
	t.Helper()
	r := group.Rows()
	defer r.Close()
	for one := make([]oracle.Row, 1); ; {
		n, err := r.ReadRows(one)
		if n == 1 {
			all = append(all, one[0].Clone())
		}
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// checkBounds checks what a reader skips a group by.
func checkBounds(t *testing.T, chunk *oracle.FileColumnChunk, column int, rows []oracle.Row) {
	t.Helper()
	missing := int64(0)
	least, greatest, bounded := chunk.Bounds()
	for _, row := range rows {
		v := row[column]
		if v.IsNull() {
			missing++
		} else if bounded && (chunk.Type().Compare(v, least) < 0 || chunk.Type().Compare(v, greatest) > 0) {
			t.Fatalf("%s: %v is not from %v to %v", everyType[column].Name, v, least, greatest)
		}
	}
	if chunk.NullCount() != missing {
		t.Fatalf("%s: %d are missing, told are %d", everyType[column].Name, missing, chunk.NullCount())
	}
}

func TestAnotherReaderReadsWhatIsWritten(t *testing.T) {
	t.Parallel()
	a := newTable(t, 3)
	a.add(t, true, 1.5, int64(1), `{"a":1}`, "ü\n")
	a.add(t, nil, nil, nil, nil, nil)
	a.add(t, false, math.Copysign(0, -1), int64(math.MinInt64), "[]", "")
	a.add(t, nil, math.MaxFloat64, int64(math.MaxInt64), "1", strings.Repeat("long ", 100))
	a.check(t)
	newTable(t, 3).check(t)
}

// A column has several pages, and none is longer than a page and a value.
func TestLongColumnsHavePages(t *testing.T) {
	t.Parallel()
	a := newTable(t, 1000)
	for i := range 25 {
		a.add(t, i%2 == 0, float64(i), int64(i), nil, strings.Repeat(fmt.Sprint(i), 200_000))
		if n := len(a.w.columns[4].page.plain); n > pageSize+400_004 {
			t.Errorf("a page has %d bytes", n)
		}
	}
	a.check(t)
}

func TestARowThatLacksAColumnIsRefused(t *testing.T) {
	w, err := NewWriter(io.Discard, "test", everyType[:2], 10)
	if err != nil {
		t.Fatal(err)
	}
	w.Boolean(0, true)
	if err := w.EndRow(); err == nil || !strings.Contains(err.Error(), "double") {
		t.Errorf("got %v", err)
	}
}

// FuzzTables makes rows of bytes, each of which determines what a cell is.
func FuzzTables(f *testing.F) {
	f.Add([]byte("\x00\x11\x22\x33\x44"), byte(2))
	f.Add(bytes.Repeat([]byte("\x05\x14\xa0\xff"), 90), byte(7))
	f.Fuzz(func(t *testing.T, cells []byte, rowsInGroup byte) {
		a := newTable(t, 1+int(rowsInGroup))
		for n := 0; len(cells) >= len(everyType) && n < 500; n++ {
			row := make([]any, len(everyType))
			for i, c := range cells[:len(everyType)] {
				if c&3 == 0 {
					continue
				}
				row[i] = []any{c > 128, float64(int8(c)) / 3, int64(int8(c)) << (c % 40), `"` + strings.Repeat("x", int(c)) + `"`, string(cells[:c%5])}[i]
			}
			a.add(t, row...)
			cells = cells[len(everyType):]
		}
		a.check(t)
	})
}
