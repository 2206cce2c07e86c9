package sparql

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/webrace/webrace/pipeline"
)

// An endpoint with other options takes the place of the one that there is, under load: its port is open all the time,
// each query that is answered is answered whole or told to come again, what was counted counts, and a reload that is
// refused changes nothing.
func TestAReloadTakesTheEndpointOver(t *testing.T) {
	t.Parallel()
	e := serving(t, defaults, said)
	query := e.of(names)
	var answered atomic.Int64
	var asking sync.WaitGroup
	enough := make(chan struct{})
	for range 3 {
		asking.Go(func() {
			for !t.Failed() {
				select {
				case <-enough:
					return
				default:
				}
				switch status, body, err := ask(query); {
				case status == 503, errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET): // as net/http leaves those that a server which ends has not read
				case status == 200 && err == nil && body == "name\r\nHarbour festival\r\nPort of Piraeus\r\n":
					answered.Add(1)
				default:
					t.Errorf("in a reload: %d %q, %v", status, body, err)
				}
			}
		})
	}
	more := func() {
		for before, deadline := answered.Load(), time.Now().Add(30*time.Second); answered.Load() == before; time.Sleep(time.Millisecond) {
			if t.Failed() || time.Now().After(deadline) {
				t.Fatal("queries are not answered any more")
			}
		}
	}
	changed := e.options
	for i := range 5 {
		more()
		changed.Queries = i + 1
		change, err := e.Reload(t.Context(), e.graph(changed))
		if err != nil || !slices.Equal(change.Replaced, []string{"sparql"}) {
			t.Fatalf("the reload has changed %v: %v", change, err)
		}
	}
	more()
	close(enough)
	asking.Wait()

	const token = "a token of more than sixteen"
	changed.Token = pipeline.NewSecret(token)
	if _, err := e.Reload(t.Context(), e.graph(changed)); err != nil {
		t.Fatal(err)
	}
	if n := e.Snapshot().Stages["sparql"].Counters["answered"]; n != answered.Load() {
		t.Errorf("%d queries were answered, and %d are counted", answered.Load(), n)
	}
	elsewhere := changed
	elsewhere.Listen = "192.0.2.1:1" // an address of documentation (RFC 5737), which no machine has
	if _, err := e.Reload(t.Context(), e.graph(elsewhere)); err == nil {
		t.Error("a reload to an address that is not there was done")
	}
	if r := get(t, query); r.status != 401 {
		t.Errorf("without the token that is needed since the reload: %+v", r)
	}
	if r := get(t, query, "Authorization", "Bearer "+token); r.status != 200 {
		t.Errorf("with the token: %+v", r)
	}
	e.Drain()
	report, err := e.Wait()
	if err != nil {
		t.Error(err)
	}
	if c := report.Stages["sparql"].Counters; int64(len(e.records))+c["unrecorded"] < c["answered"] {
		t.Errorf("of %d answers there are %d records, and %d are said to be left out", c["answered"], len(e.records), c["unrecorded"])
	}
}

// ask asks over a connection of its own.
func ask(query string) (status int, body string, err error) {
	r, err := http.NewRequest(http.MethodGet, query, nil)
	if err != nil {
		return 0, "", err
	}
	r.Close = true
	r.Header.Set("Accept", "text/csv")
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return 0, "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return answer.StatusCode, string(text), err
}
