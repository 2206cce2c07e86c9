//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/webrace/webrace/xmlschema"
)

// ledger is a webhook that notes which keys each annotation came with, and kills the sender now and then.
type ledger struct {
	mu       sync.Mutex
	keys     map[string]map[string]int // how often, by annotation and key
	requests int
	kill     func() // nil: no program runs
}

func (l *ledger) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var aci struct{ ID string }
	if err == nil {
		err = json.Unmarshal(body, &aci)
	}
	if err != nil {
		return // it was killed while it wrote
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.keys[aci.ID] == nil {
		l.keys[aci.ID] = make(map[string]int)
	}
	l.keys[aci.ID][r.Header.Get("Idempotency-Key")]++
	if l.requests++; l.requests%300 == 0 && l.kill != nil {
		l.kill() // what is answered from here on arrives nowhere
		l.kill = nil
	}
}

// Deliveries are killed in the middle: every annotation arrives, and what arrives twice has the same key.
func TestKilledDeliveriesLoseNothing(t *testing.T) {
	t.Parallel()
	const annotations = 700
	data := t.TempDir()
	putAnnotations(t, data, annotations)
	hook := &ledger{keys: make(map[string]map[string]int)}
	server := httptest.NewServer(hook)
	defer server.Close()
	config := filepath.Join(data, "pipelines.toml")
	text := fmt.Sprintf("version = 1\n[pipeline.hook]\nflow = [\"acis > http-out\"]\n[pipeline.hook.stage.http-out]\nurl = %q\nallow_networks = [\"loopback\"]\n", server.URL)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	kills := 0
	for {
		p := startCommand(t, "hook", "--config", config, "--data", data, "--log", "text")
		hook.mu.Lock()
		hook.kill = func() { _ = p.Process.Kill() }
		hook.mu.Unlock()
		if !p.isKilled() {
			break
		}
		if kills++; kills > 20 {
			t.Fatal("it gets nowhere")
		}
	}
	hook.mu.Lock()
	defer hook.mu.Unlock()
	twice := 0
	for id, keys := range hook.keys {
		for key, n := range keys {
			if len(keys) != 1 || key == "" {
				t.Fatalf("%s came with the keys %v", id, keys)
			}
			twice += n - 1
		}
	}
	if len(hook.keys) != annotations || kills < 2 {
		t.Errorf("%d of %d annotations arrived, with %d kills", len(hook.keys), annotations, kills)
	}
	t.Logf("%d kills, %d of %d annotations delivered again", kills, twice, annotations)
}

func putAnnotations(t *testing.T, data string, n int) {
	t.Helper()
	store, closeDir := openControl(t, data)
	defer closeDir()
	var acis []*xmlschema.ACI
	for i := range n {
		acis = append(acis, &xmlschema.ACI{
			ID: fmt.Sprintf("a%d", i), URD: "u1", Owner: "eleni", URI: fmt.Sprintf("https://a.org/%d", i), Title: "t", Format: xmlschema.FormatHTML, Urgency: 1,
			UpdateTime: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		})
	}
	if _, err := store.PutACIs(t.Context(), acis); err != nil {
		t.Fatal(err)
	}
}
