//go:build unix

package warcsource

import (
	"context"
	"fmt"
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

// mortal is a process that reads an archive, writes down each document, and kills itself at one of them.
const mortal = "WEBRACE_TEST_MORTAL"

// TestMortal is that process.
func TestMortal(t *testing.T) {
	dir := os.Getenv(mortal)
	if dir == "" {
		return // TestKillsLoseNothing runs it as another process
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
	pipeline.Provide(resources, data)
	log, err := os.OpenFile(filepath.Join(dir, "log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	g := pipeline.DefaultRegistry.NewGraph("archive")
	g.AddType("warc-source", "warc-source", with(nil, filepath.Join(dir, "archive")))
	g.AddStage("taker", pipeline.Spec{Type: "taker", In: pipeline.Kinds(pipeline.KindOf[*webrace.Document]())}, func(*pipeline.Env) (any, error) {
		return taking(func(d *webrace.Document) {
			fmt.Fprintln(log, d.URL)
			if left--; left == 0 {
				syscall.Kill(os.Getpid(), syscall.SIGKILL)
			}
		}), nil
	})
	g.Connect("warc-source", "", "taker")
	if _, err := g.Run(t.Context(), pipeline.RunOptions{Resources: resources}); err != nil {
		t.Fatal(err)
	}
	if err := data.Close(); err != nil {
		t.Fatal(err)
	}
}

type taking func(*webrace.Document)

func (f taking) Process(_ context.Context, it *pipeline.Item, _ pipeline.Emitter) error {
	f(it.Value.(*webrace.Document))
	return nil
}

// The same command is killed again and again until it comes to the end: no document is lost, and those that
// were dealt with do not come again.
func TestKillsLoseNothing(t *testing.T) {
	t.Parallel()
	const n, each = 400, 150
	for packing, pack := range packings {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, "archive"), 0o700); err != nil {
			t.Fatal(err)
		}
		all := pages(n)
		for i, part := range [][]string{all[:n/2], all[n/2:]} {
			if err := os.WriteFile(filepath.Join(dir, "archive", fmt.Sprintf("%d.warc", i)), []byte(pack(part)), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		kills := 0
		for ; kills < 20; kills++ {
			c := exec.Command(os.Args[0], "-test.run=^TestMortal$")
			c.Env = append(os.Environ(), mortal+"="+dir, fmt.Sprintf("%s_LEFT=%d", mortal, each))
			out, err := c.CombinedOutput()
			if err == nil {
				break
			}
			if c.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
				t.Fatalf("%s: %v\n%s", packing, err, out)
			}
		}
		log, err := os.ReadFile(filepath.Join(dir, "log"))
		if err != nil {
			t.Fatal(err)
		}
		read := strings.Fields(string(log))
		repeats := len(read)
		slices.Sort(read)
		read = slices.Compact(read)
		repeats -= len(read)
		t.Logf("%s: %d kills, %d documents read again", packing, kills, repeats)
		if len(read) != n || kills == 0 || repeats > kills*each/2 {
			t.Errorf("%s: %d of %d documents, %d of them more than once, in %d kills", packing, len(read), n, repeats, kills)
		}
	}
}
