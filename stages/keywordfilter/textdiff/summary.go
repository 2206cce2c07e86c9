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

// Summary says in at most so many bytes what changed from one text to another: what came in «», what went
// in [−], and of a block that was edited some of what is around that. What came is told before what only
// went. Blocks that moved, and white space, are no change: the result says if there is none but these.
//
// Behind the last block that both have, nothing came since a text that was cut, and nothing went from one that is.
//
// Of the blocks that the old text has not, those count as new that added says, or all if it is nil. Without
// an old text every such block is.
func Summary(old, now *webrace.Text, added []bool, size int) (summary string, changed bool) {
	var pieces []piece
	c := compare(old, now, added)
	changes, _ := Diff(c.old, c.now)
	for _, change := range changes {
		pieces = append(pieces, pair(those(c.old, c.went, change.A, change.AEnd), those(c.now, c.came, change.B, change.BEnd))...)
	}
	slices.SortStableFunc(pieces, func(a, b piece) int { return cmp.Compare(a.rank(), b.rank()) })
	return summarize(pieces, size), len(pieces) > 0
}

// comparison is the blocks of two texts, and which of them the other has not.
type comparison struct {
	old, now   []string
	went, came []bool
}

func compare(old, now *webrace.Text, added []bool) (c comparison) {
	c.old, c.now = blocks(old), blocks(now)
	before, after := setOf(c.old), setOf(c.now)
	for _, text := range c.old {
		c.went = append(c.went, text != "" && !after[text])
	}
	for i, text := range c.now {
		c.came = append(c.came, text != "" && !before[text] && (i >= len(added) || added[i]))
	}
	if old != nil && old.Cut {
		clearBehind(c.came, c.now, before)
	}
	if now.Cut {
		clearBehind(c.went, c.old, after)
	}
	return c
}

// clearBehind clears the marks behind the last block that the other text has, if there is one.
func clearBehind(marks []bool, blocks []string, other map[string]bool) {
	for i := len(blocks) - 1; i >= 0; i-- {
		if other[blocks[i]] && blocks[i] != "" {
			clear(marks[i:])
			return
		}
	}
}

// blocks returns the blocks of a text with white space collapsed.
func blocks(t *webrace.Text) (all []string) {
	if t == nil {
		return nil
	}
	for _, b := range t.Blocks {
		all = append(all, collapse(strings.ToValidUTF8(string(t.Slice(b)), "")))
	}
	return all
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

// those returns the texts from one index to another that are marked.
func those(texts []string, marked []bool, from, to int) (chosen []string) {
	for i := from; i < to; i++ {
		if marked[i] {
			chosen = append(chosen, texts[i])
		}
	}
	return chosen
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
