package writefile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/stagetest"
	"github.com/webrace/webrace/xmlschema"
)

func try(t *testing.T, o Options, inputs ...any) *stagetest.Result {
	t.Helper()
	return stagetest.Try(t, stagetest.Case{Type: "write-file", Options: o, Inputs: inputs})
}

func aci(id, title string) *xmlschema.ACI {
	return &xmlschema.ACI{
		ID: id, URD: "u1", Owner: "eleni", URI: "https://a.org/", Title: title, Format: xmlschema.FormatHTML,
		UpdateTime: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Urgency: 1,
	}
}

func content(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestConformance(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "down", "file")
	for format, inputs := range map[string][]any{
		"jsonl": {1, "two", aci("a", "t")}, "xml": {aci("a", "t"), aci("b", "t")},
	} {
		t.Run(format, func(t *testing.T) {
			stagetest.Run(t, stagetest.Case{Type: "write-file", Options: Options{Path: path + "." + format, Format: format}, Inputs: inputs})
		})
	}
}

func TestLinesAreAppended(t *testing.T) {
	o := Options{Path: filepath.Join(t.TempDir(), "out.jsonl"), Format: "jsonl"}
	try(t, o, 1, "two")
	try(t, o)
	try(t, o, map[string]int{"three": 3})
	if got, want := content(t, o.Path), "1\n\"two\"\n{\"three\":3}\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestALineCutOffByACrashSpoilsNoOther(t *testing.T) {
	o := Options{Path: filepath.Join(t.TempDir(), "out.jsonl"), Format: "jsonl"}
	if err := os.WriteFile(o.Path, []byte("1\n{\"half"), 0o600); err != nil {
		t.Fatal(err)
	}
	try(t, o, 2)
	if got, want := content(t, o.Path), "1\n{\"half\n2\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestLinesAreInTheFileWhenTheyAreAcknowledged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.jsonl")
	s := &output{options: Options{Path: path, Format: "jsonl"}}
	if err := s.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i := range 3 {
		if err := s.ProcessBatch(t.Context(), []*pipeline.Item{{Value: i}}, nil); err != nil {
			t.Fatal(err)
		}
		if lines := strings.Count(content(t, path), "\n"); lines != i+1 {
			t.Fatalf("%d lines after %d groups", lines, i+1)
		}
	}
}

func TestXMLIsADocumentOfAnnotations(t *testing.T) {
	o := Options{Path: filepath.Join(t.TempDir(), "acis.xml"), Format: "xml"}
	want := []*xmlschema.ACI{aci("a", `it's <new> & "xmlns"`), aci("b", `xmlns="urn:webrace:1"`), aci("c", "γειά\n  σου ")}
	try(t, o, want[0], want[1], want[2])
	d := xmlschema.NewDecoder(strings.NewReader(content(t, o.Path)))
	var got []*xmlschema.ACI
	for a := range d.ACIs() {
		got = append(got, a)
	}
	if err := d.Err(); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
	var all bytes.Buffer
	if _, err := xmlschema.ACIs(want).WriteTo(&all); err != nil || all.String() != content(t, o.Path) {
		t.Errorf("the file is not what the vocabulary's own writer gives:\n%s\n%s", content(t, o.Path), &all)
	}
}

func TestAnAnnotationThatComesTwiceIsInTheDocumentOnce(t *testing.T) {
	o := Options{Path: filepath.Join(t.TempDir(), "acis.xml"), Format: "xml"}
	var inputs []any
	for i := range 600 { // more than a group
		inputs = append(inputs, aci(fmt.Sprint(i%250), "t"))
	}
	try(t, o, inputs...)
	d := xmlschema.NewDecoder(strings.NewReader(content(t, o.Path)))
	n := 0
	for range d.ACIs() {
		n++
	}
	if err := d.Err(); err != nil || n != 250 {
		t.Errorf("%d annotations, %v", n, err)
	}
}

func TestXMLReplacesTheOldDocumentOnlyWhenItIsComplete(t *testing.T) {
	path := filepath.Join(t.TempDir(), "acis.xml")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &output{options: Options{Path: path, Format: "xml"}}
	if err := s.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.ProcessBatch(t.Context(), []*pipeline.Item{{Value: aci("a", "new")}}, nil); err != nil {
		t.Fatal(err)
	}
	if got := content(t, path); got != "old" {
		t.Errorf("before the end the file is %q", got)
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if got := content(t, path); !strings.Contains(got, "new") || !strings.HasSuffix(got, "</acis>\n") {
			t.Errorf("after it, %q", got)
		}
	}
	mustBeAlone(t, path)
}

func mustBeAlone(t *testing.T, path string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("beside it there is %v, %v", entries, err)
	}
}

func TestADocumentThatCannotBeCompletedReplacesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "acis.xml")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &output{options: Options{Path: path, Format: "xml"}}
	err := s.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	working := s.file
	if s.file, err = os.Open(path); err != nil { // for reading alone: as a disk that fails, and then works again
		t.Fatal(err)
	}
	defer s.file.Close()
	for range 2 {
		if err := s.ProcessBatch(t.Context(), []*pipeline.Item{{Value: aci("a", "new")}}, nil); !errors.Is(err, syscall.EBADF) {
			t.Errorf("got %v", err)
		}
		s.file = working
	}
	if err := s.Close(); err == nil {
		t.Error("it is closed as if all were well")
	}
	if got := content(t, path); got != "old" {
		t.Errorf("the file is %q", got)
	}
	mustBeAlone(t, path)
}

func TestAnItemThatCannotBeWrittenCostsNoOther(t *testing.T) {
	o := Options{Path: filepath.Join(t.TempDir(), "out"), Format: "jsonl"}
	got := try(t, o, 1, func() {}, pipeline.List{2, func() {}})
	if len(got.Failures) != 2 || content(t, o.Path) != "1\n" {
		t.Errorf("%d failures, file %q", len(got.Failures), content(t, o.Path))
	}
	o = Options{Path: filepath.Join(t.TempDir(), "out"), Format: "xml"}
	got = try(t, o, aci("a", "t"), "no annotation")
	if len(got.Failures) != 1 || strings.Count(content(t, o.Path), "<aci ") != 1 {
		t.Errorf("%d failures, file %q", len(got.Failures), content(t, o.Path))
	}
	if !strings.Contains(got.Failures[0].Error(), `use format = "jsonl"`) {
		t.Errorf("it says %v", got.Failures[0])
	}
}

func TestAPipeIsWrittenToAsWell(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	got := try(t, Options{Path: fmt.Sprintf("/dev/fd/%d", write.Fd()), Format: "jsonl"}, "hello")
	write.Close()
	var line string
	if err := json.NewDecoder(read).Decode(&line); err != nil || line != "hello" || len(got.Failures) != 0 {
		t.Errorf("%q, %v, %v", line, err, got.Failures)
	}
}

func TestAPathIsNeeded(t *testing.T) {
	var fault *pipeline.OptionError
	if err := (Options{Format: "jsonl"}).Validate(); !errors.As(err, &fault) || fault.Option != "path" {
		t.Errorf("got %v", err)
	}
	if err := (Options{Path: "out", Format: "jsonl"}).Validate(); err != nil {
		t.Error(err)
	}
}

func TestAPathThatCannotBeMadeIsAnError(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"jsonl", "xml"} {
		s := &output{options: Options{Path: filepath.Join(file, "below"), Format: format}}
		if err := s.Open(t.Context()); err == nil {
			t.Errorf("%s: opened", format)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
