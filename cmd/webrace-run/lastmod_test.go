package main

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"
)

// listing is a sitemap that the test may change between requests: it lists for each of its pages when that changed.
type listing struct {
	*site
	changed func(page int) time.Time
}

const listed = 6

// lists makes a site of pages, and a sitemap of them that is never the same.
func (s *site) lists() *listing {
	l := &listing{site: s}
	for page := range listed {
		l.page(l.path(page), fmt.Sprint("page ", page))
	}
	s.handle("/sitemap.xml", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/xml")
		fmt.Fprint(w, `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`)
		for page := range listed {
			fmt.Fprintf(w, "<url><loc>%s%s</loc><lastmod>%s</lastmod></url>", s.URL, l.path(page), l.changed(page).UTC().Format(time.RFC3339))
		}
		fmt.Fprint(w, "</urlset>")
	})
	return l
}

func (l *listing) path(page int) string { return fmt.Sprintf("/%d", page) }

// change changes pages.
func (l *listing) change(pages ...int) {
	for _, page := range pages {
		l.page(l.path(page), fmt.Sprint("page ", page, " changed at ", time.Now()))
	}
}

func TestOfATrustedSitemapOnlyWhatItListsAsChangedIsAskedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	l := w.lists()
	urds := these(w.asks("ann", "/sitemap.xml", depth(2)))
	round := func(what string, want ...string) runReport {
		t.Helper()
		w.requests()
		report := w.reported(urds, append(askAll, "--set", "frontier.trust_lastmod=true")...)
		mustBe(t, what, w.requests(), append(want, "200 /sitemap.xml")...)
		return report
	}
	var all []string
	for page := range listed {
		all = append(all, "200 "+l.path(page))
	}
	first, second, third := time.Unix(1e9, 0), time.Unix(1.1e9, 0), time.Unix(1.2e9, 0)
	l.changed = func(int) time.Time { return first }
	round("the first round", all...)

	l.changed = func(int) time.Time { return second }
	l.change(0, 1, 2, 3, 4, 5)
	round("all are listed, and have changed", all...)

	if n := round("nothing is listed").Stages["frontier"].Counters["lastmod_unchanged"]; n != listed {
		t.Errorf("%d pages are left alone, want %d", n, listed)
	}

	l.changed = func(page int) time.Time {
		if page == 3 {
			return third
		}
		return second
	}
	l.change(3, 4) // of 4 the sitemap does not tell
	round("one is listed", "200 /3")
}

func TestASitemapThatAlwaysSaysNowIsFoundOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	l := w.lists()
	var now atomic.Int64
	l.changed = func(int) time.Time { return time.Unix(1e9+now.Add(1), 0) }
	live := w.goOn(these(w.asks("ann", "/sitemap.xml", depth(2), every(20*time.Millisecond))), "frontier.trust_lastmod=true", "frontier.revisit_min=1h")
	live.until("a second visit of each page", func() bool {
		n := live.counts()
		for page := range listed {
			if n[l.path(page)] < 2 {
				return false
			}
		}
		return true
	})
	live.untilAsked("/sitemap.xml", 5)
	report := live.drain()
	const believed = 8 // visits in vain, and those that were under way by then
	if n := report.Stages["frontier"].Counters["lastmod_changed"]; n < listed || n >= believed+listed {
		t.Errorf("%d visits were made before their time", n)
	}
	for page := range listed {
		if n := l.counts()[l.path(page)]; n < 2 || n > 3 {
			t.Errorf("%s was asked for %d times in %d rounds", l.path(page), n, l.counts()["/sitemap.xml"])
		}
	}
}
