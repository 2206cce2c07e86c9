package readfile

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/webrace/webrace/pipeline"
)

// world is what programs do to files, and what has come of them: the oracle. It knows which lines have been written,
// and nothing of how they are read.
type world struct {
	t       *testing.T
	r       *rand.Rand
	dir     string
	options Options
	said    []string // what was done, for who has to understand a failure

	written int            // lines so far
	want    map[string]int // how often each is to come
	kills   int

	mu     sync.Mutex
	got    map[string]map[string]int // how often each has come, by its keys
	before []byte                    // the positions, when the last one came

	following *pipeline.Run // nil: each look is a run of its own

	partial string   // of a last line of the log
	rotated []string // names, the latest last
	copied  string   // of the log, which was truncated since the process has looked; empty: there is none
	tails   map[string]string
	export  int // lines of the file that is exported anew
}

func newWorld(t *testing.T, seed uint64) *world {
	dir := t.TempDir()
	w := &world{
		t: t, r: rand.New(rand.NewPCG(seed, 1)), dir: dir,
		want: make(map[string]int), got: make(map[string]map[string]int), tails: make(map[string]string),
	}
	w.options = with(func(o *Options) {
		o.Paths = []string{filepath.Join(dir, "export"), filepath.Join(dir, "log*")}
		o.Positions = filepath.Join(dir, "positions")
	})
	w.say("seed %d", seed)
	w.append(w.log(), "")
	w.replaceExport()
	return w
}

func (w *world) say(format string, args ...any) {
	w.said = append(w.said, fmt.Sprintf(format, args...))
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) path(name string) string { return filepath.Join(w.dir, name) }
func (w *world) log() string             { return w.path("log") }

func (w *world) append(path, text string) {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	w.must(err)
	_, err = file.WriteString(text)
	w.must(err)
	w.must(file.Close())
}

func (w *world) read(path string) string {
	text, err := os.ReadFile(path)
	w.must(err)
	return string(text)
}

// line is one that has not been written, of always the same length.
func (w *world) line() string {
	w.written++
	return fmt.Sprintf("%06d line", w.written)
}

// writeLines adds lines to the log, and may leave the last one unfinished.
func (w *world) writeLines() {
	var text strings.Builder
	for range w.r.IntN(4) {
		line := w.partial + w.line()
		text.WriteString(strings.TrimPrefix(line, w.partial) + "\n")
		w.want[line]++
		w.partial = ""
	}
	if w.r.IntN(2) == 0 {
		half := w.line()[:8]
		text.WriteString(half)
		w.partial += half
	}
	w.say("write %q", text.String())
	w.append(w.log(), text.String())
}

// finish ends the last line of the log.
func (w *world) finish() {
	if w.partial != "" {
		w.say("finish %q", w.partial)
		w.append(w.log(), "\n")
		w.want[w.partial]++
		w.partial = ""
	}
}

func (w *world) nameForRotated() string {
	name := w.path(fmt.Sprintf("log.%d", w.r.IntN(1e9)))
	w.rotated = append(w.rotated, name)
	return name
}

func (w *world) rename() {
	if _, err := os.Stat(w.log()); err != nil {
		return
	}
	if w.copied != "" {
		w.look() // what it had is the copy's, which is to be seen before there is another log
		w.awaitName(w.copied)
		w.copied = ""
	}
	name := w.nameForRotated()
	w.say("rename to %s", filepath.Base(name))
	w.must(os.Rename(w.log(), name))
	w.tails[name], w.partial = w.partial, ""
	if w.r.IntN(2) == 0 {
		w.append(w.log(), "")
	}
}

func (w *world) copyTruncate() {
	w.finish()
	if _, err := os.Stat(w.log()); err != nil {
		return
	}
	name := w.nameForRotated()
	w.say("copy to %s, truncate", filepath.Base(name))
	text := w.read(w.log())
	write(w.t, name, text)
	w.must(os.Truncate(w.log(), 0))
	if text != "" {
		w.copied = name
	}
}

// awaitName waits until the process knows a file by its name, with .gz or without: that all lines have come does not
// mean that it has looked, for some that come again after a kill may have come before.
func (w *world) awaitName(name string) {
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		positions, _ := os.ReadFile(w.options.Positions)
		if bytes.Contains(positions, []byte(filepath.Base(name))) {
			return
		}
		if time.Now().After(deadline) {
			w.t.Fatalf("%s is not known\n%s", name, strings.Join(w.said, "\n"))
		}
	}
}

// compress makes a .gz of a file that was rotated. The process may look while both are there.
func (w *world) compress() {
	if len(w.rotated) == 0 {
		return
	}
	i := w.r.IntN(len(w.rotated))
	name := w.rotated[i]
	w.rotated = slices.Delete(w.rotated, i, i+1)
	text := w.read(name)
	packed := zipped(text)
	if w.r.IntN(2) == 0 {
		w.look() // so that it knows what is being compressed
		cut := w.r.IntN(len(packed) + 1)
		w.say("compress %s, %d bytes of %d", filepath.Base(name), cut, len(packed))
		write(w.t, name+".gz", packed[:cut])
		w.look()
	}
	w.say("compress %s", filepath.Base(name))
	write(w.t, name+".gz", packed)
	w.must(os.Remove(name))
	if tail := w.tails[name]; tail != "" {
		w.want[tail]++ // the end of a compressed file ends its last line
	}
}

// replaceExport writes a file anew: shorter, longer or of equal size, with the same first line or another one, in its
// place or beside it. It has been read before, for what was in it is lost.
func (w *world) replaceExport() {
	if w.export > 0 {
		w.look()
	}
	n := max(1, w.export+w.r.IntN(3)-1)
	lines := []string{"first line.", w.line()}
	if w.r.IntN(2) == 0 {
		lines[0] = w.line()
	}
	for range n {
		lines = append(lines, w.line())
	}
	w.export = n
	for _, line := range lines {
		w.want[line]++
	}
	text := strings.Join(lines, "\n") + "\n"
	beside := w.r.IntN(2) == 0
	w.say("export %q, beside: %v", text, beside)
	if beside {
		write(w.t, w.path("new"), text)
		w.must(os.Rename(w.path("new"), w.path("export")))
		return
	}
	write(w.t, w.path("export"), text)
}

// look is a run of the pipeline, or waits until all has come that is to come.
func (w *world) look() {
	w.say("look")
	if w.following == nil {
		w.copied = ""
		w.run(-1)
		return
	}
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		fault := w.fault()
		if fault == "" {
			return
		}
		if time.Now().After(deadline) {
			w.t.Fatalf("%s\n%s", fault, strings.Join(w.said, "\n"))
		}
	}
}

// killed is a run that ends in the middle: after the last line came, the positions were not written again, or the file
// beside them is whole or in part.
func (w *world) killed() {
	w.kills++
	w.mu.Lock() // a run that follows notes the same at each line
	w.before, _ = os.ReadFile(w.options.Positions)
	w.mu.Unlock()
	if w.following == nil {
		w.run(w.r.IntN(8))
	} else {
		w.following.Cancel()
		_, _ = w.following.Wait()
		defer w.follow()
	}
	after, err := os.ReadFile(w.options.Positions)
	cut := 0
	if err == nil {
		cut = w.r.IntN(len(after) + 2)
	}
	w.say("killed, %d of %d bytes of the positions written", cut, len(after))
	if err != nil || cut > len(after) {
		return // behind the last write
	}
	write(w.t, w.options.Positions+".part", string(after[:cut]))
	if len(w.before) > 0 {
		write(w.t, w.options.Positions, string(w.before))
	} else {
		w.must(os.Remove(w.options.Positions))
	}
}

// run runs the pipeline until so many lines have come; -1: all.
func (w *world) run(most int) {
	run := w.start(most, pipeline.RunOptions{})
	if _, err := run.Wait(); err != nil && most < 0 {
		w.t.Fatal(err)
	}
}

// follow starts a run that goes on.
func (w *world) follow() {
	w.options.Follow = true
	w.following = w.start(-1, pipeline.RunOptions{Continuous: true})
}

func (w *world) start(most int, how pipeline.RunOptions) *pipeline.Run {
	var run *pipeline.Run
	started := make(chan struct{})
	g := pipeline.NewGraph("test")
	g.Add("read-file", w.options)
	g.AddStage("sink", pipeline.Spec{Type: "sink", In: pipeline.Kinds(pipeline.KindOf[string]())}, func(*pipeline.Env) (any, error) {
		return take(func(it *pipeline.Item) {
			w.mu.Lock()
			defer w.mu.Unlock()
			if most == 0 {
				<-started
				run.Cancel()
				return
			}
			most--
			w.before, _ = os.ReadFile(w.options.Positions)
			line := it.Value.(string)
			if w.got[line] == nil {
				w.got[line] = make(map[string]int)
			}
			w.got[line][pipeline.KeyOf(it)]++
		}), nil
	})
	g.AddStage("failures", pipeline.Spec{Type: "failures", In: pipeline.Kinds(pipeline.KindOf[*pipeline.Failure]())}, func(*pipeline.Env) (any, error) {
		return take(func(it *pipeline.Item) { w.t.Logf("told: %v", it.Value) }), nil
	})
	g.Wire("read-file > sink")
	g.Connect("read-file", "errors", "failures")
	run, err := g.Start(context.Background(), how)
	w.must(err)
	close(started)
	return run
}

type take func(*pipeline.Item)

func (f take) Process(_ context.Context, it *pipeline.Item, _ pipeline.Emitter) error {
	f(it)
	return nil
}

// check holds what came against what was written.
func (w *world) check() {
	w.t.Helper()
	w.finish()
	w.look()
	if w.following != nil {
		w.following.Drain()
		if _, err := w.following.Wait(); err != nil {
			w.t.Fatal(err)
		}
	}
	if fault := w.fault(); fault != "" {
		w.t.Fatalf("%s\n%s", fault, strings.Join(w.said, "\n"))
	}
}

// fault returns what came too often or not: each line comes once, and with the key that it had if it comes again
// because the process was killed.
func (w *world) fault() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, line := range slices.Sorted(maps.Keys(w.want)) {
		if n := len(w.got[line]); n != w.want[line] {
			return fmt.Sprintf("%q came by %d keys, is to come %d times", line, n, w.want[line])
		}
	}
	for line, keys := range w.got {
		if w.want[line] == 0 {
			return fmt.Sprintf("%q came %v times, and was not written", line, keys)
		}
		for _, n := range keys {
			if n > w.kills+1 {
				return fmt.Sprintf("%q came %d times, and the process was killed %d times", line, n, w.kills)
			}
		}
	}
	return ""
}

// TestRotationInRandomSchedules has programs write, rename, compress, copy, truncate and replace files in any order,
// and the process look at them, or be killed, in between.
func TestRotationInRandomSchedules(t *testing.T) {
	schedules := 1000
	if testing.Short() {
		schedules = 100
	}
	for seed := range schedules {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, uint64(seed))
			w.pass(4 + w.r.IntN(10))
			w.check()
		})
	}
}

// pass does so many things.
func (w *world) pass(things int) {
	for range things {
		switch w.r.IntN(10) {
		case 0:
			w.rename()
		case 1:
			w.copyTruncate()
		case 2:
			w.compress()
		case 3:
			w.replaceExport()
		case 4:
			w.killed()
		case 5, 6:
			w.look()
		default:
			w.writeLines()
		}
	}
}

var schedules = flag.Int("schedules", 40, "how many schedules are played while the process is reading")

// TestFollowingInRandomSchedules is the same while the process is reading: programs go on before it has seen what they
// did.
func TestFollowingInRandomSchedules(t *testing.T) {
	for seed := range *schedules {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, uint64(seed))
			w.follow()
			defer func() { w.following.Cancel() }()
			w.pass(10 + w.r.IntN(30))
			w.check()
		})
	}
}

// patience is how long what is written may take to come.
const patience = time.Minute
