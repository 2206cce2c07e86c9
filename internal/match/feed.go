package match

import (
	"cmp"
	"slices"

	"github.com/webrace/webrace"
)

// A feed is its entries, which are documents of their own: the conditions of a profile, its threshold and its relevance
// are those of an entry, as if the feed were so many pages. An old entry forbids nothing in a new one, and two words in
// two entries are not both in one. The profile is told of those new entries on which its conditions hold, and of an
// entry on which they come to hold: it was edited, and is as a version that is remembered had it. The relevance of the
// alert is the highest of these entries.

// feedEntry is one of a feed.
type feedEntry struct {
	is     extent // everything, arrivals or additions: whether it is new
	words  int32
	there  bool // it has blocks
	chosen bool
}

// entryHit is an occurrence of an atom of the profile at hand in an entry.
type entryHit struct {
	entry, atom int32
	field       webrace.Field
}

// openEntries finds what the page has of entries, once.
func (p *page) openEntries() {
	if len(p.entries) > 0 {
		return
	}
	p.entries = append(p.entries, make([]feedEntry, len(p.text.Entries)+1)...)
	for i, block := range p.text.Blocks {
		e := &p.entries[block.Entry]
		e.there = true
		switch {
		case p.added[i]:
			e.is = additions
		case p.arrived[i]:
			e.is = max(e.is, arrivals)
		}
	}
	for i := range p.tokens {
		p.entries[p.text.Blocks[p.tokens[i].Block].Entry].words++
	}
}

// choose chooses entries, and no others.
func (p *page) choose(all ...int32) {
	for _, i := range p.chosen {
		p.entries[i].chosen = false
	}
	p.chosen = p.chosen[:0]
	for _, i := range all {
		p.alsoChoose(i)
	}
}

func (p *page) alsoChoose(entry int32) {
	p.entries[entry].chosen = true
	p.chosen = append(p.chosen, entry)
}

// nearness is how near an entry came to an alert.
var nearness = map[Reason]int{ConditionUnmet: 1, NotRelevant: 2, NotNew: 3, Alerts: 4}

// judgeEntries is judge for a feed and a profile with keywords: of entries that are told of, for the highest relevance,
// and otherwise for the entry that came nearest.
func (p *page) judgeEntries(c *Compiled, among extent) verdict {
	p.openEntries()
	p.choose()
	best, looked := verdict{among: chosen, shown: among, words: len(p.tokens), reason: NothingNew}, among
	if among == additions {
		looked = arrivals // and nothing else, as no other entry can come to hold
	}
	if p.counts[looked] == 0 {
		p.frequencies = append(p.frequencies[:0], make([]frequency, len(c.atoms))...)
		return best
	}
	var of []entryHit // the best one's
	settle := func(number int32, hits []entryHit) {
		e := &p.entries[number]
		v := best
		v.entry, v.words = number, int(e.words)
		_, v.relevance, v.reason = p.holds(c, p.countHits(c, hits), v.words)
		if v.reason == Alerts && !p.tells(c, number, among) {
			v.reason = NotNew
		}
		if v.reason == Alerts {
			p.alsoChoose(number)
			if e.is < among {
				best.shown = looked
			}
		}
		if cmp.Or(cmp.Compare(nearness[v.reason], nearness[best.reason]), cmp.Compare(v.relevance, best.relevance)) > 0 {
			v.shown = best.shown
			best, of = v, hits
		}
	}
	for rest := p.findInEntries(c, looked); len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].entry == rest[0].entry {
			n++
		}
		settle(rest[0].entry, rest[:n])
		rest = rest[n:]
	}
	if _, _, reason := p.holds(c, p.countHits(c, nil), 0); reason == Alerts || best.reason == NothingNew {
		p.settleOthers(looked, settle)
	}
	if best.reason != Alerts {
		p.choose(best.entry)
	}
	p.countHits(c, of)
	return best
}

// settleOthers settles the entries in which no keyword occurs, of those looked at.
func (p *page) settleOthers(looked extent, settle func(number int32, hits []entryHit)) {
	has := p.within
	for number := int32(1); int(number) < len(p.entries); number++ {
		for len(has) > 0 && has[0].entry < number {
			has = has[1:]
		}
		e := &p.entries[number]
		if e.there && e.is >= looked && (len(has) == 0 || has[0].entry != number) {
			settle(number, nil)
		}
	}
}

// findInEntries returns where the keywords of the profile occur in entries, by entry.
func (p *page) findInEntries(c *Compiled, looked extent) []entryHit {
	p.within = p.within[:0]
	for i := range c.atoms {
		for _, s := range p.occurrences(&c.atoms[i], looked) {
			if b := &p.text.Blocks[p.tokens[s.first].Block]; b.Entry > 0 {
				p.within = append(p.within, entryHit{b.Entry, int32(i), b.Field})
			}
		}
	}
	slices.SortFunc(p.within, func(x, y entryHit) int { return cmp.Compare(x.entry, y.entry) })
	return p.within
}

// countHits tells how often each atom occurs in each field, in p.frequencies.
func (p *page) countHits(c *Compiled, hits []entryHit) []frequency {
	p.frequencies = append(p.frequencies[:0], make([]frequency, len(c.atoms))...)
	for _, h := range hits {
		p.frequencies[h.atom][h.field]++
	}
	return p.frequencies
}

// tells reports whether an entry on which the conditions hold is told: a new one, or one on which they came to hold.
func (p *page) tells(c *Compiled, number int32, among extent) bool {
	if among == everything || p.entries[number].is == additions {
		return true
	}
	if c.once || p.previous == nil {
		return false
	}
	before := p.lastPage()
	if p.isPart {
		return false // what an edited entry said is not known
	}
	before.openEntries()
	was := before.sameEntry(p.text.Entries[number-1])
	if was == 0 {
		return false // it fell out of the feed and is back
	}
	before.choose(was)
	_, _, reason := before.holds(c, before.countAll(c, chosen), int(before.entries[was].words))
	return reason != Alerts
}

// sameEntry returns the entry that is known by the same name and link as one of another version, or else the only one
// of that link; 0 if there is none.
func (p *page) sameEntry(as webrace.Entry) (same int32) {
	for i, e := range p.text.Entries {
		switch {
		case as.Link == 0 || e.Link != as.Link || !p.entries[i+1].there:
		case e == as:
			return int32(i + 1)
		case same == 0:
			same = int32(i + 1)
		default:
			same = several
		}
	}
	return max(same, 0)
}

// several is the number of entries that cannot be told from one another.
const several = -1
