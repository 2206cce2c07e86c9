package keywordfilter

import (
	"iter"
	"slices"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/match"
	"github.com/webrace/webrace/internal/persistent"
	"github.com/webrace/webrace/internal/selection"
	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/storage/control"
)

// crowd is the URDs that are asked about a document for the same reason: their crawl came to it, they watch a prefix
// on its site, or everyone is asked. What they have seen of it follows from few numbers, their standing.
type crowd struct {
	members        // those who look at whole pages
	parts   *parts // the others; nil for none
	private bool   // it is that of a crawl that uses credentials
}

// members are those of a crowd who look at the same of a page. Few are asked one by one: their profiles are in
// the index of all. Many have an index of their own, so that a page costs what its words lead to among them, and
// not among all the others, of other sites, who use the same words.
type members struct {
	few  urds
	many *profiles // instead of few, once they were more than these
}

// mostFew is how many members of a crowd are asked one by one. Each costs a page a fifth of a microsecond; an index of
// their own costs next to nothing where the page concerns none of them, but is memory for each crowd.
const mostFew = 32

// profiles are an index and its state as an audience knows it.
type profiles struct {
	index *match.Index
	view  *match.View
}

// after returns the profiles with some more.
func (p profiles) after(added []*match.Compiled) profiles {
	p.index.Add(added...)
	return profiles{p.index, p.index.View()}
}

// parts are the members of a crowd who look at parts of pages, by their rules.
type parts struct {
	byRules persistent.Map[part]
	newest  int64 // the latest revision of an interest that ever was among them
}

// part is those who look at the same part, by rules that are nobody's to change.
type part struct {
	members
	rules *selection.Selection
}

// standing is how a crowd stands to a document: how far it is from the start of their crawl, and what they were shown
// of it last; of those who have no crawl, distances are 0, and all have been shown what was matched last.
type standing struct {
	distance int
	shown    webrace.Shown // of version 0 if that was nothing
}

// crowds yields the crowds that are asked about a document: those whose crawls came to it, and those who watch
// prefixes on its site; or everyone. What was fetched with credentials is for those who gave them.
func (a *audience) crowds(d *webrace.Document) iter.Seq2[crowd, standing] {
	return func(yield func(crowd, standing) bool) {
		private := a.isPrivate(d)
		if a.everyone && !private {
			yield(a.all, matchedBefore(d.Visit))
			return
		}
		for _, reach := range d.Reach {
			if crawl, known := a.crawls.Get(reach.Crawl); known && !yield(crawl, shownBefore(reach, d.Visit)) {
				return
			}
		}
		if private {
			return
		}
		for _, site := range slices.Compact([]string{siteOf(d.URL), ""}) {
			if watching, known := a.prefixes.Get(site); known && !yield(watching, matchedBefore(d.Visit)) {
				return
			}
		}
	}
}

// matchedBefore returns the standing of those with whom every document is matched.
func matchedBefore(v *webrace.Visit) (s standing) {
	if v != nil {
		s.shown.Version, s.shown.Revision = v.Version, v.Revision
	}
	return s
}

// shownBefore returns the standing of a crawl.
func shownBefore(reach webrace.Reach, v *webrace.Visit) standing {
	s := standing{distance: reach.Distance}
	if v != nil {
		s.shown, _ = v.ShownTo(reach.Crawl)
	}
	return s
}

// asks reports whether a URD of the crowd is asked about a document: if that lies within the levels of its crawl, or
// under the prefix that it watches.
func (s standing) asks(urd *control.URD, url string) bool {
	return webrace.Reach{Distance: s.distance}.Within(urd.Crawl.Levels) && isUnder(urd, url)
}

// isUnder reports whether a URL begins with the prefix that a URD watches, if it watches one.
func isUnder(urd *control.URD, url string) bool {
	under, isPrefix := urd.Prefix()
	return !isPrefix || urlnorm.HasPrefix(url, under)
}

// seen returns the version that a URD of the crowd was shown, or none (0): if the URD is since then as it is now, and
// the document lay within its levels.
func (s standing) seen(urd *control.URD) int {
	if s.shown.Revision < urd.Interest || !(webrace.Reach{Distance: s.shown.Distance}).Within(urd.Crawl.Levels) {
		return 0
	}
	return s.shown.Version
}

// options are what makes of a match with everyone of a crowd the same.
func (s standing) options(d *webrace.Document) match.Options {
	o := match.Options{Everyone: true, URL: urlnorm.Identity(d.URL), Distance: s.distance}
	if s.shown.Version > 0 {
		o.Seen, o.SeenDistance, o.Unseen = s.shown.Revision, s.shown.Distance, s.shown.Version == d.Version
	}
	return o
}

// allSeen reports whether all whose interests are no newer than a revision have been shown the version at hand.
func (s standing) allSeen(d *webrace.Document, newest int64) bool {
	return s.shown.Version > 0 && s.shown.Version == d.Version && newest <= s.shown.Revision && s.shown.Distance <= s.distance
}
