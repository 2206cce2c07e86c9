package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// The shipped pipeline notify, with a site whose start page vanishes and comes back: annotations are sent as
// they come, and the owner is told of the outage once, and of its end once.
func TestNotifySendsAnnotationsAndTellsOfASourceThatFailsOnce(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var sent []string
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var said struct {
			Owner, Title, State string
			Failures            int
		}
		if err := json.NewDecoder(r.Body).Decode(&said); err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		if said.State != "" {
			said.Title = fmt.Sprint(said.State, " ", said.Failures)
		}
		sent = append(sent, said.Owner+": "+said.Title)
	}))
	defer hook.Close()

	w := newWorld(t)
	urds := these(w.asks("ann", "/", about("tea")))
	round := func() string {
		w.run(urds, append([]string{"notify", "--set", "http-out.url=" + hook.URL, "--set", "http-out.allow_networks=loopback"}, askAll...)...)
		mu.Lock()
		defer mu.Unlock()
		defer func() { sent = nil }()
		slices.Sort(sent)
		return strings.Join(sent, ", ")
	}
	var told []string
	for _, page := range []string{"", "", "", "", "tea", "tea"} { // the first four: 404
		if page != "" {
			w.page("/", page)
		}
		told = append(told, round())
	}
	title := w.acisTitle()
	if want := []string{"", "", "ann: failing 3", "", "ann: " + title + ", ann: recovered 4", ""}; !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
}

// acisTitle is the title of the one annotation there is.
func (w *world) acisTitle() string {
	w.t.Helper()
	acis := w.acis()
	if len(acis) != 1 {
		w.t.Fatalf("%d annotations", len(acis))
	}
	return acis[0].Title
}
