// Package diskspace makes writers wait while a disk is full, instead of failing.
//
// A [Watch] is for one disk. Writes through its [Watch.FS], and operations through its [Watch.Do], that
// fail for want of space wait until there is some and are repeated: the writer notices nothing but the
// time. What it guarantees: bytes of a write that failed half-way are written once, in their place; nothing
// is repeated that failed for another reason.
//
// Whoever cannot open a file because this process has no descriptor left waits and tries again alike, but others go on;
// and so does who wants something of a server that is away: whose error has a method Away that returns true.
//
// One failure cannot be waited out: after a failed sync it is not known what of the file is on the disk,
// so its error is returned. Some file systems take a write and find out when they sync that there is no space.
// So writers wait already when the disk has less left than a reserve; the error of a sync is then one that
// other programs' writing caused, faster than it was looked for. The reserve also is the space in which
// something can be removed, as the collection of garbage has to write before it frees.
package diskspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Options of a watch.
type Options struct {
	Dir     string        // a directory on the disk
	FS      vfs.FS        // asked how much space there is; nil: the operating system
	Reserve int64         // bytes that are left free; 0: 64 MiB, or a twentieth of a smaller disk
	Poll    time.Duration // how often it is looked for space while there is none; 0: 1 s
	// Notify is called when writers begin to wait, and when they go on. It must neither wait nor call the
	// watch. It may be nil.
	Notify func(State)
	// Exhausted is called when a file cannot be opened for want of a descriptor, once until one can. It may be nil.
	Exhausted func(error)
	// Away is called with the error when a server is away that is waited for, and with nil when it is back. It may be
	// nil.
	Away func(error)
}

// State is how a disk stands.
type State struct {
	Dir    string
	Paused bool
	Since  time.Time // of the pause
	Free   int64     // bytes, when last looked at
	Need   int64     // so many free bytes end the pause
}

// String describes it to a person.
func (s State) String() string {
	if !s.Paused {
		return fmt.Sprintf("there is room on the disk of %s again: it goes on", s.Dir)
	}
	return fmt.Sprintf("the disk of %s is full: paused; it goes on when there are %d MB free", s.Dir, (s.Need+1<<20-1)>>20)
}

// Watch lets writers wait for disk space. Its methods may be called concurrently.
type Watch struct {
	options Options
	closed  chan struct{}
	close   sync.Once

	mu        sync.Mutex
	state     State
	waiting   int
	exhausted bool          // it was told that there are no descriptors
	away      int           // who waits for a server
	over      chan struct{} // closed at the end of the pause that there is
	writing   int64         // bytes that were admitted and may not be on the disk yet
	allowance int64         // bytes that may be written before it is looked again
	looked    time.Time     // when that was granted
}

const (
	defaultReserve = 64 << 20
	// lookEvery bounds how long an allowance is good for: others write to the disk too.
	lookEvery = time.Second
)

// New returns a watch of the disk that holds a directory.
func New(o Options) *Watch {
	if o.FS == nil {
		o.FS = vfs.Default
	}
	o.Poll = cmp.Or(o.Poll, time.Second)
	return &Watch{options: o, closed: make(chan struct{}), state: State{Dir: o.Dir}}
}

// State returns how the disk stands.
func (w *Watch) State() State {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.state
}

// Close gives up: each waiting call gets the error of the write that failed, and none waits any more.
func (w *Watch) Close() { w.close.Do(func() { close(w.closed) }) }

// Closed reports whether the watch gave up.
func (w *Watch) Closed() bool {
	select {
	case <-w.closed:
		return true
	default:
		return false
	}
}

// Do runs f, and again while it fails for want of space, each time when there is some, or because a server is away. It
// gives up with the last error when the context ends or the watch is closed.
func (w *Watch) Do(ctx context.Context, f func() error) error {
	return w.serving(ctx, func() error { return w.do(ctx, 0, f) })
}

// do runs f, which writes about so many bytes.
func (w *Watch) do(ctx context.Context, size int64, f func() error) error {
	return w.opening(ctx, func() error {
		var failed error
		if w.admits(size, false) {
			if failed = w.write(size, f); !IsFull(failed) {
				return failed
			}
		}
		return w.doWhenThereIsSpace(ctx, size, f, failed)
	})
}

// doWhenThereIsSpace is do after f has failed, or has not been tried for want of space.
func (w *Watch) doWhenThereIsSpace(ctx context.Context, size int64, f func() error, failed error) error {
	w.enter()
	written := false
	defer func() { w.leave(written) }()
	for {
		if err := w.wait(ctx, size); err != nil {
			return errors.Join(failed, err)
		}
		if failed = w.write(size, f); !IsFull(failed) {
			written = failed == nil // what fails for another reason tells nothing of the space there is
			return failed
		}
	}
}

// write runs f, whose size bytes were admitted.
func (w *Watch) write(size int64, f func() error) error {
	defer func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.writing -= size
	}()
	return f()
}

// wait returns when there is space, which is then admitted: at the earliest after a while, so that what fails though
// there seems to be space, as for want of a quota, does not spin; or when another writer that waited has written.
func (w *Watch) wait(ctx context.Context, size int64) error {
	over := w.pause()
	tick := time.NewTicker(w.options.Poll)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if w.admits(size, true) {
				return nil
			}
		case <-over:
			if w.admits(size, false) {
				return nil
			}
			over = w.pause()
		case <-ctx.Done():
			return fmt.Errorf("wait for room on the disk of %s: %w", w.options.Dir, context.Cause(ctx))
		case <-w.closed:
			return fmt.Errorf("no room on the disk of %s: %w", w.options.Dir, syscall.ENOSPC)
		}
	}
}

func (w *Watch) enter() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting++
}

// leave ends the pause of all if a writer that waited has written what it had to, or if none waits any more.
func (w *Watch) leave(written bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting--
	if w.state.Paused && (written || w.waiting == 0) {
		w.state.Paused = false
		close(w.over)
		w.notify()
	}
}

// pause begins a pause, if there is none, and returns what is closed at its end.
func (w *Watch) pause() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.state.Paused {
		free, reserve, _ := w.look()
		w.state = State{Dir: w.options.Dir, Paused: true, Since: time.Now(), Free: free, Need: need(reserve)}
		w.over = make(chan struct{})
		w.notify()
	}
	return w.over
}

func (w *Watch) notify() {
	if w.options.Notify != nil {
		w.options.Notify(w.state)
	}
}

// need is how much must be free for a pause to end: more than what begins one, or it would begin again at
// once.
func need(reserve int64) int64 { return 2 * reserve }

// admits reports whether size bytes may be written now, and counts them until [Watch.write] has done so: what several
// writers are about to write must fit together. During a pause none may write, until it can end; a writer that has
// waited for that may then.
func (w *Watch) admits(size int64, waited bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.fits(size, waited) {
		return false
	}
	w.writing += size
	return true
}

func (w *Watch) fits(size int64, waited bool) bool {
	paused := w.state.Paused
	if !paused && size <= w.allowance && time.Since(w.looked) < lookEvery {
		w.allowance -= size
		return true
	}
	if paused && !waited {
		return false
	}
	free, reserve, known := w.look()
	if !known {
		return true // the write itself will tell
	}
	if paused {
		reserve = need(reserve)
	}
	w.state.Free = free
	left := free - reserve - size - w.writing
	if left < 0 {
		return false
	}
	w.allowance, w.looked = left/8, time.Now()
	return true
}

// look asks how much space there is, and how much of it is to be left.
func (w *Watch) look() (free, reserve int64, known bool) {
	usage, err := w.options.FS.GetDiskUsage(w.options.Dir)
	if err != nil {
		return 0, w.options.Reserve, false
	}
	reserve = cmp.Or(w.options.Reserve, min(defaultReserve, int64(usage.TotalBytes/20)))
	return int64(usage.AvailBytes), reserve, true
}
