// Package match compares pages with standing profiles: lists of weighted keywords that tell what their
// owners want to be told of. The profiles are indexed, so that the cost of a page follows the page and the
// profiles it concerns, not how many are registered.
//
// The relevance of a page to a profile is 100·(1 − Π(1 − c)) over the profile's keywords, rounded, where
// c = w/5·s is what a keyword of weight w contributes, s = f/(f + 0.7 + 0.3·length) its saturation, at
// most 0.98, and f its occurrences, each counting by the field it stands in: 4 in the title, 2 in a
// heading, 1 in the body, ¼ in navigation. Length is that of the whole page, in units of 800 words and
// taken to be at least ¼ and at most 4. A profile alerts if its conditions hold and the relevance exceeds
// its threshold. Hence a further keyword never lowers a relevance, relevances compare between profiles
// and over time, and a keyword of weight w alone never exceeds 20·w.
//
// A profile that has seen an earlier version is told of what is new, if the conditions hold on the whole page, and
// what makes them hold stands in blocks that are new, or if they come to hold: see occasion.go. [Baseline] tells which
// blocks are new. In a feed all this is said of each entry by itself: see feed.go. A phrase never crosses the border of
// a block.
package match

import (
	"iter"
	"slices"
	"strings"

	"github.com/webrace/webrace"
)

// Options determines for whom a page is matched, and on what part of it.
type Options struct {
	// Recipients are the profiles to match. Those that the index does not hold are passed over.
	Recipients []Recipient
	// Everyone matches every profile of the index instead.
	Everyone bool
	// Seen is the latest revision whose profiles have seen an earlier version of the page, if it is matched
	// with everyone: these are shown what their Change selects, and the others all of it. 0: none has.
	Seen int64
	// Since and Until, if not 0, confine a match with everyone to profiles of later revisions than one, and of none later
	// than the other: something else is new to the others.
	Since, Until int64
	// Distance is how far the page lies from the start of its crawl, if it is matched with everyone, and
	// SeenDistance how far it lay when the earlier version was seen: it concerns the profiles within whose Levels
	// it lies, and those have seen it within whose Levels it lay. Both are 0 for profiles that were not chosen by a
	// crawl.
	Distance, SeenDistance int
	// Beyond, if not 0, leaves out the profiles within whose Levels a page lies that is as far from the start: they have
	// seen another version.
	Beyond int
	// Unseen leaves out the profiles that have seen an earlier version, whatever their Change is.
	Unseen bool
	// Met means that Seen is for a page that nobody has seen, but of which a part is known from elsewhere: who asks for
	// its first version is shown what is new as well.
	Met bool
	// Unchanged means that the page has no other text than the version that was seen, or than those that are remembered:
	// who is shown the whole page whenever it changes is shown nothing then.
	Unchanged bool
	// Remember confines a match with everyone to the profiles that remember one of these numbers of versions, each a
	// bit; 0 does not. What is new to profiles that remember different numbers may differ: then they are matched apart.
	Remember uint16
	// URL is the page's address, for profiles that are confined to some: both by their identities.
	URL string
	// Former is the address at which the earlier version was seen, if that is another: profiles that are confined to
	// others have not seen it.
	Former string
	// Added holds which blocks of the text are new, as Baseline.Update returns it. Blocks beyond its end
	// are new: nil means all of them.
	Added []bool
	// Last is the version that was seen last. Without it no profile's conditions come to hold.
	Last *Last
	// Summary is the most bytes an alert's summary may have; 0 leaves it out.
	Summary int
}

// Recipient is a profile that a page is matched with. OnlyAdded confines it to what is new.
type Recipient struct {
	ID        string
	OnlyAdded bool
}

// shows returns what part of the page a profile is shown when everyone is, or false if none.
func (o *Options) shows(c *Compiled) (among extent, concerned bool) {
	if !c.within(o.Distance) || !strings.HasPrefix(o.URL, c.under) || o.Remember != 0 && o.Remember>>c.remember&1 == 0 {
		return everything, false
	}
	if o.Beyond > 0 && c.within(o.Beyond) || o.Since > 0 && c.revision <= o.Since || o.Until > 0 && c.revision > o.Until {
		return everything, false
	}
	switch {
	case o.Seen == 0 || c.revision > o.Seen || !c.within(o.SeenDistance), o.Former != "" && !strings.HasPrefix(o.Former, c.under):
		return everything, true
	case o.Unseen:
		return everything, false
	case c.change == ChangePage:
		return everything, !o.Unchanged
	case c.change == ChangeAdded || o.Met:
		return additions, true
	}
	return everything, false
}

// Asking is profiles that a text is matched with: those of a view that the options choose.
type Asking struct {
	*View
	Options
	// Looked, if there is one, is increased by the profiles that were looked at by themselves: the recipients, or of
	// everyone those that a keyword of the text led to, and those that no text can be ruled out for.
	Looked *int64
}

// Alert reports that a page is relevant to a profile.
type Alert struct {
	ID        string // of the profile
	Relevance int    // 0 to 100
	// Matched identifies the text that gave rise to the alert: it is the digest of the set of blocks in
	// which keywords were found, among those looked at, regardless of white space. It is the same
	// whatever happens to the other blocks, and wherever on the page these are.
	Matched     webrace.Digest
	Shown       Shown   // what the profile was shown of the page
	Whole       bool    // that was all of it
	Summary     string  // the part of the page with the most important keywords, these within «»
	Entries     []int32 // of a list that keywords were found in, the numbers of the entries that are told of, from 1
	Explanation Explanation
}

// Shown is fingerprints of all that a profile was shown of a page, by which the same text at another address
// is known again. Both are 0 if that has fewer words than [LeastShown], which are too few to tell that two pages
// have the same text for another reason than chance.
type Shown struct {
	Text     uint64 // the beginning of the digest of the set of its blocks, regardless of white space
	Likeness uint64 // to be compared by the package simhash; those of texts that differ in few words differ in few bits
}

// LeastShown is the fewest words of a text that has fingerprints.
const LeastShown = 16

// Match is the function Match for the profiles of one view.
func (v *View) Match(text *webrace.Text, o Options) iter.Seq[Alert] {
	return Match(text, Asking{View: v, Options: o})
}

// Match returns the alerts that the text gives rise to, of all who ask, one after the other: in the order of the
// recipients, or in no particular order if it is matched with everyone. Each alert is made when it is asked for, so
// that those of a page that concerns a million profiles need no room. What is done to the text alone is done once
// for those in a row to whom the same of it is new.
func Match(text *webrace.Text, all ...Asking) iter.Seq[Alert] {
	return func(yield func(Alert) bool) {
		concerned(text, all, func(p *page, m matched) bool {
			verdict := p.judge(m.profile, m.among)
			return verdict.reason != Alerts || yield(p.alert(m.profile, verdict, m.summary))
		})
	}
}

// Relevances returns the relevance of the text for each profile that Match has an alert for, without
// making that.
func (v *View) Relevances(text *webrace.Text, o Options) iter.Seq2[*Compiled, int] {
	return func(yield func(*Compiled, int) bool) {
		concerned(text, []Asking{{View: v, Options: o}}, func(p *page, m matched) bool {
			if relevance, sure := relevanceOf(m.rest); sure {
				return yield(m.profile, relevance)
			}
			verdict := p.judge(m.profile, m.among)
			return verdict.reason != Alerts || yield(m.profile, verdict.relevance)
		})
	}
}

// Count returns how many alerts the text gives rise to.
func (v *View) Count(text *webrace.Text, o Options) (n int) {
	concerned(text, []Asking{{View: v, Options: o}}, func(p *page, m matched) bool {
		if _, sure := relevanceOf(m.rest); sure || p.judge(m.profile, m.among).reason == Alerts {
			n++
		}
		return true
	})
	return n
}

// relevanceOf returns the relevance that a candidate's rest stands for, if it is known, and not so close to another
// that single precision might decide. Then the candidate alerts, since its threshold is such a border.
func relevanceOf(rest float32) (relevance int, sure bool) {
	percent := 100*(1-rest) + 0.5
	relevance = int(percent)
	above := percent - float32(relevance)
	return relevance, above > 100*slack && above < 1-100*slack
}

// matched is a profile that the text may give rise to an alert for, the part of the page it is shown, what is left of
// its relevance, and the most bytes of a summary.
type matched struct {
	profile *Compiled
	among   extent
	rest    float32
	summary int
}

// concerned calls visit for every profile that the text may give rise to an alert for, until it returns
// false.
func concerned(text *webrace.Text, all []Asking, visit func(*page, matched) bool) {
	for len(all) > 0 && text != nil {
		n := 1
		for n < len(all) && all[n].Last == all[0].Last && slices.Equal(all[n].Added, all[0].Added) {
			n++
		}
		if !concernedTogether(text, all[:n], visit) {
			return
		}
		all = all[n:]
	}
}

// concernedTogether does so for those to whom the same of the text is new, and reports whether to go on.
func concernedTogether(text *webrace.Text, all []Asking, visit func(*page, matched) bool) bool {
	p := newPage()
	defer p.close()
	if !p.wantAll(all) {
		return true
	}
	p.onlyNew = text.Feed && !slices.ContainsFunc(all, Asking.looksAtAll)
	p.open(text, all[0].Added, all[0].Last)
	for i := range all {
		if a := &all[i]; a.MayConcern(a.Options) && !a.concerned(p, visit) {
			return false
		}
	}
	return true
}

// looksAtAll reports whether there may be one of these who is shown all of the text.
func (a Asking) looksAtAll() bool {
	if !a.Everyone {
		return slices.ContainsFunc(a.Recipients, func(to Recipient) bool { return !to.OnlyAdded })
	}
	return slices.ContainsFunc(a.segments, func(l liveSegment) bool { return l.looksAt(everything, &a.Options) })
}

// wantAll confines the page to the words that these may ask for. It reports whether it may concern any of them at all.
func (p *page) wantAll(all []Asking) (any bool) {
	for i := range all {
		if a := &all[i]; a.Everyone && a.MayConcern(a.Options) {
			p.wantEveryone(a.View)
			any = true
		} else if !a.Everyone {
			for _, to := range a.Recipients {
				if n, known := a.names.Get(to.ID); known {
					p.want(n.Compiled)
					any = true
				}
			}
		}
	}
	return any
}

func (a *Asking) concerned(p *page, visit func(*page, matched) bool) bool {
	if !a.Everyone {
		for _, to := range a.Recipients {
			n, known := a.names.Get(to.ID)
			if !known {
				continue
			}
			a.looked(1)
			if !visit(p, matched{n.Compiled, extentOf(to.OnlyAdded), unknown, a.Summary}) {
				return false
			}
		}
		return true
	}
	for i := range a.segments {
		for _, among := range []extent{everything, additions} {
			if l := &a.segments[i]; l.looksAt(among, &a.Options) && !l.concerned(p, a, among, visit) {
				return false
			}
		}
	}
	return true
}

func (a *Asking) looked(n int) {
	if a.Looked != nil {
		*a.Looked += int64(n)
	}
}

// MayConcern reports whether there may be a profile that would be shown the page, or part of it: that none is, is
// told at a glance.
func (v *View) MayConcern(o Options) bool {
	if !o.Everyone {
		return len(o.Recipients) > 0 && len(v.segments) > 0
	}
	for i := range v.segments {
		if l := &v.segments[i]; l.looksAt(everything, &o) || l.looksAt(additions, &o) {
			return true
		}
	}
	return false
}

// AnyUnseen reports whether there is a profile that would be shown the page because it has not seen an
// earlier version.
func (v *View) AnyUnseen(o Options) bool {
	o.Unseen = true
	for i := range v.segments {
		if l := &v.segments[i]; l.looksAt(everything, &o) {
			for range l.unseen(o) {
				return true
			}
		}
	}
	return false
}

// Remembers returns the numbers of versions that profiles remember, as a bit each, and perhaps others.
func (v *View) Remembers() (all uint16) {
	for i := range v.segments {
		all |= v.segments[i].remembers
	}
	return all
}

// Has reports whether there may be a profile with this scope of change.
func (v *View) Has(c Change) bool {
	return slices.ContainsFunc(v.segments, func(l liveSegment) bool { return l.changes>>c&1 != 0 })
}

// Newest returns the latest revision of a profile, or a later one.
func (v *View) Newest() (revision int64) {
	for i := range v.segments {
		revision = max(revision, v.segments[i].newest)
	}
	return revision
}

// AllWithin reports whether a page at the distance is certain to lie within the levels of every profile.
func (v *View) AllWithin(distance int) bool {
	return !slices.ContainsFunc(v.segments, func(l liveSegment) bool { return !l.reachedBy(distance) })
}

// AnyChange yields the profiles that ask to be told of any change.
func (v *View) AnyChange() iter.Seq[*Compiled] {
	return func(yield func(*Compiled) bool) {
		for i := range v.segments {
			l := &v.segments[i]
			for _, number := range l.always {
				if c := l.profiles[number]; len(c.atoms) == 0 && !l.gone.has(int(number)) && !yield(c) {
					return
				}
			}
		}
	}
}

// unseen returns the profiles that have not seen an earlier version of the page, by number.
func (l *liveSegment) unseen(o Options) iter.Seq2[uint32, *Compiled] {
	return func(yield func(uint32, *Compiled) bool) {
		shown := func(number uint32) bool {
			_, concerned := o.shows(l.profiles[number])
			return concerned && !l.gone.has(int(number))
		}
		for _, number := range l.newer(o.Seen) {
			if shown(number) && !yield(number, l.profiles[number]) {
				return
			}
		}
		if !l.anew(&o) {
			return
		}
		for number, c := range l.profiles {
			if c.revision <= o.Seen && shown(uint32(number)) && !yield(uint32(number), c) {
				return
			}
		}
	}
}

// looksAt reports whether there can be a profile in the segment that is shown this part of a page.
func (s *segment) looksAt(among extent, o *Options) bool {
	if !s.levels.reaches(o) || o.Remember != 0 && s.remembers&o.Remember == 0 {
		return false
	}
	if among == additions {
		return !o.Unseen && o.Seen > 0 && s.oldest <= o.Seen && (o.Met || s.changes>>ChangeAdded&1 != 0)
	}
	return o.Seen == 0 || s.newest > o.Seen || s.anew(o) || !o.Unseen && !o.Unchanged && s.changes>>ChangePage&1 != 0
}

// anew reports whether there can be profiles in the segment that have not seen the earlier version because it lay
// elsewhere.
func (s *segment) anew(o *Options) bool { return s.levels.anew(o) || s.confined && o.Former != "" }

// Profiles that alone are shown all of a page are judged one by one, instead of being found by its words, if they are
// few: so many of a segment, or one in so many.
const fewUnseen, partUnseen = 16, 64

// onlyUnseen reports whether of the segment few profiles are shown all of the page, which are known: those that
// changed since it was seen.
func (l *liveSegment) onlyUnseen(o *Options, among extent) bool {
	return among == everything && o.Seen > 0 && !l.anew(o) &&
		(o.Unseen || o.Unchanged || l.changes>>ChangePage&1 == 0) && len(l.newer(o.Seen)) <= max(fewUnseen, len(l.profiles)/partUnseen)
}

func (l *liveSegment) concerned(p *page, a *Asking, among extent, visit func(*page, matched) bool) bool {
	o := &a.Options
	if l.onlyUnseen(o, among) {
		for _, c := range l.unseen(*o) {
			a.looked(1)
			if !visit(p, matched{c, everything, unknown, a.Summary}) {
				return false
			}
		}
		return true
	}
	p.score(l.segment, among)
	all := o.Seen == 0 && o.Remember == 0 && o.Beyond == 0 && !l.confined && l.gone.count == 0 && l.reachedBy(o.Distance)
	for p.scoring.next(l.segment) {
		a.looked(p.scoring.looked)
		for i, number := range p.scoring.candidates {
			m := matched{l.profiles[number], among, p.scoring.rests[i], a.Summary}
			if !all {
				if shown, concerned := o.shows(m.profile); !concerned || shown != among || l.gone.has(int(number)) {
					continue
				}
			}
			if !visit(p, m) {
				return false
			}
		}
	}
	return true
}

// reachedBy reports whether a page at the distance is certain to lie within the levels of every profile.
func (s *segment) reachedBy(distance int) bool {
	_, all := reaching(distance)
	return s.levels&^all == 0
}

// entriesTold returns the numbers of the entries that a profile is told of: those chosen or, where it is told of what
// is new, those of these blocks.
func (p *page) entriesTold(among extent, blocks []int32) (entries []int32) {
	switch {
	case among == chosen:
		return slices.Sorted(slices.Values(p.chosen))
	case among == additions && len(p.text.Entries) > 0:
		for _, block := range blocks {
			if entry := p.text.Blocks[block].Entry; entry != 0 && !p.text.Entries[entry-1].IsPart() {
				entries = append(entries, entry)
			}
		}
	}
	return slices.Compact(entries)
}

func (p *page) alert(c *Compiled, v verdict, summary int) Alert {
	blocks := p.matchedBlocks(c, v.among)
	return Alert{
		Entries:     p.entriesTold(v.among, blocks),
		ID:          c.id,
		Relevance:   v.relevance,
		Matched:     p.identify(blocks),
		Shown:       p.shown(v.shown),
		Whole:       v.shown == everything,
		Summary:     p.summary(c, v.among, summary),
		Explanation: p.explain(c, v),
	}
}
