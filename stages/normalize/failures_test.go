package normalize

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage"
)

func logged(t *testing.T) (*pipeline.Env, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "data")
	dir, err := storage.Open(path, storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := dir.Close(); err != nil {
			t.Error(err)
		}
	})
	var resources pipeline.Resources
	pipeline.Provide(&resources, dir)
	return pipeline.NewEnv("p", "normalize", &resources), filepath.Join(path, "failed-links.p.tsv")
}

func TestLinksThatCannotBeNormalizedAreLogged(t *testing.T) {
	t.Parallel()
	env, path := logged(t)
	s := newStage(defaults, env)
	body := "<a href='http://[1'>x</a><a href='http://[1'>x</a><a href='http://a\nb c/\t\u00a0'>y</a><a href=mailto:x>z</a><a href=/ok>ok</a>"
	end := pipeline.ProcessOne(t.Context(), s, &webrace.Document{URL: "http://a.org/p", Outcome: webrace.Fetched, MediaType: "text/html", Body: []byte(body)},
		func(string, any) error { return nil })
	if end.Err != nil {
		t.Fatal(end.Err)
	}
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if len(lines) != 2 || env.Counters()["invalid"] != 3 {
		t.Fatalf("%d lines of %d failures:\n%s", len(lines), env.Counters()["invalid"], text)
	}
	for i, reference := range []string{"http://[1", "http://a b c/"} {
		fields := strings.Split(lines[i], "\t")
		if len(fields) != 4 || fields[1] != "http://a.org/p" || !strings.HasPrefix(fields[2], reference) || fields[3] == "" {
			t.Errorf("line %q, want one of %s", lines[i], reference)
		}
	}
}

func TestTheLogOfFailuresIsBounded(t *testing.T) {
	t.Parallel()
	env, path := logged(t)
	for range 2 { // also over runs
		l := newFailureLog(env)
		long := strings.Repeat("x", 250)
		for i := range 3 * largestLog / 2 / 300 {
			l.add(fmt.Sprintf("http://a.org/%d", i), []extract.Failure{{Reference: long, Err: errors.New("invalid")}})
		}
		if err := l.close(); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range []string{path, path + ".old"} {
		info, err := os.Stat(p)
		if err != nil || info.Size() > largestLog || info.Size() == 0 {
			t.Errorf("%s: %v, %v", p, info, err)
		}
	}
	if text, err := os.ReadFile(path); err != nil || !strings.Contains(string(text), fmt.Sprintf("/%d\t", 3*largestLog/2/300-1)) {
		t.Errorf("the latest failure is not logged: %v", err)
	}
}
