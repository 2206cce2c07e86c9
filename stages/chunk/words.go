package chunk

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// longestWord is how many bytes are one word at most: what is longer, an address or data, counts as several.
const longestWord = 64

// words counts the words of a text.
func words(text string) (n int) {
	for at := 0; at < len(text); {
		end, isWord := token(text, at)
		if isWord {
			n++
		}
		at = end
	}
	return n
}

// token returns where what begins at i ends: white space, or a word, which in scripts without blanks is a character.
func token(text string, i int) (end int, isWord bool) {
	r, size := utf8.DecodeRuneInString(text[i:])
	switch {
	case unicode.IsSpace(r):
		for end = i; end < len(text) && unicode.IsSpace(r); {
			end += size
			r, size = utf8.DecodeRuneInString(text[end:])
		}
		return end, false
	case isAlone(r):
		return i + size, true
	}
	for end = i; end < len(text) && end-i+size <= longestWord && !unicode.IsSpace(r) && !isAlone(r); {
		end += size
		r, size = utf8.DecodeRuneInString(text[end:])
	}
	return end, true
}

// isAlone reports whether a character is of a script that has no blanks between words.
func isAlone(r rune) bool {
	return r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// scanner goes through running text of Markdown, and knows where it may be cut: not within code, whose text would be
// markup, nor within a link.
type scanner struct {
	text string
	at   int // where the next token begins
	seen int // how far the text has been looked at, which may be further
	code int // backticks of the code that is open
	link int // texts of links that are open
}

// next goes over the next token, and reports whether it is a word.
func (s *scanner) next() (isWord bool) {
	s.at, isWord = token(s.text, s.at)
	for s.seen < s.at {
		s.mark()
	}
	return isWord
}

// mark looks at a byte, or at several that belong together.
func (s *scanner) mark() {
	rest := s.text[s.seen:]
	switch c := rest[0]; {
	case c == '`':
		n := fenceLength(rest)
		switch s.code {
		case 0:
			s.code = n
		case n:
			s.code = 0
		}
		s.seen += n
		return
	case s.code > 0:
	case c == '\\' && len(rest) > 1:
		s.seen++
	case c == '[':
		s.link++
	case c == ']' && s.link > 0:
		if s.link--; strings.HasPrefix(rest, "](") {
			s.seen += destinationEnd(rest[2:])
		}
	}
	s.seen++
}

// destinationEnd returns the length of the address of a link, with the bracket behind it.
func destinationEnd(text string) int {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case ')':
			return i + 2
		}
	}
	return len(text) + 1
}

// isWhole reports whether the text may be cut here, and be read alike.
func (s *scanner) isWhole() bool { return s.code == 0 && s.link == 0 && s.seen == s.at }

// endsSentence reports whether a text ends with a sentence.
func endsSentence(text string) bool {
	text = strings.TrimRight(text, " \n\\*_\"')”’»")
	return strings.HasSuffix(text, ".") || strings.HasSuffix(text, "!") || strings.HasSuffix(text, "?") || strings.HasSuffix(text, "。")
}

// place is where a text may be cut, and how many words are in front of it.
type place struct{ at, words int }

// fences is how many words the backticks may count as that are added where code is cut.
const fences = 2

// cutText cuts running text into parts of at most so many words: behind a sentence, or else between words.
func cutText(text string, limit int) (parts []string) {
	text = withoutLongLinks(text, limit/2)
	s := scanner{text: text}
	var sentence, whole place // the last ones
	start, count, prefix := 0, 0, ""
	for s.at < len(text) {
		if s.next() {
			count++
		}
		here := place{s.at, count}
		if s.isWhole() {
			whole = here
			if count*2 >= limit && endsSentence(text[max(start, s.at-8):s.at]) {
				sentence = here
			}
		}
		inCode := s.code > 0 && whole.words == 0
		if count < limit && !(inCode && count >= limit-fences) || s.at >= len(text) {
			continue
		}
		cut, end, next := here, "", ""
		switch {
		case sentence.words > 0:
			cut = sentence
		case whole.words > 0:
			cut = whole
		case !inCode || s.seen > s.at: // it is within backticks, whose end is near
			continue
		default: // code goes on in the next part
			end = strings.Repeat("`", s.code)
			next = end
			count++
		}
		parts = append(parts, tidy(fenced(prefix, text[start:cut.at], end)))
		start, prefix = cut.at, next
		count -= cut.words
		for _, p := range []*place{&sentence, &whole} {
			if p.words -= cut.words; p.at <= start {
				*p = place{}
			}
		}
	}
	last := text[start:]
	if prefix != "" && strings.TrimSpace(last) == prefix { // the code ends with the part before
		return parts
	}
	if last = tidy(fenced(prefix, last, "")); last != "" {
		parts = append(parts, last)
	}
	return parts
}

// fenced puts text between the backticks of code that was cut, apart from its own.
func fenced(begin, text, end string) string {
	if begin != "" {
		if text = strings.TrimLeft(text, " "); strings.HasPrefix(text, "`") {
			begin += " "
		}
	}
	if end != "" {
		if text = strings.TrimRight(text, " "); strings.HasSuffix(text, "`") {
			end = " " + end
		}
	}
	return begin + text + end
}

// withoutLongLinks returns text without the links, and images, that are of more words: with their texts alone. A
// part of a link would be none, and its address would be taken for text.
func withoutLongLinks(text string, most int) string {
	var b strings.Builder
	s, written, begin := scanner{text: text}, 0, 0
	for s.seen < len(text) {
		at, was := s.seen, s.link
		s.mark()
		switch {
		case was == 0 && s.link == 1:
			begin = at
		case was == 1 && s.link == 0 && words(text[begin:min(s.seen, len(text))]) > most:
			b.WriteString(strings.TrimSuffix(text[written:begin], "!"))
			b.WriteString(text[begin+1 : at])
			written = min(s.seen, len(text))
		}
	}
	b.WriteString(text[written:])
	return b.String()
}

// tail returns the last words of running text, at most so many; "" if none can be cut off.
func tail(text string, most int) string {
	total := words(text)
	if total <= most {
		return text
	}
	s, count := scanner{text: text}, 0
	for s.at < len(text) {
		if s.next() {
			count++
		}
		if total-count <= most && s.isWhole() {
			return tidy(text[s.at:])
		}
	}
	return ""
}

// tidy returns a part of running text without white space around it, so that what it begins with is running text.
func tidy(part string) string {
	part = strings.TrimSpace(part)
	if strings.HasSuffix(part, "\\") && !strings.HasSuffix(part, "\\\\") { // a line break
		part = strings.TrimSpace(part[:len(part)-1])
	}
	if part == "" {
		return ""
	}
	digits := len(part) - len(strings.TrimLeft(part, "0123456789"))
	switch {
	case digits > 0 && digits < len(part) && (part[digits] == '.' || part[digits] == ')'):
		return part[:digits] + "\\" + part[digits:]
	case strings.IndexByte("#>+-=|:~", part[0]) >= 0:
		return "\\" + part
	}
	return part
}
