//go:build unix

package chunk

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage"
)

// mortal is a process that cuts the versions of some documents, writes down what is told of each piece, and kills
// itself at one of them.
const mortal = "WEBRACE_TEST_MORTAL"

// TestMortal is that process.
func TestMortal(t *testing.T) {
	dir := os.Getenv(mortal)
	if dir == "" {
		return // TestKillsLoseNoPiece runs it as another process
	}
	left, err := strconv.Atoi(os.Getenv(mortal + "_LEFT"))
	if err != nil {
		t.Fatal(err)
	}
	data, err := storage.Open(filepath.Join(dir, "data"), storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	resources := new(pipeline.Resources)
	pipeline.Provide[pipeline.OpenStates](resources, func() (pipeline.States, error) { return data.States() })
	log, err := os.OpenFile(filepath.Join(dir, "log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	g := pipeline.DefaultRegistry.NewGraph("vectors")
	g.AddStage("versions", pipeline.Spec{Type: "versions", Out: []pipeline.Port{{Kind: pipeline.KindOf[*webrace.Document]()}}}, func(*pipeline.Env) (any, error) { return versions{}, nil })
	g.AddType("chunk", "chunk", defaults)
	g.AddStage("taker", pipeline.Spec{Type: "taker", In: pipeline.Kinds(pipeline.KindOf[pipeline.Record]())}, func(*pipeline.Env) (any, error) {
		return taking(func(p pipeline.Record) {
			fmt.Fprintln(log, p["change"], p["id"])
			if left--; left == 0 {
				syscall.Kill(os.Getpid(), syscall.SIGKILL)
			}
		}), nil
	})
	g.Connect("versions", "", "chunk")
	for _, port := range []string{"", portGone, portSame} {
		g.Connect("chunk", port, "taker")
	}
	if _, err := g.Run(t.Context(), pipeline.RunOptions{Resources: resources}); err != nil {
		t.Fatal(err)
	}
	if err := data.Close(); err != nil {
		t.Fatal(err)
	}
}

// versions is a source of thirty versions of three documents, each time from the first on.
type versions struct{}

func (versions) Run(ctx context.Context, out pipeline.Emitter) error {
	r := rand.New(rand.NewPCG(1, 2))
	paragraphs := fiftyParagraphs()
	for version := 1; version <= 30; version++ {
		at := r.IntN(len(paragraphs))
		paragraphs[at] = sentences(r.Uint64(), 1+r.IntN(100))
		for n := range 3 {
			d := document(version, article(paragraphs[n:]))
			d.URL = fmt.Sprint(address, n)
			if err := out.Emit(ctx, pipeline.NewItem(d, nil)); err != nil {
				return err
			}
		}
	}
	return nil
}

type taking func(pipeline.Record)

func (f taking) Process(_ context.Context, it *pipeline.Item, _ pipeline.Emitter) error {
	f(it.Value.(pipeline.Record))
	return nil
}

// The same command is killed again and again until it comes to the end: a store that was told all of it has the
// pieces of the last versions, and no others.
func TestKillsLoseNoPiece(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run := func(left int) error {
		c := exec.Command(os.Args[0], "-test.run=^TestMortal$")
		c.Env = append(os.Environ(), mortal+"="+dir, fmt.Sprintf("%s_LEFT=%d", mortal, left))
		out, err := c.CombinedOutput()
		if err != nil && c.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
			t.Fatalf("%v\n%s", err, out)
		}
		return err
	}
	kills := 0
	for run(23+31*kills) != nil {
		if kills++; kills > 30 {
			t.Fatal("it does not come to its end")
		}
	}
	store := make(map[string]bool)
	told := func() (changes []string) {
		log, err := os.ReadFile(filepath.Join(dir, "log"))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(log)) {
			change, id, _ := strings.Cut(strings.TrimSpace(line), " ")
			if changes = append(changes, change); change == "gone" {
				delete(store, id)
			} else {
				store[id] = true
			}
		}
		return changes
	}
	told()
	has := slices.Sorted(maps.Keys(store))
	if err := os.Remove(filepath.Join(dir, "log")); err != nil {
		t.Fatal(err)
	}
	clear(store)
	if run(-1) != nil {
		t.Fatal("it was killed")
	}
	if changes := told(); slices.Contains(changes, "new") || slices.Contains(changes, "gone") {
		t.Errorf("what was told is told again: %v", changes)
	}
	if want := slices.Sorted(maps.Keys(store)); kills == 0 || len(want) == 0 || !slices.Equal(has, want) {
		t.Errorf("after %d kills the store has %d pieces, and the documents have %d", kills, len(has), len(want))
	}
}
