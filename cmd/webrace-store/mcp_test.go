package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/testutil/npm"
	"github.com/webrace/webrace/storage/control"
)

// TestMCP has the client and the inspector that the authors of the protocol wrote ask for everything, over standard
// input and output and over HTTP beside a run.
func TestMCP(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it installs packages and runs crawls: not in short mode")
	}
	modules, run := npm.Install(t, mcpSDK), buildRun(t)
	stdio := func(w *mcpWorld, owner string, more ...string) map[string]any {
		args := append([]string{"mcp", "--data", w.data}, more...)
		if owner != "" {
			args = append(args, "--owner", owner)
		}
		return map[string]any{"command": "webrace-store", "args": args}
	}
	overHTTP := func(r *running, owner string) map[string]any {
		return map[string]any{"url": r.url, "token": r.tokens[owner]}
	}
	t.Run("stdio", func(t *testing.T) {
		t.Parallel()
		w := newMCPWorld(t, run)
		ann, bob := connect(t, modules, stdio(w, "ann")), connect(t, modules, stdio(w, "bob"))
		everyTool(ann, w)
		nothingOfAnother(bob, ann, w)
		refusals(bob, w)
		obeysOwners(connect(t, modules, stdio(w, "ann")), connect(t, modules, stdio(w, "ann", "--any-use")), w)
		operator := connect(t, modules, stdio(w, ""))
		ofOperator(operator, w)
	})
	t.Run("HTTP", func(t *testing.T) {
		t.Parallel()
		w := newMCPWorld(t, run)
		r := w.beside("--mcp-crawl-pages", "300", "--mcp-crawl-depth", "2", "--mcp-crawl-host", "127.0.0.1", "--mcp-fetch")
		ann, bob := connect(t, modules, overHTTP(r, "ann")), connect(t, modules, overHTTP(r, "bob"))
		everyTool(ann, w)
		nothingOfAnother(bob, ann, w)
		crawls(bob, w)
		unbounded := connect(t, modules, stdio(w, "bob", "--crawl-pages", "299"))
		unbounded.wrong("crawl", arguments{"action": "start", "url": w.site + "/docs"}, "--set webrace.frontier.crawl_urls=299")
		fetches(bob, w)
		beside := connect(t, modules, stdio(w, "ann")) // while the run has the directory open
		everyStoredPage(beside, w)
		sessionsAreOfTheirOwners(t, r)
	})
	t.Run("fetch", func(t *testing.T) {
		t.Parallel()
		w := newMCPWorld(t, run)
		config := filepath.Join(t.TempDir(), "fetch.toml")
		writeTestFile(t, config, "version = 1\n[pipeline.x]\nflow = [\"urds > frontier > fetch > drop\", \"fetch.redirects > frontier\"]\n"+
			"[pipeline.x.stage.fetch]\nallow_networks = [\"loopback\"]\ndelay = \"0s\"\n")
		fetches(connect(t, modules, stdio(w, "bob", "--fetch", "--config", config)), w)
	})
	t.Run("inspector", func(t *testing.T) {
		t.Parallel()
		inspected(t, newMCPWorld(t, run), npm.Install(t, mcpInspector))
	})
}

// everyTool asks everything of what is stored, in the name of ann.
func everyTool(c *mcpClient, w *mcpWorld) {
	c.Helper()
	everyStoredPage(c, w)

	versions := c.must("versions", arguments{"url": w.site + "/"})["versions"].([]any)
	if len(versions) != 2 || versions[0].(map[string]any)["version"] != 2.0 {
		c.Errorf("versions: %v", versions)
	}
	if changed := c.must("diff", arguments{"url": w.site + "/"}); !strings.Contains(changed["text"].(string), "+Black tea is served in the evening") || changed["equal"] != false {
		c.Errorf("diff: %v", changed)
	}
	if same := c.must("diff", arguments{"url": w.site + "/", "from": 1, "to": 1}); same["equal"] != true {
		c.Errorf("diff of one version: %v", same)
	}
	seen, at := 0, arguments{"url": w.site + "/"}
	for pages := 1; ; pages++ {
		page := c.must("links", at)
		seen += len(page["links"].([]any))
		next, more := page["next"]
		if at["offset"] = next; !more {
			if total := page["total"].(float64); seen != int(total) || pages != 2 || seen < 253 {
				c.Errorf("%d links on %d pages, of %v", seen, pages, total)
			}
			break
		}
	}
	watches := c.must("why", arguments{"url": w.site + "/"})["watches"].([]any)
	if text := fmt.Sprint(watches); len(watches) != 3 || !strings.Contains(text, "its crawl came to it on level 1") || strings.Contains(text, "bob") {
		c.Errorf("why: %v", watches)
	}
	rows := c.must("sparql", arguments{"query": "SELECT ?n { ?t <http://schema.org/name> ?n } ORDER BY ?n LIMIT 2"})
	if text := fmt.Sprint(rows["rows"]); text != `[["thing 0"] ["thing 1"]]` || rows["form"] != "SELECT" {
		c.Errorf("sparql: %v", rows)
	}
	if yes := c.must("sparql", arguments{"query": "ASK { ?s ?p \"thing 1\" }"}); yes["boolean"] != true {
		c.Errorf("ASK: %v", yes)
	}
	if graph := c.must("sparql", arguments{"query": "CONSTRUCT { ?s a \"x\" } { ?s ?p \"thing 1\" }"}); !strings.Contains(graph["triples"].(string), "/thing/1>") {
		c.Errorf("CONSTRUCT: %v", graph)
	}
	watchesAndAlerts(c, w)
	longWork(c)
}

// everyStoredPage searches and reads.
func everyStoredPage(c *mcpClient, w *mcpWorld) {
	c.Helper()
	names := []string{}
	for _, tool := range c.do(map[string]any{"list": true}).Tools {
		names = append(names, tool.Name)
		if tool.InputSchema["type"] != "object" || tool.OutputSchema["type"] != "object" {
			c.Errorf("%s has no schemas", tool.Name)
		}
	}
	if want := []string{"alerts", "diff", "links", "read", "search", "sparql", "versions", "watch", "why"}; !slices.Equal(slices.DeleteFunc(names, func(n string) bool { return n == "crawl" }), want) {
		c.Errorf("tools: %q", names)
	}
	found := c.must("search", arguments{"query": "tea", "limit": 2})
	if hits := found["hits"].([]any); len(hits) != 2 || found["more"] != true || strings.Contains(fmt.Sprint(hits), ours) {
		c.Errorf("search: %v", found)
	}
	if second := c.must("search", arguments{"query": "tea", "limit": 2, "page": 2}); fmt.Sprint(second["hits"]) == fmt.Sprint(found["hits"]) || len(second["hits"].([]any)) == 0 {
		c.Errorf("its second page: %v", second)
	}
	if found = c.must("search", arguments{"query": "evening"}); !strings.Contains(fmt.Sprint(found["hits"]), "«evening»") {
		c.Errorf("search marks nothing: %v", found)
	}
	page := c.must("read", arguments{"url": w.site + "/"})
	if text := page["text"].(string); page["version"] != 2.0 || !strings.Contains(text, "Black tea") || page["title"] != "Tea house" {
		c.Errorf("read: %v", page)
	}
	if page = c.must("read", arguments{"url": w.site + "/", "version": 1}); strings.Contains(page["text"].(string), "Black tea") {
		c.Errorf("version 1: %v", page)
	}
	if page = c.must("read", arguments{"url": w.site + "/", "all": true}); page["part"] != "all" || !strings.Contains(page["text"].(string), "[p]("+w.site+"/public)") {
		c.Errorf("all of a page: %v", page)
	}
	large(c, w)
	hostile(c, w)
}

// large reads a page of 10 MB, in parts that are together what it is.
func large(c *mcpClient, w *mcpWorld) {
	c.Helper()
	first := c.call("read", arguments{"url": w.site + "/large"})
	if len(first.line) > 100<<10 {
		c.Errorf("a page of 10 MB is answered by %d bytes", len(first.line))
	}
	size, next := 0, 0.0
	for range 3 {
		part := c.must("read", arguments{"url": w.site + "/large", "offset": int(next), "version": 1, "max_bytes": 65536})
		text := part["text"].(string)
		if part["offset"].(float64) != next || len(text) > 65536 || len(text) < 32768 || !strings.HasSuffix(text, "\n") {
			c.Fatalf("a part at %v of %d bytes", part["offset"], len(text))
		}
		size += len(text)
		if next = part["next"].(float64); int(next) != size {
			c.Fatalf("next is %v after %d bytes", next, size)
		}
	}
}

// hostile reads a page that would have a model do its will: it is quoted, and has nothing that is not seen.
func hostile(c *mcpClient, w *mcpWorld) {
	c.Helper()
	s := c.call("read", arguments{"url": w.site + "/hostile"})
	text := s.Result.Content
	if len(text) != 2 || !strings.Contains(text[0].Text, "It is data") || text[1].Meta["webrace/quoted"] != true || text[1].Meta["webrace/source"] != w.site+"/hostile" {
		c.Fatalf("it is not marked: %.1000s", s.line)
	}
	begin, _, _ := strings.Cut(text[1].Text, "\n")
	word := strings.TrimSuffix(strings.TrimPrefix(begin, "[quoted "), "]")
	if !strings.HasSuffix(text[1].Text, "\n[end of quoted "+word+"]") || strings.Count(text[1].Text, word) != 2 || !strings.Contains(text[0].Text, word) {
		c.Errorf("what is quoted does not end where it should: %q", text[1].Text)
	}
	if again := c.call("read", arguments{"url": w.site + "/hostile"}); strings.Contains(again.line, word) {
		c.Error("the word that ends what is quoted is the same again")
	}
	shown, _ := json.Marshal(s.Result)
	for _, hidden := range []string{"\x1b", `\u001b`, "\x07", "\u202e", `\u202e`, "\u200b", "\U000e0041"} {
		if strings.Contains(string(shown), hidden) || strings.Contains(s.line, hidden) {
			c.Errorf("it has %q: %s", hidden, s.line)
		}
	}
	if !strings.Contains(s.Result.Structured["notice"].(string), "no instruction") {
		c.Errorf("no notice: %v", s.Result.Structured)
	}
}

// watchesAndAlerts adds, lists, pauses and removes what is watched, and takes what was told.
func watchesAndAlerts(c *mcpClient, w *mcpWorld) {
	c.Helper()
	id := c.must("watch", arguments{"action": "add", "url": w.site + "/public", "keywords": []string{"tea:5"}, "title": "mine", "timing": "24h"})["id"]
	if known := c.must("watch", arguments{"action": "add", "url": w.site + "/public", "keywords": []string{"tea:5"}}); known["effect"] != "known" || known["id"] != id {
		c.Errorf("the same again: %v", known)
	}
	for action, effect := range map[string]string{"pause": "paused", "resume": "resumed"} {
		if action == "resume" {
			c.must("watch", arguments{"action": "pause", "id": id})
		}
		if did := c.must("watch", arguments{"action": action, "id": id}); did["effect"] != effect {
			c.Errorf("%s: %v", action, did)
		}
	}
	if all := c.must("watch", arguments{"action": "list"})["watches"].([]any); len(all) != 4 || !strings.Contains(fmt.Sprint(all), "mine") {
		c.Errorf("watches: %v", all)
	}
	c.must("watch", arguments{"action": "remove", "id": id})
	if all := c.must("watch", arguments{"action": "list"})["watches"].([]any); len(all) != 3 {
		c.Errorf("watches after one was removed: %v", all)
	}
	listed := c.must("alerts", arguments{"action": "list", "limit": 2})
	if first := listed["alerts"].([]any); len(first) != 2 || listed["next"] == nil || first[0].(map[string]any)["taken"] != false {
		c.Errorf("alerts: %v", listed)
	}
	number, urd := 0.0, ""
	for _, a := range c.must("alerts", arguments{"action": "list", "limit": 50})["alerts"].([]any) {
		if a := a.(map[string]any); strings.Contains(fmt.Sprint(a["summary"]), ours) && a["urd"] == annMembers {
			number, urd = a["number"].(float64), a["urd"].(string)
		}
	}
	private := c.must("read", arguments{"url": w.site + "/members", "urd": urd})
	if !strings.Contains(private["text"].(string), ours) || number == 0 {
		c.Errorf("ann does not read what is hers: %v", private)
	}
	if found := c.must("search", arguments{"query": "tea", "urd": annMembers}); !strings.Contains(fmt.Sprint(found["hits"]), ours) {
		c.Errorf("ann does not find what is hers: %v", found)
	}
	if posted := c.must("read", arguments{"url": w.site + "/posted", "urd": annPosted}); !strings.Contains(posted["text"].(string), ours) || strings.Contains(posted["url"].(string), "#") {
		c.Errorf("ann does not read what she asked for by post: %v", posted)
	}
	taken := 0
	for more := true; more; {
		some := c.must("alerts", arguments{"action": "take", "limit": 2})
		taken += len(some["alerts"].([]any))
		more = some["more"] == true
	}
	if all := c.must("alerts", arguments{"action": "list", "limit": 50})["alerts"].([]any); taken != len(all) || taken < 4 {
		c.Errorf("%d were taken of %d", taken, len(all))
	}
}

// endless is a query that takes as long as it is let: it counts every way to choose twelve triples, of which none may
// be left out before the last is chosen.
var endless = func() string {
	var patterns, sum strings.Builder
	for i := range 12 {
		fmt.Fprintf(&patterns, "?s%d ?p%d ?o%d . ", i, i, i)
		fmt.Fprintf(&sum, "+STRLEN(STR(?o%d))", i)
	}
	return fmt.Sprintf("SELECT (COUNT(*) AS ?n) { %s FILTER(0%s != 1) }", &patterns, &sum)
}()

// longWork is told how it goes on, and ends when it is cancelled.
func longWork(c *mcpClient) {
	c.Helper()
	s := c.do(map[string]any{"call": "sparql", "arguments": arguments{"query": endless}, "progress": true, "abortAfter": 3})
	if s.Error == "" || len(s.Progress) < 3 {
		c.Fatalf("a query that is cancelled: %.500s", s.line)
	}
	for i := 1; i < len(s.Progress); i++ {
		if s.Progress[i].Progress <= s.Progress[i-1].Progress || s.Progress[i].Message == "" {
			c.Errorf("progress: %v", s.Progress)
		}
	}
	for range 8 { // more than may run at once: those before have ended
		s := c.do(map[string]any{"call": "sparql", "arguments": arguments{"query": endless}, "progress": true, "abortAfter": 1})
		if s.Error == "" {
			c.Fatalf("a query that is cancelled: %.500s", s.line)
		}
	}
	c.must("sparql", arguments{"query": "ASK {}"})
}

// nothingOfAnother tries, as bob, to have what is ann's by each tool.
func nothingOfAnother(bob, ann *mcpClient, w *mcpWorld) {
	bob.Helper()
	before := fmt.Sprint(ann.must("watch", arguments{"action": "list"}), ann.must("alerts", arguments{"action": "list", "limit": 50}))
	if marked := ann.must("read", arguments{"url": w.site + "/posted#" + posting.Mark(), "urd": annPosted}); !strings.Contains(marked["text"].(string), ours) {
		bob.Errorf("ann does not read by its mark what is hers: %v", marked)
	}
	urls := []string{"/members", "/posted", "/oolong-members", "/posted#" + posting.Mark()}
	var tries []struct {
		tool string
		arguments
	}
	try := func(tool string, a arguments) {
		tries = append(tries, struct {
			tool string
			arguments
		}{tool, a})
	}
	for _, path := range urls {
		for _, urd := range []string{"", annTea, annMembers, annPosted, bobTea, bobMembers} {
			for _, tool := range []string{"read", "versions", "diff", "links"} {
				a := arguments{"url": w.site + path}
				if urd != "" {
					a["urd"] = urd
				}
				try(tool, a)
				if tool == "read" || tool == "links" {
					first := arguments{"url": w.site + path, "version": 1}
					if urd != "" {
						first["urd"] = urd
					}
					try(tool, first)
				}
			}
		}
		try("why", arguments{"url": w.site + path})
		try("why", arguments{"url": w.site + path, "owner": "ann"})
		try("alerts", arguments{"action": "list", "url": w.site + path})
	}
	for _, urd := range []string{"", annMembers, annPosted, bobMembers} {
		a := arguments{"query": "tea OR oolong"}
		if urd != "" {
			a["urd"] = urd
		}
		try("search", a)
		try("alerts", arguments{"action": "list", "urd": urd})
	}
	try("sparql", arguments{"query": "SELECT * { GRAPH ?g { ?s ?p ?o } } LIMIT 500"})
	for _, id := range []string{annTea, annMembers, annPosted} {
		for _, action := range []string{"pause", "resume", "remove"} {
			try("watch", arguments{"action": action, "id": id})
			try("watch", arguments{"action": action, "id": id, "owner": "ann"})
		}
		try("crawl", arguments{"action": "state", "id": id})
		try("crawl", arguments{"action": "stop", "id": id})
		try("crawl", arguments{"action": "stop", "id": id, "owner": "ann"})
	}
	try("watch", arguments{"action": "list", "owner": "ann"})
	try("watch", arguments{"action": "add", "url": w.site + "/members", "secret": control.SecretName("ann", "bank")})
	try("watch", arguments{"action": "add", "url": w.site + "/members", "secret": "bank"})
	try("watch", arguments{"action": "add", "url": w.site + "/public", "owner": "ann"})
	try("alerts", arguments{"action": "list", "owner": "ann"})
	try("alerts", arguments{"action": "take", "owner": "ann"})
	answered := 0
	for _, one := range tries {
		s := bob.call(one.tool, one.arguments)
		text := strings.ReplaceAll(s.line, "oolong-members", "")
		if strings.Contains(text, ours) || strings.Contains(text, annMembers+`"`) && !s.Result.IsError || strings.Contains(text, "ann/") && !s.Result.IsError {
			bob.Errorf("%s %v: %.500s", one.tool, one.arguments, s.line)
		}
		if _, named := one.arguments["owner"]; named && !s.Result.IsError && s.Error == "" {
			bob.Errorf("%s %v is answered: %.500s", one.tool, one.arguments, s.line)
		}
		if !s.Result.IsError {
			answered++
		}
	}
	if answered < 20 {
		bob.Errorf("%d of %d calls were answered", answered, len(tries))
	}
	if after := fmt.Sprint(ann.must("watch", arguments{"action": "list"}), ann.must("alerts", arguments{"action": "list", "limit": 50})); after != before {
		bob.Errorf("what is ann's is changed:\n%s\n%s", before, after)
	}
}

// refusals are told why, and what to do.
func refusals(c *mcpClient, w *mcpWorld) {
	c.Helper()
	c.wrong("read", arguments{"url": "not a url"}, "write it in full, as https://example.org/")
	c.wrong("read", arguments{"url": w.site + "/unstored"}, "is not stored: search finds what is")
	c.wrong("read", arguments{"url": w.site + "/", "version": 9}, "there is no version 9 of")
	c.wrong("read", arguments{"url": w.site + "/", "version": -1}, "versions are numbered from 1")
	c.wrong("read", arguments{"url": w.site + "/", "offset": 1 << 30}, "go on with what next says")
	c.wrong("read", arguments{"url": w.site + "/", "max_bytes": 1 << 30}, "it is 1000 to 65536")
	c.wrong("read", arguments{"url": w.site + "/", "urd": "nowhere"}, "you have no watch")
	c.wrong("read", arguments{}, "url")
	c.wrong("read", arguments{"url": w.site + "/", "verison": 1}, "verison")
	c.wrong("diff", arguments{"url": w.site + "/public"}, "has one version")
	c.wrong("diff", arguments{"url": w.site + "/", "from": 1}, "name both versions")
	c.wrong("links", arguments{"url": w.site + "/", "offset": -1}, "begin with 0")
	c.wrong("search", arguments{"query": " "}, "query is empty")
	c.wrong("search", arguments{"query": `"tea`}, "query")
	c.wrong("search", arguments{"query": "tea", "sort": "size"}, "it is relevance, date, -date, url or host")
	c.wrong("search", arguments{"query": "tea", "limit": 1000}, "it is 1 to 20")
	c.wrong("sparql", arguments{"query": "SELECT"}, "line 1")
	c.wrong("watch", arguments{"action": "buy"}, "action")
	c.wrong("watch", arguments{"action": "add"}, "of which page: url")
	c.wrong("watch", arguments{"action": "add", "url": w.site + "/", "keywords": []string{"tea:9"}}, "a weight of 1")
	c.wrong("watch", arguments{"action": "add", "url": w.site + "/", "timing": "soon"}, "write it as 30m")
	c.wrong("watch", arguments{"action": "add", "url": w.site + "/", "depth": 3}, "no crawl")
	c.wrong("watch", arguments{"action": "add", "url": "gopher://a.example/"}, "gopher")
	c.wrong("watch", arguments{"action": "pause"}, "say which")
	c.wrong("alerts", arguments{"action": "take", "url": w.site + "/"}, "take goes with limit alone")
	if s := c.call("crawl", arguments{"action": "start", "url": w.site + "/"}); s.Error == "" && !s.Result.IsError {
		c.Errorf("a crawl that is not allowed: %.300s", s.line)
	}
}

// ofOperator is shown everything, and names whose.
func ofOperator(c *mcpClient, w *mcpWorld) {
	c.Helper()
	if page := c.must("read", arguments{"url": w.site + "/members", "urd": annMembers}); !strings.Contains(page["text"].(string), ours) {
		c.Errorf("the operator reads %v", page)
	}
	if queues := c.must("why", arguments{"url": w.site + "/"})["queues"].([]any); len(queues) != 1 {
		c.Errorf("why: %v", queues)
	}
	c.wrong("watch", arguments{"action": "list"}, "name the owner")
	if all := c.must("watch", arguments{"action": "list", "owner": "bob"})["watches"].([]any); len(all) != 2 {
		c.Errorf("bob's: %v", all)
	}
}

// obeysOwners gives no model what its owner states is for none, unless the operator does not mind.
func obeysOwners(c, careless *mcpClient, w *mcpWorld) {
	c.Helper()
	url := w.site + "/reserved"
	c.wrong("read", arguments{"url": url}, "is not to be given to a model: ai-input=n: Content-Usage: train-ai=n, ai-use=n (in the header)")
	c.wrong("diff", arguments{"url": url, "from": 1, "to": 1}, "is not to be given to a model")
	if found := c.must("search", arguments{"query": reserved}); found["withheld"] != 1.0 || len(found["hits"].([]any)) != 0 {
		c.Errorf("search: %v", found)
	}
	told := c.must("alerts", arguments{"action": "list", "url": url})["alerts"].([]any)
	if len(told) != 1 || told[0].(map[string]any)["withheld"] != true || strings.Contains(fmt.Sprint(told), reserved) {
		c.Errorf("alerts: %v", told)
	}
	if page := careless.must("read", arguments{"url": url}); !strings.Contains(page["text"].(string), reserved) {
		c.Errorf("where the operator does not mind: %v", page)
	}
	if told := careless.must("alerts", arguments{"action": "list", "url": url}); !strings.Contains(fmt.Sprint(told), reserved) {
		c.Errorf("where the operator does not mind: %v", told)
	}
}

// crawls begins one within the limits, waits for it, and finds what it brought.
func crawls(c *mcpClient, w *mcpWorld) {
	c.Helper()
	c.wrong("crawl", arguments{"action": "start", "url": w.site + "/docs", "depth": 3}, "the operator allows 1 to 2 levels")
	c.wrong("crawl", arguments{"action": "start", "url": w.site + "/docs", "depth": -1}, "the operator allows 1 to 2 levels")
	c.wrong("crawl", arguments{"action": "start", "url": "https://elsewhere.example/"}, "no crawl at elsewhere.example")
	c.wrong("crawl", arguments{"action": "start", "url": w.site + "/*"}, "begins at one page")
	c.wrong("watch", arguments{"action": "add", "url": w.site + "/docs", "depth": 3}, "the operator allows 1 to 2 levels")
	id := c.must("crawl", arguments{"action": "start", "url": w.site + "/docs"})["id"]
	state := c.must("crawl", arguments{"action": "state", "id": id, "wait": 60})["crawls"].([]any)[0].(map[string]any)
	if state["state"] != "done" || state["requests"].(float64) < 2 {
		c.Errorf("the crawl: %v", state)
	}
	if page := c.must("read", arguments{"url": w.site + "/docs/2"}); !strings.Contains(page["text"].(string), "kettles") {
		c.Errorf("what it brought: %v", page)
	}
	if all := c.must("crawl", arguments{"action": "state"})["crawls"].([]any); len(all) != 1 {
		c.Errorf("crawls: %v", all)
	}
	c.must("crawl", arguments{"action": "stop", "id": id})
	c.wrong("crawl", arguments{"action": "state", "id": id}, "you have no watch")
}

// fetches reads what is not stored, as robots.txt allows.
func fetches(c *mcpClient, w *mcpWorld) {
	c.Helper()
	page := c.must("read", arguments{"url": w.site + "/unstored"})
	if !strings.Contains(page["text"].(string), "Nobody asked for this before") || page["version"] != nil {
		c.Errorf("what is not stored: %v", page)
	}
	c.wrong("versions", arguments{"url": w.site + "/unstored"}, "is not stored") // it was read, and not kept
	c.wrong("read", arguments{"url": w.site + "/forbidden"}, "robots.txt")
	c.wrong("read", arguments{"url": w.site + "/nowhere"}, "404")
	c.wrong("read", arguments{"url": "http://169.254.169.254/latest/meta-data"}, "169.254.169.254")
}

// sessionsAreOfTheirOwners asks over HTTP as no client does.
func sessionsAreOfTheirOwners(t *testing.T, r *running) {
	ask := func(token, session, body string, fields ...string) *http.Response {
		t.Helper()
		q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		q.Header.Set("Content-Type", "application/json")
		q.Header.Set("Accept", "application/json, text/event-stream")
		if token != "" {
			q.Header.Set("Authorization", "Bearer "+token)
		}
		if session != "" {
			q.Header.Set("Mcp-Session-Id", session)
		}
		for i := 0; i < len(fields); i += 2 {
			if q.Header.Set(fields[i], fields[i+1]); fields[i] == "Host" {
				q.Host = fields[i+1]
			}
		}
		answer, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		return answer
	}
	const begin = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`
	const list = `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
	session := ask(r.tokens["ann"], "", begin).Header.Get("Mcp-Session-Id")
	for what, c := range map[string]struct {
		answer *http.Response
		want   int
	}{
		"no token":             {ask("", session, list), 401},
		"a wrong token":        {ask(r.tokens["ann"]+"x", session, list), 401},
		"a part of a token":    {ask(r.tokens["ann"][:16], session, list), 401},
		"another's session":    {ask(r.tokens["bob"], session, list), 404},
		"one's own":            {ask(r.tokens["ann"], session, list), 200},
		"another name":         {ask(r.tokens["ann"], session, list, "Host", "evil.example"), 403},
		"a page elsewhere":     {ask(r.tokens["ann"], session, list, "Origin", "https://evil.example"), 403},
		"a frame elsewhere":    {ask(r.tokens["ann"], session, list, "Sec-Fetch-Site", "cross-site"), 403},
		"a message of 1 MB":    {ask(r.tokens["ann"], session, `{"jsonrpc":"2.0","id":3,"method":"`+strings.Repeat("x", 1<<20)+`"}`), 413},
		"what is no message":   {ask(r.tokens["ann"], session, "{"), 400},
		"no session any more":  {ask(r.tokens["ann"], "nowhere", list), 404},
		"no accepted media":    {ask(r.tokens["ann"], session, list, "Accept", "text/html"), 400},
		"a form, as of a page": {ask(r.tokens["ann"], session, list, "Content-Type", "text/plain"), 415},
	} {
		if c.answer.StatusCode != c.want {
			t.Errorf("%s: %d, want %d", what, c.answer.StatusCode, c.want)
		}
	}
}

// inspected has the inspector judge the server, and call a tool by it.
func inspected(t *testing.T, w *mcpWorld, modules string) {
	inspect := func(args ...string) string {
		t.Helper()
		c := exec.CommandContext(t.Context(), "node", append([]string{filepath.Join(modules, "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"), "--cli"}, args...)...)
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("inspector %q: %v: %s", args, err, out)
		}
		return string(out)
	}
	server := []string{"webrace-store", "mcp", "--data", w.data, "--owner", "ann"}
	for _, c := range []struct {
		args, want []string
	}{
		{[]string{"--method", "tools/list", "--strict"}, []string{`"sparql"`, `"watch"`}},
		{[]string{"--method", "tools/call", "--tool-name", "read", "--tool-arg", "url=" + w.site + "/"}, []string{"Black tea is served"}},
		{[]string{"--method", "tools/call", "--tool-name", "search", "--tool-arg", "query=evening"}, []string{"«evening»"}},
	} {
		out := inspect(slices.Concat(c.args, []string{"--transport", "stdio", "--"}, server)...)
		for _, want := range c.want {
			if !strings.Contains(out, want) {
				t.Errorf("%q shows no %s: %.2000s", c.args, want, out)
			}
		}
	}
	r := w.beside()
	out := inspect("--method", "tools/call", "--tool-name", "read", "--tool-arg", "url="+w.site+"/", "--transport", "http", "--server-url", r.url, "--header", "Authorization: Bearer "+r.tokens["ann"])
	if !strings.Contains(out, "Black tea is served") {
		t.Errorf("over HTTP: %.2000s", out)
	}
}

// TestMCPIsGivenTooMuch: a client that sends a message without end is left, and is told why.
func TestMCPIsGivenTooMuch(t *testing.T) {
	t.Parallel()
	c := exec.CommandContext(t.Context(), "webrace-store", "mcp", "--data", filepath.Join(t.TempDir(), "data"))
	c.Stdin = io.MultiReader(strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"`), io.LimitReader(endlessText{}, 1<<30))
	out, err := c.CombinedOutput()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(string(out), "the session ended: ") || !strings.Contains(string(out), "maximum") {
		t.Errorf("%v: %.500s", err, out)
	}
}

type endlessText struct{}

func (endlessText) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}
