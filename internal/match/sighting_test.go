package match

import (
	"testing"

	"github.com/webrace/webrace"
)

// sighting is a text, how it stands to who has seen an earlier version, and what the oracle finds in it.
type sighting struct {
	text  *webrace.Text
	added []bool
	last  *Last
	judge func(g *wantedGroup, threshold int, seen, once bool) oracleVerdict
}

// sightings invents what was seen before of a page, and of a feed that has the same blocks.
func sightings(n int, pages []*webrace.Text) []sighting {
	text := pages[n]
	added, last := inventLast(n, text, pages)
	page, before := readPage(text), lastSeen(text, added, last)
	feed := inventFeed(n, text, pages)
	return []sighting{{text, added, last, func(g *wantedGroup, threshold int, seen, once bool) oracleVerdict {
		if !seen {
			return oracle(g, threshold, &page, nil)
		}
		before.once = once
		return oracle(g, threshold, &page, before)
	}}, {feed.text, feed.added, feed.last, feed.judge}}
}

// compare matches the pages, and feeds made of them, with the profiles by the index, as everyone and as recipients, and
// by the oracle, and returns how many pairs it compared and how many of them alerted.
func compare(t *testing.T, groups []wantedGroup, pages []*webrace.Text) (pairs, alerting int) {
	t.Helper()
	x, thresholds := indexed(t, groups)
	for n := range pages {
		for _, s := range sightings(n, pages) {
			p, a := compareSighting(t, x, groups, thresholds, n, s)
			pairs, alerting = pairs+p, alerting+a
		}
	}
	return pairs, alerting
}

func compareSighting(t *testing.T, x *Index, groups []wantedGroup, thresholds []int, n int, sighted sighting) (pairs, alerting int) {
	t.Helper()
	text, added, last := sighted.text, sighted.added, sighted.last
	seen, distance, seenDistance := int64(n%4), n%5, n/5%7
	var to []Recipient
	for i := range groups {
		to = append(to, Recipient{ID: idOf(i), OnlyAdded: reaches(i, seenDistance) && shownAdditions(i, seen)})
	}
	o := Options{Recipients: to, Added: added, Last: last, Summary: 40 + n%100}
	got := byID(x.Match(text, o))
	o.Everyone, o.Seen, o.Distance, o.SeenDistance = true, seen, distance, seenDistance
	all := byID(x.Match(text, o))
	relevances := map[string]int{}
	for c, relevance := range x.View().Relevances(text, o) {
		relevances[c.ID()] = relevance
	}
	if len(relevances) != len(all) {
		t.Fatalf("%d relevances of %d alerts", len(relevances), len(all))
	}
	o.Everyone = false
	for i := range groups {
		want := sighted.judge(&groups[i], thresholds[i], to[i].OnlyAdded, onceOf(i))
		a, alerted := got[idOf(i)]
		b, alertedAll := all[idOf(i)]
		if alerted != want.alerts || alertedAll != (want.alerts && reaches(i, distance)) {
			t.Fatalf("profile %+v\npage %q\nonly added: %v\nalerts: %v, among everyone %v; want %v with relevance %d, threshold %d\n%s",
				groups[i], text.Bytes, to[i].OnlyAdded, alerted, alertedAll, want.alerts, want.relevance, thresholds[i],
				Explain(x.Profile(idOf(i)), text, o))
		}
		if alerted {
			alerting++
			if !alertedAll { // the page lies beyond its levels
				b, relevances[a.ID] = a, a.Relevance
			}
			if a.Relevance != want.relevance || b.Relevance != want.relevance || relevances[a.ID] != want.relevance || a.Matched != want.matched || b.Matched != want.matched {
				t.Fatalf("profile %+v\npage %q\nrelevance %d and %d (%v), digest %x and %x; want %d, %x\n%s", groups[i], text.Bytes,
					a.Relevance, b.Relevance, relevances[a.ID], a.Matched[:4], b.Matched[:4], want.relevance, want.matched[:4], a.Explanation)
			}
			if len(a.Summary) > o.Summary || (a.Summary == "") != want.blank {
				t.Fatalf("summary %q in %d bytes", a.Summary, o.Summary)
			}
		}
		pairs++
	}
	return pairs, alerting
}
