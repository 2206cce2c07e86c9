package queue

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/fsck"
	"github.com/webrace/webrace/storage/queue"
)

// ledger notes what a queue promised, through all crashes.
type ledger struct {
	mu       sync.Mutex
	accepted map[int]bool // durable, as the source was told
	dealt    map[int]bool // Done was called
	gone     map[int]bool // durably
	next     int          // number that is put
	dir      string       // where the file system is mounted, so to say
	twice    []int        // handed out when they were gone
}

// life is the time of a stage between two crashes. What happens after its end is not noted.
type life struct {
	*ledger
	stage *stage
	dir   *storage.Dir
	over  bool // guarded by ledger.mu
	work  sync.WaitGroup
	noted chan struct{} // has a place for each note
}

func (l *life) note(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.over {
		f()
	}
	select {
	case l.noted <- struct{}{}:
	default:
	}
}

// begin opens the stage over a file system.
func (l *ledger) begin(t *testing.T, fs vfs.FS) *life {
	t.Helper()
	d, err := storage.Open(l.dir, storage.Options{Queues: queue.Options{FS: fs}})
	if err != nil {
		t.Fatal(err)
	}
	o := with(func(o *Options) { o.Leases = 8 })
	made, err := newStage(o, pipeline.NewEnv("p", "queue", lending(d)))
	if err == nil {
		err = made.(*stage).Open(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	return &life{ledger: l, stage: made.(*stage), dir: d, noted: make(chan struct{}, 1<<16)}
}

// put puts numbers until the queue is closed.
func (l *life) put() {
	for {
		l.mu.Lock()
		n := l.next
		l.next++
		l.mu.Unlock()
		r := queue.Record{Kind: "text", Body: []byte(strconv.Itoa(n))}
		err := l.stage.queue.Put(context.Background(), queue.Patience{}, r, func(err error) {
			if err == nil {
				l.note(func() { l.accepted[n] = true })
			}
		})
		if err != nil {
			return
		}
	}
}

// take deals with what comes, out of order, until the queue is closed or has nothing left.
func (l *life) take(t *testing.T, rng *rand.Rand) {
	var out []*lease
	for {
		for len(out) > 4 || len(out) > 0 && rng.IntN(3) == 0 {
			at := rng.IntN(len(out))
			l.deal(out[at], rng)
			out = slices.Delete(out, at, at+1)
		}
		taken, err := l.stage.Take(context.Background())
		if errors.Is(err, io.EOF) || errors.Is(err, queue.ErrClosed) {
			return
		}
		if err != nil {
			t.Error(err)
			return
		}
		n := numberOf(taken)
		l.note(func() {
			if l.gone[n] {
				l.twice = append(l.twice, n)
			}
		})
		out = append(out, taken.(*lease))
	}
}

// deal ends a lease: most are done, some given back.
func (l *life) deal(one *lease, rng *rand.Rand) {
	if rng.IntN(8) == 0 {
		one.lease.GiveBack()
		return
	}
	n := numberOf(one)
	l.note(func() { l.dealt[n] = true })
	one.lease.Done(func(err error) {
		if err == nil {
			l.note(func() { l.gone[n] = true })
		}
	})
}

func numberOf(l pipeline.Lease) int {
	n, err := strconv.Atoi(l.Item().Value.(string))
	if err != nil {
		panic(err)
	}
	return n
}

// crash ends a life after so many notes: what is on disk then is what the file system makes of it.
func (l *life) crash(t *testing.T, fs *vfs.MemFS, after int, lost vfs.CrashCloneCfg) *vfs.MemFS {
	t.Helper()
	for range after {
		<-l.noted
	}
	l.mu.Lock()
	left := fs.CrashClone(lost)
	l.over = true
	l.mu.Unlock()
	l.end(t)
	return left
}

func (l *life) end(t *testing.T) {
	t.Helper()
	if err := errors.Join(l.stage.Close(), l.dir.Close()); err != nil {
		t.Error(err)
	}
	l.work.Wait()
}

var (
	kills  = flag.Int("kills", 200, "how often the process ends with what it has written in the hands of the system")
	losses = flag.Int("losses", 100, "how often power is lost: what was not synced is lost, or part of it")
)

// What was acknowledged to the source is not lost, and what was removed for good does not come again, however often the
// process is killed or the power is lost, under load.
func TestCrashes(t *testing.T) {
	t.Parallel()
	var accepted, gone atomic.Int64
	t.Cleanup(func() {
		if accepted.Load() == 0 || gone.Load() == 0 {
			t.Errorf("%d were accepted, %d removed: the test does nothing", accepted.Load(), gone.Load())
		}
	})
	for name, c := range map[string]struct {
		times int
		lost  func(*rand.Rand) int // percent of what was not synced that is there all the same
	}{
		"kill":       {*kills, func(*rand.Rand) int { return 100 }},
		"power loss": {*losses, func(rng *rand.Rand) int { return rng.IntN(100) }},
	} {
		const chains = 10 // of crashes, each over what the one before has left
		if testing.Short() {
			c.times /= 5
		}
		for seed := range uint64(chains) {
			t.Run(fmt.Sprintf("%s/%d", name, seed), func(t *testing.T) {
				t.Parallel()
				rng := rand.New(rand.NewPCG(seed, uint64(c.times)))
				l := &ledger{dir: t.TempDir(), accepted: map[int]bool{}, dealt: map[int]bool{}, gone: map[int]bool{}}
				fs := vfs.NewCrashableMem()
				for range (c.times + chains - 1) / chains {
					one := l.begin(t, fs)
					one.work.Go(one.put)
					taker := rand.New(rand.NewPCG(seed, rng.Uint64()))
					one.work.Go(func() { one.take(t, taker) })
					fs = one.crash(t, fs, 1+rng.IntN(1500), vfs.CrashCloneCfg{UnsyncedDataPercent: c.lost(rng), RNG: rng})
				}
				l.settle(t, fs)
				accepted.Add(int64(len(l.accepted)))
				gone.Add(int64(len(l.gone)))
				t.Logf("%d accepted, %d dealt with, %d gone for good before the last crash", len(l.accepted), len(l.dealt), len(l.gone))
			})
		}
	}
}

// settle takes what is left, and compares.
func (l *ledger) settle(t *testing.T, fs vfs.FS) {
	t.Helper()
	last := l.begin(t, fs)
	last.stage.Seal()
	before := -1
	for {
		taken, err := last.stage.Take(t.Context())
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		n := numberOf(taken)
		if l.gone[n] {
			l.twice = append(l.twice, n)
		}
		if n <= before {
			t.Errorf("item %d comes after item %d", n, before)
		}
		before, l.dealt[n] = n, true
		taken.Done(pipeline.Outcome{})
	}
	last.end(t)
	if len(l.twice) > 0 {
		t.Errorf("%d items came again after they were removed for good: %v", len(l.twice), l.twice)
	}
	lost := 0
	for n := range l.accepted {
		if !l.dealt[n] {
			lost++
		}
	}
	if lost > 0 {
		t.Errorf("%d items were acknowledged and are lost", lost)
	}
	d, err := storage.Open(l.dir, storage.Options{Queues: queue.Options{FS: fs}})
	if err == nil {
		defer d.Close()
		var store *queue.Store
		if store, err = d.Queues(); err == nil {
			err = store.Check(t.Context(), false, func(f fsck.Finding) { t.Error(f) })
		}
	}
	if err != nil {
		t.Error(err)
	}
}

var kills9 = flag.Int("kill9", 4, "how often a process is killed by the system (kill -9)")

// TestMain is the process that is killed, too.
func TestMain(m *testing.M) {
	if dir := os.Getenv("WEBRACE_TEST_QUEUE"); dir != "" {
		if err := live(dir, os.Getenv("WEBRACE_TEST_FROM")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// live puts numbers from one on, and deals with what comes; it prints what it was told. With no number it deals with
// what is left.
func live(dir, from string) error {
	d, err := storage.Open(dir, storage.Options{})
	if err != nil {
		return err
	}
	s, err := newStage(defaults, pipeline.NewEnv("p", "queue", lending(d)))
	if err != nil {
		return err
	}
	q := s.(*stage)
	if err := q.Open(context.Background()); err != nil {
		return err
	}
	if from == "" {
		q.Seal()
	} else {
		n, _ := strconv.Atoi(from)
		go func() {
			for ; ; n++ {
				line := fmt.Sprintln("accepted", n)
				_ = q.queue.Put(context.Background(), queue.Patience{}, queue.Record{Kind: "text", Body: strconv.AppendInt(nil, int64(n), 10)}, func(error) { fmt.Print(line) })
			}
		}()
	}
	for {
		l, err := q.Take(context.Background())
		if errors.Is(err, io.EOF) {
			return errors.Join(q.Close(), d.Close())
		}
		if err != nil {
			return err
		}
		n := numberOf(l)
		fmt.Println("dealt", n)
		l.(*lease).lease.Done(func(error) { fmt.Println("gone", n) })
	}
}

func TestKilledProcessLosesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	seen := map[string]map[int]bool{"accepted": {}, "dealt": {}, "gone": {}}
	twice := 0
	run := func(from string, lines int) {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), "WEBRACE_TEST_QUEUE="+dir, "WEBRACE_TEST_FROM="+from)
		c.Stderr = os.Stderr
		out, err := c.StdoutPipe()
		if err == nil {
			err = c.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		in := bufio.NewScanner(out)
		for n := 0; in.Scan(); n++ {
			what, number, whole := strings.Cut(in.Text(), " ")
			i, err := strconv.Atoi(number)
			if !whole || err != nil || seen[what] == nil {
				continue // a line that the kill has cut off
			}
			if what == "dealt" && seen["gone"][i] {
				twice++
			}
			seen[what][i] = true
			if n == lines {
				_ = c.Process.Kill()
			}
		}
		if err := c.Wait(); err != nil && c.ProcessState.Exited() {
			t.Fatal(err)
		}
	}
	for i := range *kills9 {
		run(strconv.Itoa(1e6*i), 50+rand.IntN(500))
	}
	run("", -1)
	lost := 0
	for n := range seen["accepted"] {
		if !seen["dealt"][n] {
			lost++
		}
	}
	t.Logf("%d kills: %d accepted, %d dealt with, %d gone for good; %d lost, %d twice", *kills9, len(seen["accepted"]), len(seen["dealt"]), len(seen["gone"]), lost, twice)
	if lost > 0 || twice > 0 || len(seen["accepted"]) == 0 || len(seen["gone"]) == 0 {
		t.Error("that must not be")
	}
}
