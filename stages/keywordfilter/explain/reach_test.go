package explain

import (
	"strings"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/frontier"
	"github.com/webrace/webrace/xmlschema"
)

func urdOf(t *testing.T, uri string, change func(*xmlschema.URD)) control.URD {
	t.Helper()
	u := xmlschema.NewURD("eleni", uri)
	if change != nil {
		change(u)
	}
	crawl, _, err := control.CrawlOf(u)
	if err != nil {
		t.Fatal(err)
	}
	return control.URD{URD: u, Crawl: crawl}
}

func TestWhoIsAskedAboutAURL(t *testing.T) {
	t.Parallel()
	const url = "http://a.example/dir/page"
	start := urdOf(t, "http://a.example/", func(u *xmlschema.URD) { u.Depth = 2 })
	start1 := urdOf(t, "http://a.example/", nil)
	prefix := urdOf(t, "http://a.example/dir/*", nil)
	elsewhere := urdOf(t, "http://b.example/", nil)
	visited := func(distance int, m Matching) Status {
		return Status{"webrace", m, frontier.Explanation{
			State: frontier.Completed, Visit: &webrace.Visit{Version: 1}, Reached: []frontier.Reached{{Crawl: start.Crawl.ID, Distance: distance}},
		}}
	}
	waiting := visited(1, Matching{})
	waiting.Reached[0].Waiting, waiting.State = true, frontier.Queued
	again := visited(1, Matching{})
	again.Reached[0].Waiting, again.State = true, frontier.Queued
	again.Visit.Shown = []webrace.Shown{{Crawl: start.Crawl.ID, Distance: 1, Version: 1}}
	for name, c := range map[string]struct {
		at     []Status
		secret string
		urd    control.URD
		asked  bool
		why    string
	}{
		"a crawl that came":                     {[]Status{visited(1, Matching{})}, "", start, true, "its crawl came to it on level 2"},
		"a crawl that came too far":             {[]Status{visited(2, Matching{})}, "", start, false, "it lies on level 3 of the crawl, and the URD asks for 2"},
		"one that would have to come further":   {[]Status{visited(1, Matching{})}, "", start1, false, "asks for 1 (depth)"},
		"a crawl that waits":                    {[]Status{waiting}, "", start, false, "waits for its turn"},
		"a crawl that waits for the next round": {[]Status{again}, "", start, true, "level 2"},
		"a pipeline without matching":           {[]Status{visited(1, Matching{Unmatched: true})}, "", start, false, "has no stage keyword-filter"},
		"a crawl that did not come":             {nil, "", start, false, "its start page does not lead here"},
		"another site":                          {[]Status{visited(1, Matching{})}, "", elsewhere, false, "it lies outside the scope host of http://b.example/"},
		"another site, when all are asked":      {[]Status{visited(1, Matching{Everyone: true})}, "", elsewhere, true, "pipeline webrace asks everyone"},
		"too far, when all are asked":           {[]Status{visited(2, Matching{Everyone: true})}, "", start, true, "asks everyone"},
		"all are asked of what is no secret":    {[]Status{visited(1, Matching{Everyone: true})}, "bank", elsewhere, false, "outside the scope"},
		"a prefix":                              {[]Status{visited(1, Matching{})}, "", prefix, true, "it lies under what the URD watches"},
		"a prefix, of what is secret":           {[]Status{visited(1, Matching{})}, "bank", prefix, false, "fetched with credentials"},
		"the crawl that gave the credentials":   {[]Status{visited(1, Matching{})}, "bank", start, true, "level 2"},
		"one that asks without credentials":     {nil, "bank", start, false, "leave out --secret"},
		"one that asks with credentials":        {nil, "", urdOf(t, "http://a.example/", func(u *xmlschema.URD) { u.Secret, u.Depth = "bank", 2 }), false, "(--secret bank)"},
		"another prefix, when all are asked":    {[]Status{visited(1, Matching{Everyone: true})}, "", urdOf(t, "http://a.example/x*", nil), false, "does not lie under"},
		"a protocol that nothing serves":        {nil, "", urdOf(t, "news.example", func(u *xmlschema.URD) { u.Protocol = xmlschema.ProtocolNNTP }), false, "protocol nntp"},
		"a feed that did not lead there":        {nil, "", urdOf(t, "http://a.example/", func(u *xmlschema.URD) { u.Protocol = xmlschema.ProtocolFeed }), false, "depth 1"},
	} {
		r := &Reach{URL: url, Secret: c.secret, Statuses: c.at}
		if asked, why := r.Asks(c.urd); asked != c.asked || !strings.Contains(why, c.why) {
			t.Errorf("%s: asked %t, %q, want %t, %q", name, asked, why, c.asked, c.why)
		}
	}
}

func TestWhatAURDWasShownOfAURL(t *testing.T) {
	t.Parallel()
	start, prefix := urdOf(t, "http://a.example/", nil), urdOf(t, "http://a.example/*", nil)
	visit := &webrace.Visit{Version: 3, Revision: 7, Shown: []webrace.Shown{{Crawl: start.Crawl.ID, Version: 2, Revision: 5}}}
	r := &Reach{URL: "http://a.example/", Statuses: []Status{
		{"old", Matching{}, frontier.Explanation{}},
		{"webrace", Matching{}, frontier.Explanation{Visit: visit, Reached: []frontier.Reached{{Crawl: start.Crawl.ID}}}},
	}}
	if shown, visited := r.shown(start); !visited || shown.Version != 2 || shown.Revision != 5 {
		t.Errorf("its crawl: %+v, %t", shown, visited)
	}
	if shown, visited := r.shown(prefix); !visited || shown.Version != 3 || shown.Revision != 7 {
		t.Errorf("a prefix: %+v, %t", shown, visited)
	}
	if _, visited := (&Reach{}).shown(prefix); visited {
		t.Error("what was never visited was shown")
	}
}
