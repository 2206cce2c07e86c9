package textdiff

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/webrace/webrace"
)

// mostPaired is how many removed and added blocks of one place are compared with each other.
const mostPaired = 32

// Summary tells in at most so many bytes what changed from one text to another: what came in «», what went in [−], and
// of a block that was edited some of what is around that. What came is told before what only went. Blocks that moved,
// and white space, are no change: changed is false if there are none but these.
//
// Behind the last block that both have, nothing came since a text that was cut, and nothing went from one that is.
//
// Of the blocks that the old text has not, those count as new that added marks, or all if it is nil. Without
// an old text every such block is. An entry of a list comes, goes or changes as a whole: of one that changed it is
// said which it is, and what went and came of it.
func Summary(old, now *webrace.Text, added []bool, size int) (summary string, changed bool) {
	var pieces []piece
	c := compare(old, now, added)
	changes, _ := Diff(keys(c.old), keys(c.now))
	for _, change := range changes {
		pieces = append(pieces, c.replaced(change)...)
		for i := change.B; i < change.BEnd; i++ {
			if before, again := c.again[i]; again {
				pieces = append(pieces, changedEntry(c.old[before], c.now[i]))
			}
		}
	}
	slices.SortStableFunc(pieces, func(a, b piece) int { return cmp.Compare(a.rank(), b.rank()) })
	return summarize(pieces, size), len(pieces) > 0
}

// Growth is Summary for a text that is the old one and the blocks that came, one by one: none of them is of an entry.
func Growth(now *webrace.Text, came []bool, size int) (summary string, changed bool) {
	var pieces []piece
	for i, is := range came {
		if !is {
			continue
		}
		compared := comparedOf(now, i)
		if u := blockUnit(now, i, compared, compared); u.key != "" {
			pieces = append(pieces, piece{{added, u.text}})
		}
	}
	return summarize(pieces, size), len(pieces) > 0
}

// ChangedEntries returns which entries of lists changed from one text to another, and how, in at most so many bytes
// each: for the blocks of the later one, in an empty text where it is of no such entry.
func ChangedEntries(old, now *webrace.Text, size int) []string {
	c := compare(old, now, nil)
	changed := make(map[*webrace.Entry]string, len(c.again))
	for i, before := range c.again {
		changed[c.now[i].entry] = changedEntry(c.old[before], c.now[i]).within(size)
	}
	said := make([]string, len(now.Blocks))
	for i, b := range now.Blocks {
		if b.Entry > 0 {
			said[i] = changed[&now.Entries[b.Entry-1]]
		}
	}
	return said
}

// Edits describes how lines that came have taken the place of lines that went, in at most so many bytes each; not which
// came or went for themselves.
func Edits(went, came []string, size int) (said []string) {
	collapsed := func(lines []string) []string {
		all := make([]string, len(lines))
		for i, line := range lines {
			all[i] = collapse(strings.ToValidUTF8(line, ""))
		}
		return all
	}
	for _, p := range pair(collapsed(went), collapsed(came)) {
		if len(p) > 1 {
			said = append(said, p.within(size))
		}
	}
	return said
}

// comparison is the units of two texts, and which of them the other has not.
type comparison struct {
	old, now   []unit
	went, came []bool
	again      map[int]int // entries of now that old has with another content: their numbers there; neither went nor came

	namesOld, namesNow map[uint64]bool // of the entries
}

func compare(old, now *webrace.Text, added []bool) (c comparison) {
	shared := sharedColumns(old, now)
	inOld, inNow := pairParts(old, now)
	c.old, c.now = units(old, shared, inOld), units(now, shared, inNow)
	c.namesOld, c.namesNow = namesOf(old), namesOf(now)
	before, after := known(c.old), known(c.now)
	for _, u := range c.old {
		c.went = append(c.went, u.lacksIn(after))
	}
	for _, u := range c.now {
		c.came = append(c.came, u.lacksIn(before) && u.isIn(added))
	}
	c.sameParts()
	if old != nil && old.Cut {
		clearBehind(c.came, c.now, before)
	}
	if now.Cut {
		clearBehind(c.went, c.old, after)
	}
	c.findAgain()
	return c
}

func namesOf(t *webrace.Text) map[uint64]bool {
	names := make(map[uint64]bool)
	if t != nil {
		for _, e := range t.Entries {
			names[e.Name] = true
		}
	}
	return names
}

// sameParts makes the parts that both texts have come again where only something went of them.
func (c *comparison) sameParts() {
	before := numbered(c.old, numberOf)
	for i := range c.now {
		if old, had := before[numberOf(&c.now[i])]; had && old >= 0 && c.went[old] {
			c.came[i] = true
		}
	}
}

// findAgain finds the entries that have changed: those that one entry of either text is known by.
func (c *comparison) findAgain() {
	c.again = make(map[int]int)
	for _, by := range []func(*unit) uint64{
		numberOf, func(u *unit) uint64 { return u.entry.Name }, func(u *unit) uint64 { return u.entry.Link },
	} {
		before, after := numbered(c.old, by), numbered(c.now, by)
		for id, i := range after {
			if old, known := before[id]; known && i >= 0 && old >= 0 && c.came[i] && c.went[old] {
				c.again[i] = old
				c.came[i], c.went[old] = false, false
			}
		}
	}
}

// numberOf returns the number of a part that both texts have; 0 of others.
func numberOf(u *unit) uint64 {
	if u.entry == nil {
		return 0
	}
	return uint64(max(0, u.number))
}

// numbered returns the numbers of the entries that are known by something; -1 where several are by the same.
func numbered(all []unit, by func(*unit) uint64) map[uint64]int {
	numbers := make(map[uint64]int)
	for i := range all {
		u := &all[i]
		if u.entry == nil || by(u) == 0 {
			continue
		}
		if _, twice := numbers[by(u)]; twice {
			numbers[by(u)] = -1
		} else {
			numbers[by(u)] = i
		}
	}
	return numbers
}

// clearBehind clears the marks behind the last unit that the other text has, if there is one.
func clearBehind(marks []bool, all []unit, other map[string]bool) {
	for i := len(all) - 1; i >= 0; i-- {
		if other[all[i].key] && all[i].key != "" {
			clear(marks[i:])
			return
		}
	}
}

// isIn reports whether the unit is marked, or any block of a part of a page; those behind the marks are.
func (u *unit) isIn(marks []bool) bool {
	last := u.first
	if u.entry != nil && u.entry.IsPart() {
		last = u.last
	}
	return last >= len(marks) || slices.Contains(marks[u.first:last+1], true)
}

// lacksIn reports whether a text does not have the unit, by what it has.
func (u *unit) lacksIn(text map[string]bool) bool {
	return u.key != "" && !text[u.key] && (u.link == "" || !text[u.link])
}

// known returns what units are known by.
func known(all []unit) map[string]bool {
	set := setOf(keys(all))
	for _, u := range all {
		if u.link != "" {
			set[u.link] = true
		}
		if u.entry != nil && u.entry.IsPart() { // of another text its blocks may be by themselves
			for _, form := range Forms(u.fields) {
				set[form] = true
			}
		}
	}
	return set
}

func keys(all []unit) []string {
	keys := make([]string, len(all))
	for i, u := range all {
		keys[i] = u.key
	}
	return keys
}

func collapse(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
}

func setOf(texts []string) map[string]bool {
	set := make(map[string]bool, len(texts))
	for _, text := range texts {
		set[text] = true
	}
	return set
}

// replaced returns what went and what came at one place. A unit takes the place of one that is like it, unless either
// is an entry that is known by a name which the other text has not: that is another thing, however like it is.
func (c *comparison) replaced(at Change) (pieces []piece) {
	var went, came []string
	for i := at.B; i < at.BEnd; i++ {
		switch u := &c.now[i]; {
		case !c.came[i]:
		case u.isOther(c.namesOld):
			pieces = append(pieces, piece{{added, u.text}})
		default:
			came = append(came, u.text)
		}
	}
	for i := at.A; i < at.AEnd; i++ {
		switch u := &c.old[i]; {
		case !c.went[i]:
		case u.isOther(c.namesNow):
			pieces = append(pieces, piece{{removed, u.text}})
		default:
			went = append(went, u.text)
		}
	}
	return append(pieces, pair(went, came)...)
}

// isOther reports whether the unit is an entry with a name that is not among those of the other text.
func (u *unit) isOther(names map[uint64]bool) bool {
	return u.entry != nil && u.entry.Name != 0 && !names[u.entry.Name]
}

// pair makes pieces of what went and came in one place: a block that came takes the place of the next one
// that went and is like it.
func pair(went, came []string) (pieces []piece) {
	only := len(went) == 1 && len(came) == 1
	next := 0
	remove := func(end int) {
		for ; next < end; next++ {
			pieces = append(pieces, piece{{removed, went[next]}})
		}
	}
	for i, text := range came {
		end := min(len(went), next+mostPaired)
		replaced := next
		for replaced < end && !alike(went[replaced], text) {
			replaced++
		}
		switch {
		case replaced < end && i < mostPaired:
			remove(replaced)
			pieces = append(pieces, edit(went[replaced], text))
			next++
		case only:
			remove(1)
			pieces[0] = append(pieces[0], run{added, text})
		default:
			pieces = append(pieces, piece{{added, text}})
		}
	}
	remove(len(went))
	return pieces
}
