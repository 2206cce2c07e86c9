package keywordfilter

import (
	"cmp"
	"slices"
	"strings"

	"github.com/webrace/webrace/internal/hashtable"
	"github.com/webrace/webrace/internal/match"
	"github.com/webrace/webrace/internal/selection"
	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/storage/control"
)

// crowd is the URDs that are asked about a document for the same reason: their crawl came to it, they watch a prefix
// on its site, or everyone is asked. What they have seen of it follows from few numbers, their state.
type crowd struct {
	members        // those who look at whole pages
	parts   *parts // the others; nil for none
	private bool   // it is that of a crawl that uses credentials
	marked  bool   // it is that of a crawl that begins with a request of its own
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
	byRules hashtable.Map[partMembers]
	newest  int64 // the latest revision of an interest that ever was among them
}

// partMembers are those who look at the same part, by rules that do not change.
type partMembers struct {
	members
	rules *selection.Selection
}

// membership is where a URD is a member: of a crowd, among those who look at whole pages or at the same part.
type membership struct {
	reason reason
	id     string // of the crawl; the site of a prefix
	rules  string // the key of the rules; empty for whole pages
}

// reason is why a crowd is asked.
type reason uint8

const (
	ofCrawl reason = iota
	ofPrefix
	ofEveryone
)

func (p membership) compare(q membership) int {
	return cmp.Or(cmp.Compare(p.reason, q.reason), strings.Compare(p.id, q.id), strings.Compare(p.rules, q.rules))
}

// memberships returns where a URD is a member. Where everyone is asked, the index of all has those who look at whole
// pages, and crawls are for what is fetched with credentials.
func (a *audience) memberships(urd *control.URD) (all []membership) {
	rules := ""
	if given := urd.Rules(); len(given) > 0 {
		rules = selection.Key(given)
	}
	if a.everyone && rules != "" {
		all = append(all, membership{ofEveryone, "", rules})
	}
	url, isPrefix := urd.Prefix()
	switch {
	case isPrefix && !a.everyone:
		all = append(all, membership{ofPrefix, urlnorm.Origin(url), rules})
	case !isPrefix && urd.Crawl.ID != "":
		all = append(all, membership{ofCrawl, urd.Crawl.ID, rules})
	}
	return all
}

// member is a URD at one of its places.
type member struct {
	membership
	*compiledURD
}

// byMembership returns URDs by where they are members, in their order.
func (a *audience) byMembership(all []*compiledURD) [][]member {
	var members []member
	for _, e := range all {
		for _, p := range a.memberships(e.URD) {
			members = append(members, member{p, e})
		}
	}
	slices.SortStableFunc(members, func(x, y member) int { return x.compare(y.membership) })
	var groups [][]member
	for len(members) > 0 {
		n := 1
		for n < len(members) && members[n].membership == members[0].membership {
			n++
		}
		groups, members = append(groups, members[:n]), members[n:]
	}
	return groups
}

// join makes compiled URDs members where they belong.
func (a *audience) join(all []*compiledURD) {
	var wholes, parts []*match.Compiled // for the indexes of all
	pool := func(e *compiledURD) {
		if e.rules == nil {
			wholes = append(wholes, e.profile)
		} else {
			parts = append(parts, e.profile)
		}
	}
	for _, group := range a.byMembership(all) {
		a.change(group[0].membership, func(m *members) {
			if !a.add(m, group) || a.everyone {
				return
			}
			for _, e := range group {
				pool(e.compiledURD)
			}
		}, group...)
	}
	if a.everyone {
		for _, e := range all {
			pool(e)
		}
	}
	a.wholes, a.parts = a.wholes.after(wholes), a.parts.after(parts)
	if a.everyone {
		all := a.wholes
		a.all.many = &all
	}
}

// leave takes out the URDs with these ids, of which some may be unknown.
func (a *audience) leave(ids []string) {
	var all []*compiledURD
	for _, id := range ids {
		if urd, known := a.urds.Get(id); known {
			all = append(all, &compiledURD{URD: urd})
			a.urds.Delete(id)
			a.whens.Delete(id)
		}
	}
	for _, group := range a.byMembership(all) {
		a.change(group[0].membership, func(m *members) { m.remove(group) })
	}
	a.wholes.index.Remove(ids...)
	a.parts.index.Remove(ids...)
}

// change changes the members at a place, which some have joined.
func (a *audience) change(at membership, change func(*members), joined ...member) {
	c := a.crowdAt(at)
	if at.rules == "" {
		change(&c.members)
	} else {
		c.parts = c.parts.changed(at.rules, change, joined)
	}
	switch at.reason {
	case ofCrawl:
		a.crawls.Set(at.id, c)
	case ofPrefix:
		a.prefixes.Set(at.id, c)
	default:
		a.all = c
	}
}

func (a *audience) crowdAt(p membership) (c crowd) {
	switch p.reason {
	case ofCrawl:
		c, _ = a.crawls.Get(p.id)
	case ofPrefix:
		c, _ = a.prefixes.Get(p.id)
	default:
		c = a.all
	}
	return c
}

// changed returns the parts with other members of one of them, which some have joined.
func (p *parts) changed(rules string, change func(*members), joined []member) *parts {
	var next parts
	if p != nil {
		next = *p
	}
	at, _ := next.byRules.Get(rules)
	change(&at.members)
	for _, e := range joined {
		at.rules, next.newest = e.compiledURD.rules, max(next.newest, e.Interest)
	}
	next.byRules = next.byRules.Editable()
	if at.few.Len() == 0 && (at.many == nil || at.many.view.Len() == 0) { // its rules are not applied in vain
		next.byRules.Delete(rules)
	} else {
		next.byRules.Set(rules, at)
	}
	return &next
}

// add adds members, and reports whether all of them are still few.
func (a *audience) add(m *members, group []member) (few bool) {
	at := group[0].membership
	if m.many == nil && a.stayFew(m, group) {
		m.few = m.few.Editable()
		for _, e := range group {
			m.few.Set(e.ID, e.URD)
		}
		return true
	}
	var added []*match.Compiled
	many := profiles{index: new(match.Index)}
	if m.many != nil {
		many = *m.many
	} else {
		added = a.withdraw(m.few, at)
		m.few = urds{}
	}
	for _, e := range group {
		added = append(added, e.profile)
	}
	many = many.after(added)
	m.many = &many
	return false
}

// stayFew reports whether members are few with these. Those of parts are as many as their owners: a part is charged to
// few owners, and to none of many.
func (a *audience) stayFew(m *members, joining []member) bool {
	switch at := joining[0].membership; {
	case m.few.Len()+len(joining) <= a.mostFew || !a.mayBeMany(at):
		return true
	case at.rules == "":
		return false
	}
	owners := make(map[string]bool)
	for _, urd := range m.few.All() {
		owners[urd.Owner] = true
	}
	for _, e := range joining {
		owners[e.Owner] = true
	}
	return len(owners) <= a.mostFew
}

// mayBeMany reports whether a crowd may have an index of its own: where everyone is asked, crawls without credentials
// are not.
func (a *audience) mayBeMany(at membership) bool {
	return !a.everyone || at.reason != ofCrawl || a.crowdAt(at).private || a.crowdAt(at).marked
}

// withdraw returns the profiles of members, and takes them out of the index of all, unless that is to have all.
func (a *audience) withdraw(of urds, at membership) (out []*match.Compiled) {
	all := a.wholes
	if at.rules != "" {
		all = a.parts
	}
	var ids []string
	for id := range of.All() {
		ids, out = append(ids, id), append(out, all.view.Profile(id))
	}
	if !a.everyone {
		all.index.Remove(ids...)
	}
	return out
}

func (m *members) remove(group []member) {
	if m.many == nil {
		m.few = m.few.Editable()
		for _, e := range group {
			m.few.Delete(e.ID)
		}
		return
	}
	ids := make([]string, len(group))
	for i, e := range group {
		ids[i] = e.ID
	}
	m.many.index.Remove(ids...)
	m.many = &profiles{m.many.index, m.many.index.View()}
}
