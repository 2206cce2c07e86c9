package readfile

import (
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/webrace/webrace/pipeline"
)

// What is wrong within a line is told with the line and the column of it, and no other place.
func TestErrorsSayTheLineAndTheColumn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ format, text, says string }{
		{"jsonl", "{\"a\":1}\n\n{\"n\": 1e999}\n", "line 3, column 7: "},
		{"jsonl", "{\"a\":1}\n{\"n\": }\n", "line 2, column 7: invalid character '}'"},
		{"jsonl", "{\"a\":1}\n{\"n\"\n", "line 2, column 4: unexpected end of JSON input"},
		{"csv", "a,b\n\"x\ny\",p\"q\n", "line 3, column 5: a quote in a cell"},
		{"csv", "a,b\n1,2\n\"x\"y,2\n", "line 3, column 4: something stands behind the quote"},
		{"csv", "a,b\n1,2\n1\n", "line 3, byte 8: the row has 1 cells"},
		{"csv", "a,b\"\n1,2\n", "cannot be read on at line 1, column 4: the row that names the columns: a quote in a cell"},
	} {
		path := file(t, c.text)
		r := try(t, with(func(o *Options) { o.Paths, o.Format = []string{path}, c.format }))
		if len(r.Failures) != 1 || !strings.Contains(r.Failures[0].Err.Error(), c.says) || strings.Count(r.Failures[0].Err.Error(), "column ")+strings.Count(r.Failures[0].Err.Error(), "byte ") != 1 {
			t.Errorf("%q: %v, want %q", c.text, r.Failures, c.says)
		}
	}
}

// Columns that are renamed are told once a file, and not again where its reading goes on.
func TestRenamedColumnsAreTold(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	two, one := file(t, "a,b,a,a\n1,2,3,4\n5,6,7,8\n"), file(t, "a,b\n1,2\n")
	for range 2 {
		s := stageOf(with(func(o *Options) { o.Format = "csv" }))
		s.env.Logger = slog.New(slog.NewTextHandler(&log, nil))
		for _, path := range []string{two, one} {
			t := &target{path: path}
			end, err := s.read(t, start{}, func([]entry) bool { return true })
			if err == nil && end.err == nil {
				_, err = s.read(t, start{known: true, at: end.at}, func([]entry) bool { return true })
			}
			if err != nil {
				panic(err)
			}
		}
	}
	if lines := strings.Split(strings.TrimSpace(log.String()), "\n"); len(lines) != 2 || !strings.Contains(lines[0], two) || !strings.Contains(lines[0], "renamed=2 to=a_2,a_3") {
		t.Errorf("%s", log.String())
	}
}

func TestTwoStagesKeepNoFileOfPositionsTogether(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	check := func(first, second string) error {
		g := pipeline.NewGraph("p")
		for name, positions := range map[string]string{"a": first, "b": second} {
			g.AddType(name, "read-file", with(func(o *Options) { o.Paths, o.Positions = []string{name}, positions }))
		}
		g.AddStage("end", pipeline.Spec{Type: "end", In: pipeline.Kinds(pipeline.KindOf[string]())}, nil)
		g.Wire("a, b > end")
		return g.Check()
	}
	one := filepath.Join(dir, "positions")
	if err := check(one, filepath.Join(dir, "x", "..", "positions")); err == nil || !strings.Contains(err.Error(), `"a" and "b" have one file for positions`) && !strings.Contains(err.Error(), `"b" and "a" have one file for positions`) {
		t.Errorf("%v", err)
	}
	for _, other := range []string{"", filepath.Join(dir, "others")} {
		if err := check(one, other); err != nil && strings.Contains(err.Error(), "one file") {
			t.Error(err)
		}
	}
	if err := check("", ""); err != nil && strings.Contains(err.Error(), "one file") {
		t.Error(err)
	}
}
