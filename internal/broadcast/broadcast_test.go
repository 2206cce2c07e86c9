package broadcast_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/webrace/webrace/internal/broadcast"
)

func TestABroadcastWakesAllWhoWaitAndNoneWhoComeLater(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var c broadcast.Cond
		c.Broadcast() // to none
		woken := 0
		var waiters sync.WaitGroup
		var mu sync.Mutex
		for range 3 {
			next := c.Next()
			waiters.Go(func() {
				<-next
				mu.Lock()
				woken++
				mu.Unlock()
			})
		}
		synctest.Wait()
		if woken != 0 {
			t.Fatalf("%d are awake before the broadcast", woken)
		}
		c.Broadcast()
		later := c.Next()
		waiters.Wait()
		select {
		case <-later:
			t.Error("who came later is awake")
		default:
		}
	})
}

// A waiter that asks for the channel before it looks at the condition never sleeps through a change.
func TestAWaiterMissesNothing(t *testing.T) {
	t.Parallel()
	var c broadcast.Cond
	var n atomic.Int64
	const last = 10_000
	go func() {
		for range last {
			n.Add(1)
			c.Broadcast()
		}
	}()
	for {
		next := c.Next()
		if n.Load() == last {
			return
		}
		<-next
	}
}
