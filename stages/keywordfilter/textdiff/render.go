package textdiff

import (
	"math"
	"strings"
	"unicode/utf8"
)

const (
	separator = " · "
	more      = separator + ellipsis
	// least is for how many bytes there must be room to show part of something.
	least = 12
)

// summarize shows as many of the pieces as there is room for. A long one takes no more than a third of it
// while there are others to show.
func summarize(pieces []piece, size int) string {
	var out strings.Builder
	for i, p := range pieces {
		room, between := size-out.Len(), ""
		if i > 0 {
			between = separator
		}
		left := room - len(between)
		if i+1 < len(pieces) {
			left -= len(more)
		}
		shown := p.within(min(left, max(size/3, left/(len(pieces)-i))))
		if shown == "" {
			shown = p.within(left)
		}
		if shown == "" && i == 0 {
			return p.core(size)
		}
		if shown == "" {
			out.WriteString(more)
			break
		}
		out.WriteString(between + shown)
	}
	return out.String()
}

// within renders a piece in at most so many bytes, or as nothing if there is too little room for it. Of what
// was removed no more than a quarter of it is shown then, if something was added.
func (p piece) within(most int) string {
	out := line{most: math.MaxInt}
	if out.add(p...); len(out.text) <= most {
		return out.text
	}
	out = line{most: most}
	for _, s := range p {
		if s.kind == removed && p.rank() == 0 {
			s.text = cut(s.text, most/4)
		}
		out.add(s)
	}
	return strings.TrimRight(out.text, " ")
}

// core is what was added, or else removed, as far as there is room, without marks.
func (p piece) core(most int) string {
	for _, k := range []kind{added, removed, same} {
		for _, r := range p {
			if text := strings.TrimSpace(r.text); r.kind == k && text != "" {
				return strings.TrimSpace(text[:wordsWithin(text, most)])
			}
		}
	}
	return ""
}

// line is text that grows up to a length.
type line struct {
	text string
	most int
	last kind
	due  bool // a blank
	full bool
}

// add appends runs with their marks, and with the blanks that stand at their ends outside of these.
func (l *line) add(runs ...run) {
	for _, s := range runs {
		text := strings.TrimSpace(s.text)
		if s.text != "" && (s.text[0] == ' ' || s.kind == added && l.last == removed) {
			l.due = true
		}
		if text != "" && !l.full {
			l.write(text, s.kind)
		}
		l.due = l.due || strings.HasSuffix(s.text, " ")
	}
}

func (l *line) write(text string, k kind) {
	blank := ""
	if l.due && l.text != "" {
		blank = " "
	}
	m := marks[k]
	room := l.most - len(l.text) - len(blank) - len(m.before) - len(m.behind)
	if len(text) > room {
		text, l.full = cut(text, room), true
	}
	if text != "" {
		l.text += blank + m.before + text + m.behind
		l.last, l.due = k, false
	}
}

// cut returns a text that has too many bytes with less of it and an ellipsis, or nothing if too little would be left.
func cut(text string, most int) string {
	switch {
	case len(text) <= most:
		return text
	case most < least:
		return ""
	}
	return strings.TrimSpace(text[:wordsWithin(text, most-len(ellipsis))]) + ellipsis
}

// wordsWithin returns the length of a beginning of the text, at most so many bytes long: it ends with a word
// if that does not take more than half of it away, and otherwise with a character.
func wordsWithin(text string, most int) int {
	if most >= len(text) {
		return len(text)
	}
	if blank := strings.LastIndexByte(text[:most+1], ' '); blank > most/2 {
		return blank
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return most
}

// lastWordsWithin is wordsWithin from the end.
func lastWordsWithin(text string, most int) int {
	from := len(text) - most
	if blank := strings.IndexByte(text[from-1:], ' '); blank >= 0 && blank < most/2 {
		from += blank
	}
	for from < len(text) && !utf8.RuneStart(text[from]) {
		from++
	}
	return len(text) - from
}
