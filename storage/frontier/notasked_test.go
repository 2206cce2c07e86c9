package frontier

import (
	"errors"
	"testing"
	"time"
)

// TestWhatWasNotAskedCostsNoAttempt: a URL may come back unasked as often as its host rests, also when the
// process dies meanwhile, and is asked when its time comes.
func TestWhatWasNotAskedCostsNoAttempt(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{Attempts: 2})
	f.start(crawlOf("a.org"), true)
	for i := range 5 {
		l := f.take()
		if v := l.Request().Visit; v != nil {
			t.Errorf("a visit is known of what was never asked: %+v", v)
		}
		f.finish(l, Outcome{Err: errors.New("it rests"), RetryAt: time.Now(), NotAsked: true})
		if i == 2 {
			f.crash()
			f.start(crawlOf("a.org"), true)
		}
	}
	if failed := f.failed(); len(failed) != 0 {
		t.Errorf("failed: %+v", failed)
	}
	f.done(f.take())
	f.q.Seal()
	f.end()
}
