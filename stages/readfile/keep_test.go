package readfile

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/webrace/webrace/pipeline"
)

// followed runs the stage until the test ends, and gives what comes.
func followed(t *testing.T, change func(*Options)) (dir string, next func() string, stop func()) {
	t.Helper()
	dir = t.TempDir()
	o := with(func(o *Options) {
		o.Paths, o.Follow = []string{filepath.Join(dir, "in*")}, true
		change(o)
	})
	if err := o.Validate(); err != nil {
		t.Fatal(err)
	}
	came := make(chan string, 100)
	g := pipeline.NewGraph("test")
	g.Add("read-file", o)
	g.AddStage("sink", pipeline.Spec{Type: "sink", In: pipeline.Kinds(pipeline.KindOf[any]())}, func(*pipeline.Env) (any, error) {
		return take(func(it *pipeline.Item) { came <- texts([]any{it.Value})[0] }), nil
	})
	g.Wire("read-file > sink")
	run, err := g.Start(context.Background(), pipeline.RunOptions{Continuous: true})
	if err != nil {
		t.Fatal(err)
	}
	stop = func() {
		run.Drain()
		if _, err := run.Wait(); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(stop)
	return dir, func() string {
		t.Helper()
		select {
		case text := <-came:
			return text
		case <-time.After(10 * time.Second):
			t.Fatal("nothing comes")
			return ""
		}
	}, stop
}

func TestFollowingRotation(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	dir, next, _ := followed(t, func(*Options) {})
	log := filepath.Join(dir, "in")
	add := func(path, text string) {
		t.Helper()
		file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if _, err := file.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	comes := func(want ...string) {
		t.Helper()
		for _, line := range want {
			if got := next(); got != line {
				t.Fatalf("%q came, want %q", got, line)
			}
		}
	}
	add(log, "1\n2")
	comes("1")
	add(log, "3\n")
	comes("23")
	must(os.Rename(log, filepath.Join(dir, "in.1"))) // while a program goes on writing to it
	add(filepath.Join(dir, "in.1"), "4\n")
	comes("4")
	add(log, "5\n")
	comes("5")
	must(os.Rename(filepath.Join(dir, "in.1"), filepath.Join(outside, "in.1")))
	write(t, filepath.Join(outside, "in.1.gz"), zipped("1\n23\n4\n6"))
	must(os.Rename(filepath.Join(outside, "in.1.gz"), filepath.Join(dir, "in.1.gz")))
	comes("6") // and nothing of what was known
	must(os.Truncate(log, 0))
	add(log, "7\n8\n9\n") // longer than what was there
	comes("7", "8", "9")
	away := filepath.Join(outside, "away") // a name that no path matches
	must(os.Rename(log, away))
	add(away, "10\n")
	comes("10")
	add(log, "11\n")
	comes("11")
}
