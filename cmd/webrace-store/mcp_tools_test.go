package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

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
