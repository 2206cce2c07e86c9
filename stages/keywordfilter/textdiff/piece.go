package textdiff

import (
	"strings"
	"unicode/utf8"
)

const (
	// around is how many bytes of what remained are shown before and behind a change within a block.
	around = 48
	// compared is how many bytes of two blocks are compared by words, from where they differ.
	compared = 16 << 10
	ellipsis = "…"
)

// piece is one change of a text, as runs in the order in which they are shown.
type piece []run

type run struct {
	kind kind
	text string
}

type kind uint8

const (
	same kind = iota
	removed
	added
)

var marks = [...]struct{ before, behind string }{removed: {"[−", "]"}, added: {"«", "»"}}

// rank is 0 for a piece that has something added.
func (p piece) rank() int {
	for _, s := range p {
		if s.kind == added {
			return 0
		}
	}
	return 1
}

// alike reports whether two texts have half of the words and signs of the longer one in common, as far as is looked.
func alike(a, b string) bool {
	count := make(map[string]int)
	countWords := func(text string, by int) (words, common int) {
		for _, w := range Forms(Words(text)) {
			if w == " " {
				continue
			}
			words++
			if by < 0 && count[w] > 0 {
				common++
			}
			count[w] += by
		}
		return words, common
	}
	inA, _ := countWords(a[:wordsWithin(a, compared)], 1)
	inB, common := countWords(b[:wordsWithin(b, compared)], -1)
	return common > 0 && 2*common >= max(inA, inB)
}

func isWord(element string) bool {
	r, _ := utf8.DecodeRuneInString(element)
	return kindOf(r) == word
}

// edit returns the words in which a text differs from an earlier one, and what is around them.
func edit(old, now string) (p piece) {
	start, end := shared(old, now)
	before, behind := now[:start], now[len(now)-end:]
	old, now = old[start:len(old)-end], now[start:len(now)-end]
	a, b := withNumbers(Words(old[:wordsWithin(old, compared)])), withNumbers(Words(now[:wordsWithin(now, compared)]))
	changes, _ := Diff(Forms(a), Forms(b))
	changes = joined(changes, b)
	if last := len(changes) - 1; last > 0 && (len(old) > compared || len(now) > compared) && changes[last].BEnd == len(b) {
		changes = changes[:last] // it is where the comparison ended
	}
	from := 0 // in b, of what remained
	for i, c := range changes {
		p = append(p, remained(before+strings.Join(b[from:c.B], ""), i > 0, true))
		for _, r := range []run{{removed, strings.Join(a[c.A:c.AEnd], "")}, {added, strings.Join(b[c.B:c.BEnd], "")}} {
			if r.text != "" {
				p = append(p, r)
			}
		}
		from, before = c.BEnd, ""
	}
	return append(p, remained(strings.Join(b[from:], "")+behind, true, false))
}

// shared returns how many bytes two texts have in common at the beginning, and how many at the end of the
// rest, as far as these are words.
func shared(a, b string) (start, end int) {
	for start < min(len(a), len(b)) && a[start] == b[start] {
		start++
	}
	for back := 0; splits(a, start, back) || splits(b, start, back); back++ {
		start--
	}
	for end < min(len(a), len(b))-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	for back := 0; splits(a, len(a)-end, back) || splits(b, len(b)-end, back); back++ {
		end--
	}
	return start, end
}

// longestWord is how many bytes long a word is at most, to be shown whole.
const longestWord = 64

// splits reports whether a place in a text is within a character, or within a word or number whose end it was not
// yet moved too far from.
func splits(text string, at, moved int) bool {
	if at == 0 || at == len(text) {
		return false
	}
	if !utf8.RuneStart(text[at]) {
		return true
	}
	before, size := utf8.DecodeLastRuneInString(text[:at])
	behind, next := utf8.DecodeRuneInString(text[at:])
	switch {
	case moved >= longestWord:
		return false
	case kindOf(before) == word && kindOf(behind) == word:
		return true
	case isDigit(before) && inNumber(behind):
		after, _ := utf8.DecodeRuneInString(text[at+next:])
		return isDigit(after)
	case inNumber(before) && isDigit(behind):
		first, _ := utf8.DecodeLastRuneInString(text[:at-size])
		return isDigit(first)
	}
	return false
}

func isDigit(r rune) bool { return r >= '0' && r <= '9' }

// inNumber reports whether a sign between digits parts thousands or decimals.
func inNumber(r rune) bool { return r == '.' || r == ',' || r == '\'' || r == '’' }

// withNumbers makes one word of the digits of a number and what parts them: who reads of a price wants all of it.
func withNumbers(words []string) (all []string) {
	isNumber := func(word string) bool { return strings.Trim(word, "0123456789") == "" }
	for i := 0; i < len(words); i++ {
		all = append(all, words[i])
		if !isNumber(words[i]) {
			continue
		}
		for i+2 < len(words) && isNumber(words[i+2]) {
			if r, n := utf8.DecodeRuneInString(words[i+1]); n != len(words[i+1]) || !inNumber(r) {
				break
			}
			all[len(all)-1] += words[i+1] + words[i+2]
			i += 2
		}
	}
	return all
}

// joined makes one change of those between which no word remained.
func joined(changes []Change, b []string) (all []Change) {
	for _, c := range changes {
		if last := len(all) - 1; last >= 0 && !containsWord(b[all[last].BEnd:c.B]) {
			all[last].AEnd, all[last].BEnd = c.AEnd, c.BEnd
			continue
		}
		all = append(all, c)
	}
	return all
}

func containsWord(elements []string) bool {
	for _, e := range elements {
		if isWord(e) {
			return true
		}
	}
	return false
}

// remained returns what is shown of text that stands behind a change, before one, or between two.
func remained(text string, behind, before bool) run {
	room := 0
	if behind {
		room += around
	}
	if before {
		room += around
	}
	if len(text) <= room {
		return run{same, text}
	}
	shown := ellipsis
	if behind {
		shown = text[:wordsWithin(text, around)] + " " + ellipsis
	}
	if before {
		shown += " " + text[len(text)-lastWordsWithin(text, around):]
	}
	return run{same, shown}
}
