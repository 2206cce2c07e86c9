package readfile

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace/pipeline"
)

// A file that was empty when it was looked at, and is a compressed one when it is compared, is looked at again: it may
// be what a file beside it has become.
func TestAFileThatIsCompressedWhileItIsRecognized(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "in"), "a\nb\n")
	write(t, filepath.Join(dir, "in.gz"), "")
	made, err := newStage(with(func(o *Options) { o.Paths = []string{filepath.Join(dir, "in*")} }), pipeline.NewEnv("p", "read-file", nil))
	if err != nil {
		t.Fatal(err)
	}
	s := made.(*stage)
	s.positions = new(positions)
	all, err := s.targets()
	if err != nil || len(all) != 2 {
		t.Fatalf("%v, %v", all, err)
	}
	write(t, filepath.Join(dir, "in.gz"), zipped("a\nb\n"))
	if _, err := s.adopt(all[1], false, false); !errors.Is(err, errMoved) || all[1].known != nil {
		t.Errorf("%v: %+v", err, all[1].known)
	}
	if err := s.recognize(all); err != nil || all[1].known == nil && !all[1].copied {
		t.Errorf("%v: nothing is known of %s", err, all[1].path)
	}
}

// A copy may be seen while it is being made, and what was copied be truncated between the look at the names and the
// comparison: nothing in the copy is new, whatever was known of its name, and however long the log had been quiet.
func TestACopyThatIsSeenWhileItIsMade(t *testing.T) {
	const text = "1\n2\n"
	for name, c := range map[string]struct {
		quiet bool     // the log, for an hour
		looks []string // what the copy holds at looks, of which the last comes while it is completed
		after string   // what the log holds once it was truncated
	}{
		"whole":                     {looks: []string{text}},
		"empty":                     {looks: []string{""}},
		"a line of it":              {looks: []string{"1\n"}},
		"more and more":             {looks: []string{"", "1", "1\n", "1\n2"}},
		"whole, of a quiet log":     {quiet: true, looks: []string{text}},
		"empty, of a quiet log":     {quiet: true, looks: []string{""}},
		"twice empty":               {looks: []string{"", ""}},
		"as much is written again":  {looks: []string{"", ""}, after: "3\n4\n"},
		"more is written than that": {looks: []string{"", "1\n"}, after: "3\n4\n5\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			log, copied := filepath.Join(dir, "in"), filepath.Join(dir, "in.1")
			s := stageOf(with(func(o *Options) { o.Paths, o.Follow = []string{filepath.Join(dir, "in*")}, true }))
			s.env.Continuous, s.positions = true, new(positions)
			var came []string
			out := emitted(func(it *pipeline.Item) error { came = append(came, it.Value.(string)); return nil })
			look := func(meanwhile func()) {
				for {
					all, err := s.targets()
					meanwhile()
					if err == nil {
						err = s.readAll(t.Context(), all, out)
					}
					if err == nil {
						return
					}
					if !errors.Is(err, errMoved) {
						t.Fatal(err)
					}
					meanwhile = func() {}
				}
			}
			write(t, log, text)
			if old := time.Now().Add(-time.Hour); c.quiet {
				if err := os.Chtimes(log, old, old); err != nil {
					t.Fatal(err)
				}
			}
			look(func() {})
			for i, part := range c.looks {
				write(t, copied, part)
				look(func() {
					if i == len(c.looks)-1 {
						write(t, copied, text)
						write(t, log, c.after)
					}
				})
			}
			if want := strings.Fields(text + c.after); !slices.Equal(came, want) {
				t.Errorf("%q came, want %q", came, want)
			}
		})
	}
}
