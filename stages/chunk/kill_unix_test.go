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
	out := []pipeline.Port{{Kind: pipeline.KindOf[*webrace.Document]()}, {Name: portGone, Kind: pipeline.KindOf[*webrace.Gone]()}}
	g.AddStage("versions", pipeline.Spec{Type: "versions", Out: out}, func(env *pipeline.Env) (any, error) {
		at, err := env.State("at")
		return versions{at}, err
	})
	g.AddType("chunk", "chunk", defaults)
	g.AddStage("taker", pipeline.Spec{Type: "taker", In: pipeline.Kinds(pipeline.KindOf[pipeline.Record]())}, func(*pipeline.Env) (any, error) {
		return taking(func(p pipeline.Record) {
			fmt.Fprintln(log, p["change"], p["id"], p["url"])
			if left--; left == 0 {
				syscall.Kill(os.Getpid(), syscall.SIGKILL)
			}
		}), nil
	})
	g.Connect("versions", "", "chunk")
	g.Connect("versions", portGone, "chunk")
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

// versions is a source of thirty versions of three documents, of which each is gone now and then. It goes on behind the
// last that was dealt with, as a frontier does: what is gone is not told of again.
type versions struct{ at *pipeline.State }

func (v versions) Run(ctx context.Context, out pipeline.Emitter) error {
	done, err := v.at.Get("at")
	if err != nil {
		return err
	}
	left, _ := strconv.Atoi(string(done)) // 0 at first
	r := rand.New(rand.NewPCG(1, 2))
	paragraphs := fiftyParagraphs()
	number := 0
	for version := 1; version <= 30; version++ {
		at := r.IntN(len(paragraphs))
		paragraphs[at] = sentences(r.Uint64(), 1+r.IntN(100))
		for n := range 3 {
			gone := r.IntN(4) == 0 || n == 2 && version == 30
			if number++; number <= left {
				continue
			}
			d := document(version, article(paragraphs[n:]))
			d.URL = fmt.Sprint(address, n)
			it, port, ended := pipeline.NewItem(d, nil), "", make(chan struct{})
			if gone {
				it, port = pipeline.NewItem(&webrace.Gone{URL: d.URL}, nil), portGone
			}
			it.OnEnd(func() { close(ended) })
			if err := v.at.Put(it, "at", []byte(strconv.Itoa(number))); err != nil {
				return err
			}
			if err := out.EmitTo(ctx, port, it); err != nil {
				return err
			}
			<-ended // the next version comes when this one is done with
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
// pieces that one has which was told by a command that nobody killed, and none of the document that is gone.
func TestKillsLoseNoPiece(t *testing.T) {
	t.Parallel()
	run := func(dir string, left int) error {
		c := exec.Command(os.Args[0], "-test.run=^TestMortal$")
		c.Env = append(os.Environ(), mortal+"="+dir, fmt.Sprintf("%s_LEFT=%d", mortal, left))
		out, err := c.CombinedOutput()
		if err != nil && c.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
			t.Fatalf("%v\n%s", err, out)
		}
		return err
	}
	told := func(dir string) (store map[string]string, changes map[string]int) {
		log, err := os.ReadFile(filepath.Join(dir, "log"))
		if err != nil {
			t.Fatal(err)
		}
		store, changes = make(map[string]string), make(map[string]int)
		for line := range strings.Lines(string(log)) {
			is := strings.Fields(line)
			if changes[is[0]]++; is[0] == "gone" {
				delete(store, is[1])
			} else {
				store[is[1]] = is[2]
			}
		}
		return store, changes
	}
	dir, kills := t.TempDir(), 0
	for run(dir, 23+31*kills) != nil {
		if kills++; kills > 30 {
			t.Fatal("it does not come to its end")
		}
	}
	whole := t.TempDir()
	if run(whole, -1) != nil {
		t.Fatal("it was killed")
	}
	has, again := told(dir)
	want, once := told(whole)
	if kills == 0 || len(want) == 0 || !maps.Equal(has, want) {
		t.Errorf("after %d kills the store has %d pieces, and the documents have %d", kills, len(has), len(want))
	}
	if slices.Contains(slices.Collect(maps.Values(want)), address+"2") {
		t.Error("the store has pieces of a document that is gone")
	}
	if once["gone"] == 0 || once["new"] != once["gone"]+len(want) || again["new"] < once["new"] || again["gone"] < once["gone"] {
		t.Errorf("without a kill %v were told, with kills %v", once, again)
	}
}
