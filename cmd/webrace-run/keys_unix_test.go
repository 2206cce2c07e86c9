//go:build unix

package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/webrace/webrace/internal/testutil"
)

// receipts is a webhook that notes which keys came with each event, and kills the sender while it waits for an answer.
type receipts struct {
	mu       sync.Mutex
	closed   bool                      // it takes nothing yet
	keys     map[string]map[string]int // how often, by event and key
	distinct int                       // keys
	requests int
	kill     func()        // nil: no program runs
	all      chan struct{} // closed when there are as many keys as events
	events   int
}

func (l *receipts) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil || l.closed {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	event, key := string(body), r.Header.Get("Idempotency-Key")
	if l.keys[event] == nil {
		l.keys[event] = make(map[string]int)
	}
	if l.keys[event][key]++; l.keys[event][key] == 1 {
		if l.distinct++; l.distinct == l.events {
			close(l.all)
		}
	}
	if l.requests++; l.requests%30 == 0 && l.kill != nil {
		l.kill() // what is answered from here on arrives nowhere
		l.kill = nil
	}
}

func (l *receipts) set(closed bool, kill func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed, l.kill = closed, kill
}

// Events that say the same are as many as were sent, and one that is sent again, because its sender was killed between
// the delivery and its end, has the key that it had.
func TestKeysOfEqualEventsThroughKills(t *testing.T) {
	t.Parallel()
	const stages = `http-in.listen = %q
map.set.seen = "'yes'"
batch = { count = 3, period = "20ms" }
http-out = { url = %q, allow_networks = ["loopback"], attempts = 0, backoff = "5ms", max_backoff = "20ms" }
`
	t.Run("one pipeline", func(t *testing.T) {
		t.Parallel()
		text := `version = 1
[pipeline.pass]
flow = ["http-in > queue > map > batch > http-out"]
[pipeline.pass.stage]
` + stages
		keysThroughKills(t, text, []string{"pass"}, []string{"pass"})
	})
	for name, later := range map[string][]string{"a queue between two": {"put", "take"}, "one after the other": {"take"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := `version = 1
[pipeline.put]
flow = ["http-in > queue"]
[pipeline.put.stage]
queue.name = "events"
HTTP-IN
[pipeline.take]
flow = ["queue > map > batch > http-out"]
[pipeline.take.stage]
queue.name = "events"
`
			in, out, _ := strings.Cut(stages, "\n")
			keysThroughKills(t, strings.Replace(text, "HTTP-IN", in, 1)+out, []string{"put"}, later)
		})
	}
}

// keysThroughKills sends events to the pipelines that run first, kills them, and then kills those that run later.
func keysThroughKills(t *testing.T, stages string, first, later []string) {
	const different, equal = 20, 5
	data := t.TempDir()
	hook := &receipts{closed: true, keys: make(map[string]map[string]int), all: make(chan struct{}), events: different * equal}
	receiver := httptest.NewServer(hook)
	defer receiver.Close()
	config, listen := filepath.Join(data, "pipelines.toml"), testutil.FreeAddress(t)
	text := fmt.Sprintf(stages, listen, receiver.URL)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	options := []string{"--config", config, "--data", data, "--log", "text"}
	p := startCommand(t, append(first, options...)...)
	sendEvents(t, p, "http://"+listen, different, equal)
	_ = p.Process.Kill()
	_ = p.Wait()
	kills := 0
	for over := false; !over; {
		p := startCommand(t, append(later, options...)...)
		hook.set(false, func() { _ = p.Process.Kill() })
		ended := make(chan error, 1)
		go func() { ended <- p.Wait() }()
		select {
		case err := <-ended:
			if kills++; kills > 50 || p.ProcessState.ExitCode() >= 0 {
				t.Fatalf("it ended by itself, or gets nowhere: %v after %d kills\n%s", err, kills, p.said())
			}
		case <-hook.all:
			hook.set(false, nil)
			_ = p.Process.Signal(os.Interrupt)
			<-ended
			over = true
		}
	}
	hook.mu.Lock()
	defer hook.mu.Unlock()
	again := 0
	for event, keys := range hook.keys {
		if len(keys) != equal {
			t.Errorf("%s came with %d keys, and was sent %d times", event, len(keys), equal)
		}
		for _, n := range keys {
			again += n - 1
		}
	}
	if kills < 2 || again == 0 || len(hook.keys) != different {
		t.Errorf("%d kills, %d deliveries repeated, %d events", kills, again, len(hook.keys))
	}
	t.Logf("%d kills, %d deliveries of %d events repeated", kills, again, different*equal)
}

// sendEvents sends so many events, each so often.
func sendEvents(t *testing.T, p *command, url string, different, equal int) {
	t.Helper()
	var lines strings.Builder
	for i := range different {
		fmt.Fprintf(&lines, "{\"event\":%d}\n", i)
	}
	for sent, deadline := 0, time.Now().Add(time.Minute); sent < equal; {
		answer, err := http.Post(url, "application/x-ndjson", strings.NewReader(lines.String()))
		if err != nil && time.Now().Before(deadline) { // it does not listen yet
			time.Sleep(20 * time.Millisecond)
			continue
		}
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("%v, %+v\n%s", err, answer, p.said())
		}
		_ = answer.Body.Close()
		sent++
	}
}
