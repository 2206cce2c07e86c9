package objects

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// slowDisk is a file system whose syncs of segments wait until the test lets each go on, by sending why it fails, or
// nil.
type slowDisk struct {
	vfs.FS
	begun chan struct{}
	goOn  chan error
}

func newSlowDisk() *slowDisk {
	d := &slowDisk{begun: make(chan struct{}), goOn: make(chan error)}
	d.FS = errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind != errorfs.OpFileSyncData || !strings.Contains(op.Path, "seg-") {
			return nil
		}
		d.begun <- struct{}{}
		return <-d.goOn
	}))
	return d
}

// await calls AwaitDurable beside the test, and returns once it waits.
func await(t *testing.T, s *Store, ctx context.Context) <-chan error {
	t.Helper()
	before := waiting(s)
	answer := make(chan error, 1)
	go func() { answer <- s.AwaitDurable(ctx) }()
	for waiting(s) == before {
		select {
		case err := <-answer:
			t.Fatalf("it does not wait for what is on its way: %v", err)
		default:
			runtime.Gosched()
		}
	}
	return answer
}

func waiting(s *Store) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.waiters)
}

// accept puts a page, and does not wait for what becomes of it.
func accept(t *testing.T, s *Store, url, body string) Version {
	t.Helper()
	v, err := s.Put(page(url, body), nil)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestAwaitDurableWaitsForWhatWasAcceptedBeforeAndNothingElse(t *testing.T) {
	disk := newSlowDisk()
	s := open(t, disk, Options{})
	defer s.Close()
	ended, end := context.WithCancel(t.Context())
	end()
	if err := s.AwaitDurable(ended); err != nil {
		t.Errorf("it waits for nothing: %v", err)
	}
	v := accept(t, s, home, "first")
	<-disk.begun
	first, also := await(t, s, t.Context()), await(t, s, t.Context())
	accept(t, s, home, "second")
	if _, err := s.Get(home, v.Number); !errors.Is(err, ErrNotFound) {
		t.Fatalf("the first version is durable before its sync: %v", err)
	}
	disk.goOn <- nil
	if err := errors.Join(<-first, <-also); err != nil {
		t.Error(err)
	}
	if got, err := s.Get(home, v.Number); err != nil || got.Digest != v.Digest {
		t.Errorf("what was waited for is %+v, %v", got, err)
	}
	<-disk.begun // the second one, which the calls did not wait for
	second := await(t, s, t.Context())
	disk.goOn <- nil
	if err := <-second; err != nil {
		t.Error(err)
	}
}

func TestAwaitDurableObeysItsContext(t *testing.T) {
	disk := newSlowDisk()
	s := open(t, disk, Options{})
	defer s.Close()
	accept(t, s, home, "x")
	<-disk.begun
	ctx, cancel := context.WithCancel(t.Context())
	answer := await(t, s, ctx)
	cancel()
	if err := <-answer; !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled call: %v", err)
	}
	disk.goOn <- nil
}

func TestAwaitDurableSaysWhatNeverWillBeDurable(t *testing.T) {
	disk := newSlowDisk()
	s := open(t, disk, Options{})
	accept(t, s, home, "x")
	<-disk.begun
	answer := await(t, s, t.Context())
	disk.goOn <- errorfs.ErrInjected
	if err := <-answer; !errors.Is(err, errorfs.ErrInjected) {
		t.Errorf("a sync that failed: %v", err)
	}
	if err := s.AwaitDurable(t.Context()); !errors.Is(err, errorfs.ErrInjected) {
		t.Errorf("after a sync that failed: %v", err)
	}
	s.Close()
	if err := s.AwaitDurable(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// Closing makes all that was accepted durable, also for the callers that wait for it.
func TestClosingAnswersThoseWhoAwaitDurability(t *testing.T) {
	disk := newSlowDisk()
	s := open(t, disk, Options{})
	for i := range 3 {
		accept(t, s, fmt.Sprint(home, i), "x")
	}
	<-disk.begun
	answer := await(t, s, t.Context())
	closed := make(chan error)
	go func() { closed <- s.Close() }()
	for more := true; more; {
		select {
		case disk.goOn <- nil:
		case <-disk.begun:
		case err := <-closed:
			if err != nil {
				t.Error(err)
			}
			more = false
		}
	}
	if err := <-answer; err != nil {
		t.Errorf("a call that waited when the store was closed: %v", err)
	}
}
