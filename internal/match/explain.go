package match

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/webrace/webrace"
)

// Reason says why a page gives rise to an alert or to none.
type Reason string

const (
	Alerts         Reason = "alert"
	NotRecipient   Reason = "not among the recipients"
	NothingNew     Reason = "nothing to look at is new"
	NotNew         Reason = "what makes its conditions hold is not new"
	ConditionUnmet Reason = "the conditions on its keywords do not hold"
	NotRelevant    Reason = "not relevant enough"
)

// Explanation says how the relevance of a page to a profile came about, and what follows from it.
type Explanation struct {
	Profile   string
	Reason    Reason
	Relevance int
	Threshold int // which an alert must exceed; AnyRelevance if there is none
	Tokens    int // the words of the whole page
	Blocks    int // the blocks of the whole page
	Looked    int // the blocks that there would be to tell of: those that are new, or all of them
	Keywords  []KeywordExplanation
}

// KeywordExplanation says what one keyword found and what it is worth.
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
// alerts, the explanation is that of the alert, and otherwise it says why there is none.
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

// explain reads p.frequencies, as judge left them.
func (p *page) explain(c *Compiled, v verdict) Explanation {
	e := Explanation{
		Profile:   c.id,
		Reason:    v.reason,
		Relevance: v.relevance,
		Threshold: int(c.threshold),
		Tokens:    len(p.tokens),
		Blocks:    len(p.text.Blocks),
		Looked:    p.counts[v.among],
		Keywords:  make([]KeywordExplanation, len(c.atoms)),
	}
	half, total := halfway(e.Tokens), 0.0
	for i := range c.atoms {
		k := &e.Keywords[i]
		k.Key, k.Weight = c.atoms[i].written, int(c.atoms[i].weight)
		if p.frequencies[i].zero() {
			continue
		}
		if k.Weight == 0 {
			k.Block = p.firstBlock(&c.atoms[i])
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

// firstBlock returns the beginning of the first block that has the atom.
func (p *page) firstBlock(a *atom) string {
	first := slices.MinFunc(p.occurrences(a, everything), func(x, y span) int { return cmp.Compare(x.first, y.first) })
	text := string(appendCollapsed(nil, p.text.Slice(p.text.Blocks[p.tokens[first.first].Block])))
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
	if e.Looked < e.Blocks {
		fmt.Fprintf(&b, "; new are %d of %d blocks of a page of %d words\n", e.Looked, e.Blocks, e.Tokens)
	} else {
		fmt.Fprintf(&b, "; looked at %d of %d blocks of a page of %d words\n", e.Looked, e.Blocks, e.Tokens)
	}
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
