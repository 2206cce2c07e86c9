package writefile

import (
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/stagetest"
)

func TestFormats(t *testing.T) {
	row := func(a, b any) any { return pipeline.Record{"a": a, "b": b} }
	for name, c := range map[string]struct {
		options Options
		before  string
		inputs  []any
		want    string
		failed  int
	}{
		"text":                              {Options{Format: "text"}, "", []any{"one", "two\nlines"}, "one\ntwo lines\n", 0},
		"text of another":                   {Options{Format: "text"}, "", []any{1}, "", 1},
		"csv":                               {Options{Format: "csv"}, "", []any{row("x,\"y\"", 1.5), row(nil, true)}, "a,b\n\"x,\"\"y\"\"\",1.5\n,true\n", 0},
		"csv, line breaks":                  {Options{Format: "csv"}, "", []any{row("1\n2\r\n3\r", []any{1})}, "a,b\n\"1\n2\r\n3\r\",[1]\n", 0},
		"csv, one empty":                    {Options{Format: "csv"}, "", []any{pipeline.Record{"a": ""}, pipeline.Record{"a": "x"}}, "a\n\"\"\nx\n", 0},
		"csv, more fields":                  {Options{Format: "csv"}, "", []any{row(1, 2), pipeline.Record{"a": 3, "c": 4}, pipeline.Record{"b": 5, "c": nil}}, "a,b\n1,2\n,5\n", 1},
		"csv, more fields than the file":    {Options{Format: "csv"}, "b\n8\n", []any{row(1, 2), pipeline.Record{"b": 5}}, "b\n8\n5\n", 1},
		"csv, a list of which one has more": {Options{Format: "csv"}, "", []any{pipeline.List{row(1, 2), pipeline.Record{"c": 4}}, row(5, 6)}, "a,b\n5,6\n", 1},
		"csv, columns":                      {Options{Format: "csv", Columns: []string{"b", "c"}}, "", []any{row(1, 2)}, "b,c\n2,\n", 0},
		"csv, appended":                     {Options{Format: "csv", Columns: []string{"c"}}, "b,a\n8,9\n", []any{row(1, 2)}, "b,a\n8,9\n2,1\n", 0},
		"csv, cut off in quotes":            {Options{Format: "csv"}, "a,b\n\"x\"\"\ny\",1\n2,\"3\n4\n", []any{row(1, 2)}, "a,b\n\"x\"\"\ny\",1\n1,2\n", 0},
		"csv of another's quotes":           {Options{Format: "csv"}, "a,b\n5\" 6\"\" pipe,1\nx,y\n", []any{row(1, 2)}, "a,b\n5\" 6\"\" pipe,1\nx,y\n1,2\n", 0},
		"csv, cut off":                      {Options{Format: "csv"}, "b,a\n8,\"9", []any{row(1, 2)}, "b,a\n2,1\n", 0},
		"csv of documents": {
			Options{Format: "csv", Columns: []string{"url", "status"}}, "", []any{&webrace.Document{URL: "u", Status: 200}}, "url,status\nu,200\n", 0,
		},
		"lists": {Options{Format: "jsonl"}, "", []any{pipeline.List{1, row(1, 2)}, pipeline.List{}, 2}, "1\n{\"a\":1,\"b\":2}\n2\n", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.options.Path = filepath.Join(t.TempDir(), "out")
			if err := c.options.Validate(); err != nil {
				t.Fatal(err)
			}
			if c.before != "" {
				if err := os.WriteFile(c.options.Path, []byte(c.before), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			got := try(t, c.options, c.inputs...)
			if text := content(t, c.options.Path); text != c.want || len(got.Failures) != c.failed {
				t.Errorf("got %q, want %q; failures %v", text, c.want, got.Failures)
			}
		})
	}
}

func TestConformanceOfFormats(t *testing.T) {
	dir := t.TempDir()
	for name, o := range map[string]Options{"csv": {Format: "csv", RotateSize: 20}, "gzip": {Format: "text", Gzip: true}} {
		o.Path = filepath.Join(dir, name)
		inputs := []any{"a", "b"}
		if o.Format == "csv" {
			inputs = []any{pipeline.Record{"a": 1}, pipeline.Record{"a": 2}}
		}
		t.Run(name, func(t *testing.T) { stagetest.Run(t, stagetest.Case{Type: "write-file", Options: o, Inputs: inputs}) })
	}
}

func unzipped(t *testing.T, path string) string {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestALastLineWithoutItsEndIsCutOff(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "out.csv")
	for _, whole := range []string{"", "a,b\n", "a\n" + strings.Repeat("b\n", 64<<10)} {
		for _, cut := range []int{0, 1, 64<<10 - 1, 64 << 10, 200_000} {
			if err := os.WriteFile(path, []byte(whole+strings.Repeat("x", cut)), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := truncateToLines(path); err != nil {
				t.Fatal(err)
			}
			if left, err := os.ReadFile(path); err != nil || string(left) != whole {
				t.Errorf("%d bytes are left of %d behind which %d were cut off: %v", len(left), len(whole), cut, err)
			}
		}
	}
}

// TestACompressedFileIsMendedAfterACrash cuts a file off at every byte, as a crash may.
func TestACompressedFileIsMendedAfterACrash(t *testing.T) {
	o := Options{Path: filepath.Join(t.TempDir(), "out.gz"), Format: "text", Gzip: true}
	try(t, o, "one")
	first := len(content(t, o.Path))
	try(t, o, "two")
	whole := content(t, o.Path)
	for cut := range len(whole) {
		if err := os.WriteFile(o.Path, []byte(whole[:cut]), 0o600); err != nil {
			t.Fatal(err)
		}
		try(t, o, "three")
		want := "three\n"
		if cut >= first {
			want = "one\nthree\n"
		}
		if got := unzipped(t, o.Path); got != want {
			t.Fatalf("cut off at %d: %q, want %q", cut, got, want)
		}
	}
	if err := os.WriteFile(o.Path, []byte("something else"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := (&output{options: o}).Open(t.Context()); err == nil || content(t, o.Path) != "something else" {
		t.Errorf("a file that is no gzip file was taken: %v", err)
	}
}

func TestALargeFileMakesRoomForAnother(t *testing.T) {
	o := Options{Path: filepath.Join(t.TempDir(), "out.csv.gz"), Format: "csv", Gzip: true, RotateSize: 1}
	s := &output{options: o}
	if err := s.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if err := s.ProcessBatch(t.Context(), []*pipeline.Item{{Value: pipeline.Record{"n": i}}}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(filepath.Dir(o.Path), "*"))
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, file := range files {
		if file != o.Path && !regexp.MustCompile(`^out-\d{8}T\d{6}\.\d{3}(-\d)?\.csv\.gz$`).MatchString(filepath.Base(file)) {
			t.Errorf("a file was put aside as %s", file)
		}
		texts = append(texts, unzipped(t, file))
	}
	slices.Sort(texts)
	if want := []string{"n\n0\n", "n\n1\n", "n\n2\n"}; !slices.Equal(texts, want) {
		t.Errorf("got %q, want %q", texts, want)
	}
}

func TestAnOldFileMakesRoomForAnother(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	synctest.Test(t, func(t *testing.T) {
		s := &output{options: Options{Path: path, Format: "text", RotatePeriod: pipeline.Duration(time.Hour)}}
		if err := s.Open(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for _, text := range []string{"a", "b", "c"} {
			if err := s.ProcessBatch(t.Context(), []*pipeline.Item{{Value: text}}, nil); err != nil {
				t.Fatal(err)
			}
			time.Sleep(40 * time.Minute)
		}
		if got := content(t, path); got != "c\n" {
			t.Errorf("the file is %q", got)
		}
	})
}

func TestOptionsOfFormatsAreValidated(t *testing.T) {
	for option, o := range map[string]Options{
		"columns ":      {Format: "parquet", Columns: []string{"a", "a"}},
		"gzip ":         {Format: "parquet", Gzip: true},
		"columns":       {Format: "jsonl", Columns: []string{"a"}},
		"gzip":          {Format: "xml", Gzip: true},
		"rotate_size":   {Format: "xml", RotateSize: 1},
		"rotate_period": {Format: "xml", RotatePeriod: 1},
	} {
		o.Path = "out"
		var fault *pipeline.OptionError
		if err := o.Validate(); !errors.As(err, &fault) || fault.Option != strings.TrimSpace(option) || strings.HasSuffix(err.Error(), ": ") {
			t.Errorf("got %v, want a fault of %s", err, option)
		}
	}
}

// TestCSVIsMendedAfterACrash cuts a file off at every byte, as a crash may.
func TestCSVIsMendedAfterACrash(t *testing.T) {
	var ends []int // of rows, of which there are none within cells
	whole := ""
	for _, row := range []string{"a,b\n", "1,\"x\ny\"\n", "\"\"\"\n\"\"\",2\n", "\"\",\"\"\"\"\n", "3,\"\n\n\"\n", "4,5\n"} {
		whole += row
		ends = append(ends, len(whole))
	}
	for cut := range len(whole) + 1 {
		want := 0
		for _, end := range ends {
			if end <= cut {
				want = end
			}
		}
		if got, err := wholeRows(iotest.OneByteReader(strings.NewReader(whole[:cut]))); err != nil || got != int64(want) {
			t.Fatalf("cut off at %d, byte by byte: %d bytes are whole, want %d, %v", cut, got, want, err)
		}
		if got, err := wholeRows(strings.NewReader(whole[:cut])); err != nil || got != int64(want) {
			t.Fatalf("cut off at %d: %d bytes are whole, want %d, %v", cut, got, want, err)
		}
	}
}
