package writefile

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/pagepath"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/stagetest"
)

// files returns what is in a folder, by names relative to it.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		all[filepath.ToSlash(name)] = content(t, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestAPathHasValuesOfItems(t *testing.T) {
	r := func(host any, n int) pipeline.Record { return pipeline.Record{"host": host, "n": n} }
	dir := t.TempDir()
	o := Options{Path: filepath.Join(dir, "{{host}}", "{{host}}-{{n % 2}}.csv"), Format: "csv"}
	if err := o.Validate(); err != nil {
		t.Fatal(err)
	}
	got := try(t, o, r("a", 1), r("b", 2), pipeline.List{r("a", 3), r("b", 4)}, r(nil, 5), r("", 6), pipeline.List{r("a", 7), r("", 8)}, r("../../x", 9))
	want := map[string]string{
		"a/a-1.csv": "host,n\na,1\na,3\n", "b/b-0.csv": "host,n\nb,2\nb,4\n",
		"%2E.%2F..%2Fx/%2E.%2F..%2Fx-1.csv": "host,n\n../../x,9\n",
	}
	if all := files(t, dir); !reflect.DeepEqual(all, want) {
		t.Errorf("got %q", all)
	}
	if len(got.Failures) != 3 || !strings.Contains(got.Failures[0].Error(), "{{host}}") || !strings.Contains(got.Failures[0].Error(), "is empty") {
		t.Errorf("failures %v", got.Failures)
	}
}

func TestADayIsAValue(t *testing.T) {
	dir := t.TempDir()
	try(t, Options{Path: filepath.Join(dir, "{{at[:10]}}.txt"), Format: "jsonl"}, pipeline.Record{"at": "2026-11-28T08:00:00Z"})
	if all := files(t, dir); all["2026-11-28.txt"] == "" {
		t.Errorf("got %q", all)
	}
}

func TestFewFilesAreOpenAtATime(t *testing.T) {
	dir := t.TempDir()
	for format, ending := range map[string]string{"csv": "csv", "text": "txt", "parquet": "parquet"} {
		o := Options{Path: filepath.Join(dir, "{{n % 120}}."+ending), Format: format}
		if format == "text" {
			o.Path = filepath.Join(dir, "{{value}}."+ending)
		}
		made, err := newStage(o, nil)
		if err != nil {
			t.Fatal(err)
		}
		s := made.(*stage)
		if err := s.Open(t.Context()); err != nil {
			t.Fatal(err)
		}
		for round := range 2 {
			var its []*pipeline.Item
			for n := range 120 {
				var value any = pipeline.Record{"n": float64(n + 120*round)}
				if format == "text" {
					value = fmt.Sprint("x", n)
				}
				its = append(its, &pipeline.Item{Value: value})
			}
			if err := s.ProcessBatch(t.Context(), its, nil); err != nil {
				t.Fatal(err)
			}
			if s.open.Len() > mostOpen {
				t.Errorf("%d files are open", s.open.Len())
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	all := files(t, dir)
	for n := range 120 {
		if got, want := all[fmt.Sprintf("%d.csv", n)], fmt.Sprintf("n\n%d\n%d\n", n, n+120); got != want {
			t.Fatalf("file %d has %q, want %q", n, got, want)
		}
		if got, want := all[fmt.Sprintf("x%d.txt", n)], fmt.Sprintf("x%d\nx%d\n", n, n); got != want {
			t.Fatalf("text %d is %q, want %q", n, got, want)
		}
		rows, err := parquet.ReadFile[struct {
			N *float64 `parquet:"n,optional"`
		}](filepath.Join(dir, fmt.Sprintf("%d.parquet", n)))
		if err != nil || len(rows) != 2 || *rows[1].N != float64(n+120) {
			t.Fatalf("parquet %d has %v, %v", n, rows, err)
		}
	}
	if len(all) != 3*120 {
		t.Errorf("there are %d files", len(all))
	}
}

// Where the system takes two names for one file, as those that differ in case, it has one header.
func TestTwoNamesOfOneFile(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.csv"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(filepath.Join(dir, "a.csv"), filepath.Join(dir, "A.csv")); err != nil {
		t.Skip("no two names of one file here:", err)
	}
	r := func(name string, n int) pipeline.Record { return pipeline.Record{"name": name, "n": n} }
	for _, name := range []string{"a", "A", "a"} {
		try(t, Options{Path: filepath.Join(dir, "{{name}}.csv"), Format: "csv"}, r(name, 1), r("A", 2), r("a", 3))
	}
	if got, want := content(t, filepath.Join(dir, "a.csv")), "n,name\n2,A\n1,a\n3,a\n1,A\n2,A\n3,a\n2,A\n1,a\n3,a\n"; len(got) != len(want) || strings.Count(got, "n,name") != 1 {
		t.Errorf("got %q", got)
	}
}

// What a file is put aside as begins and ends as its own name, whatever its values are.
func TestARotatedFileOfAPathWithValues(t *testing.T) {
	for path, ends := range map[string]string{"{{host}}.csv": ".csv", "{{host}}": "", "{{host}}-{{n}}.v1.csv": ".v1.csv", "by/{{host}}/out.csv": ".csv"} {
		dir := t.TempDir()
		o := Options{Path: filepath.Join(dir, path), Format: "csv", RotateSize: 1}
		for range 2 {
			try(t, o, pipeline.Record{"host": "a.example", "n": 1.5})
		}
		current := strings.NewReplacer("{{host}}", "a.example", "{{n}}", "1.5").Replace(o.Path)
		aside, _ := filepath.Glob(strings.TrimSuffix(current, ends) + "-2*T*" + ends)
		if len(aside) != 1 || content(t, aside[0]) != "host,n\na.example,1.5\n" || content(t, current) != content(t, aside[0]) {
			t.Errorf("%s: put aside is %q", path, aside)
		}
	}
}

func TestRowsThatACrashHasLeftBecomeFiles(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "old.parquet.part"), []byte("{\"host\":\"old\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	try(t, Options{Path: filepath.Join(dir, "{{host}}.parquet"), Format: "parquet"}, pipeline.Record{"host": "new"})
	all := files(t, dir)
	if len(all) != 2 || all["old.parquet"] == "" || all["new.parquet"] == "" {
		t.Errorf("there are %d files", len(all))
	}
}

func TestConformanceOfAPathWithValues(t *testing.T) {
	o := Options{Path: filepath.Join(t.TempDir(), "{{a}}.jsonl"), Format: "jsonl"}
	stagetest.Run(t, stagetest.Case{Type: "write-file", Options: o, Inputs: []any{pipeline.Record{"a": 1}, pipeline.Record{"a": 2}}})
}

// A path with a mistake is refused, and the part is named in which it is.
func TestPathsAreValidated(t *testing.T) {
	for _, c := range []struct{ path, format, part, want string }{
		{"{{a", "jsonl", "{{", "has no }}"},
		{"{{}}", "jsonl", "", ""},
		{"x/{{a +}}", "jsonl", "", "column 3"},
		{"x/{{ b) }}", "jsonl", ")", ""},
		{"{{a}}.xml", "xml", "-", "one document"},
		{"../{{host}}", "jsonl", "..", "leads out of the folder"},
		{"out/{{host}}/../../x.csv", "csv", "..", "leads out of the folder"},
		{"out/../{{host}}.csv", "csv", "..", "leads out of the folder"},
		{"{{host}}/..", "jsonl", "..", "leads out of the folder"},
		{"out/{{pagepath(url)}}", "jsonl", "{{pagepath(url)}}", "an extension follows"},
		{"out/{{pagepath(url)}}/x.csv", "csv", "{{pagepath(url)}}", "an extension follows"},
		{"out/{{pagepath(url)}}.CSV", "csv", "{{pagepath(url)}}", "an extension follows"},
		{"out/{{pagepath(url)}}..csv", "csv", "{{pagepath(url)}}", "an extension follows"},
		{"out/{{pagepath(url)}}.a234567890123456", "csv", "{{pagepath(url)}}", "an extension follows"},
		{"out/{{pagepath(url)}}.{{x}}", "csv", "{{pagepath(url)}}", "an extension follows"},
		{"out/a-{{pagepath(url)}}.csv", "csv", "{{pagepath(url)}}", "ends in a slash"},
		{"{{x}}{{pagepath(url)}}.csv", "csv", "{{pagepath(url)}}", "ends in a slash"},
		{"{{pagepath(url)}}.parquet", "parquet", "-", "many rows"},
		{`{{"x" + pagepath(url)}}.csv`, "csv", `{{"x" + pagepath(url)}}`, "stands alone"},
	} {
		err := (Options{Path: c.path, Format: c.format}).Validate()
		var fault *pipeline.OptionError
		if !errors.As(err, &fault) || fault.Option != "path" || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.path, err, c.want)
			continue
		}
		var place interface {
			Within() (at, width int)
			Meant() string
		}
		if !errors.As(err, &place) {
			if c.part != "-" {
				t.Errorf("%s: nothing tells which part of it is wrong: %v", c.path, err)
			}
			continue
		}
		at, width := place.Within()
		if got := c.path[at : at+width]; c.part != "" && got != c.part {
			t.Errorf("%s: %q is wrong, want %q", c.path, got, c.part)
		}
	}
	for _, path := range []string{"../out.csv", "a..b/{{x}}", "..a/{{x}}", "a../{{x}}", "/abs/{{x}}", "{{x}}..", "{{pagepath(url)}}.csv", "/x/{{host}}/{{ pagepath(url) }}.jsonl.gz", `a/{{pagepath("https://" + name + "/")}}.csv`} {
		if err := (Options{Path: path, Format: "csv"}).Validate(); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// Each page has a file of its own, in folders that are called as its host and path, and none leaves the folder.
func TestFilesOfPages(t *testing.T) {
	dir := t.TempDir()
	o := Options{Path: filepath.Join(dir, "{{lang}}", "{{pagepath(url)}}.jsonl"), Format: "jsonl"}
	r := func(url string) pipeline.Record { return pipeline.Record{"lang": "..", "url": url} }
	got := try(t, o, r("https://a.example/"), r("https://a.example/docs/setup"), r("https://a.example/docs/Setup"), r("https://a.example/docs/setup?a"),
		r("https://a.example/docs/setup/more"), r("https://a.example/%2e%2e/%2e%2e/%2e%2e/etc/passwd"), r("/etc/passwd"), r("../../x"), r(""), r("https://a.example/docs/setup"))
	names := make(map[string]int)
	for name, content := range files(t, dir) {
		names[hashes.ReplaceAllString(name, "~")] += strings.Count(content, "\n")
	}
	want := map[string]int{
		"%2E%2E/a.example/index.jsonl": 1, "%2E%2E/a.example/docs/setup.jsonl": 2, "%2E%2E/a.example/docs/Setup~.jsonl": 1, "%2E%2E/a.example/docs/setup_a~.jsonl": 1,
		"%2E%2E/a.example/docs/setup/more.jsonl": 1, "%2E%2E/a.example/___/___/___/etc/passwd~.jsonl": 1, "%2E%2E/_+none/etc/passwd~.jsonl": 1, "%2E%2E/__+none/___/x~.jsonl": 1,
	}
	if !reflect.DeepEqual(names, want) {
		t.Errorf("got %v, want %v", names, want)
	}
	if len(got.Failures) != 1 || !strings.Contains(got.Failures[0].Error(), "is empty") {
		t.Errorf("failures %v", got.Failures)
	}
}

var hashes = regexp.MustCompile("~[a-z2-7]{20}")

// Documents have a URL and a time: their files are of a page, or of a day.
func TestFilesOfDocuments(t *testing.T) {
	dir := t.TempDir()
	o := Options{Path: filepath.Join(dir, `{{at.Format("2006-01-02")}}`, "{{pagepath(url)}}.csv"), Format: "csv", Columns: []string{"title"}}
	if err := o.CheckNames(pipeline.Kinds(pipeline.KindOf[*webrace.Document]())); err != nil {
		t.Fatal(err)
	}
	wrong := Options{Path: "out/{{pagepath(uri)}}.csv", Format: "csv"}
	var place interface{ Within() (at, width int) }
	if err := wrong.CheckNames(pipeline.Kinds(pipeline.KindOf[*webrace.Document]())); !errors.As(err, &place) {
		t.Errorf("a field that documents have not: %v", err)
	} else if at, width := place.Within(); wrong.Path[at:at+width] != "uri" {
		t.Errorf("%q is wrong in %s: %v", wrong.Path[at:at+width], wrong.Path, err)
	}
	got := try(t, o, &webrace.Document{URL: "https://a.example/x", Title: "X", Text: &webrace.Text{}, At: time.Date(2026, 11, 30, 23, 0, 0, 0, time.UTC)})
	if all := files(t, dir); all["2026-11-30/a.example/x.csv"] != "title\nX\n" {
		t.Errorf("got %q, %v", all, got.Failures)
	}
}

// A value that is too long for a name is cut, and two of them are two files.
func TestLongValues(t *testing.T) {
	dir := t.TempDir()
	long := strings.Repeat("x", 5000)
	got := try(t, Options{Path: filepath.Join(dir, "{{a}}.jsonl"), Format: "jsonl"}, pipeline.Record{"a": long + "1"}, pipeline.Record{"a": long + "2"}, pipeline.Record{"a": long[:200]})
	all := files(t, dir)
	if len(got.Failures) > 0 || len(all) != 3 || all[long[:200]+".jsonl"] == "" {
		t.Errorf("failures %v, %d files", got.Failures, len(all))
	}
	for name := range all {
		if len(name) > 255 || !strings.HasPrefix(name, long[:200]) {
			t.Errorf("a file %s of %d bytes", name, len(name))
		}
	}
}

// FuzzNameOf wants a name of one file in one folder, on every system, and another one for each value.
func FuzzNameOf(f *testing.F) {
	for _, seed := range []string{"a", "..", ".", "a/b", `a\b`, "\x00", "con", "NUL.txt", "com1 .x", "a.", "a ", "%2F", "ä", "\xff", "a:b", "~", "lpt¹", "-", " ", strings.Repeat("\x00é", 80)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		name := nameOf(value)
		if value == "" {
			return // which is refused before
		}
		if len(name) > longestValue {
			if other := nameOf(value + "x"); other == name || len(name) > longestValue+21 {
				t.Errorf("%q became %q, and with an x %q", value, name, other)
			}
		} else if back, err := url.PathUnescape(name); err != nil || back != value {
			t.Errorf("%q became %q, which means %q", value, name, back)
		}
		stem, _, _ := strings.Cut(name, ".")
		if filepath.Base(name) != name || !filepath.IsLocal(name) || strings.ContainsAny(name, `/\<>:"|?*`) || name[0] == '.' ||
			strings.HasSuffix(name, ".") || strings.HasSuffix(name, " ") || pagepath.IsDevice(strings.TrimRight(stem, " ")) || !utf8.ValidString(name) {
			t.Errorf("%q became %q", value, name)
		}
		for _, r := range name {
			if r < ' ' || r == 0x7F {
				t.Errorf("%q became %q", value, name)
			}
		}
	})
}
