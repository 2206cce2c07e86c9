package main

import (
	"fmt"
	"strings"
	"testing"
)

// With normalize.main, what stands beside the main part of a page is worth little, and no summary begins in it; and
// whoever reads the stored page judges it by the same.
func TestTheMainPartWeighs(t *testing.T) {
	t.Parallel()
	page := strings.Replace(storms("Tea is served."), "<article>", `<div class="teasers"><p>Tea, tea and more tea: our offers of tea this week, with free tea for all.</p></div><article>`, 1)
	relevance := make(map[bool]int)
	for _, main := range []bool{false, true} {
		w := newWorld(t)
		w.raw("/", page)
		w.run(these(w.asks("ann", "/", depth(1), about("tea"))), "--set", fmt.Sprintf("normalize.main=%t", main))
		acis := w.acis()
		if len(acis) != 1 {
			t.Fatalf("main %t: %d alerts", main, len(acis))
		}
		relevance[main] = acis[0].Relevance
		if begins := strings.Contains(acis[0].Summary, "offers"); begins == main {
			t.Errorf("main %t: the summary is %q", main, acis[0].Summary)
		}
		said, _ := w.store("explain", w.URL+"/", "ann")
		mustSay(t, said, fmt.Sprint("relevance ", acis[0].Relevance))
	}
	if relevance[true] >= relevance[false] {
		t.Errorf("relevance %d with, and %d without", relevance[true], relevance[false])
	}
}
