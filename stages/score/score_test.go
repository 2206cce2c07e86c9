package score

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/stagetest"
)

var with = stagetest.Changed(defaults)

var storms = map[string]int{"storm": 5, "ferry timetable": 3}

const site = "https://site.example/"

// text is one of the body, in one block.
func text(s string) *webrace.Text {
	return &webrace.Text{Bytes: []byte(s), Blocks: []webrace.Block{{End: int32(len(s))}}}
}

// scored returns the scores of links.
func scored(t *testing.T, o Options, l *webrace.Links) []uint8 {
	t.Helper()
	if err := o.Validate(); err != nil {
		t.Fatal(err)
	}
	got := stagetest.Try(t, stagetest.Case{Type: "score", Options: o, Inputs: []any{l}})
	if len(got.Out[""]) != 1 {
		t.Fatalf("%+v", got)
	}
	return got.Out[""][0].(*webrace.Links).Scores
}

func TestConformance(t *testing.T) {
	l := &webrace.Links{From: site, Via: webrace.ViaLink, URLs: []string{site + "storm", site + "a"}, Anchors: []string{"A storm"}, Text: text("The storm came.")}
	for _, o := range []Options{
		with(func(o *Options) { o.Keywords = storms }), with(func(o *Options) { o.OPIC, o.OPICURLs = true, 1 }), with(func(o *Options) { o.Keywords, o.OPIC = storms, true }),
	} {
		stagetest.Run(t, stagetest.Case{Type: "score", Options: o, Inputs: []any{
			l, &webrace.Links{}, &webrace.Links{From: site, Via: webrace.ViaRedirect, URLs: []string{site + "b"}}, &webrace.Links{Via: webrace.ViaRobots, URLs: []string{site + "sitemap.xml"}},
		}})
	}
}

func TestLinksGoOnWithScoresAndWithoutWhatTheseWereMadeOf(t *testing.T) {
	l := &webrace.Links{
		From: site, Reach: []webrace.Reach{{Crawl: "c", Distance: 1}}, Via: webrace.ViaLink, URLs: []string{site + "storm", site + "a"},
		Anchors: []string{"A storm"}, Text: text("The storm came."),
	}
	got := stagetest.Try(t, stagetest.Case{Type: "score", Options: with(func(o *Options) { o.Keywords = storms }), Inputs: []any{l}})
	out := got.Out[""][0].(*webrace.Links)
	if len(out.Scores) != 2 || out.Anchors != nil || out.Text != nil || !slices.Equal(out.URLs, l.URLs) || !slices.Equal(out.Reach, l.Reach) || out.From != l.From {
		t.Errorf("%+v", out)
	}
	if got.Counters["scored"] != 2 || got.Counters["promising"] != 2 {
		t.Errorf("counters %v", got.Counters)
	}
}

// TestWhatSpeaksForALinkRaisesItsScore has pairs of which the first is the more promising.
func TestWhatSpeaksForALinkRaisesItsScore(t *testing.T) {
	type link struct{ anchor, url, page string }
	for name, pair := range map[string][2]link{
		"the keyword in its text":               {{"The storms of 2025", "a", ""}, {"The winds of 2025", "b", ""}},
		"a phrase, in its order":                {{"ferry timetable", "a", ""}, {"timetable of a ferry", "b", ""}},
		"the weightier keyword":                 {{"storm", "a", ""}, {"ferry timetable", "b", ""}},
		"both keywords":                         {{"storm and ferry timetable", "a", ""}, {"storm storm storm", "b", ""}},
		"the text of the link, before its URL":  {{"storm", "a", ""}, {"more", "storm", ""}},
		"its URL":                               {{"more", "news/storm-iris.html", ""}, {"more", "news/iris.html", ""}},
		"words joined by underscores":           {{"more", "ferry_timetable_2025", ""}, {"more", "ferrytimetable", ""}},
		"an escaped URL":                        {{"more", "?q=st%6Frm", ""}, {"more", "?q=stxrm", ""}},
		"the page":                              {{"more", "a", "The storm, the storm and the storm."}, {"more", "b", "The calm."}},
		"the text of the link, before the page": {{"storm", "a", "The calm."}, {"more", "b", "The storm, the storm and the storm."}},
		"its URL, where there is no text":       {{"", "storm", ""}, {"calm", "storm", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			scores := make([]uint8, 2)
			for i, p := range pair {
				l := &webrace.Links{From: site, Via: webrace.ViaLink, URLs: []string{site + p.url}, Anchors: []string{p.anchor}}
				if p.page != "" {
					l.Text = text(p.page)
				}
				scores[i] = scored(t, with(func(o *Options) { o.Keywords = storms }), l)[0]
			}
			if scores[0] <= scores[1] || scores[1] == 0 {
				t.Errorf("%+v has %d, %+v has %d", pair[0], scores[0], pair[1], scores[1])
			}
		})
	}
}

// TestHostsCountWhereTheyDiffer leaves out the host of the page itself, which would speak for all its links.
func TestHostsCountWhereTheyDiffer(t *testing.T) {
	l := &webrace.Links{From: "https://storm.example/", Via: webrace.ViaLink, URLs: []string{"https://storm.example/a", "https://storm.site.example/a", "https://site.example/a"}}
	got := scored(t, with(func(o *Options) { o.Keywords = storms }), l)
	if got[0] != 1 || got[1] <= 1 || got[2] != 1 {
		t.Errorf("scores %v", got)
	}
}

func TestAPlaceThatDoesNotCountIsNotLookedAt(t *testing.T) {
	l := &webrace.Links{From: site, Via: webrace.ViaLink, URLs: []string{site + "storm", site + "b"}, Anchors: []string{"a", "storm"}, Text: text("storm storm storm")}
	for _, c := range []struct {
		anchor, url, page int
		best              []bool // that have more than nothing
	}{{1, 0, 0, []bool{false, true}}, {0, 1, 0, []bool{true, false}}, {0, 0, 1, []bool{true, true}}} {
		got := scored(t, with(func(o *Options) { o.Keywords, o.Anchor, o.URL, o.Page = storms, c.anchor, c.url, c.page }), l)
		if (got[0] > 1) != c.best[0] || (got[1] > 1) != c.best[1] {
			t.Errorf("anchor %d, url %d, page %d: scores %v", c.anchor, c.url, c.page, got)
		}
	}
}

func TestSitemapsOfARobotsTxtKeepTheScoreOfTheFrontier(t *testing.T) {
	l := &webrace.Links{From: site + "robots.txt", Via: webrace.ViaRobots, URLs: []string{site + "sitemap.xml"}}
	if got := scored(t, with(func(o *Options) { o.Keywords = storms }), l); got != nil {
		t.Errorf("scores %v", got)
	}
}

func TestOptionsThatCannotBeAreRefused(t *testing.T) {
	for want, change := range map[string]func(*Options){
		"keywords: are not set, nor is opic":       func(*Options) {},
		"weight 9, which is not":                   func(o *Options) { o.Keywords = map[string]int{"storm": 9} },
		"none of its keywords has a word in it":    func(o *Options) { o.Keywords = map[string]int{"-": 3} },
		"page: -1 is not between 0 and 100":        func(o *Options) { o.Keywords, o.Page = storms, -1 },
		"anchor: counts as little as url and page": func(o *Options) { o.Keywords, o.Anchor, o.URL, o.Page = storms, 0, 0, 0 },
		"opic_urls: 0 is less than 1":              func(o *Options) { o.OPIC, o.OPICURLs = true, 0 },
	} {
		err := with(change).Validate()
		var option *pipeline.OptionError
		if !errors.As(err, &option) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// FuzzScores holds each link to be promising from 0 to 1, and its score to be 1 at least, for whatever a page writes;
// and links that say the same to be judged alike.
func FuzzScores(f *testing.F) {
	f.Add("a storm", "https://site.example/%zz?storm_", "https://other.example/", "storm")
	f.Add("\xff\n", "", "x", "")
	i, _, err := newInterest(with(func(o *Options) { o.Keywords = storms }))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, anchor, url, from, page string) {
		l := &webrace.Links{From: from, URLs: []string{site + "storm", url, url}, Anchors: []string{"", anchor, anchor}, Text: text(page)}
		all := i.promises(l)
		if len(all) != 3 || all[1] != all[2] {
			t.Fatalf("promises %v", all)
		}
		for _, p := range all {
			if !(p >= 0 && p <= 1) || coarse(p, 1) == 0 || coarse(p, 0) == 0 {
				t.Fatalf("promise %v", p)
			}
		}
	})
}
