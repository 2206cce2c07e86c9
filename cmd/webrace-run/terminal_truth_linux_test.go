package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/webrace/webrace/xmlschema"
)

// In a directory where nothing is, every command does what it can, and reports what is missing.
func TestTerminalInAnEmptyDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mustSayInTurn(t, 80, dir,
		said{"webrace-run test", []string{"9 tests passed"}, []string{"FAIL", "no such test"}},
		said{"webrace-run check", []string{
			"webrace 9 stages, nothing in the way", "archive not set up: WEBRACE_ARCHIVE is not set", "mail not set up: WEBRACE_SMTP is not set",
			"notify not set up: WEBRACE_WEBHOOK is not set",
		}, []string{"error:", "is an example"}},
		said{"webrace-run check notify archive", []string{"error: shipped pipelines.toml:", "hook.example.org is an example", "there is no WARC file at ./archive"}, []string{"not set up"}},
		said{"webrace-run archive", []string{"there is no WARC file at ./archive", "WEBRACE_ARCHIVE"}, []string{"nothing new"}},
		said{"webrace-store urd add --data new/dir --url http://a.example/ --owner ann -k tea:5", []string{"made the data directory new/dir", "added"}, nil},
		said{"webrace-store scope add deny path /x/ --data rules", []string{"made the data directory rules", "added to crawl, dbrace, mailrace, multicrawler, newsrace and webrace: deny path /x/"}, nil},
		said{"webrace-store scope list --data rules", []string{"crawl 1 0 added deny path /x/"}, nil},
	)
}

// A stage that fails on every document reports that once, and each document can be found and looked at.
func TestTerminalOfAStageThatFails(t *testing.T) {
	t.Parallel()
	w := newSite(t)
	links := ""
	for n := range 20 {
		path := fmt.Sprintf("/page/%d", n)
		w.page(path, fmt.Sprintf("page <title>page %d</title>", n))
		links += fmt.Sprintf("<a href=%q>x</a> ", path)
	}
	w.page("/", "<title>start</title>"+links)
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "pipelines.toml"), `version = 1
[pipeline.fails]
flow = ["lines > frontier > fetch > normalize > cache > map > drop", "fetch.redirects, fetch.sitemaps, normalize.links, cache.links > frontier"]
[pipeline.fails.stage]
lines.urls = ["`+w.URL+`/"]
lines.depth = 2
fetch.allow_networks = ["loopback"]
map.where = "int(outcome) > 0"
[pipeline.rows]
flow = ["read-file > print", "print.passed > write-file"]
[pipeline.rows.stage]
read-file.paths = ["rows.csv"]
read-file.format = "csv"
write-file.path = "out.jsonl"
[pipeline.unset]
flow = ["lines > write-file"]
[pipeline.unset.stage]
lines.urls = ["http://a.example/"]
write-file.path = "${WEBRACE_SET_NOWHERE}"
`)
	writeFile(t, filepath.Join(dir, "rows.csv"), "price,name\n12,tea\n3,salt\n")
	fails := strings.Join(strings.Fields(onTerminal(t, 80, dir, "webrace-run", "fails")), " ")
	mustSay(t, fails, "item kept as a dead letter:", "item kept as a dead letter, again:", "21 items could not be processed", "21 errors")
	if n := strings.Count(fails, "warning: stage map: "+w.URL+"/"); n != 1 || strings.Contains(fails, "level=") {
		t.Errorf("%d documents are named, want the first that failed:\n%s", n, fails)
	}
	mustSayInTurn(t, 80, dir,
		said{"webrace-store dlq list", []string{"ID AGE STAGE URL REASON", "s map " + w.URL + "/ evaluate:", w.URL + "/page/19"}, nil},
		said{"webrace-run rows", []string{`{"name":"tea","price":"12"}`, "2 items written to out.jsonl"}, nil},
		said{"webrace-run check", []string{"unset not set up: environment variable WEBRACE_SET_NOWHERE is not set", "rows 3 stages, nothing in the way"}, nil},
		said{"webrace-store gc", []string{"0 versions removed", "0 B given back"}, []string{"MB"}},
	)
}

// What became of a URL is said in words that are true without a URD, by a sitemap and by robots.txt.
func TestTerminalTellsWhyWithoutURDs(t *testing.T) {
	t.Parallel()
	w := newSite(t)
	w.handle("/robots.txt", func(out http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(out, "User-agent: *\nDisallow: /private/\nSitemap: %s/sitemap.xml\n", w.URL)
	})
	w.handle("/sitemap.xml", func(out http.ResponseWriter, _ *http.Request) {
		out.Header().Set("Content-Type", "text/xml")
		fmt.Fprintf(out, "<?xml version='1.0'?><urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url><loc>%s/listed</loc></url></urlset>", w.URL)
	})
	w.page("/", `<title>start</title><a href="/private/x">private</a> <a href="/none">none</a>`)
	w.page("/listed", "<title>listed</title>tea")
	dir := t.TempDir()
	mustSayInTurn(t, 80, dir,
		said{"webrace-run crawl --set fetch.allow_networks=loopback " + w.URL + "/", []string{"2 URLs gave no document"}, nil},
		said{"webrace-store why " + w.URL + "/listed", []string{"crawl: fetched", "of the crawl from " + w.URL + "/", "listed by " + w.URL + "/sitemap.xml"}, []string{"from crawl"}},
		said{"webrace-store why " + w.URL + "/private/x", []string{"gave no document: refused by robots.txt: Disallow: /private/ (line 2)"}, []string{"status 0"}},
		said{"webrace-store why " + w.URL + "/robots.txt", []string{"it is no page of a crawl; fetch asks each host for it by itself"}, nil},
		said{"webrace-store frontier failed", []string{
			"URL PIPELINE STATUS UNANSWERED REASON", w.URL + "/none crawl 404 404 Not Found", w.URL + "/private/x crawl refused by robots.txt",
		}, []string{" 0 "}},
		said{"webrace-store cache ls", []string{"URL VERSION STATUS BYTES DIGEST"}, []string{"sha256:"}},
		said{"webrace-run crawl http://127.0.0.1:9/ --set fetch.allow_networks=loopback --set frontier.wait=0s", []string{"error: crawl: the start could not be asked"}, nil},
		said{"webrace-store why http://127.0.0.1:9/", []string{
			"crawl: failed, and is tried again at", "connection refused", "at level 1 of the crawl from http://127.0.0.1:9/, which waits for it", "failed 1 time in a row",
		}, []string{"fetch http://"}},
	)
}

// What waits for its time is not said to be queued while all is idle.
func TestTerminalTellsWhatIsNotDue(t *testing.T) {
	t.Parallel()
	w := newSite(t)
	w.page("/", `<a href="/busy">busy</a> <a href="/other">other</a>`)
	w.handle("/busy", func(out http.ResponseWriter, _ *http.Request) {
		out.Header().Set("Retry-After", "3600")
		http.Error(out, "busy", http.StatusServiceUnavailable)
	})
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "urds.xml"), string(xmlschema.URDs{w.asks("ann", "/", depth(2))}.Canonical()))
	p, ended := atTerminal(t, dir, "webrace-run", "webrace", "--continuous", "--urds", "urds.xml", "--set", "fetch.allow_networks=loopback", "--set", "fetch.per_host=1")
	idle := regexp.MustCompile(` 0 queued \([12] not due\) +0 in flight`)
	waitFor(t, func() bool { return idle.MatchString(p.said()) }, func() string { return p.said()[max(0, len(p.said())-500):] })
	p.signal(os.Interrupt)
	p.mustEndSoundly(ended)
}
