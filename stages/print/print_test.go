package print

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/stagetest"
	"github.com/webrace/webrace/xmlschema"
)

func printing(w io.Writer) *pipeline.Resources {
	r := new(pipeline.Resources)
	pipeline.Provide(r, Output{w})
	return r
}

// kinds is a value of every kind that is shown in a way of its own.
var kinds = []any{
	webrace.Request{URL: "https://a.org/"},
	&webrace.Links{From: "https://a.org/", URLs: []string{"https://b.org/", "https://c.org/"}},
	&webrace.Document{URL: "https://a.org/", Outcome: webrace.Fetched, Status: 200, MediaType: "text/html", Body: []byte("12345"), Title: "The title"},
	&xmlschema.ACI{Relevance: 58, Owner: "eleni", URI: "https://a.org/", Title: "The title", Summary: "a «word» in it"},
	&pipeline.Failure{Stage: "fetch", Value: webrace.Request{URL: "https://a.org/"}, Err: errors.New("broken"), Attempts: 3},
	webrace.FieldHeading,
	"plain",
	map[string]any{"price": 12.5, "name": "tea & <b>", "tags": []any{"a", "b"}},
	pipeline.List{map[string]any{"n": 1}},
}

func TestConformance(t *testing.T) {
	for _, format := range []string{"text", "json"} {
		t.Run(format, func(t *testing.T) {
			stagetest.Run(t, stagetest.Case{Type: "print", Options: Options{Format: format}, Inputs: kinds, Resources: printing(io.Discard)})
		})
	}
}

func TestAPersonReadsALine(t *testing.T) {
	var shown bytes.Buffer
	got := stagetest.Try(t, stagetest.Case{Type: "print", Options: Options{Format: "text"}, Inputs: kinds, Resources: printing(&shown)})
	want := strings.Join([]string{
		"https://a.org/",
		"https://a.org/: 2 links\n  https://b.org/\n  https://c.org/",
		"https://a.org/\tfetched\t200\ttext/html\t5 bytes\tThe title",
		"58\teleni\thttps://a.org/\tThe title\ta «word» in it",
		"stage fetch: broken",
		"heading",
		"plain",
		`{"name":"tea & <b>","price":12.5,"tags":["a","b"]}`,
		`{"items":[{"kind":"record","value":{"n":1}}]}`,
	}, "\n") + "\n"
	if shown.String() != want {
		t.Errorf("shown\n%s\nwant\n%s", &shown, want)
	}
	if len(got.Out["passed"]) != len(kinds) || got.Out["passed"][2] != kinds[2] {
		t.Errorf("passed on %v", got.Out["passed"])
	}
}

func TestAProgramReadsAValueALine(t *testing.T) {
	var shown bytes.Buffer
	stagetest.Try(t, stagetest.Case{Type: "print", Options: Options{Format: "json"}, Inputs: kinds, Resources: printing(&shown)})
	lines := strings.Split(strings.TrimSuffix(shown.String(), "\n"), "\n")
	if len(lines) != len(kinds) {
		t.Fatalf("%d lines for %d values", len(lines), len(kinds))
	}
	var d webrace.Document
	if err := json.Unmarshal([]byte(lines[2]), &d); err != nil || d.Title != "The title" || string(d.Body) != "12345" {
		t.Errorf("document %+v, %v", d, err)
	}
	var f struct {
		Stage, Error string
		Value        webrace.Request
	}
	if err := json.Unmarshal([]byte(lines[4]), &f); err != nil || f.Stage != "fetch" || f.Error != "broken" || f.Value.URL != "https://a.org/" {
		t.Errorf("failure %s: %v", lines[4], err)
	}
}

type said string

func (s said) String() string { return string(s) }

func TestHostileTextDoesNotReachTheTerminal(t *testing.T) {
	hostile := "a\x1b[2Jb\rc\nd\u009be\u202ef\x00"
	for _, v := range []any{
		&webrace.Document{Title: hostile, MediaType: hostile}, &xmlschema.ACI{Title: hostile, Summary: hostile},
		&pipeline.Failure{Err: errors.New(hostile)}, hostile, said(hostile),
	} {
		line, _ := text(v)
		if strings.ContainsAny(line, "\x1b\r\n\u009b\u202e\x00") {
			t.Errorf("%T is shown as %q", v, line)
		}
	}
}

func TestWhatCannotBeWrittenIsAFailure(t *testing.T) {
	read, write := io.Pipe()
	read.Close()
	for name, c := range map[string]stagetest.Case{
		"closed output": {Options: Options{Format: "text"}, Resources: printing(write), Inputs: []any{"x"}},
		"no JSON":       {Options: Options{Format: "json"}, Resources: printing(io.Discard), Inputs: []any{func() {}}},
	} {
		c.Type = "print"
		if got := stagetest.Try(t, c); len(got.Failures) != 1 || len(got.Out["passed"]) != 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestStandardOutputIsWhatIsWrittenToByDefault(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	before := os.Stdout
	os.Stdout = write
	stagetest.Try(t, stagetest.Case{Type: "print", Inputs: []any{"hello"}})
	os.Stdout = before
	write.Close()
	if shown, err := io.ReadAll(read); err != nil || string(shown) != "hello\n" {
		t.Errorf("%q, %v", shown, err)
	}
}
