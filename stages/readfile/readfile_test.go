package readfile

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/stagetest"
)

var with = stagetest.Changed(defaults)

func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "in")
	write(t, path, text)
	return path
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func zipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return b.String()
}

func stageOf(o Options) *stage {
	s, _ := newStage(o, pipeline.NewEnv("p", "s", nil))
	return s.(*stage)
}

func try(t *testing.T, o Options) *stagetest.Result {
	t.Helper()
	if err := o.Validate(); err != nil {
		t.Fatal(err)
	}
	return stagetest.Try(t, stagetest.Case{Type: "read-file", Options: o})
}

func TestConformance(t *testing.T) {
	for format, line := range map[string]string{"text": "a\n", "jsonl": "{\"a\":1}\n", "csv": "a,b\n", "xml": "<a b='c'/>\n"} {
		t.Run(format, func(t *testing.T) {
			path := file(t, strings.Repeat(line, 500))
			o := with(func(o *Options) {
				o.Paths, o.Format, o.Positions = []string{path}, format, filepath.Join(t.TempDir(), "deep", "positions")
				if format == "xml" {
					o.Record = "a"
				}
			})
			stagetest.Run(t, stagetest.Case{Type: "read-file", Options: o})
		})
	}
}

func TestFormats(t *testing.T) {
	type r = pipeline.Record
	long := strings.Repeat("x", 200)
	for name, c := range map[string]struct {
		format, text string
		want         []any
		bad          int64
	}{
		"text":          {"text", "one\r\n\n two\nthree", []any{"one", "", " two", "three"}, 0},
		"empty":         {"text", "", nil, 0},
		"a mark":        {"text", "\uFEFFone\n", []any{"one"}, 0},
		"no UTF-8":      {"text", "\xffa\n", []any{"\uFFFDa"}, 0},
		"long lines":    {"text", "a\n" + long + "\nb\n" + long, []any{"a", "b"}, 2},
		"zipped":        {"text", zipped("one\n") + zipped("two\n"), []any{"one", "two"}, 0},
		"JSON":          {"jsonl", "{\"a\":1,\"b\":[\"x\"]}\n\n5\nnull\n", []any{r{"a": 1.0, "b": []any{"x"}}, r{"value": 5.0}, r{"value": nil}}, 0},
		"bad JSON":      {"jsonl", "{\"a\"\n{}\n{} {}\n", []any{r{}}, 2},
		"CSV":           {"csv", "a,b\n1,\"x\ny\"\n2\n", []any{r{"a": "1", "b": "x\ny"}}, 1},
		"bad CSV":       {"csv", "a,b\n1,2,3\n4,5\"6\n7,8\n", []any{r{"a": "7", "b": "8"}}, 2},
		"CSV, a header": {"csv", "a,b\n", nil, 0},
		"nothing":       {"csv", "", nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := try(t, with(func(o *Options) { o.Paths, o.Format, o.MaxLength = []string{file(t, c.text)}, c.format, 100 }))
			if !reflect.DeepEqual(got.Out[""], c.want) || got.Counters["bad_records"] != c.bad {
				t.Errorf("got %#v, counters %v", got.Out[""], got.Counters)
			}
		})
	}
}

func TestAnotherSeparator(t *testing.T) {
	got := try(t, with(func(o *Options) { o.Paths, o.Format, o.Separator = []string{file(t, "a;b\n1;2\n")}, "csv", ";" }))
	if want := []any{pipeline.Record{"a": "1", "b": "2"}}; !reflect.DeepEqual(got.Out[""], want) {
		t.Errorf("got %v", got.Out[""])
	}
}

func TestPatternsMatchFilesInOrder(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b.txt", "a.txt", "c.csv"} {
		write(t, filepath.Join(dir, name), name)
	}
	o := with(func(o *Options) {
		o.Paths = []string{filepath.Join(dir, "*.txt"), filepath.Join(dir, "none*"), filepath.Join(dir, "c.csv")}
	})
	if got := try(t, o); !reflect.DeepEqual(got.Out[""], []any{"a.txt", "b.txt", "c.csv"}) {
		t.Errorf("got %v", got.Out)
	}
	s := stageOf(with(func(o *Options) { o.Paths = []string{filepath.Join(dir, "none")} }))
	if err := s.Run(t.Context(), emitted(nil)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

func TestARowWithoutEndIsAnError(t *testing.T) {
	got := try(t, with(func(o *Options) {
		o.Paths, o.Format, o.MaxLength = []string{file(t, "a\n\""+strings.Repeat("x\n", 1_000_000))}, "csv", 100
	}))
	if len(got.Failures) != 1 || !strings.Contains(got.Failures[0].Error(), "line 2") || !strings.Contains(got.Failures[0].Error(), "a quote without its other half") {
		t.Errorf("got %v", got.Failures)
	}
}

type emitted func(*pipeline.Item) error

func (f emitted) Emit(_ context.Context, it *pipeline.Item) error { return f(it) }
func (f emitted) EmitTo(ctx context.Context, _ string, it *pipeline.Item) error {
	return f.Emit(ctx, it)
}

func TestReadingGoesOnWhereItWasLeft(t *testing.T) {
	path := file(t, "1\n2\n3\n")
	o := with(func(o *Options) { o.Paths, o.Positions = []string{path}, filepath.Join(t.TempDir(), "positions") })
	if got := try(t, o); len(got.Out[""]) != 3 {
		t.Errorf("at first %v", got.Out)
	}
	if got := try(t, o); len(got.Out[""]) != 0 {
		t.Errorf("again %v", got.Out)
	}
	write(t, path, "1\n2\n3\n4\n")
	if got := try(t, o); !reflect.DeepEqual(got.Out[""], []any{"4"}) {
		t.Errorf("with one more %v", got.Out)
	}
	write(t, path, "new\n2\n3\n4\n5\n")
	if got := try(t, o); len(got.Out[""]) != 5 {
		t.Errorf("of another file %v", got.Out)
	}
}

func TestWhatWasNotDealtWithIsReadAgain(t *testing.T) {
	o := with(func(o *Options) {
		o.Paths, o.Positions = []string{file(t, "1\n2\n3\n4\n")}, filepath.Join(t.TempDir(), "positions")
	})
	g := pipeline.NewGraph("test")
	g.Add("read-file", o)
	g.AddStage("sink", pipeline.Spec{Type: "sink", In: pipeline.Kinds(pipeline.KindOf[string]())}, func(*pipeline.Env) (any, error) {
		return pipeline.Map(func(_ context.Context, text string) (string, error) {
			if text == "3" {
				return "", errors.New("broken")
			}
			return text, nil
		}), nil
	}).Spec.Out = []pipeline.Port{{Kind: pipeline.KindOf[string]()}}
	g.AddStage("end", pipeline.Spec{Type: "end", In: pipeline.Kinds(pipeline.KindOf[string]())}, func(*pipeline.Env) (any, error) {
		return nothing{}, nil
	})
	g.Wire("read-file > sink > end")
	if _, err := g.Run(t.Context(), pipeline.RunOptions{}); err == nil {
		t.Fatal("the run did not fail")
	}
	got := try(t, o)
	if n := len(got.Out[""]); n < 2 || !reflect.DeepEqual(got.Out[""][n-2:], []any{"3", "4"}) {
		t.Errorf("after a failure of 3: %v", got.Out)
	}
}

type nothing struct{}

func (nothing) Process(context.Context, *pipeline.Item, pipeline.Emitter) error { return nil }

func TestOptionsAreValidated(t *testing.T) {
	ok := func(o *Options) { o.Paths = []string{"in"} }
	for _, c := range []struct {
		option string
		change func(*Options)
	}{
		{"paths", func(o *Options) { o.Paths = nil }},
		{"paths", func(o *Options) { o.Paths = []string{"["} }},
		{"separator", func(o *Options) { o.Separator = "" }},
		{"separator", func(o *Options) { o.Separator = ";;" }},
		{"separator", func(o *Options) { o.Separator = `"` }},
		{"record", func(o *Options) { o.Format = "xml" }},
		{"record", func(o *Options) { o.Record = "item" }},
		{"record", func(o *Options) { o.Format, o.Record = "xml", "media:item" }},
		{"record", func(o *Options) { o.Format, o.Record = "xml", "channel/" }},
		{"record", func(o *Options) { o.Format, o.Record = "xml", "item[1]" }},
		{"max_length", func(o *Options) { o.MaxLength = 0 }},
		{"positions", func(o *Options) { o.Paths, o.Positions = []string{"-"}, "p" }},
	} {
		var fault *pipeline.OptionError
		if err := with(func(o *Options) { ok(o); c.change(o) }).Validate(); !errors.As(err, &fault) || fault.Option != c.option {
			t.Errorf("got %v, want a fault of %s", err, c.option)
		}
	}
}

// FuzzFormats wants every file to be read to its end, whatever is in it.
func FuzzFormats(f *testing.F) {
	for _, seed := range []string{"a,b\n1,2\n", "{\"a\":1}\n", "\"", "\uFEFF\r\n", zipped("x"), "a\n\"b\nc\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, format := range []string{"text", "jsonl", "csv"} {
			in, err := contentOf(strings.NewReader(text))
			if err != nil {
				continue
			}
			next := with(func(o *Options) { o.Format, o.MaxLength = format, 64 }).reader(in, new(opened), false)
			for n := 0; ; n++ {
				_, err := next()
				var bad *badRecord
				if err != nil && !errors.As(err, &bad) {
					break
				}
				if n > len(text) {
					t.Fatalf("%s: more entries than bytes", format)
				}
			}
		}
	})
}
