// Package textdiff describes how one text differs from another, by lines or by words.
//
// The changes it finds lead from the one to the other, always. They are the fewest possible, unless the
// texts are large and have little in common: the search for the fewest is given up after a bounded effort
// then, and the result reports that. So time is at most proportional to the length of both, with a factor of
// some hundred, and memory to the length alone.
package textdiff

import (
	"unicode"
	"unicode/utf8"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/formats"
	"github.com/webrace/webrace/internal/normalform"
)

// Change is one place where two sequences differ: the elements A to AEnd of the first were replaced by the
// elements B to BEnd of the second. One of the two may be empty, not both.
type Change struct{ A, AEnd, B, BEnd int }

// Lines returns the blocks of a text, which is what a reader takes for its lines.
func Lines(t *webrace.Text) []string {
	lines := make([]string, len(t.Blocks))
	for i, b := range t.Blocks {
		lines[i] = string(t.Slice(b))
	}
	return lines
}

// Texts returns what turns the lines of a text into those of another, in the form in which they are compared: those
// that make nothing new, as the date of a feed, are equal, and so are leaves of JSON that merely have another number in
// their list, unless nothing else differs.
func Texts(texts [2]*webrace.Text, lines [2][]string, json bool) (changes []Change, minimal bool) {
	if json {
		changes, minimal = Diff(forms(texts[0], formats.WithoutIndexes(lines[0])), forms(texts[1], formats.WithoutIndexes(lines[1])))
	}
	if len(changes) == 0 { // also of lists of JSON that have one another's elements
		changes, minimal = Diff(forms(texts[0], lines[0]), forms(texts[1], lines[1]))
	}
	return changes, minimal
}

func forms(t *webrace.Text, lines []string) []string {
	lines = Forms(lines)
	for i, b := range t.Blocks {
		if b.Aside {
			lines[i] = "\x00"
		}
	}
	return lines
}

// Forms returns texts in the form in which they are to be compared: what looks the same is no change.
func Forms(texts []string) []string {
	forms := make([]string, len(texts))
	for i, text := range texts {
		forms[i] = normalform.String(text)
	}
	return forms
}

// Words cuts a text into words, runs of white space, and single other characters; together they are the
// text.
func Words(text string) []string {
	var words []string
	start, last := 0, other
	for i, r := range text {
		kind := kindOf(r)
		if i > start && (kind != last || kind == other) {
			words = append(words, text[start:i])
			start = i
		}
		last = kind
	}
	if start < len(text) {
		words = append(words, text[start:])
	}
	return words
}

const (
	other = iota
	word
	space
)

func kindOf(r rune) int {
	switch {
	case r == '\n': // a line's end is an element of its own
		return other
	case unicode.IsSpace(r):
		return space
	case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r), r == '_', normalform.Ignored(r):
		return word
	case r == utf8.RuneError:
		return other
	}
	return other
}

// Hunk is a group of changes that lie close together, with what is equal around them: it spans the
// elements A to AEnd of the first sequence and B to BEnd of the second.
type Hunk struct {
	Change
	Changes []Change
}

// Hunks groups the changes between sequences of n and m elements. Each hunk has up to context equal
// elements before and behind it, and changes whose contexts meet are in one.
func Hunks(changes []Change, n, m, context int) []Hunk {
	var hunks []Hunk
	for _, c := range changes {
		before, behind := min(context, c.A, c.B), min(context, n-c.AEnd, m-c.BEnd)
		wide := Change{c.A - before, c.AEnd + behind, c.B - before, c.BEnd + behind}
		if last := len(hunks) - 1; last >= 0 && wide.A <= hunks[last].AEnd {
			hunks[last].AEnd, hunks[last].BEnd = wide.AEnd, wide.BEnd
			hunks[last].Changes = append(hunks[last].Changes, c)
			continue
		}
		hunks = append(hunks, Hunk{wide, []Change{c}})
	}
	return hunks
}
