// Package match compares pages with standing profiles: lists of weighted keywords that say what somebody
// wants to be told of. The profiles are indexed, so that the cost of a page follows the page and the
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
// Occurrences are looked for in the whole page or in the blocks that are new, as each recipient asks;
// [Baseline] says which blocks are. A phrase never crosses the border of a block.
package match

import (
	"iter"
	"strings"

	"github.com/webrace/webrace"
)

// Options says for whom a page is matched, and on what part of it.
type Options struct {
	// Recipients are the profiles to match. Those that the index does not hold are passed over.
	Recipients []Recipient
	// Everyone matches every profile of the index instead.
	Everyone bool
	// Seen is the latest revision whose profiles have seen an earlier version of the page, if it is matched
	// with everyone: these are shown what their Change says, and the others all of it. 0: nobody has.
	Seen int64
	// Unseen leaves out the profiles that have seen an earlier version, whatever their Change says.
	Unseen bool
	// Unchanged says that the page has no other text than the version that was seen, or than those that are remembered:
	// who is shown the whole page whenever it changes is shown nothing then.
	Unchanged bool
	// Remember confines a match with everyone to the profiles that remember one of these numbers of versions, each a
	// bit; 0 does not. What is new to profiles that remember different numbers may differ: then they are matched apart.
	Remember uint16
	// URL is the page's address, for profiles that are confined to some.
	URL string
	// Added says which blocks of the text are new, as Baseline.Update returns it. Blocks beyond its end
	// are new: nil means all of them.
	Added []bool
	// Summary is the most bytes an alert's summary may have; 0 leaves it out.
	Summary int
}

// Recipient is a profile that a page is matched with. OnlyAdded confines it to the blocks that are new.
type Recipient struct {
	ID        string
	OnlyAdded bool
}

// shows returns what part of the page a profile is shown when everyone is, or false if none.
func (o *Options) shows(c *Compiled) (among selection, concerned bool) {
	if !strings.HasPrefix(o.URL, c.under) || o.Remember != 0 && o.Remember>>c.remember&1 == 0 {
		return everything, false
	}
	switch {
	case o.Seen == 0 || c.revision > o.Seen:
		return everything, true
	case o.Unseen:
		return everything, false
	case c.change == ChangePage:
		return everything, !o.Unchanged
	case c.change == ChangeAdded:
		return additions, true
	}
	return everything, false
}

// Alert says that a page is relevant to a profile.
type Alert struct {
	ID        string // of the profile
	Relevance int    // 0 to 100
	// Matched identifies the text that gave rise to the alert: it is the digest of the set of blocks in
	// which keywords were found, among those looked at, regardless of white space. It is the same
	// whatever happens to the other blocks, and wherever on the page these are.
	Matched     webrace.Digest
	Shown       Shown  // what the profile was shown of the page
	Summary     string // the part of the page with the most important keywords, these within «»
	Explanation Explanation
}

// Shown is fingerprints of all that a profile was shown of a page, by which the same text at another address
// is known again. Both are 0 if that has fewer words than [LeastShown], which are too few to say that two pages
// have the same text for another reason than chance.
type Shown struct {
	Text     uint64 // the beginning of the digest of the set of its blocks, regardless of white space
	Likeness uint64 // to be compared by the package likeness; those of texts that differ in few words differ in few bits
}

// LeastShown is the fewest words of a text that has fingerprints.
const LeastShown = 16

// Match returns the alerts that the text gives rise to: in the order of the recipients, or in no
// particular order if it is matched with everyone. Each alert is made when it is asked for, so that those
// of a page that concerns a million profiles need no room.
func (v *View) Match(text *webrace.Text, o Options) iter.Seq[Alert] {
	return func(yield func(Alert) bool) {
		v.concerned(text, &o, func(p *page, m matched) bool {
			verdict := p.judge(m.profile, m.among)
			return verdict.reason != Alerts || yield(p.alert(m.profile, verdict, o.Summary))
		})
	}
}

// Relevances returns the relevance of the text for each profile that Match has an alert for, without
// making that.
func (v *View) Relevances(text *webrace.Text, o Options) iter.Seq2[*Compiled, int] {
	return func(yield func(*Compiled, int) bool) {
		v.concerned(text, &o, func(p *page, m matched) bool {
			if relevance, sure := relevanceOf(m.part); sure {
				return yield(m.profile, relevance)
			}
			verdict := p.judge(m.profile, m.among)
			return verdict.reason != Alerts || yield(m.profile, verdict.relevance)
		})
	}
}

// Count returns how many alerts the text gives rise to.
func (v *View) Count(text *webrace.Text, o Options) (n int) {
	v.concerned(text, &o, func(p *page, m matched) bool {
		if _, sure := relevanceOf(m.part); sure || p.judge(m.profile, m.among).reason == Alerts {
			n++
		}
		return true
	})
	return n
}

// relevanceOf returns the relevance that a candidate's score stands for, if it is not so close to another
// that single precision might decide. Then the candidate alerts, since its threshold is such a border.
func relevanceOf(part float32) (relevance int, sure bool) {
	percent := 100*part + 0.5
	relevance = int(percent)
	above := percent - float32(relevance)
	return relevance, part > 0 && above > 100*slack && above < 1-100*slack
}

// matched is a profile that the text may give rise to an alert for, the part of the page it is shown, and
// what its relevance was added up to, or toJudge.
type matched struct {
	profile *Compiled
	among   selection
	part    float32
}

// concerned calls visit for every profile that the text may give rise to an alert for, until it returns
// false.
func (v *View) concerned(text *webrace.Text, o *Options, visit func(*page, matched) bool) {
	if text == nil || len(v.levels) == 0 || !o.Everyone && len(o.Recipients) == 0 {
		return
	}
	if !o.Everyone {
		v.concernedOf(o.Recipients, text, o.Added, visit)
		return
	}
	p := openPage(text, o.Added)
	defer p.close()
	for i := range v.levels {
		for among := range selection(selections) {
			if l := &v.levels[i]; !l.looksAt(among, o) {
				continue
			} else if !l.concerned(p, o, among, visit) {
				return
			}
		}
	}
}

// concernedOf does so for these recipients.
func (v *View) concernedOf(recipients []Recipient, text *webrace.Text, added []bool, visit func(*page, matched) bool) {
	p := newPage()
	defer p.close()
	p.asked = p.asked[:0]
	for _, to := range recipients {
		if n, known := v.names.Get(to.ID); known {
			p.want(n.Compiled)
			p.asked = append(p.asked, matched{n.Compiled, selected(to.OnlyAdded), toJudge})
		}
	}
	if len(p.asked) == 0 {
		return
	}
	p.open(text, added)
	for _, m := range p.asked {
		if !visit(p, m) {
			return
		}
	}
}

// AnyUnseen reports whether there is a profile that would be shown the page because it has not seen an
// earlier version.
func (v *View) AnyUnseen(o Options) bool {
	o.Unseen = true
	for i := range v.levels {
		for range v.levels[i].unseen(&o) {
			return true
		}
	}
	return false
}

// unseen returns the profiles that have not seen an earlier version of the page, by number.
func (l *level) unseen(o *Options) iter.Seq2[uint32, *Compiled] {
	return func(yield func(uint32, *Compiled) bool) {
		if l.newest <= o.Seen {
			return
		}
		for _, number := range l.byRevision() {
			c := l.profiles[number]
			if c.revision <= o.Seen {
				return
			}
			if _, concerned := o.shows(c); concerned && !l.gone.has(int(number)) && !yield(number, c) {
				return
			}
		}
	}
}

// looksAt reports whether there can be a profile in the segment that is shown this selection of a page.
func (s *segment) looksAt(among selection, o *Options) bool {
	if among == additions {
		return !o.Unseen && o.Seen > 0 && s.oldest <= o.Seen && s.changes>>ChangeAdded&1 != 0
	}
	return o.Seen == 0 || s.newest > o.Seen || !o.Unseen && s.changes>>ChangePage&1 != 0
}

func (l *level) concerned(p *page, o *Options, among selection, visit func(*page, matched) bool) bool {
	candidates, parts := p.candidatesOf(l.segment, among)
	all := o.Seen == 0 && o.Remember == 0 && !l.confined && l.gone.count == 0
	for i, number := range candidates {
		m := matched{l.profiles[number], among, parts[i]}
		if !all {
			if shown, concerned := o.shows(m.profile); !concerned || shown != among || l.gone.has(int(number)) {
				continue
			}
		}
		if !visit(p, m) {
			return false
		}
	}
	return true
}

func (p *page) alert(c *Compiled, v verdict, summary int) Alert {
	blocks := p.matchedBlocks(c, v.among)
	return Alert{
		ID:          c.id,
		Relevance:   v.relevance,
		Matched:     p.identify(blocks),
		Shown:       p.shown(v.among),
		Summary:     p.summary(c, v.among, summary),
		Explanation: p.explain(c, v),
	}
}
