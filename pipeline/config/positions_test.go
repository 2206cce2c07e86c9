package config

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/webrace/webrace/pipeline/finding"
)

// Every value of the document and every letter of its strings must be found where it was written.
func TestPlacesAreThoseOfTheFile(t *testing.T) {
	t.Parallel()
	const source = "a = 'α'\n" +
		"e = 1\n" +
		"[t.'q q'] # comment\n" +
		"\tk . l = { x = [ 1, [ 'deep' ] ], y = '' }\r\n" +
		"[[t.list]]\n" +
		"z = \"\"\"\r\n  \\u00e9\\n \\\n\n   w\\\"\"\"\"\r\n" +
		"[[t.list]]\n" +
		"z = '''\nraw \\n'''\n" +
		"[t]\n" +
		"when = 2024-01-01 10:00:00\n"
	doc, problem := parseDocument("x.toml", []byte(source))
	if problem != nil {
		t.Fatal(problem)
	}
	for _, tt := range []struct {
		path, key, value string
	}{
		{"a", "1:1", "1:5"},
		{"e", "2:1", "2:5"},
		{"t", "13:2", "13:2"},
		{"t.q q", "3:4", "3:4"},
		{"t.q q.k", "4:2", "4:2"},
		{"t.q q.k.l", "4:6", "4:10"},
		{"t.q q.k.l.x", "4:12", "4:12"},
		{"t.q q.k.l.x.0", "4:12", "4:18"},
		{"t.q q.k.l.x.1.0", "4:12", "4:23"},
		{"t.q q.k.l.y", "4:35", "4:39"},
		{"t.list", "5:5", "5:5"},
		{"t.list[0].z", "6:1", "6:5"},
		{"t.list[1].z", "11:1", "11:5"},
	} {
		v := doc.root.at(tt.path)
		if v == nil {
			t.Errorf("%s is not found", tt.path)
			continue
		}
		if key, value := v.keyPosition().String(), doc.position(v.start).String(); key != "x.toml:"+tt.key || value != "x.toml:"+tt.value {
			t.Errorf("%s: key at %s, value at %s; want %s and %s", tt.path, key, value, tt.key, tt.value)
		}
	}
	z := doc.root.at("t.list.0.z")
	if z.text != "  é\n w\"" {
		t.Fatalf("z is %q", z.text)
	}
	for at, want := range map[int]string{0: "7:1", 2: "7:3", 4: "7:9", 5: "7:11", 6: "9:4", 7: "9:5"} {
		if got := z.inside(at).String(); got != "x.toml:"+want {
			t.Errorf("byte %d of %q is at %s, want %s", at, z.text, got, want)
		}
	}
}

// A letter that is written as itself must be what stands at its place, whatever comes before it.
func FuzzPlacesInsideStrings(f *testing.F) {
	for _, raw := range []string{`"a\tb"`, `'a\b'`, "\"\"\"\na\\\n  b\\u00e9c\"\"\"", "'''\r\n'x''''", `"\U0001F600x\x41y"`, `""`, `''`, `"""""a"""`} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		source := "value = " + raw
		var want struct{ Value any }
		if toml.Unmarshal([]byte(source), &want) != nil {
			return
		}
		text, ok := want.Value.(string)
		if !ok {
			return
		}
		doc, problem := parseDocument("x", []byte(source))
		if problem != nil {
			t.Fatalf("go-toml reads %q, but: %v", source, problem)
		}
		v := doc.root.get("value")
		if v == nil || v.kind != stringValue || v.text != text {
			t.Fatalf("%q is %+v, want %q", source, v, text)
		}
		written, last := doc.src[v.start:v.start+v.width], 0
		for i := range len(text) {
			at := rawOffset(written, i)
			if at < last || at >= len(written) {
				t.Fatalf("%q: byte %d is at %d after %d", written, i, at, last)
			}
			last = at
			if written[at] != '\\' && written[at] != text[i] && utf8.RuneStart(text[i]) {
				t.Fatalf("%q: byte %d of %q is at %d, where %q is", written, i, text, at, written[at])
			}
		}
	})
}

func FuzzLoad(f *testing.F) {
	cases, err := filepath.Glob("testdata/config/*.txtar")
	if err != nil || len(cases) == 0 {
		f.Fatalf("no cases: %v", err)
	}
	for _, path := range cases {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range archive.Files {
			if strings.HasSuffix(file.Name, ".toml") {
				f.Add(string(file.Data), "fetch.retry.max=3")
			}
		}
	}
	r := configRegistry()
	f.Fuzz(func(t *testing.T, source, set string) {
		env := func(name string) (string, bool) { return name, len(name) > 1 }
		loaded, err := Parse("x.toml", []byte(source), LoadOptions{Registry: r, Set: []string{set}, Env: env})
		mustMend(t, r, env, source)
		if err == nil {
			mustBePlaced(t, source, loaded.Warnings)
			return
		}
		var found finding.List
		if !errors.As(err, &found) || len(found) == 0 {
			t.Fatalf("the error is %T: %v", err, err)
		}
		mustBePlaced(t, source, found)
		if err := found.Format(new(bytes.Buffer), true); err != nil {
			t.Fatal(err)
		}
	})
}

// mustBePlaced wants findings to say something about a place that there is.
func mustBePlaced(t *testing.T, source string, found finding.List) {
	t.Helper()
	lines := bytes.Split([]byte(source), []byte("\n"))
	for _, f := range found {
		switch {
		case f.Message == "" || f.Code == "":
			t.Fatalf("finding %+v says nothing", f)
		case f.Pos.Line == 0 && f.Pos.File == "x.toml":
			t.Fatalf("finding %v has no place", f)
		case f.Pos.Line == 0:
			continue
		case f.Pos.Line > len(lines):
			t.Fatalf("finding %v is behind the file", f)
		}
		if n := utf8.RuneCount(lines[f.Pos.Line-1]); f.Pos.Column < 1 || f.Pos.Column > n+1 {
			t.Fatalf("finding %v is behind the line of %d characters", f, n)
		}
	}
}

// manyStages is a pipeline of n stages, each with a table.
func manyStages(n int) []byte {
	var b bytes.Buffer
	b.WriteString("version = 1\n[pipeline.long]\nflow = [\"urds > s0\",\n")
	for i := range n {
		fmt.Fprintf(&b, "\"s%d > s%d\",\n", i, i+1)
	}
	b.WriteString("]\n")
	for i := range n {
		fmt.Fprintf(&b, "[pipeline.long.stage.s%d]\ntype = \"frontier\"\nmemory = \"%dKiB\"\n", i, i)
	}
	fmt.Fprintf(&b, "[pipeline.long.stage.s%d]\ntype = \"print\"\n", n)
	return b.Bytes()
}

// Allocations stand for time here: reading the file once for each stage would be quadratic in both.
func TestManyStagesLoadInLinearSpace(t *testing.T) {
	r := configRegistry()
	bytesFor := func(n int) float64 {
		source := manyStages(n)
		return testing.AllocsPerRun(1, func() {
			if _, err := Parse("x.toml", source, LoadOptions{Registry: r}); err != nil {
				t.Fatal(err)
			}
		})
	}
	if few, many := bytesFor(50), bytesFor(500); many > 15*few {
		t.Errorf("50 stages take %.0f allocations, 500 take %.0f", few, many)
	}
}

func BenchmarkLoad500Stages(b *testing.B) {
	r, source := configRegistry(), manyStages(500)
	for b.Loop() {
		if _, err := Parse("x.toml", source, LoadOptions{Registry: r}); err != nil {
			b.Fatal(err)
		}
	}
}
