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
	"slices"
	"strings"

	"github.com/webrace/webrace"
)

// Options says for whom a page is matched, and on what part of it.
type Options struct {
	// Recipients are the profiles to match. Those that the index does not hold are passed over.
	Recipients []Recipient
	// Everyone matches every profile of the index instead.
	Everyone bool
	// OnlyAdded answers Recipient.OnlyAdded for the profiles matched by Everyone; nil is false for all.
	// It is called for the profiles that the page may concern, by the goroutine that called Match.
	OnlyAdded func(id string) bool
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

// Alert says that a page is relevant to a profile.
type Alert struct {
	ID        string // of the profile
	Relevance int    // 0 to 100
	// Matched identifies the text that gave rise to the alert: it is the digest of the set of blocks in
	// which keywords were found, among those looked at, regardless of white space. It is the same
	// whatever happens to the other blocks, and wherever on the page these are.
	Matched     webrace.Digest
	Summary     string // the part of the page with the most important keywords, these within «»
	Explanation Explanation
}

// Match returns the alerts that the text gives rise to: in the order of the recipients, or by ID if it is
// matched with everyone. It sees all the changes to the index that had returned when it began, and each
// later one either whole or not at all.
func (x *Index) Match(text *webrace.Text, o Options) []Alert {
	profiles := x.state.Load()
	if profiles == nil || text == nil || !o.Everyone && len(o.Recipients) == 0 {
		return nil
	}
	p := openPage(text, o.Added)
	defer p.close()
	var alerts []Alert
	consider := func(c *Compiled, onlyAdded bool) {
		if v := p.judge(c, selected(onlyAdded)); v.reason == Alerts {
			alerts = append(alerts, p.alert(c, v, o.Summary))
		}
	}
	if !o.Everyone {
		for _, to := range o.Recipients {
			if e := profiles.find(to.ID); e != nil {
				consider(e.Compiled, to.OnlyAdded)
			}
		}
		return alerts
	}
	profiles.concerned(p, func(e *entry) {
		consider(e.Compiled, o.OnlyAdded != nil && o.OnlyAdded(e.id))
	})
	slices.SortFunc(alerts, func(a, b Alert) int { return strings.Compare(a.ID, b.ID) })
	return alerts
}

func (p *page) alert(c *Compiled, v verdict, summary int) Alert {
	blocks := p.matchedBlocks(c, v.among)
	return Alert{
		ID:          c.id,
		Relevance:   v.relevance,
		Matched:     p.digest(blocks),
		Summary:     p.summary(c, v.among, summary),
		Explanation: p.explain(c, v),
	}
}
