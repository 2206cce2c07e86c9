//go:build unix

package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/scope"
	"github.com/webrace/webrace/storage/frontier"
)

// A crawl is killed five times while requests are out: what its rules have decided is what they decide of the links
// of each page, once.
func TestHitsOfRulesAreExactThroughKills(t *testing.T) {
	t.Parallel()
	const pages, kills = 60, 5
	rules := []string{"deny path /private", "allow path /page"}
	w := newWorld(t)
	want := map[string]int64{rules[1]: 1} // the start
	for n := range pages {
		links := []string{"/page/0", fmt.Sprintf("/private/%d", n), "/private/same"}
		want[rules[0]] += 2
		want[rules[1]]++
		for _, next := range []int{3*n + 1, 3*n + 2, 3*n + 3} {
			if next < pages {
				links = append(links, fmt.Sprintf("/page/%d", next))
				want[rules[1]]++
			}
		}
		w.page(fmt.Sprintf("/page/%d", n), links...)
	}
	urds := these(w.asks("ann", "/page/0", depth(0)))
	args := []string{"--set", "frontier.rules=" + tomlList(rules)}
	for kill := range kills {
		p := w.start(urds, args...)
		waitFor(t, func() bool {
			w.mu.Lock()
			defer w.mu.Unlock()
			return len(w.asked) >= (kill+1)*pages/(kills+1)
		}, func() string { return "too little is asked for:\n" + p.said() })
		p.Process.Kill()
		if !p.isKilled() {
			t.Fatalf("it has ended before kill %d:\n%s", kill+1, p.said())
		}
	}
	p := w.start(urds, args...)
	p.mustExit(0)
	asked := map[string]bool{}
	for _, a := range w.requestsInOrder() {
		if asked[a.path] = true; strings.HasPrefix(a.path, "/private") {
			t.Errorf("%s is asked for", a.path)
		}
	}
	if len(asked) != pages {
		t.Errorf("%d pages are asked for, want %d", len(asked), pages)
	}
	dir := w.open()
	defer dir.Close()
	store, err := dir.Frontier()
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := scope.ParseRules(rules)
	if err != nil {
		t.Fatal(err)
	}
	err = store.View("webrace", frontier.QueueOptions{Gate: scope.NewGate(parsed)}, func(q *frontier.Queue) error {
		all, _ := q.Rules()
		for _, r := range all {
			if r.Hits() != want[r.Text()] {
				t.Errorf("%q has %d hits, want %d", r.Text(), r.Hits(), want[r.Text()])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
