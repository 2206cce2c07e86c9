package frontier

import (
	"strings"

	"github.com/webrace/webrace"
)

// longestSitemaps is how many sitemaps in a row cost no level, each listed by the one before: robots.txt, an index
// and a sitemap are three. A site could make up any number of them.
const longestSitemaps = 5

// levelsTo returns how many levels further than a document lies what it points to; sitemaps is what sitemapsTo returns.
func (q *Queue) levelsTo(via webrace.Via, sitemaps int) int {
	switch {
	case via.SameLevel():
		return 0
	case via == webrace.ViaSitemap && sitemaps <= longestSitemaps:
		return q.opt.SitemapLevels
	}
	return 1
}

// sitemapsTo returns how many sitemaps in a row lead to what a document points to. The document is out while its links
// are offered, so the lease knows how many led to itself; a caller who offers without one is taken to be the first.
func (q *Queue) sitemapsTo(l *webrace.Links) int {
	listed := l.Via == webrace.ViaSitemap || l.Via == webrace.ViaRobots
	if !listed && !l.Via.SameLevel() {
		return 0
	}
	switch {
	case l.Via == webrace.ViaRobots:
		return 1
	case listed:
		return q.sitemapsOf(l) + 1
	}
	return q.sitemapsOf(l)
}

// sitemapsOf returns how many sitemaps in a row led to a document that is out.
func (q *Queue) sitemapsOf(l *webrace.Links) (most int) {
	for _, r := range l.Reach {
		cr := q.crawls.get(r.Crawl)
		if cr == nil {
			continue
		}
		id := identify(cr.pass().Secret, l.From)
		q.mu.Lock()
		if out := q.leases[id]; out != nil {
			most = max(most, out.item.sitemaps)
		}
		q.mu.Unlock()
	}
	return most
}

// lister returns the sitemap, or robots.txt, that lists the URL, if it was found so.
func (it *item) lister() string {
	if it.sitemaps == 0 || it.redirects > 0 {
		return ""
	}
	return it.from
}

// canBeSitemap reports whether what is found at a URL is a sitemap that may be compressed: where no page for readers is
// asked for, an extension of what is no document is none of a sitemap.
func canBeSitemap(via webrace.Via, url string) bool {
	return via == webrace.ViaRobots || via == webrace.ViaSitemap && (strings.HasSuffix(url, ".xml.gz") || strings.HasSuffix(url, ".txt.gz"))
}

// listerOf returns the sitemap, or robots.txt, that lists a URL: by what waits of it, or else by its last visit.
func (q *Queue) listerOf(id urlID, url string, rec *record, last *webrace.Visit) (string, error) {
	it := item{url: url}
	switch l := q.leases[id]; {
	case l != nil:
		it = l.item
	case rec.place.kind != nowhere:
		key := q.keys.timed(kindDelayed, rec.place.due, rec.place.order)
		if rec.place.kind == inHostQueue {
			key = q.keys.item(it.host(), rec.place.level, rec.place.order)
		}
		value, err := q.store.db.Value(key)
		if err != nil {
			return "", err
		}
		if value != nil { // else it was taken off since its record was read
			if it, err = decodeItem(value); err != nil {
				return "", err
			}
		}
	}
	lister := it.lister()
	if lister == "" && last != nil {
		lister = last.Lister
	}
	return lister, nil
}
