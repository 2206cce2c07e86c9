package integration

import (
	"bufio"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/codec"
	"github.com/webrace/webrace/pipeline/config"
	"github.com/webrace/webrace/pipeline/gostreams"
	"github.com/webrace/webrace/storage"
)

// operators are those of go-streams that hold items for a while.
var operators = map[string]func() pipeline.Keeper{
	"test-batch":    func() pipeline.Keeper { return gostreams.Batch(25, 50*time.Millisecond) },
	"test-tumbling": func() pipeline.Keeper { return gostreams.Tumbling(50 * time.Millisecond) },
	"test-sliding":  func() pipeline.Keeper { return gostreams.Sliding(60*time.Millisecond, 20*time.Millisecond) },
	"test-session":  func() pipeline.Keeper { return gostreams.Session(10 * time.Millisecond) },
	"test-throttle": func() pipeline.Keeper { return gostreams.Throttle(10, 10*time.Millisecond) },
}

type logged struct {
	Path string `toml:"path" doc:"the file with the numbers that have been dealt with"`
}

func init() {
	number, all := []pipeline.Port{{Kind: pipeline.KindOf[int]()}}, pipeline.Kinds(pipeline.KindOf[any]())
	pipeline.Register(pipeline.Spec{Type: "test-numbers", Summary: "gives the numbers that have not been dealt with", Out: number}, logged{},
		func(o logged, _ *pipeline.Env) (any, error) { return &o, nil })
	gostreams.Register(pipeline.Spec{Type: "test-even", Summary: "passes on even numbers", In: pipeline.Kinds(number[0].Kind), Out: number}, struct{}{},
		func(_ struct{}, env *pipeline.Env) (any, error) {
			return gostreams.Filter(func(_ context.Context, it *pipeline.Item) (bool, error) { return it.Value.(int)%2 == 0, nil }, env.Workers), nil
		})
	for name, mk := range operators {
		gostreams.Register(pipeline.Spec{Type: name, Summary: "holds items", In: all, Out: []pipeline.Port{{Kind: all[0]}}},
			struct{}{}, func(struct{}, *pipeline.Env) (any, error) { return mk(), nil })
	}
	pipeline.Register(pipeline.Spec{Type: "test-note", Summary: "prints the numbers that came, with its name", In: all}, struct{}{},
		func(_ struct{}, env *pipeline.Env) (any, error) { return note{env.Stage}, nil })
}

const loggedNumbers = 400

// Run emits the numbers that are not in the file, and writes them there when their leases have ended.
func (l *logged) Run(ctx context.Context, out pipeline.Emitter) error {
	before, err := os.ReadFile(l.Path)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	done := make(map[string]bool)
	for line := range strings.Lines(string(before)) {
		done[strings.TrimSpace(line)] = true
	}
	log, err := os.OpenFile(l.Path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	for i := range loggedNumbers {
		if done[fmt.Sprint(i)] {
			continue
		}
		it := pipeline.NewItem(i, func(o pipeline.Outcome) {
			if o.Err == nil {
				fmt.Fprintln(log, i)
			}
		})
		if err := out.Emit(ctx, it); err != nil {
			return err
		}
		time.Sleep(200 * time.Microsecond) // a source that is slow enough to be killed amid its work
	}
	return nil
}

type note struct{ name string }

func (n note) Process(_ context.Context, it *pipeline.Item, _ pipeline.Emitter) error {
	list, several := it.Value.(pipeline.List)
	if !several {
		list = pipeline.List{it.Value}
	}
	for _, number := range list {
		fmt.Println(n.name, number)
	}
	return nil
}

type numberHeader struct {
	N int `json:"n" doc:"the number"`
}

// holders are what holds items in the program that is killed: operators, and the stage queue.
func holders() []string { return append(slices.Collect(maps.Keys(operators)), "queue") }

// killed is the program that is killed: a pipeline for each holder, with the files of its source in a directory.
func killed(dir string) error {
	codec.Register(codec.Codec[int, numberHeader]{
		Name: "test-number", Doc: "a number",
		Encode: func(n int) (numberHeader, []byte) { return numberHeader{n}, nil },
		Decode: func(h numberHeader, _ []byte) (int, error) { return h.N, nil },
	})
	data, err := storage.Open(filepath.Join(dir, "data"), storage.Options{})
	if err != nil {
		return err
	}
	defer data.Close()
	resources := new(pipeline.Resources)
	pipeline.Provide(resources, data)
	toml := "version = 1\n[pipeline.test]\nflow = ["
	for _, name := range holders() {
		toml += fmt.Sprintf("\"from-%s > even-%[1]s > %[1]s > behind-%[1]s\",\n", name)
	}
	toml += "]\n[pipeline.test.stage]\n"
	for _, name := range holders() {
		toml += fmt.Sprintf("from-%s = { type = \"test-numbers\", path = %q }\n", name, filepath.Join(dir, name))
		toml += fmt.Sprintf("even-%s.type = \"test-even\"\nbehind-%[1]s.type = \"test-note\"\n", name)
	}
	c, err := config.Parse("pipelines.toml", []byte(toml), config.LoadOptions{})
	if err != nil {
		return err
	}
	g, err := c.Graph("test")
	if err != nil {
		return err
	}
	_, err = g.Run(context.Background(), pipeline.RunOptions{Resources: resources})
	return err
}

// TestKilledHoldersLoseNothing kills a program (kill -9) again and again while operators of go-streams and a queue
// hold its items, until it ends by itself. By then, each number that passes the filter has come out, and each has
// been dealt with once.
func TestKilledHoldersLoseNothing(t *testing.T) {
	t.Parallel()
	dir, came, kills := t.TempDir(), make(map[string]int), 0
	for killAfter := 60; dies(t, dir, killAfter, came); killAfter += 100 {
		kills++
	}
	if want := len(holders()) * loggedNumbers / 2; len(came) != want || kills < 2 {
		t.Errorf("after %d kills, %d numbers of %d have come out", kills, len(came), want)
	}
	for _, name := range holders() {
		log, err := os.ReadFile(filepath.Join(dir, name))
		if n := strings.Count(string(log), "\n"); err != nil || n != loggedNumbers {
			t.Errorf("%s: %d numbers of %d have been dealt with, %v", name, n, loggedNumbers, err)
		}
	}
}

// dies runs the program until it has printed so many lines, and then kills it. It reports whether that was before its
// end.
func dies(t *testing.T, dir string, lines int, came map[string]int) bool {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "WEBRACE_TEST_KILLED="+dir)
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewScanner(out)
	for n := 0; in.Scan(); n++ {
		came[in.Text()]++
		if n == lines {
			_ = c.Process.Kill()
		}
	}
	switch err := c.Wait(); {
	case err == nil:
		return false
	case c.ProcessState.Exited():
		t.Fatal(err)
	}
	return true
}
