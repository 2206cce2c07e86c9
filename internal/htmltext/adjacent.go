package htmltext

import (
	"unicode"
	"unicode/utf8"
)

// A word may go on over the tags of running text, as in "un<i>do</i>", but not from one link to the next: where one
// begins at once behind another, "<a>Docs</a><a>Support</a>", a style sheet puts them beside each other, or one below
// the other.

// partLinks puts a space between the link that has ended just now and one that begins there, if they have words.
func (s *Scanner) partLinks() {
	if s.pos+1 >= len(s.src) || s.src[s.pos] != '<' || !isLetter(s.src[s.pos+1]) || s.hidden() || len(s.Text.Bytes) == s.block {
		return
	}
	el, end := s.tagName(s.pos + 1)
	if el.id != elemA {
		return
	}
	before, _ := utf8.DecodeLastRune(s.Text.Bytes[s.block:])
	if at, _, _ := skipAttributes(s.src, end); at >= 0 && isWord(before) {
		if behind, _ := utf8.DecodeRune(s.src[at:]); isWord(behind) {
			s.Text.Bytes = append(s.Text.Bytes, ' ')
		}
	}
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
