package main

import (
	"math"
	"slices"
	"strings"
)

// The oracle of news knows what docs/model.md and docs/annotation.md state of news: who is told of which version. It
// reads no markup and knows no store: a document is what its site has put there, and each URD is asked by itself.

// oracleBlock is a block of text.
type oracleBlock struct {
	words  string
	counts float64 // what an occurrence of a word counts there
	part   string  // which some URDs select; empty for none
}

// oracleItem is what is compared as a whole: a block of a page, an entry of a list.
type oracleItem struct {
	name   string // by which it is known; empty for its content alone
	blocks []oracleBlock
}

// oracleVersion is a document as it was for a while, at an address.
type oracleVersion struct {
	at    string
	body  string
	items []oracleItem
}

// oracleDocument is a document, wherever it has moved since.
type oracleDocument struct {
	isFeed   bool
	versions []oracleVersion
}

type oracleKeyword struct {
	word   string
	weight int
}

// oracleURD is what somebody asks for.
type oracleURD struct {
	id, owner, start string
	depth            int

	match     string // any or all
	keywords  []oracleKeyword
	either    []oracleKeyword // a group of which any will do
	none      []string
	threshold int
	change    string
	remember  int    // 0 for what is usual
	language  string // of the rules that select parts
	parts     []string

	known map[*oracleDocument]*oracleKnown
}

// oracleKnown is what a URD was shown of a document.
type oracleKnown struct {
	last  int             // the last version that was a state, from 1 on
	parts map[string]bool // that it was shown in any
}

func (u *oracleURD) isForAnyChange() bool { return len(u.keywords)+len(u.either) == 0 }

// of returns what a text has of a part.
func oracleOf(part string, items []oracleItem) (all []oracleItem) {
	for _, it := range items {
		var blocks []oracleBlock
		for _, b := range it.blocks {
			if b.part == part {
				blocks = append(blocks, b)
			}
		}
		if len(blocks) > 0 {
			all = append(all, oracleItem{it.name, blocks})
		}
	}
	return all
}

// look returns what a URD looks at of a version of a document.
func (u *oracleURD) look(d *oracleDocument, version int) (text []oracleItem) {
	if len(u.parts) == 0 {
		return d.versions[version-1].items
	}
	for _, part := range u.parts {
		text = append(text, oracleOf(part, d.versions[version-1].items)...)
	}
	return text
}

// state is what look returns, with what a part that is missing was last, if the URD was shown that.
func (u *oracleURD) state(d *oracleDocument, version int) (text []oracleItem) {
	if len(u.parts) == 0 {
		return d.versions[version-1].items
	}
	for _, part := range u.parts {
		for n := version; n > 0 && (n == version || u.known[d] != nil && u.known[d].parts[part]); n-- {
			if found := oracleOf(part, d.versions[n-1].items); len(found) > 0 {
				text = append(text, found...)
				break
			}
		}
	}
	return text
}

// content is what an item says, in whatever order.
func (it oracleItem) content() string {
	var all []string
	for _, b := range it.blocks {
		all = append(all, b.words)
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

func oracleHas(text []oracleItem, it oracleItem) bool {
	return slices.ContainsFunc(text, func(other oracleItem) bool { return other.name == it.name && other.content() == it.content() })
}

// oracleNew returns the items that none of the other texts has.
func oracleNew(text []oracleItem, others ...[]oracleItem) (all []oracleItem) {
	for _, it := range text {
		if !slices.ContainsFunc(others, func(other []oracleItem) bool { return oracleHas(other, it) }) {
			all = append(all, it)
		}
	}
	return all
}

func oracleIsSame(x, y []oracleItem) bool { return len(oracleNew(x, y))+len(oracleNew(y, x)) == 0 }

// oracleCount returns how much the occurrences of a word count.
func oracleCount(text []oracleItem, word string) (sum float64) {
	for _, it := range text {
		for _, b := range it.blocks {
			for _, w := range strings.Fields(b.words) {
				if w == word {
					sum += b.counts
				}
			}
		}
	}
	return sum
}

// relevance is that of keywords in a text of less than 200 words.
func (u *oracleURD) relevance(text []oracleItem) int {
	if u.isForAnyChange() {
		return 100
	}
	rest := 1.0
	for _, k := range slices.Concat(u.keywords, u.either) {
		f := oracleCount(text, k.word)
		rest *= 1 - float64(k.weight)/5*min(f/(f+0.7+0.3/4), 0.98)
	}
	return int(math.Floor(100*(1-rest) + 0.5 + 1e-9))
}

// holds reports whether the condition of a URD holds on a text, as far as it is about words, and altogether.
func (u *oracleURD) holds(text []oracleItem) (met, holds bool) {
	if u.isForAnyChange() {
		return true, len(text) > 0
	}
	var conditions []bool
	for _, k := range u.keywords {
		conditions = append(conditions, oracleCount(text, k.word) > 0)
	}
	if len(u.either) > 0 {
		conditions = append(conditions, u.hasEither(text))
	}
	met = slices.Contains(conditions, true)
	if u.match == "all" {
		met = !slices.Contains(conditions, false)
	}
	if slices.ContainsFunc(u.none, func(word string) bool { return oracleCount(text, word) > 0 }) {
		met = false
	}
	return met, met && (u.threshold == 0 || u.relevance(text) > u.threshold)
}

func (u *oracleURD) hasEither(text []oracleItem) bool {
	return slices.ContainsFunc(u.either, func(k oracleKeyword) bool { return oracleCount(text, k.word) > 0 })
}

// asksFor reports whether a text has a keyword.
func (u *oracleURD) asksFor(text []oracleItem) bool {
	return slices.ContainsFunc(u.keywords, func(k oracleKeyword) bool { return oracleCount(text, k.word) > 0 }) || u.hasEither(text)
}

// oracleTold is what a URD is told of a version.
type oracleTold struct {
	relevance int
	of        []oracleItem // what the occasion was, or may have been
}

// show shows the latest version of a document to a URD, and returns what it is told: nil for nothing.
func (u *oracleURD) show(d *oracleDocument) *oracleTold {
	version := len(d.versions)
	now := u.look(d, version)
	if len(now) == 0 {
		return nil
	}
	known := u.known[d]
	defer func() {
		if u.known[d] == nil {
			u.known[d] = &oracleKnown{parts: make(map[string]bool)}
		}
		u.known[d].last = version
		for _, part := range u.parts {
			if len(oracleOf(part, d.versions[version-1].items)) > 0 {
				u.known[d].parts[part] = true
			}
		}
	}()
	if known == nil {
		return u.tell(d, now, func(text []oracleItem) []oracleItem { return text })
	}
	state, last := u.state(d, version), u.seen(known, u.state(d, known.last))
	if u.change == "first" || oracleIsSame(state, last) {
		return nil
	}
	remember := u.remember
	if remember == 0 {
		if remember = 5; u.isForAnyChange() || len(u.parts) > 0 || u.change == "page" {
			remember = 1
		}
	}
	added := oracleNew(now, u.history(d, known, remember)...)
	if d.isFeed {
		added = slices.DeleteFunc(added, func(it oracleItem) bool { return oracleIsBack(it, u.history(d, known, 8)) })
	}
	if u.change == "page" {
		if remember > 1 && len(added) == 0 {
			return nil
		}
		return u.tell(d, now, func(text []oracleItem) []oracleItem { return text })
	}
	return u.tell(d, now, func(text []oracleItem) []oracleItem {
		there := slices.DeleteFunc(slices.Clone(text), func(it oracleItem) bool { return !oracleHas(added, it) })
		if u.isNews(text, there) {
			return there
		}
		before := last
		if d.isFeed {
			if before = oracleNamed(last, text[0].name); len(before) == 0 {
				return nil
			}
		}
		if u.comesToHold(text, state, before) {
			return text
		}
		return nil
	})
}

// oracleIsBack reports whether an entry fell out of a list, and reads as it did when it was there last.
func oracleIsBack(it oracleItem, history [][]oracleItem) bool {
	if len(history) == 0 || len(oracleNamed(history[0], it.name)) > 0 {
		return false
	}
	for _, text := range history {
		if was := oracleNamed(text, it.name); len(was) > 0 {
			return oracleHas(was, it)
		}
	}
	return false
}

// oracleNamed returns the items of a name.
func oracleNamed(text []oracleItem, name string) (all []oracleItem) {
	for _, it := range text {
		if it.name == name {
			all = append(all, it)
		}
	}
	return all
}

// seen returns what a URD was shown of a text.
func (u *oracleURD) seen(known *oracleKnown, text []oracleItem) (all []oracleItem) {
	if len(u.parts) == 0 {
		return text
	}
	for part := range known.parts {
		all = append(all, oracleOf(part, text)...)
	}
	return all
}

// history returns what the URD remembers of a document before its latest version: the last states first. Versions that
// read the same are one; of those with a part, the last is that which had it.
func (u *oracleURD) history(d *oracleDocument, known *oracleKnown, remember int) (all [][]oracleItem) {
	n := len(d.versions) - 1
	if len(u.parts) > 0 {
		for n = known.last; n > known.last-remember && n > 0; n-- {
			all = append(all, u.seen(known, u.state(d, n)))
		}
		return all
	}
	for ; n > 0 && len(all) < remember; n-- {
		if text := u.look(d, n); len(text) > 0 && (len(all) == 0 || !oracleIsSame(text, all[len(all)-1])) {
			all = append(all, text)
		}
	}
	return all
}

// tell returns what a URD is told of a text: of a page if the condition holds on it, of a feed for each entry on which
// it holds, and if there is an occasion.
func (u *oracleURD) tell(d *oracleDocument, now []oracleItem, occasion func(text []oracleItem) []oracleItem) *oracleTold {
	texts := [][]oracleItem{now}
	if d.isFeed {
		texts = nil
		for _, it := range now {
			texts = append(texts, []oracleItem{it})
		}
	}
	var told *oracleTold
	for _, text := range texts {
		if _, holds := u.holds(text); !holds {
			continue
		}
		if of := occasion(text); len(of) > 0 {
			if told == nil {
				told = new(oracleTold)
			}
			told.relevance = max(told.relevance, u.relevance(text))
			told.of = append(told.of, of...)
		}
	}
	return told
}

// isNews reports whether what makes the condition hold on a text stands in what was added.
func (u *oracleURD) isNews(text, added []oracleItem) bool {
	if u.isForAnyChange() {
		return len(added) > 0
	}
	if !u.asksFor(added) {
		return false
	}
	if u.threshold == 0 || u.relevance(added) > u.threshold {
		return true
	}
	_, holds := u.holds(oracleNew(text, added))
	return !holds
}

// comesToHold reports whether the condition did not hold on the last text, and something that it is about came or went.
func (u *oracleURD) comesToHold(now, state, last []oracleItem) bool {
	if u.remember > 1 || u.isForAnyChange() {
		return false
	}
	met, held := u.holds(last)
	if u.asksFor(oracleNew(now, last)) {
		return !held
	}
	return !met && len(u.none) > 0 && len(oracleNew(last, state)) > 0
}
