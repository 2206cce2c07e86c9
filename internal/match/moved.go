package match

import (
	"cmp"
	"slices"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/analyze"
)

// What moved is not new: a block that came to a page from another page of the same crawl was told there, or was known.
// That a block stands there, too, says nothing: three products at the same price are three pieces of news. So it has to
// have gone from there, and to have been put in here. Where another block went at its place, this one was edited.

// Units are what a page consists of, without its navigation: blocks, and entries of lists.
type Units struct {
	list []unit // in the order of the page
	has  map[uint64]bool
}

type unit struct {
	hash  uint64
	words uint8 // as many as matter: enough of them say what is not said twice by chance
}

// telling is how many words a unit has that is known again on any page. Fewer are known again on the next page of a
// list and on the one before.
const telling = 4

// UnitsOf returns the units of a text.
func UnitsOf(text *webrace.Text) *Units {
	u := &Units{has: make(map[uint64]bool)}
	if text == nil {
		return u
	}
	u.list, _ = unitsOf(text)
	for _, one := range u.list {
		u.has[one.hash] = true
	}
	return u
}

// Len returns how many units there are.
func (u *Units) Len() int { return len(u.list) }

// unitsOf returns the units, and to which each block belongs; -1 for none.
func unitsOf(text *webrace.Text) (units []unit, of []int32) {
	c := comparisons.Get().(*comparison)
	defer comparisons.Put(c)
	c.start(nil)
	c.findColumns(text)
	of = make([]int32, len(text.Blocks))
	entries := make([]int32, len(text.Entries))
	for i, hash := range c.hashBlocks(text) {
		b := text.Blocks[i]
		if of[i] = -1; hash == 0 || b.Field == webrace.FieldNavigation {
			continue
		}
		if b.Entry != 0 && entries[b.Entry-1] > 0 {
			of[i] = entries[b.Entry-1] - 1
		} else {
			of[i] = int32(len(units))
			units = append(units, unit{hash: hash})
			if b.Entry != 0 {
				entries[b.Entry-1] = int32(len(units))
			}
		}
		u := &units[of[i]]
		analyze.Words(text.Compared(b), func(int, int, []byte) bool {
			u.words++
			return u.words < telling
		})
	}
	return units, of
}

// Elsewhere is another page of the same crawl.
type Elsewhere struct {
	Shown []*Units      // what who is asked knows of it: since the page at hand was visited last, the last first
	Now   func() *Units // as it is by now
	Near  bool          // it is the next page of the same list, or the one before
	Next  bool          // it is the next one
}

// had reports whether the page had a unit that is known again by its like.
func (e *Elsewhere) had(u unit) bool {
	return (e.Near || u.words >= telling) && slices.ContainsFunc(e.Shown, func(shown *Units) bool { return shown.has[u.hash] })
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

// Without returns which blocks are new, of those that flags say, when those that moved are not.
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
	f := finder{text: now, before: UnitsOf(nil), isNew: before == nil, leads: leads, from: from, latest: make([]*Units, len(from))}
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
	f.has = make(map[uint64]bool)
	for _, u := range f.units {
		f.has[u.hash] = true
	}
	f.source = make([]int32, len(f.units))
	for _, r := range f.runs() {
		f.find(r)
	}
	return f.moves()
}

// finder is the work on one text.
type finder struct {
	text   *webrace.Text
	units  []unit
	has    map[uint64]bool // the units
	of     []int32         // of the blocks: their units
	before *Units
	isNew  bool
	leads  func([]byte) bool
	from   []Elsewhere
	latest []*Units // of the other pages, once asked for
	source []int32  // of the units: the number of the page that they came from, from 1 on
}

// mayFind reports whether another page had anything that is new.
func (f *finder) mayFind(before *Before) bool {
	for i, of := range f.of {
		isAdded := before == nil || i >= len(before.Added) || before.Added[i]
		if of >= 0 && isAdded && slices.ContainsFunc(f.from, func(e Elsewhere) bool { return e.had(f.units[of]) }) {
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
		if e := &f.from[page]; f.isNew && e.Near && slices.Contains(f.source, int32(page+1)) {
			f.mark(f.those(run{0, len(f.units), 0}, e.had), page)
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
	if !f.from[page].had(u) {
		return false
	}
	if f.latest[page] == nil {
		f.latest[page] = f.from[page].Now()
	}
	return !f.latest[page].has[u.hash]
}

// run is units in a row that were not there before, from one up to another, and how many were put in: more than others
// went at their place.
type run struct{ first, end, putIn int }

// runs returns the runs of a text, each at a place between two units that stay: what stood before one of them, stands
// before it. So it is known what took the place of what.
func (f *finder) runs() (all []run) {
	last, first := -1, 0 // in the text before, and in this one: what stays, and behind it
	for _, at := range append(f.stay(), [2]int{len(f.units), f.before.Len()}) {
		putIn, place := 0, len(all)
		for i := first; i < at[0]; i++ {
			if f.before.has[f.units[i].hash] {
				continue
			}
			if i == first || f.before.has[f.units[i-1].hash] {
				all = append(all, run{first: i})
			}
			all[len(all)-1].end = i + 1
			putIn++
		}
		for _, u := range f.before.list[last+1 : at[1]] {
			if !f.has[u.hash] {
				putIn--
			}
		}
		for i := range all[place:] {
			all[place+i].putIn = max(putIn, 0)
		}
		last, first = at[1], at[0]+1
	}
	return all
}

// stay returns the units that stay, and their places in the text before: those that either text has once, if no other
// such has changed sides. What went from another page may be what comes to this one.
func (f *finder) stay() (all [][2]int) {
	before := places(f.before.list)
	for hash, at := range places(f.units) {
		if was, had := before[hash]; had && at >= 0 && was >= 0 && !f.wentFromAny(f.units[at]) {
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

// places returns where each unit stands; those that stand there several times, nowhere (-1).
func places(units []unit) map[uint64]int {
	all := make(map[uint64]int, len(units))
	for i, u := range units {
		if _, twice := all[u.hash]; twice {
			i = -1
		}
		all[u.hash] = i
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

// find finds what moved of a run: what went from another page, if all of it was put in; and what came up from the next
// page of the list.
func (f *finder) find(r run) {
	var all []int
	for page := range f.from {
		went := f.those(r, func(u unit) bool { return f.went(page, u) })
		f.mark(went, page)
		all = append(all, went...)
	}
	if len(all) > r.putIn {
		f.mark(all, none)
	}
	for page := range f.from {
		for _, shown := range f.from[page].Shown {
			if f.from[page].Next && !f.isNew && f.isLast(r.end, shown) {
				f.mark(f.cameUp(r, shown), page)
			}
		}
	}
}

// those returns the units of a run that meet a condition, and came from no page yet.
func (f *finder) those(r run, meet func(unit) bool) (all []int) {
	for i := r.first; i < r.end; i++ {
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

// isLast reports whether nothing of the list is behind a run: the next page has what is there as well, or it leads on.
func (f *finder) isLast(end int, next *Units) bool {
	for i, of := range f.of {
		if int(of) >= end && !next.has[f.units[of].hash] && !f.leads(f.text.Compared(f.text.Blocks[i])) {
			return false
		}
	}
	return true
}

// cameUp returns the units of a run that are on the next page, which may not have been visited since. If they stand
// where others went, they have to have been the first there: in front of all that is not on this page.
func (f *finder) cameUp(r run, next *Units) []int {
	came := f.those(r, func(u unit) bool { return next.has[u.hash] })
	if len(came) <= r.putIn {
		return came
	}
	head := make(map[uint64]bool)
	for _, u := range next.list {
		if !f.has[u.hash] {
			break
		}
		head[u.hash] = true
	}
	return slices.DeleteFunc(came, func(i int) bool { return !head[f.units[i].hash] })
}
