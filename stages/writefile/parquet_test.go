package writefile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/stagetest"
)

// readParquet returns the columns of a file, each with its type, and its rows as "a=1 b=x".
func readParquet(t *testing.T, path string) (columns, rows []string) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	in, err := parquet.OpenFile(file, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, field := range in.Schema().Fields() {
		names = append(names, field.Name())
		columns = append(columns, fmt.Sprint(field.Name(), " ", field.Type()))
	}
	for _, group := range in.RowGroups() {
		r := group.Rows()
		one := make([]parquet.Row, 1)
		for {
			n, err := r.ReadRows(one)
			if n == 1 {
				var cells []string
				for _, v := range one[0] {
					if !v.IsNull() {
						cells = append(cells, fmt.Sprintf("%s=%v", names[v.Column()], v))
					}
				}
				rows = append(rows, strings.Join(cells, " "))
			}
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		r.Close()
	}
	return columns, rows
}

func TestParquetConformance(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.parquet")
	stagetest.Run(t, stagetest.Case{Type: "write-file", Options: Options{Path: path, Format: "parquet"}, Inputs: []any{pipeline.Record{"a": 1.0}, pipeline.Record{"a": "x"}, aci("a", "t")}})
}

// Columns have the type that all their values have, and rows may lack fields.
func TestParquetHoldsWhatItIsGiven(t *testing.T) {
	t.Parallel()
	row := func(kv ...any) pipeline.Record {
		r := pipeline.Record{}
		for i := 0; i < len(kv); i += 2 {
			r[kv[i].(string)] = kv[i+1]
		}
		return r
	}
	for name, c := range map[string]struct {
		columns []string
		inputs  []any
		want    []string
		rows    []string
	}{
		"types": {
			nil, []any{row("b", true, "n", 1.5, "t", "x"), row("b", nil, "n", 2.0), row("t", "ü\n")},
			[]string{"b BOOLEAN", "n DOUBLE", "t STRING"}, []string{"b=true n=1.5 t=x", "n=2", "t=ü\n"},
		},
		"mixed": {nil, []any{row("a", 1.0), row("a", "x"), row("a", []any{1.0})}, []string{"a JSON"}, []string{"a=1", `a="x"`, "a=[1]"}},
		"large": {
			nil, []any{row("a", json.Number("2882429806056571124"), "b", json.Number("1.10")), row("a", 7.0, "b", json.Number("1e3")), row("a", json.Number("1.0"), "b", 0.25)},
			[]string{"a INT(64,true)", "b DOUBLE"}, []string{"a=2882429806056571124 b=1.1", "a=7 b=1000", "a=1 b=0.25"},
		},
		"longer": {
			nil, []any{row("a", json.Number("18446744073709551615"), "b", json.Number("2882429806056571124")), row("a", 1.5, "b", json.Number("1.50"))},
			[]string{"a JSON", "b JSON"}, []string{"a=18446744073709551615 b=2882429806056571124", "a=1.5 b=1.50"},
		},
		"null":      {nil, []any{row("a", nil)}, []string{"a STRING"}, []string{""}},
		"columns":   {[]string{"c", "a"}, []any{row("a", 1.0, "b", 2.0)}, []string{"a DOUBLE", "c STRING"}, []string{"a=1"}},
		"lists":     {nil, []any{pipeline.List{row("a", 1.0), row("a", 2.0)}}, []string{"a DOUBLE"}, []string{"a=1", "a=2"}},
		"names":     {nil, []any{row("a.b", 1.0, "é ", 2.0, "", 3.0)}, []string{"a.b DOUBLE", "é  DOUBLE"}, []string{"a.b=1 é =2"}},
		"documents": {[]string{"url", "status"}, []any{&webrace.Document{URL: "u", Status: 200}}, []string{"status DOUBLE", "url STRING"}, []string{"status=200 url=u"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := Options{Path: filepath.Join(t.TempDir(), "out.parquet"), Format: "parquet", Columns: c.columns}
			if err := o.Validate(); err != nil {
				t.Fatal(err)
			}
			r := stagetest.Try(t, stagetest.Case{Type: "write-file", Options: o, Inputs: c.inputs})
			columns, rows := readParquet(t, o.Path)
			if !reflect.DeepEqual(columns, c.want) || !reflect.DeepEqual(rows, c.rows) || len(r.Failures) > 0 {
				t.Errorf("columns %q, rows %q, failures %v", columns, rows, r.Failures)
			}
			if _, err := os.Stat(o.Path + ".part"); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("rows are left beside it: %v", err)
			}
		})
	}
}

// What was gathered when the process died is in the next file, but for a row that was cut off; the file that was there
// is put aside. A run without rows leaves all as it is.
func TestParquetAfterACrash(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := Options{Path: filepath.Join(dir, "out.parquet"), Format: "parquet"}
	try(t, o, pipeline.Record{"a": 1.0})
	whole := "{\"a\":2}\n{\"a\":3}\n"
	if err := os.WriteFile(o.Path+".part", []byte(whole+`{"a":4`), 0o600); err != nil {
		t.Fatal(err)
	}
	try(t, o, pipeline.Record{"a": 5.0})
	try(t, o)
	if _, rows := readParquet(t, o.Path); !slices.Equal(rows, []string{"a=2", "a=3", "a=5"}) {
		t.Errorf("rows %q", rows)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 2 {
		t.Fatal(files, err)
	}
	if _, rows := readParquet(t, files[0]); !slices.Equal(rows, []string{"a=1"}) {
		t.Errorf("%s has the rows %q", files[0], rows)
	}
}

func TestParquetIsRotated(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := &output{options: Options{Path: filepath.Join(dir, "out.parquet"), Format: "parquet", RotateSize: 20}}
	if err := s.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	for n := range 7 { // a row has eight bytes: three make a file
		if err := s.ProcessBatch(t.Context(), []*pipeline.Item{{Value: pipeline.Record{"n": n}}}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for _, file := range files {
		_, rows := readParquet(t, file)
		for _, row := range rows {
			all[row] = true
		}
		if len(rows) > 3 {
			t.Errorf("%s has %d rows", file, len(rows))
		}
	}
	if len(files) != 3 || len(all) != 7 {
		t.Errorf("files %q with %v", files, slices.Sorted(maps.Keys(all)))
	}
}

func TestParquetTakesNoTexts(t *testing.T) {
	t.Parallel()
	for _, value := range []any{"text", 1, []byte("bytes"), pipeline.List{"text"}} {
		o := Options{Path: filepath.Join(t.TempDir(), "out.parquet"), Format: "parquet"}
		if r := try(t, o, value); len(r.Failures) != 1 || !strings.Contains(r.Failures[0].Error(), "records") {
			t.Errorf("%v: %v", value, r.Failures)
		}
		if _, err := os.Stat(o.Path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("there is a file: %v", err)
		}
	}
}

// More rows than are in memory are written, and of more fields than a file has columns for the first.
func TestParquetOfManyRowsOrFields(t *testing.T) {
	t.Parallel()
	o := Options{Path: filepath.Join(t.TempDir(), "out.parquet"), Format: "parquet"}
	wide := pipeline.Record{}
	for i := range 2 * mostColumns {
		wide[fmt.Sprintf("f%05d", i)] = float64(i)
	}
	try(t, o, wide)
	if columns, rows := readParquet(t, o.Path); len(columns) != mostColumns || len(rows) != 1 {
		t.Errorf("%d columns, %d rows", len(columns), len(rows))
	}
	var rows strings.Builder
	for i := range rowsInGroup + 10 {
		fmt.Fprintf(&rows, "{\"n\":%d}\n", i)
	}
	if err := os.WriteFile(o.Path+".part", []byte(rows.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	try(t, o, pipeline.Record{"n": "last"})
	if _, got := readParquet(t, o.Path); len(got) != rowsInGroup+11 || got[rowsInGroup+9] != fmt.Sprint("n=", rowsInGroup+9) {
		t.Errorf("%d rows", len(got))
	}
}
