package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/webrace/webrace/storage/control"
)

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
