package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/xmlschema"
)

// urds returns the URDs that are stored, each as its owner and what it is about, sorted.
func (w *world) urds() (all []string) {
	w.t.Helper()
	store, closeDir := openControl(w.t, w.data)
	defer closeDir()
	for u, err := range store.All(w.t.Context()) {
		if err != nil {
			w.t.Fatal(err)
		}
		all = append(all, u.Owner+" "+cli.Interest(u.URD))
	}
	slices.Sort(all)
	return all
}

// crawlsFor crawls from the start for keywords, and returns what it says.
func (w *world) crawlsFor(status int, keyword string, more ...string) string {
	w.t.Helper()
	p := startCommand(w.t, append([]string{"crawl", w.URL + "/", "--owner", "ann", "--data", w.data, "--set", "frontier.fresh=0s", "--keyword", keyword}, more...)...)
	p.mustExit(status)
	return p.said()
}

// TestCrawlTwice: the same command with other keywords is one URD, and one that failed leaves none.
func TestCrawlTwice(t *testing.T) {
	t.Parallel()
	allowed := []string{"--set", "fetch.allow_networks=loopback"}
	w := newWorld(t)
	w.page("/", "tea and milk", "/zebra")
	w.page("/zebra", "a zebra drinks tea")

	mustSay(t, w.crawlsFor(1, "tea"), "ann is not told of "+w.URL+"/ further on, because its start gave no answer")
	mustBe(t, "URDs of a crawl that failed", w.urds())

	w.crawlsFor(0, "tea:4", allowed...)
	mustBe(t, "URDs of the corrected one", w.urds(), "ann tea:4")
	mustBe(t, "told, once of each", w.news(), "ann /", "ann /zebra")

	w.page("/", "tea and milk and honey", "/zebra")
	said := w.crawlsFor(0, "honey", allowed...)
	mustSay(t, said, "ann is told at "+w.URL+"/ of honey:3 from now on, and not of tea:4 any more")
	mustBe(t, "URDs with other keywords", w.urds(), "ann honey:3")
	mustBe(t, "told of what is new", w.news(), "ann /")

	if said := w.crawlsFor(0, "honey", allowed...); strings.Contains(said, "from now on") {
		t.Errorf("the same command is said to replace itself:\n%s", said)
	}
	mustBe(t, "URDs of the same command", w.urds(), "ann honey:3")

	mustSay(t, w.crawlsFor(1, "milk"), "ann is told at "+w.URL+"/ of honey:3 as before, because its start gave no answer")
	mustBe(t, "URDs after a correction that failed", w.urds(), "ann honey:3")

	for _, keyword := range []string{"zebra:", "zebra="} {
		mustSay(t, w.crawlsFor(2, keyword, allowed...), "write WORD or WORD:WEIGHT")
	}
}

// TestACrawlOfAStoredURDIsIt: what an earlier release, or a file, stored for the same start, owner and interest is what
// the command asks for.
func TestACrawlOfAStoredURDIsIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.page("/", "tea")
	u := w.asks("ann", "/", depth(2))
	u.Keywords = xmlschema.NewKeywords(xmlschema.Keyword{Key: "tea", Weight: 3, Match: xmlschema.MatchWord})
	u.Keywords.Threshold = xmlschema.DefaultThreshold
	u.ID = ""
	w.run(these(u))
	w.crawlsFor(0, "tea", "--set", "fetch.allow_networks=loopback")
	mustBe(t, "URDs", w.urds(), "ann tea:3")
	mustBe(t, "told", w.news(), "ann /")
}
