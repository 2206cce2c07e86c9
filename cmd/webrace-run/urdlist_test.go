package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace/xmlschema"
)

// inList is what urd list prints of a URD.
type inList struct {
	LastCheck time.Time `json:"last_check"`
	Outcome   string    `json:"outcome"`
	Next      string    `json:"next"`
}

func (w *world) urdList() map[string]inList {
	w.t.Helper()
	said, status := w.store("urd", "list", "--json")
	all := make(map[string]inList)
	for line := range strings.Lines(said) {
		var u struct {
			ID string `json:"id"`
			inList
		}
		if err := json.Unmarshal([]byte(line), &u); status != 0 || err != nil {
			w.t.Fatalf("exit status %d, %v:\n%s", status, err, said)
		}
		all[u.ID] = u.inList
	}
	return all
}

// Who watches a page sees when it was last looked at, what came of it, and when it will be again.
func TestURDListSaysWhenEachWasCheckedAndWillBe(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, path := range []string{"/changes", "/stays", "/later", "/timed"} {
		w.page(path, "tea "+path)
	}
	const day = 24 * time.Hour
	first := time.Now().AddDate(0, 6, 0) // of that month
	first = time.Date(first.Year(), first.Month(), 1, 0, 0, 0, 0, time.UTC)
	timed := func(u *xmlschema.URD) { u.At = fmt.Sprintf("0 0 1 %d *", first.Month()) }
	urds := these(w.asks("timed", "/timed", timed),
		w.asks("changes", "/changes", every(day)), w.asks("stays", "/stays", every(day)),
		w.asks("gone", "/gone", every(day)), w.asks("prefix", "/*"),
	)
	w.run(append(urds, w.asks("again", "/stays", every(10*day))))
	w.page("/changes", "coffee")
	began := time.Now().Truncate(time.Second)
	w.run(urds, askAll...)
	later := w.asks("later", "/later")
	file := t.TempDir() + "/later.xml"
	writeFile(t, file, string(xmlschema.URDs(these(later)).Canonical()))
	if said, status := w.store("urd", "import", file); status != 0 {
		t.Fatal(said)
	}
	got := w.urdList()
	for id, outcome := range map[string]string{
		"changes": "changed", "stays": "unchanged", "again": "unchanged", "gone": "failed: 404 " + http.StatusText(http.StatusNotFound),
		"later": "never checked", "prefix": "", "timed": "unchanged",
	} {
		if got[id].Outcome != outcome {
			t.Errorf("the outcome of %s is %q, want %q", id, got[id].Outcome, outcome)
		}
	}
	for id, checked := range got {
		next, err := time.Parse(time.RFC3339, checked.Next)
		switch id {
		case "later", "prefix":
			if want := map[string]string{"later": "now"}[id]; !checked.LastCheck.IsZero() || checked.Next != want {
				t.Errorf("%s: %+v", id, checked)
			}
		case "timed":
			if !next.Equal(first) {
				t.Errorf("%s: %+v, want it due at %v", id, checked, first)
			}
		default: // between an eighth of the timing and all of it; the most demanding of two decides
			if wait := next.Sub(checked.LastCheck); checked.LastCheck.Before(began) || err != nil || wait < day/8-time.Minute || wait > day {
				t.Errorf("%s: %+v, next after %v", id, checked, wait)
			}
		}
	}
	if got["again"] != got["stays"] {
		t.Errorf("two that share a crawl: %+v and %+v", got["again"], got["stays"])
	}
	if said, status := w.store("urd", "check", "stays"); status != 0 {
		t.Fatal(said)
	}
	if next := w.urdList()["stays"].Next; next != "now" {
		t.Errorf("once a check is asked for, the next is %s", next)
	}
}
