package main

import (
	"fmt"
	"strings"
)

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
