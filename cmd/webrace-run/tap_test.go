package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/pipeline"
)

// look runs a command of webrace-run over the world's data directory.
func (w *world) look(args ...string) *command {
	w.t.Helper()
	return startCommand(w.t, append(args, "--data", w.data)...)
}

func TestARunningCrawlIsWatched(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	arrived, letGo := slowSite(w.site, 3)
	t.Cleanup(letGo)
	run := w.start(these(w.asks("ann", "/", depth(2), about("tea"))))
	await(t, arrived, 1)

	for _, c := range []struct {
		args   []string
		says   string
		status int
	}{
		{[]string{"tap", "ftch"}, "did you mean fetch?", cli.Failed},
		{[]string{"tap", "webrce", "fetch"}, "did you mean webrace?", cli.Failed},
		{[]string{"tap", "fetch.redirect"}, "did you mean fetch.redirects?", cli.Failed},
		{[]string{"tap", "fetch", "--where", "statu == 200"}, "did you mean status?", cli.Usage},
		{[]string{"tap", "fetch.", "--once"}, "names no port", cli.Usage},
		{[]string{"top", "serch", "--once"}, "these do: webrace", cli.Failed},
		{[]string{"top", "--interval", "1ms"}, "100ms or more", cli.Usage},
		{[]string{"top", "--once", "--interval", "100ms"}, "fetch ", cli.OK},
		{[]string{"top", "webrace", "--json", "--interval", "100ms"}, `"stage": "fetch"`, cli.OK},
	} {
		p := w.look(c.args...)
		p.mustExit(c.status)
		if !strings.Contains(p.said(), c.says) {
			t.Errorf("%v says %q, want %q", c.args, p.said(), c.says)
		}
	}
	once := w.look("tap", "webrace", "aci-emit:in", "--once", "--where", `owner == "ann"`)
	all := w.look("tap", "fetch", "--body")
	interrupted := w.look("tap", "fetch")
	once.waitUntil("watching")
	all.waitUntil("watching")
	interrupted.waitUntil("watching")
	interrupted.signal(os.Interrupt)
	interrupted.mustExit(cli.OK)
	letGo()
	run.mustExit(cli.OK)
	once.mustExit(cli.OK)
	all.mustExit(cli.OK)
	if aci := itemsOf(t, once.said()); len(aci) != 1 || aci[0].Kind != "aci" || aci[0].Port != pipeline.TapInput || !strings.Contains(string(aci[0].Value), `"owner":"ann"`) {
		t.Errorf("one annotation is shown as %s", once.said())
	}
	if pages := itemsOf(t, all.said()); len(pages) == 0 || !strings.Contains(string(pages[0].Body), "speaks of tea") || !strings.Contains(all.said(), "the pipeline has ended: ") {
		t.Errorf("pages are shown as %s", all.said())
	}
	idle := w.look("tap", "fetch")
	idle.mustExit(cli.Failed)
	if !strings.Contains(idle.said(), "start one: ") {
		t.Errorf("where nothing runs it says %s", idle.said())
	}
}

func TestAnItemIsALineOnATerminal(t *testing.T) {
	t.Parallel()
	item := pipeline.Tapped{
		Kind: "document", Number: 9, Time: time.Date(2026, 11, 21, 15, 4, 5, 0, time.Local), Port: "errors",
		Value: json.RawMessage(`{"status":200,"url":"http://a.example/","media_type":"text/html","language":"el"}`),
		Body:  []byte("<p>tea\n\x1b[2Jmilk"), BodySize: 100,
	}
	var out strings.Builder
	s := &screen{w: &out, width: 70}
	s.item(item, 7)
	s.body(item)
	want := "15:04:05 http://a.example/ errors (7 passed before it) status=200\n    <p>tea\n    \\u001b[2Jmilk\n    … 85 more bytes\n"
	if out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
	out.Reset()
	item.Body = []byte{0, 1}
	s.width = 0
	s.item(item, 0)
	s.body(item)
	if want := "15:04:05 http://a.example/ errors status=200 media_type=text/html language=el\n    100 bytes that are no text\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

// itemsOf reads the lines of JSON among what was said.
func itemsOf(t *testing.T, said string) (items []pipeline.Tapped) {
	t.Helper()
	for line := range strings.Lines(said) {
		if !strings.HasPrefix(line, "{") {
			continue
		}
		var item pipeline.Tapped
		if err := json.Unmarshal([]byte(line), &item); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		items = append(items, item)
	}
	return items
}
