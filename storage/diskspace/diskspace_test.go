package diskspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// disk is a file system of limited size, in memory, which writes what fits of too much.
type disk struct {
	vfs.FS
	silent bool // reports that there is room, whatever there is, as with a quota
	total  int64

	mu    sync.Mutex
	used  int64
	calls int // that failed
}

func newDisk(total int64) *disk { return &disk{FS: vfs.NewMem(), total: total} }

func (d *disk) GetDiskUsage(string) (vfs.DiskUsage, error) {
	if d.silent {
		return vfs.DiskUsage{AvailBytes: 1 << 40, TotalBytes: 1 << 41, UsedBytes: 1 << 40}, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return vfs.DiskUsage{AvailBytes: uint64(d.total - d.used), TotalBytes: uint64(d.total), UsedBytes: uint64(d.used)}, nil
}

// take returns how much of n fits.
func (d *disk) take(n int) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	fits := min(int64(n), d.total-d.used)
	d.used += fits
	if int(fits) < n {
		d.calls++
		return int(fits), &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}
	}
	return n, nil
}

// counts returns how many bytes are written, and how many writes failed.
func (d *disk) counts() (used int64, failed int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.used, d.calls
}

func (d *disk) grow(n int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.total += n
}

func (d *disk) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if _, err := d.take(1); err != nil {
		return nil, err
	}
	f, err := d.FS.Create(name, c)
	return diskFile{f, d}, err
}

func (d *disk) MkdirAll(dir string, mode os.FileMode) error {
	if _, err := d.take(1); err != nil {
		return err
	}
	return d.FS.MkdirAll(dir, mode)
}

type diskFile struct {
	vfs.File
	disk *disk
}

func (f diskFile) Write(p []byte) (int, error) {
	n, full := f.disk.take(len(p))
	m, err := f.File.Write(p[:n])
	return m, errors.Join(err, full)
}

// Sync finds out that there is no room, but for quotas, which are looked at when something is written.
func (f diskFile) Sync() error {
	if f.disk.silent {
		return f.File.Sync()
	}
	_, err := f.disk.take(1)
	return err
}

// states records what a watch tells.
type states struct {
	mu  sync.Mutex
	all []State
}

func (s *states) add(st State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, st)
}

func (s *states) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var words []string
	for _, st := range s.all {
		words = append(words, fmt.Sprint(st.Paused))
	}
	return strings.Join(words, " ")
}

func watch(d *disk, told *states, reserve int64) *Watch {
	return New(Options{Dir: "data", FS: d, Reserve: reserve, Notify: told.add})
}

func TestAWriteThatFailsHalfWayIsCompletedOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, told := newDisk(1001), new(states)
		d.silent = true // so that the write itself fails
		fs := watch(d, told, 10).FS(d)
		f, err := fs.Create("f", vfs.WriteCategoryUnspecified)
		if err != nil {
			t.Fatal(err)
		}
		want := bytes.Repeat([]byte("0123456789"), 300)
		ended := make(chan error, 1)
		go func() {
			n, err := f.Write(bytes.Clone(want))
			if n != len(want) {
				err = fmt.Errorf("%d bytes: %w", n, err)
			}
			ended <- err
		}()
		for range 4 {
			synctest.Wait()
			select {
			case err := <-ended:
				t.Fatalf("it did not wait: %v", err)
			default:
			}
			if told.String() != "true" {
				t.Fatalf("told %v", told)
			}
			d.grow(500)
			time.Sleep(2 * time.Second)
		}
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		if told.String() != "true false" {
			t.Errorf("told %v", told)
		}
		got, err := d.FS.Open("f")
		if err != nil {
			t.Fatal(err)
		}
		if all, err := io.ReadAll(got); err != nil || !bytes.Equal(all, want) {
			t.Errorf("%d bytes, want %d: %v", len(all), len(want), err)
		}
	})
}

func TestTheReserveIsLeftAndAPauseEndsWhenThereIsTwiceAsMuch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, told := newDisk(10_000), new(states)
		w := watch(d, told, 1000)
		fs := w.FS(d)
		f := must(fs.Create("f", vfs.WriteCategoryUnspecified))(t)
		written := make(chan int, 100)
		go func() {
			for i := range 100 {
				f.Write(make([]byte, 100))
				written <- i
			}
		}()
		time.Sleep(time.Minute)
		d.mu.Lock()
		free, failures := d.total-d.used, d.calls
		d.mu.Unlock()
		if free < 1000 || free > 1200 || failures > 0 {
			t.Errorf("%d bytes are left, %d writes failed", free, failures)
		}
		if s := w.State(); !s.Paused || s.Need != 2000 || !strings.Contains(s.String(), "the disk of data is full") {
			t.Errorf("state %+v", s)
		}
		before := len(written)
		d.grow(2000 - free - 100) // not enough yet, though more than the reserve
		time.Sleep(time.Minute)
		if len(written) != before || told.String() != "true" {
			t.Errorf("%d more writes, told %v", len(written)-before, told)
		}
		d.grow(20_000)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if len(written) != 100 || told.String() != "true false" || w.State().Paused {
			t.Errorf("%d writes, told %v", len(written), told)
		}
	})
}

func TestWhileSomebodyWaitsAllDo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, told := newDisk(10_000), new(states)
		w := watch(d, told, 1000)
		fs := w.FS(d)
		f := must(fs.Create("f", vfs.WriteCategoryUnspecified))(t)
		var done sync.WaitGroup
		done.Go(func() { f.Write(make([]byte, 9500)) })
		synctest.Wait()
		g := make(chan error, 2)
		done.Go(func() { g <- fs.MkdirAll("small", 0o755) })
		done.Go(func() { g <- w.Do(t.Context(), func() error { return nil }) })
		synctest.Wait()
		if len(g) != 0 {
			t.Error("a writer writes during the pause")
		}
		d.grow(100_000)
		done.Wait()
		if told.String() != "true false" {
			t.Errorf("told %v", told)
		}
	})
}

// TestOneWriteThatSucceedsEndsThePauseOfAll lets several write one thing after the other, beginning at different
// times, so that some of them always wait until the pause is over.
func TestOneWriteThatSucceedsEndsThePauseOfAll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, told := newDisk(1000), new(states)
		d.used = 1000
		w := watch(d, told, 10)
		var writers sync.WaitGroup
		for i := range 4 {
			writers.Go(func() {
				time.Sleep(time.Duration(i) * 300 * time.Millisecond)
				for range 50 {
					if err := w.do(t.Context(), 1, func() error { _, err := d.take(1); return err }); err != nil {
						t.Error(err)
					}
					time.Sleep(time.Millisecond)
				}
			})
		}
		time.Sleep(5 * time.Second)
		d.grow(10_000)
		room := time.Now()
		writers.Wait()
		if took := time.Since(room); took > 2*w.options.Poll {
			t.Errorf("there was room, and all that was to be written was written %v later", took)
		}
		if got := told.String(); got != "true false" {
			t.Errorf("told was %s", got)
		}
	})
}

// TestWhatFailsForAnotherReasonEndsNoPause lets a writer that waits fail otherwise while another waits for room.
func TestWhatFailsForAnotherReasonEndsNoPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, told := newDisk(1000), new(states)
		d.silent = true // so that the writes themselves say that it is full
		w := watch(d, told, 10)
		var tried int
		var waiters sync.WaitGroup
		waiters.Go(func() {
			err := w.Do(t.Context(), func() error {
				if tried++; tried == 1 {
					return syscall.ENOSPC
				}
				return syscall.EIO
			})
			if !errors.Is(err, syscall.EIO) {
				t.Error(err)
			}
		})
		var room atomic.Bool
		waiters.Go(func() {
			err := w.Do(t.Context(), func() error {
				if !room.Load() {
					return syscall.ENOSPC
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
		time.Sleep(5 * time.Second)
		if got := told.String(); got != "true" {
			t.Errorf("told was %s before there was room", got)
		}
		room.Store(true)
		waiters.Wait()
		if got := told.String(); got != "true false" {
			t.Errorf("told was %s", got)
		}
	})
}

// TestWritersHaveRoomTogether lets one write begin, which then takes its time: what it is going to need is not there
// for another one, though the disk still has it.
func TestWritersHaveRoomTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, told := newDisk(1000), new(states)
		w := watch(d, told, 100)
		slow := make(chan struct{})
		write := func(n int, begin <-chan struct{}) {
			err := w.do(t.Context(), int64(n), func() error {
				<-begin
				_, err := d.take(n)
				return err
			})
			if err != nil {
				t.Error(err)
			}
		}
		at := make(chan struct{})
		close(at)
		go write(600, slow)
		synctest.Wait()
		go write(600, at)
		synctest.Wait()
		if used, _ := d.counts(); used != 0 || told.String() != "true" {
			t.Errorf("%d bytes are written and it was told %q: the second writer did not wait", used, told)
		}
		close(slow)
		d.grow(600)
		time.Sleep(time.Minute)
		if used, failed := d.counts(); used != 1200 || failed != 0 {
			t.Errorf("%d bytes are written, and %d writes failed", used, failed)
		}
	})
}

func TestAFailedSyncIsTold(t *testing.T) {
	t.Parallel()
	d := newDisk(5000)
	fs := watch(d, new(states), 10).FS(d)
	f := must(fs.Create("f", vfs.WriteCategoryUnspecified))(t)
	d.take(int(d.total - d.used))
	if err := f.Sync(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("got %v", err)
	}
}

func TestOtherFailuresAreNotRepeated(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for _, want := range []error{nil, broken, syscall.EIO, os.ErrPermission} {
		calls := 0
		err := watch(newDisk(1000), new(states), 10).Do(t.Context(), func() error {
			calls++
			return want
		})
		if !errors.Is(err, want) || calls != 1 {
			t.Errorf("%v: got %v after %d calls", want, err, calls)
		}
	}
}

func TestWaitersGiveUpWhenToldTo(t *testing.T) {
	t.Parallel()
	for name, giveUp := range map[string]func(*Watch, func()){
		"watch closed":  func(w *Watch, _ func()) { w.Close(); w.Close() },
		"context ended": func(_ *Watch, cancel func()) { cancel() },
	} {
		synctest.Test(t, func(t *testing.T) {
			told := new(states)
			w := watch(newDisk(1000), told, 10)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ended := make(chan error, 1)
			go func() { ended <- w.Do(ctx, func() error { return fmt.Errorf("f: %w", syscall.ENOSPC) }) }()
			synctest.Wait()
			giveUp(w, cancel)
			if err := <-ended; !errors.Is(err, syscall.ENOSPC) || told.String() != "true false" {
				t.Errorf("%s: got %v, told %v", name, err, told)
			}
		})
	}
}

// TestADatabaseOutlivesAFullDisk fills the disk many times while pebble writes, flushes and compacts.
func TestADatabaseOutlivesAFullDisk(t *testing.T) {
	t.Parallel()
	for _, silent := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			d, told := newDisk(200_000), new(states)
			d.silent = silent
			options := func(fs vfs.FS) *pebble.Options {
				return &pebble.Options{FS: fs, MemTableSize: 64 << 10, L0CompactionThreshold: 2, Logger: failing{t}}
			}
			db := must(pebble.Open("db", options(watch(d, told, 20_000).FS(d))))(t)
			stop := make(chan struct{})
			go func() {
				for {
					select {
					case <-time.After(3 * time.Second):
						d.grow(60_000)
					case <-stop:
						return
					}
				}
			}()
			value := func(i int) []byte { return fmt.Appendf(nil, "%01000d", i*7919) }
			const n = 4000
			for i := range n {
				if err := db.Set(fmt.Appendf(nil, "%d", i), value(i), pebble.Sync); err != nil {
					t.Fatal(err)
				}
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			close(stop)
			if pauses := strings.Count(told.String(), "true"); pauses < 2 {
				t.Errorf("%d pauses", pauses)
			}
			db = must(pebble.Open("db", options(d.FS)))(t)
			for i := range n {
				got, closer, err := db.Get(fmt.Appendf(nil, "%d", i))
				if err != nil || !bytes.Equal(got, value(i)) {
					t.Fatalf("%d: %v", i, err)
				}
				closer.Close()
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

type failing struct{ t *testing.T }

func (failing) Infof(string, ...any)        {}
func (f failing) Errorf(s string, a ...any) { f.t.Errorf(s, a...) }
func (f failing) Fatalf(s string, a ...any) { f.t.Errorf(s, a...); select {} }

func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
