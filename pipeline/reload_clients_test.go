package pipeline

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// clients send odd numbers, all the time.
type clients struct {
	t       *testing.T
	w       *world
	next    atomic.Int64
	ok      atomic.Int64
	ended   atomic.Bool
	running sync.WaitGroup
}

func startClients(t *testing.T, w *world, n int) *clients {
	c := &clients{t: t, w: w}
	for range n {
		c.running.Go(func() {
			for !c.ended.Load() {
				c.send(int(c.next.Add(1))*2 - 1)
			}
		})
	}
	return c
}

// send dials until the number has been taken. A connection is never refused.
func (c *clients) send(i int) {
	for {
		c.w.mu.Lock()
		address := c.w.port.String()
		c.w.mu.Unlock()
		conn, err := net.Dial("tcp", address)
		if err != nil {
			c.t.Errorf("the port was lost: %v", err)
			return
		}
		fmt.Fprintln(conn, i)
		answer, err := bufio.NewReader(conn).ReadString('\n')
		conn.Close()
		switch {
		case answer == "ok\n":
			c.ok.Add(1)
			return
		case answer != "later\n":
			c.t.Errorf("item %d was answered %q, %v", i, answer, err)
			return
		}
	}
}

// progress waits until something more was taken, so that every reload happens under load.
func (c *clients) progress() {
	before := c.ok.Load()
	settle(func() bool { return c.ok.Load() > before || c.t.Failed() })
}

// stop returns the numbers that were sent.
func (c *clients) stop() (sent []int) {
	c.ended.Store(true)
	c.running.Wait()
	for i := range int(c.next.Load()) {
		sent = append(sent, i*2+1)
	}
	return sent
}

// settle waits until something is so, for at most ten seconds.
func settle(is func() bool) {
	for deadline := time.Now().Add(10 * time.Second); !is() && time.Now().Before(deadline); {
		time.Sleep(100 * time.Microsecond)
	}
}

// openFiles counts the descriptors of the process; 0 where that cannot be known.
func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(entries)
}
