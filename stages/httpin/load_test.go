package httpin

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/webrace/webrace/pipeline"
)

var (
	load    = flag.Duration("load", 500*time.Millisecond, "how long the load of TestLoad lasts")
	perSec  = flag.Int("rate", 10_000, "requests a second that it sends")
	clients = flag.Int("clients", 400, "connections that it has")
)

// TestLoad sends more than a slow stage can deal with: every 200 was dealt with, everything is answered, and memory
// is bounded.
func TestLoad(t *testing.T) {
	const inFlight, body = 200, 4 << 10
	var mu sync.Mutex
	dealt := map[string]bool{}
	budget := pipeline.NewMemory(1 << 20)
	o := with(func(o *Options) { o.InFlight, o.Format = inFlight, "bytes" })
	run := start(t, o, "", pipeline.RunOptions{Memory: budget}, func(it *pipeline.Item) error {
		time.Sleep(2 * time.Millisecond) // a sink that is slower than what is sent
		mu.Lock()
		defer mu.Unlock()
		dealt[string(it.Value.([]byte)[:16])] = true
		return nil
	})
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var peak, used uint64
	var sent atomic.Int64
	codes := map[int]int{}
	wrong := 0
	began := time.Now()
	var all sync.WaitGroup
	for range *clients {
		all.Go(func() {
			payload := bytes.Repeat([]byte{'x'}, body)
			client := newClient(t, run.url, body)
			for time.Since(began) < *load {
				n := sent.Add(1)
				time.Sleep(time.Until(began.Add(time.Duration(n) * time.Second / time.Duration(*perSec))))
				copy(payload, fmt.Appendf(nil, "%016d", n))
				status, err := client.send(payload)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				codes[status]++
				if status == 200 && !dealt[string(payload[:16])] {
					wrong++
				}
				mu.Unlock()
			}
		})
	}
	over := make(chan struct{})
	go func() { all.Wait(); close(over) }()
	for watching := true; watching; {
		select {
		case <-over:
			watching = false
		case <-time.After(20 * time.Millisecond):
		}
		runtime.ReadMemStats(&now)
		peak = max(peak, now.HeapInuse)
		used = max(used, uint64(budget.State().Used))
	}
	took := time.Since(began)
	t.Logf("%d requests in %v, %.0f a second: answers %v, %d of the 200 not dealt with; heap %d KiB before, %d at most; budget used %d of %d bytes at most",
		sent.Load(), took.Round(time.Millisecond), float64(sent.Load())/took.Seconds(), codes, wrong, before.HeapInuse>>10, peak>>10, used, budget.State().Size)
	if wrong > 0 || codes[200] == 0 || len(codes) > 3 {
		t.Errorf("%d answers of 200 for what was not dealt with; answers %v", wrong, codes)
	}
	for code := range codes {
		if code != 200 && code != 503 && code != 504 {
			t.Errorf("%d answers of %d", codes[code], code)
		}
	}
	if grown := int64(peak) - int64(before.HeapInuse); grown > 64<<20 {
		t.Errorf("the heap grew by %d MiB", grown>>20)
	}
}

// client sends requests over one connection, at less cost than net/http, so that the load is the server's.
type client struct {
	conn net.Conn
	in   *bufio.Reader
	head []byte
}

func newClient(t *testing.T, url string, length int) *client {
	host := strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/")
	conn, err := net.Dial("tcp", host)
	if err != nil {
		t.Error(err)
		return nil
	}
	t.Cleanup(func() { conn.Close() })
	return &client{conn, bufio.NewReaderSize(conn, 512), fmt.Appendf(nil, "POST / HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n\r\n", host, length)}
}

func (c *client) send(body []byte) (status int, err error) {
	if c == nil {
		return 0, errors.New("not connected")
	}
	if _, err := (&net.Buffers{c.head, body}).WriteTo(c.conn); err != nil {
		return 0, err
	}
	answer, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, answer.Body)
	return answer.StatusCode, err
}
