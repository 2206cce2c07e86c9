package frontier

import (
	"testing"
	"time"

	"github.com/webrace/webrace"
)

// starves fails unless the queue reports that it starves, or that it does not, once what was handed in is written.
func (f *fixture) starves(want bool, when string) {
	f.t.Helper()
	f.written()
	if got := f.q.Starved(); got != want {
		f.t.Errorf("%s: starved is %t", when, got)
	}
}

// written waits until nothing that was handed in is left to be written.
func (f *fixture) written() {
	f.t.Helper()
	for end := time.Now().Add(f.patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		f.q.mu.Lock()
		steps := f.q.steps
		f.q.mu.Unlock()
		if steps == 0 {
			return
		}
	}
	f.t.Fatal("what was handed in is not written")
}

func TestAQueueStarvesWhenItWaitsForLeasesAlone(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{MaxLeases: 2})
	f.starves(false, "empty")
	f.seed(1, pages("a", 4)...)
	f.starves(false, "nothing is out")
	first := f.hold()
	f.none()
	f.starves(true, "the host has no further connection")
	first.Release(webrace.HostReport{NotBefore: time.Now().Add(time.Hour)})
	f.none()
	f.starves(false, "the host rests, and more crawls may be started")
	f.q.Seal()
	f.starves(true, "the run would not wait for the host")
	f.done(first)
	f.starves(false, "the run can end")
}

func TestAQueueStarvesWhenAsManyAreOutAsMayBe(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{MaxLeases: 2})
	f.seed(1, append(pages("a", 2), pages("b", 2)...)...)
	first := f.take()
	f.starves(false, "one may be out")
	f.take()
	f.none()
	f.starves(true, "two are out")
	f.done(first)
	f.starves(false, "one is out")
}

func TestASealedQueueStarvesWhenTheLastIsOut(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{})
	f.seed(1, pages("a", 1)...)
	last := f.take()
	f.none()
	f.starves(false, "more may come")
	f.q.Seal()
	f.starves(true, "the run waits for it")
	f.done(last)
	f.starves(false, "the run is over")
	f.end()
}

// TestAQueueDoesNotStarveWhileAHostRestsForAMoment keeps what is behind it from going on in pieces.
func TestAQueueDoesNotStarveWhileAHostRestsForAMoment(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{})
	f.seed(1, pages("a", 2)...)
	f.q.Seal()
	f.hold().Release(webrace.HostReport{NotBefore: time.Now().Add(30 * time.Second)})
	f.none()
	f.starves(false, "the run waits for the host")
}
