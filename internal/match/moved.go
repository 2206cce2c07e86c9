package match

import (
	"cmp"
	"slices"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/analyze"
)

// What moved is not new: a block that came to a page from another page of the same crawl was told there, or was known.
// That a block stands there, too, proves nothing: three products at the same price are three pieces of news. So it has
// to have gone from there, and to have been put in here. Where another block went at its place, this one was edited.

// Units are what a page consists of, without its navigation: blocks, and entries of lists.
type Units struct {
	list  []unit // in the order of the page
	has   map[uint64]bool
	parts map[uint64]bool
}

type unit struct {
	hash   uint64
	part   uint64 // of the part of a page that it is in, the hash of its title and link; 0 for none
	title  uint64 // of that, without the link
	linked uint64 // of the unit and the link of its part
	words  uint8  // as many as matter: enough of them say what is not said twice by chance
}

// telling is how many words a unit has that is known again on any page. Fewer are known again on the next page of a
// list and on the one before, and in a part that is known by its link.
const telling = 4

// UnitsOf returns the units of a text.
func UnitsOf(text *webrace.Text) *Units {
	if text == nil {
		return unitsIn(nil)
	}
	list, _ := unitsOf(text)
	return unitsIn(list)
}

func unitsIn(list []unit) *Units {
	u := &Units{list, make(map[uint64]bool, len(list)), make(map[uint64]bool)}
	for _, one := range list {
		if u.has[one.hash] = true; one.part != 0 {
			u.has[one.linked], u.parts[one.part] = true, true
		}
	}
	return u
}

// Len returns how many units there are.
func (u *Units) Len() int { return len(u.list) }

// key is what a unit is known by where there are these: of a part that is there, by its link as well.
func (u *Units) key(one unit) uint64 {
	if one.part != 0 && u.parts[one.part] {
		return one.linked
	}
	return one.hash
}

// say reports whether a unit is among these.
func (u *Units) say(one unit) bool { return u.has[u.key(one)] }

// unitsOf returns the units, and to which each block belongs; -1 for none.
func unitsOf(text *webrace.Text) (units []unit, of []int32) {
	c := comparisons.Get().(*comparison)
	defer comparisons.Put(c)
	c.start(nil)
	c.findColumns(text)
	of = make([]int32, len(text.Blocks))
	entries := make([]int32, len(text.Entries))
	hashes := c.hashBlocks(text)
	c.findParts(text, hashes)
	titles := c.titles(text, hashes)
	for i, hash := range hashes {
		b := text.Blocks[i]
		if of[i] = -1; hash == 0 || b.Field == webrace.FieldNavigation {
			continue
		}
		isPart := b.Entry != 0 && text.Entries[b.Entry-1].IsPart()
		if b.Entry != 0 && !isPart && entries[b.Entry-1] > 0 {
			of[i] = entries[b.Entry-1] - 1
		} else {
			of[i] = int32(len(units))
			units = append(units, unit{hash: hash})
			if b.Entry != 0 {
				entries[b.Entry-1] = int32(len(units))
			}
		}
		u := &units[of[i]]
		if isPart && c.parts.linked[i] != 0 {
			u.part, u.title, u.linked = c.parts.all[b.Entry-1].title, titles[b.Entry-1], c.parts.linked[i]
		}
		analyze.Words(text.Compared(b), func(int, int, []byte) bool {
			u.words++
			return u.words < telling
		})
	}
	return units, of
}

// titles returns the hashes of the titles of parts, without their links, by the numbers of entries.
func (c *comparison) titles(text *webrace.Text, hashes []uint64) []uint64 {
	titles := make([]uint64, len(text.Entries))
	for i, linked := range c.parts.linked {
		if entry := text.Blocks[i].Entry; linked != 0 && linked == c.parts.all[entry-1].title {
			titles[entry-1] = hashes[i]
		}
	}
	return titles
}

// Elsewhere is another page of the same crawl.
type Elsewhere struct {
	Shown []*Units      // what who is asked knows of it: since the page at hand was visited last, the last first
	Now   func() *Units // as it is by now
	Near  bool          // it is the next page of the same list, or the one before
	Next  bool          // it is the next one
}

// key returns what the page had a unit by that is known again; 0 if it had none. What is in a part comes with that: by
// its link, or by its title where links are others each time.
func (e *Elsewhere) key(u unit, isKnownPart bool) uint64 {
	key := uint64(0)
	for _, shown := range e.Shown {
		switch isThere := u.part != 0 && shown.parts[u.part]; {
		case isThere && shown.has[u.linked]:
			return u.linked
		case isThere, u.part != 0 && (isKnownPart || !shown.has[u.title]):
		case shown.has[u.hash] && (e.Near || u.words >= telling):
			key = u.hash
		}
	}
	return key
}

// Moves are blocks of a text that came from other pages.
type Moves struct{ from []int32 } // for each block the number of the page, from 1 on; 0 for none

// From returns the number of the page that a block came from; false if from none.
func (m *Moves) From(block int) (page int, moved bool) {
	if m == nil {
		return 0, false
	}
	return int(m.from[block]) - 1, m.from[block] > 0
}

// Without returns which blocks are new, of those that flags mark, when those that moved are not.
func (m *Moves) Without(added []bool) []bool {
	left := make([]bool, len(m.from))
	for i, from := range m.from {
		left[i] = from == 0 && (i >= len(added) || added[i])
	}
	return left
}

// Of returns what moved of a text.
func (m *Moves) Of(text *webrace.Text) *webrace.Text {
	moved := *text
	moved.Blocks = nil
	for i, from := range m.from {
		if from > 0 {
			moved.Blocks = append(moved.Blocks, text.Blocks[i])
		}
	}
	return &moved
}

// Before is what a page was like before; nil for one that is new.
type Before struct {
	Added []bool               // which blocks it had not
	Text  func() *webrace.Text // nil for a text that is there no more
}

// FindMoves finds which blocks that a text has, and the one before had not, came from other pages; nil if none did.
// What leads to other pages of its list, by the words that these are called by, may stand behind it.
func FindMoves(now *webrace.Text, before *Before, from []Elsewhere, leads func(block []byte) bool) *Moves {
	f := finder{text: now, before: unitsIn(nil), isNew: before == nil, leads: leads, from: from, latest: make([]*Units, len(from))}
	f.units, f.of = unitsOf(now)
	if !f.mayFind(before) {
		return nil
	}
	if before != nil {
		text := before.Text()
		if text == nil {
			return nil
		}
		f.before = UnitsOf(text)
	}
	f.now = unitsIn(f.units)
	f.source, f.gave = make([]int32, len(f.units)), make([]bool, len(from))
	for _, g := range f.gaps() {
		f.find(g)
	}
	return f.moves()
}

// finder is the work on one text.
type finder struct {
	text   *webrace.Text
	units  []unit
	now    *Units  // the units
	of     []int32 // of the blocks: their units
	before *Units
	isNew  bool
	leads  func([]byte) bool
	from   []Elsewhere
	latest []*Units // of the other pages, once asked for
	ends   map[*Units]ending
	source []int32 // of the units: the number of the page that they came from, from 1 on; of the first one
	gave   []bool  // of the pages: some units went from there
}

// mayFind reports whether another page had anything that is new.
func (f *finder) mayFind(before *Before) bool {
	for i, of := range f.of {
		isAdded := before == nil || i >= len(before.Added) || before.Added[i]
		if of >= 0 && isAdded && slices.ContainsFunc(f.from, func(e Elsewhere) bool { return e.key(f.units[of], false) != 0 }) {
			return true
		}
	}
	return false
}

// moves returns what was found. What frames a list on a new page of it is not new either.
func (f *finder) moves() *Moves {
	if !slices.ContainsFunc(f.source, func(page int32) bool { return page > 0 }) {
		return nil
	}
	for page := range f.from {
		if e := &f.from[page]; f.isNew && e.Near && f.gave[page] {
			for i, u := range f.units {
				if f.source[i] == 0 && e.key(u, false) != 0 {
					f.mark([]int{i}, page)
				}
			}
		}
	}
	m := &Moves{make([]int32, len(f.of))}
	for i, unit := range f.of {
		if unit >= 0 {
			m.from[i] = f.source[unit]
		}
	}
	return m
}

// went reports whether a unit has gone from another page since the page at hand was visited last.
func (f *finder) went(page int, u unit) bool {
	key := f.from[page].key(u, f.before.parts[u.part])
	if key == 0 {
		return false
	}
	if f.latest[page] == nil {
		f.latest[page] = f.from[page].Now()
	}
	return !f.latest[page].has[key]
}

// gap is what came to a text between units that stay, and how many of it were put in: more than others went there.
type gap struct {
	came  []int
	putIn int
}

// gaps returns the places at which units came, each between two units that stay: what stood before one of them, stands
// before it. So it is known what took the place of what.
func (f *finder) gaps() (all []gap) {
	last, first := -1, 0 // in the text before, and in this one: what stays, and behind it
	for _, at := range append(f.stay(), [2]int{len(f.units), f.before.Len()}) {
		var g gap
		for i := first; i < at[0]; i++ {
			if !f.before.say(f.units[i]) {
				g.came = append(g.came, i)
			}
		}
		g.putIn = len(g.came)
		for _, u := range f.before.list[last+1 : at[1]] {
			if !f.now.say(u) {
				g.putIn--
			}
		}
		if len(g.came) > 0 {
			all = append(all, g)
		}
		last, first = at[1], at[0]+1
	}
	return all
}

// stay returns the units that stay, and their places in the text before: those that either text has once, if no other
// such has changed sides. What went from another page may be what comes to this one.
func (f *finder) stay() (all [][2]int) {
	before := places(f.before.list, f.now)
	for key, at := range places(f.units, f.before) {
		if was, had := before[key]; had && at >= 0 && was >= 0 && !f.wentFromAny(f.units[at]) {
			all = append(all, [2]int{at, was})
		}
	}
	slices.SortFunc(all, func(x, y [2]int) int { return cmp.Compare(x[0], y[0]) })
	crossed := make([]bool, len(all))
	most, least := -1, f.before.Len()
	for i := range all {
		crossed[i] = all[i][1] < most
		most = max(most, all[i][1])
	}
	for i := len(all) - 1; i >= 0; i-- {
		crossed[i] = crossed[i] || all[i][1] > least
		least = min(least, all[i][1])
	}
	i := -1
	return slices.DeleteFunc(all, func([2]int) bool { i++; return crossed[i] })
}

// places returns where each unit stands, by what it is known by among others; those that stand there several times,
// nowhere (-1).
func places(units []unit, others *Units) map[uint64]int {
	all := make(map[uint64]int, len(units))
	for i, u := range units {
		key := others.key(u)
		if _, twice := all[key]; twice {
			i = -1
		}
		all[key] = i
	}
	return all
}

// wentFromAny reports whether a unit has gone from any other page.
func (f *finder) wentFromAny(u unit) bool {
	for page := range f.from {
		if f.went(page, u) {
			return true
		}
	}
	return false
}

// find finds what moved to a gap: what went from another page, if all of it was put in; and what came up from the next
// page of the list.
func (f *finder) find(g gap) {
	var all []int
	for page := range f.from {
		for _, i := range g.came {
			if f.went(page, f.units[i]) {
				if f.gave[page] = true; f.source[i] == 0 {
					f.mark([]int{i}, page)
					all = append(all, i)
				}
			}
		}
	}
	if len(all) > max(g.putIn, 0) {
		f.mark(all, none)
	}
	for page := range f.from {
		for _, shown := range f.from[page].Shown {
			if f.from[page].Next && !f.isNew {
				f.mark(f.cameUp(g, shown), page)
			}
		}
	}
}

// those returns which of some units meet a condition, and came from no page yet.
func (f *finder) those(units []int, meet func(unit) bool) (all []int) {
	for _, i := range units {
		if f.source[i] == 0 && meet(f.units[i]) {
			all = append(all, i)
		}
	}
	return all
}

const none = -1

func (f *finder) mark(units []int, page int) {
	for _, i := range units {
		f.source[i] = int32(page + 1)
	}
}

// ending is what of a text stands behind its list, by the next page of it.
type ending struct {
	from int             // behind what stays in the text, but is not on the next page as well, and does not lead on
	head map[uint64]bool // what is the first on the next page, in front of all that is not in the text
}

func (f *finder) endBy(next *Units) ending {
	if e, known := f.ends[next]; known {
		return e
	}
	e := ending{head: make(map[uint64]bool)}
	for i, of := range f.of {
		if int(of) >= e.from && f.before.say(f.units[of]) && !next.say(f.units[of]) && !f.leads(f.text.Compared(f.text.Blocks[i])) {
			e.from = int(of) + 1
		}
	}
	for _, u := range next.list {
		if !f.now.say(u) {
			break
		}
		e.head[f.now.key(u)] = true
	}
	if f.ends == nil {
		f.ends = make(map[*Units]ending)
	}
	f.ends[next] = e
	return e
}

// cameUp returns the units of a gap that are on the next page, which may not have been visited since. If they stand
// where others went, they have to have been the first there.
func (f *finder) cameUp(g gap, next *Units) []int {
	near := Elsewhere{Shown: []*Units{next}, Near: true}
	came := f.those(g.came, func(u unit) bool { return near.key(u, f.before.parts[u.part]) != 0 })
	if len(came) == 0 {
		return nil
	}
	end := f.endBy(next)
	came = slices.DeleteFunc(came, func(i int) bool { return i < end.from })
	if len(came) <= g.putIn {
		return came
	}
	return slices.DeleteFunc(came, func(i int) bool { return !end.head[next.key(f.units[i])] })
}
