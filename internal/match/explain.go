package match

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/webrace/webrace"
)

// Reason is why a page gives rise to an alert or to none.
type Reason string

const (
	Alerts         Reason = "alert"
	NotRecipient   Reason = "not among the recipients"
	NothingNew     Reason = "nothing to look at is new"
	NotNew         Reason = "what makes its conditions hold is not new"
	ConditionUnmet Reason = "the conditions on its keywords do not hold"
	NotRelevant    Reason = "not relevant enough"
)

// Explanation describes how the relevance of a page to a profile came about, and what follows from it.
type Explanation struct {
	Profile   string
	Reason    Reason
	Relevance int
	Threshold int    // which an alert must exceed; AnyRelevance if there is none
	Entry     string // of a feed: the beginning of the entry that this is about; empty if it is about no particular one
	Tokens    int    // the words of the whole page, or of the entry
	Blocks    int    // the blocks of the whole page
	Looked    int    // the blocks that there would be to tell of: those that are new, or all of them
	Keywords  []KeywordExplanation
}

// KeywordExplanation is what one keyword found and what it is worth.
type KeywordExplanation struct {
	Key        string
	Weight     int     // 0 for one that only sets a condition
	Hits       []int   // by webrace.Field; nil if it is absent
	Evidence   float64 // the hits, each counting by its field
	Saturation float64 // 0 to 0.98
	Share      float64 // the part of the relevance it accounts for; those of a profile add up to 1
	Block      string  // of one that only sets a condition: the beginning of the first block that has it
}

// Explain returns how the profile fares with the text under these options, the same as for Match: if it
// alerts, the explanation is that of the alert, and otherwise it tells why there is none.
func Explain(c *Compiled, text *webrace.Text, o Options) Explanation {
	among, concerned := o.shows(c)
	if !o.Everyone {
		at := slices.IndexFunc(o.Recipients, func(to Recipient) bool { return to.ID == c.id })
		if concerned = at >= 0; concerned {
			among = extentOf(o.Recipients[at].OnlyAdded)
		}
	}
	if text == nil {
		text = &webrace.Text{}
	}
	p := newPage()
	defer p.close()
	p.want(c)
	p.open(text, o.Added, o.Last)
	v := p.judge(c, among)
	if !concerned {
		v.reason = NotRecipient
	}
	return p.explain(c, v)
}

// explain reads p.frequencies, as judge left them: of a feed, those of the entry that is told of with the highest
// relevance, or of the one that came nearest to it.
func (p *page) explain(c *Compiled, v verdict) Explanation {
	e := Explanation{
		Profile:   c.id,
		Reason:    v.reason,
		Relevance: v.relevance,
		Threshold: int(c.threshold),
		Tokens:    v.words,
		Blocks:    len(p.text.Blocks),
		Looked:    p.counts[v.shown],
		Keywords:  make([]KeywordExplanation, len(c.atoms)),
	}
	if v.entry > 0 {
		first := slices.IndexFunc(p.text.Blocks, func(b webrace.Block) bool { return b.Entry == v.entry })
		e.Entry = p.quoted(int32(first))
	}
	half, total := halfway(e.Tokens), 0.0
	for i := range c.atoms {
		k := &e.Keywords[i]
		k.Key, k.Weight = c.atoms[i].written, int(c.atoms[i].weight)
		if p.frequencies[i].zero() {
			continue
		}
		if k.Weight == 0 {
			k.Block = p.firstBlock(&c.atoms[i], v.among)
		}
		for _, n := range p.frequencies[i] {
			k.Hits = append(k.Hits, int(n))
		}
		k.Evidence = p.frequencies[i].evidence()
		k.Saturation = saturation(k.Evidence, half)
		k.Share = -math.Log1p(-contribution(c.atoms[i].weight, k.Saturation))
		total += k.Share
	}
	for i := range e.Keywords {
		if total > 0 {
			e.Keywords[i].Share /= total
		}
	}
	return e
}

// mostQuoted is how many bytes of a block an explanation quotes.
const mostQuoted = 80

// firstBlock returns the beginning of the first block that has the atom, of the entries that are told of in a feed.
func (p *page) firstBlock(a *atom, among extent) string {
	if among != chosen {
		among = everything
	}
	first := slices.MinFunc(p.occurrences(a, among), func(x, y span) int { return cmp.Compare(x.first, y.first) })
	return p.quoted(p.tokens[first.first].Block)
}

// quoted returns the beginning of a block.
func (p *page) quoted(block int32) string {
	text := string(appendCollapsed(nil, p.text.Slice(p.text.Blocks[block])))
	if quoted := wholeRunes(text, mostQuoted); quoted < len(text) {
		return text[:quoted] + ellipsis
	}
	return text
}

// String returns the explanation as a few lines for a person.
func (e Explanation) String() string {
	var b strings.Builder
	switch e.Reason {
	case Alerts:
		fmt.Fprintf(&b, "alert: relevance %d, threshold %s", e.Relevance, e.threshold())
	case NotRelevant:
		fmt.Fprintf(&b, "no alert: relevance %d does not exceed the threshold %s", e.Relevance, e.threshold())
	default:
		fmt.Fprintf(&b, "no alert: %s (relevance %d, threshold %s)", e.Reason, e.Relevance, e.threshold())
	}
	looked := "looked at"
	if e.Looked < e.Blocks {
		looked = "new are"
	}
	fmt.Fprintf(&b, "; %s %d of %d blocks of %s of %d words\n", looked, e.Looked, e.Blocks, e.judged(), e.Tokens)
	var absent, forbidden []string
	for _, k := range e.Keywords {
		switch {
		case k.Hits == nil:
			absent = append(absent, k.Key)
		case k.Weight == 0:
			forbidden = append(forbidden, fmt.Sprintf("%s, in %q", k.Key, k.Block))
		default:
			fmt.Fprintf(&b, "  %s: weight %d, %s, saturation %.2f, share %.0f%%\n", k.Key, k.Weight, k.places(), k.Saturation, 100*k.Share)
		}
	}
	list := func(what string, keys []string) {
		if len(keys) > 0 {
			fmt.Fprintf(&b, "  %s: %s\n", what, strings.Join(keys, ", "))
		}
	}
	for _, key := range forbidden {
		list("present, but not wanted", []string{key})
	}
	list("absent", absent)
	return b.String()
}

// judged returns what the relevance and the reason are those of.
func (e Explanation) judged() string {
	if e.Entry == "" {
		return "a page"
	}
	return fmt.Sprintf("a feed; that is its entry %q", e.Entry)
}

func (e Explanation) threshold() string {
	if e.Threshold < 0 {
		return "none"
	}
	return fmt.Sprint(e.Threshold)
}

// places lists the hits by field, the weightiest field first.
func (k KeywordExplanation) places() string {
	var parts []string
	for _, field := range []webrace.Field{webrace.FieldTitle, webrace.FieldHeading, webrace.FieldBody, webrace.FieldNavigation} {
		if n := k.Hits[field]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d in %s", n, field))
		}
	}
	return strings.Join(parts, ", ")
}
