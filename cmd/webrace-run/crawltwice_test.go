package main

import (
	"fmt"
	"net/http"
	"path/filepath"
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

var admitLoopback = []string{"--set", "fetch.allow_networks=loopback"}

// crawlsFor crawls from the start for keywords, and returns what it prints.
func (w *world) crawlsFor(status int, keyword string, more ...string) string {
	w.t.Helper()
	p := startCommand(w.t, append([]string{"crawl", w.URL + "/", "--owner", "ann", "--data", w.data, "--set", "frontier.fresh=0s", "--keyword", keyword}, more...)...)
	p.mustExit(status)
	return p.said()
}

// TestCrawlTwice: the same command with other keywords is one URD, and one that failed leaves none.
func TestCrawlTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.page("/", "tea and milk", "/zebra")
	w.page("/zebra", "a zebra drinks tea")

	mustSay(t, w.crawlsFor(1, "tea"), "ann is not told of "+w.URL+"/ further on, because its start gave no answer")
	mustBe(t, "URDs of a crawl that failed", w.urds())

	w.crawlsFor(0, "tea:4", admitLoopback...)
	mustBe(t, "URDs of the corrected one", w.urds(), "ann tea:4")
	mustBe(t, "told, once of each", w.news(), "ann /", "ann /zebra")

	w.page("/", "tea and milk and honey", "/zebra")
	said := w.crawlsFor(0, "honey", admitLoopback...)
	mustSay(t, said, "ann is told at "+w.URL+"/ of honey:3 from now on, and not of tea:4 any more")
	mustBe(t, "URDs with other keywords", w.urds(), "ann honey:3")
	mustBe(t, "told of what is new", w.news(), "ann /")

	if said := w.crawlsFor(0, "honey", admitLoopback...); strings.Contains(said, "from now on") {
		t.Errorf("the same command is said to replace itself:\n%s", said)
	}
	mustBe(t, "URDs of the same command", w.urds(), "ann honey:3")

	mustSay(t, w.crawlsFor(1, "milk"), "ann is told at "+w.URL+"/ of honey:3 as before, because its start gave no answer")
	mustBe(t, "URDs after a correction that failed", w.urds(), "ann honey:3")

	for _, keyword := range []string{"zebra:", "zebra="} {
		mustSay(t, w.crawlsFor(2, keyword, admitLoopback...), "write WORD or WORD:WEIGHT")
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
	w.crawlsFor(0, "tea", admitLoopback...)
	mustBe(t, "URDs", w.urds(), "ann tea:3")
	mustBe(t, "told", w.news(), "ann /")
}

// TestCrawlTwiceAfterAnEarlierRelease: what that stored under an id of its interest is replaced, unless it specifies
// more than the command can, or is one of several.
func TestCrawlTwiceAfterAnEarlierRelease(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.page("/", "tea and honey")
	stored := func(key string, change func(*xmlschema.URD)) *xmlschema.URD {
		u := w.asks("ann", "/", depth(3))
		u.Keywords = xmlschema.NewKeywords(xmlschema.Keyword{Key: key, Weight: 3, Match: xmlschema.MatchWord})
		if change != nil {
			change(u)
		}
		u.ID = xmlschema.DeriveID(u.Owner, u.Source(), u.InterestHash())
		return u
	}
	mine := stored("milk", func(u *xmlschema.URD) { u.Urgency = 3 })
	w.run(these(stored("tea", nil), mine))

	mustSay(t, w.crawlsFor(1, "honey"), "is told at "+w.URL+"/ of tea:3 as before, because its start gave no answer")
	mustBe(t, "URDs after a correction that failed", w.urds(), "ann milk:3", "ann tea:3")
	mustSay(t, w.crawlsFor(0, "honey", admitLoopback...), "ann is told at "+w.URL+"/ of honey:3 from now on, and not of tea:3 any more")
	mustBe(t, "URDs of the corrected command", w.urds(), "ann honey:3", "ann milk:3")

	w.run(these(stored("cocoa", nil), stored("coffee", nil)))
	w.crawlsFor(0, "sugar", admitLoopback...)
	mustBe(t, "URDs, with several of a file", w.urds(), "ann cocoa:3", "ann coffee:3", "ann milk:3", "ann sugar:3")
}

// TestCrawlTwiceAfterOneThatCouldNotBegin: that leaves what was there before it.
func TestCrawlTwiceAfterOneThatCouldNotBegin(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.page("/", "tea")
	none := filepath.Join(t.TempDir(), "none")
	broken := [][]string{
		{"--set", "frontier.blocked_urls_file=" + none},
		{"--set", "fetch.ca_file=" + none},
		{"--set", "fetch.per_host=0"},
		{"--admin", "256.0.0.1:1"},
		{"--report", none + "/report"},
		{"--output", none + "/all.warc.gz"},
	}
	for _, flags := range broken {
		w.mustNotBegin("tea", flags)
	}
	mustBe(t, "URDs of crawls that could not begin", w.urds())
	w.crawlsFor(0, "tea", admitLoopback...)
	for _, flags := range broken {
		w.mustNotBegin("milk", flags)
	}
	mustBe(t, "URDs of one before that", w.urds(), "ann tea:3")
}

// mustNotBegin wants a crawl to be refused.
func (w *world) mustNotBegin(keyword string, flags []string) {
	w.t.Helper()
	p := startCommand(w.t, append([]string{"crawl", w.URL + "/", "--owner", "ann", "--data", w.data, "--keyword", keyword}, flags...)...)
	if err := p.Wait(); err == nil {
		w.t.Errorf("%v: it began:\n%s", flags, p.said())
	}
}

// TestCrawlTwiceTellsARefusalOnce: whatever refuses the start, and wherever that is written.
func TestCrawlTwiceTellsARefusalOnce(t *testing.T) {
	t.Parallel()
	forbidding := newWorld(t)
	forbidding.page("/", "tea")
	forbidding.handle("/robots.txt", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "User-agent: *\nDisallow: /") })
	plain := strings.Replace(forbidding.URL, "http:", "https:", 1)
	for reason, start := range map[string]string{
		"127.0.0.2: a loopback address (to allow it": "http://127.0.0.2:9/",
		"the user agent names no contact":            "http://8.8.8.8/", // refused before a packet is sent
		"it speaks no TLS there":                     plain + "/",
		"refused by robots.txt: Disallow: /":         forbidding.URL + "/",
	} {
		for _, keyword := range [][]string{nil, {"--keyword", "tea"}} {
			p := startCommand(t, append([]string{"crawl", start, "--data", t.TempDir(), "--set", "fetch.allow_networks=127.0.0.1"}, keyword...)...)
			p.mustExit(1)
			mustSay(t, p.said(), "1 URL gave no document\n", "the start could not be asked\n  "+start)
			if n := strings.Count(p.said(), reason); n != 1 {
				t.Errorf("%s %v: %q is said %d times, want once:\n%s", start, keyword, reason, n, p.said())
			}
		}
	}
}

// TestCrawlTwiceWithAnotherFailure: a refusal is listed without the status of an earlier answer, and fails a crawl
// whose start had one.
func TestCrawlTwiceWithAnotherFailure(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	crawl := func(status int) {
		t.Helper()
		p := startCommand(t, "crawl", w.URL+"/gone", "--data", w.data, "--set", "frontier.fresh=0s", "--set", "fetch.allow_networks=loopback")
		p.mustExit(status)
	}
	crawl(0)
	failed, _ := w.store("frontier", "failed")
	mustBe(t, "failed", []string{failed}, w.URL+"/gone\t404\t0\t404 Not Found\tcrawl\n")
	w.handle("/robots.txt", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "User-agent: *\nDisallow: /") })
	crawl(1)
	failed, _ = w.store("frontier", "failed")
	mustBe(t, "refused", []string{failed}, w.URL+"/gone\t0\t0\trefused by robots.txt: Disallow: / (line 2)\tcrawl\n")
	w.handle("/robots.txt", http.NotFound)
	crawl(0)
	failed, _ = w.store("frontier", "failed")
	mustBe(t, "failed again", []string{failed}, w.URL+"/gone\t404\t0\t404 Not Found\tcrawl\n")
}

// TestCrawlTwiceOfAStartThatLeavesItsScope: such a start gave no document, however many redirects it takes; a page that
// leaves is none of the crawl, and nothing is said.
func TestCrawlTwiceOfAStartThatLeavesItsScope(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.redirect("/away", "http://elsewhere.example/")
	w.redirect("/further", "/away")
	w.page("/", "tea", "/away")
	for _, start := range []string{"/away", "/further"} {
		for range 2 { // what is stored says so, too
			p := startCommand(t, "crawl", w.URL+start, "--data", w.data, "--set", "fetch.allow_networks=loopback", "--set", "frontier.start_redirects=none")
			p.mustExit(1)
			mustSay(t, p.said(), "1 URL gave no document", w.URL+start+": redirects to http://elsewhere.example/, which lies out of the scope of its crawl")
		}
	}
	p := startCommand(t, "crawl", w.URL+"/", "--data", t.TempDir(), "--set", "fetch.allow_networks=loopback", "--set", "frontier.start_redirects=none")
	p.mustExit(0)
	if strings.Contains(p.said(), "gave no document") {
		t.Errorf("a link out of the scope is told as a failure:\n%s", p.said())
	}
}
