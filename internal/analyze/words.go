package analyze

import (
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// scanner finds the words of a text one by one. Most words of most pages are ASCII followed by ASCII:
// they are found, and hashed, without a copy.
type scanner struct {
	text    []byte
	at, end int

	start, stop int    // the current word
	ascii       bool   // it is ASCII alone, and its folded form has not been written yet
	hashed      uint64 // the hash of its folded form, if it is ASCII alone
	first       uint64 // the first eight bytes of its folded form, if it is ASCII alone
	buffer      []byte // its folded form, otherwise
	spelt       []byte // how it is spelt, if it has an accent that spellings keep; otherwise empty
	paired      bool   // the unit at at has already been the second of a pair,
	second      int    // as which it stands in buffer from here on,
	secondSize  int    // and so long is it in the text
}

func (s *scanner) reset(text []byte, start, end int) {
	s.text, s.at, s.end, s.paired = text, start, end, false
}

// next moves on to the next word and reports whether there is one.
func (s *scanner) next() bool {
	for s.at < s.end {
		if c := s.text[s.at]; c < utf8.RuneSelf {
			if !inWord[c] {
				s.at++
				continue
			}
			if stop, hash, begins := asciiWord(s.text, s.at, s.end); stop > s.at {
				s.start, s.stop, s.at, s.ascii, s.hashed, s.first = s.at, stop, stop, true, hash, begins
				s.spelt = s.spelt[:0]
				return true
			}
			if s.word() {
				return true
			}
			continue
		}
		r, size := s.decode(s.at)
		switch classify(r) {
		case ideograph, dependent:
			if s.pair() {
				return true
			}
		case letter:
			if s.word() {
				return true
			}
		default:
			s.at += size
		}
	}
	return false
}

// beforeASCII reports whether what follows is ASCII: then it does not matter what came before.
func (s *scanner) beforeASCII() bool { return s.at < s.end && s.text[s.at] < utf8.RuneSelf }

func (s *scanner) decode(at int) (rune, int) { return utf8.DecodeRune(s.text[at:s.end]) }

// word takes a word of any letters, unless nothing is left of it when folded.
func (s *scanner) word() bool {
	s.start, s.ascii, s.buffer, s.spelt = s.at, false, s.buffer[:0], s.spelt[:0]
	marked := false
	for s.at < s.end {
		r, size := s.decode(s.at)
		kind := classify(r)
		if kind == separator || kind == ideograph || kind == dependent {
			break
		}
		if isRaisedDigit(r) && s.at > s.start && IsNote(s.text[s.start:s.at], s.text[s.at:s.at+raisedDigits(s.text[s.at:s.end])], false) {
			break
		}
		if kind == silent {
			s.buffer = appendMark(s.buffer, r)
			marked = marked || r >= firstMark && r <= lastMark
		} else {
			s.letter(r)
		}
		s.at += size
	}
	s.stop = s.at
	if marked {
		s.spell()
	}
	return len(s.buffer) > 0
}

func (s *scanner) letter(r rune) {
	small, _, accented := accentedLetter(r)
	if accented && len(s.spelt) == 0 {
		s.spelt = append(s.spelt, s.buffer...)
	}
	from := len(s.buffer)
	s.buffer = appendFold(s.buffer, r)
	switch {
	case accented:
		s.spelt = utf8.AppendRune(s.spelt, small)
	case len(s.spelt) > 0:
		s.spelt = append(s.spelt, s.buffer[from:]...)
	}
}

// The marks that a letter with an accent may have behind it instead.
const (
	firstMark = '\u0300'
	lastMark  = '\u0327'
)

// spell writes the spelling of a word some of whose accents stand behind their letters.
func (s *scanner) spell() {
	s.spelt = s.spelt[:0]
	if s.stop-s.start > 4*longestStemmed {
		return // it has no stem
	}
	accented := false
	for _, r := range norm.NFC.String(string(s.text[s.start:s.stop])) {
		small, _, ok := accentedLetter(r)
		switch {
		case ok:
			s.spelt = utf8.AppendRune(s.spelt, small)
			accented = true
		case classify(r) == silent:
			s.spelt = appendMark(s.spelt, r)
		default:
			s.spelt = appendFold(s.spelt, r)
		}
	}
	if !accented {
		s.spelt = s.spelt[:0]
	}
}

// pair takes the unit at at together with the one after it. One that has none after it is taken alone, unless it was
// the second of a pair.
func (s *scanner) pair() bool {
	size := s.secondSize
	if s.paired {
		s.buffer = append(s.buffer[:0], s.buffer[s.second:]...)
	} else {
		s.buffer, size = appendUnit(s.buffer[:0], s.text[s.at:s.end])
	}
	s.start, s.stop, s.ascii, s.spelt = s.at, s.at+size, false, s.spelt[:0]
	s.at += size
	if s.at < s.end {
		if r, _ := s.decode(s.at); classify(r) == ideograph || classify(r) == dependent {
			s.second = len(s.buffer)
			s.buffer, s.secondSize = appendUnit(s.buffer, s.text[s.at:s.end])
			s.stop += s.secondSize
			s.paired = true
			return true
		}
	}
	alone := !s.paired
	s.paired = false
	return alone
}

// folded returns the folded form of the current word.
func (s *scanner) folded() []byte {
	if s.ascii {
		s.buffer = s.buffer[:0]
		for _, c := range s.text[s.start:s.stop] {
			s.buffer = append(s.buffer, lowerASCII(c))
		}
		s.ascii = false
	}
	return s.buffer
}

// spelling returns the current word as it is spelt.
func (s *scanner) spelling() []byte {
	if len(s.spelt) > 0 {
		return s.spelt
	}
	return s.folded()
}

// hash returns the hash of the folded form of the current word.
func (s *scanner) hash() uint64 {
	if s.ascii {
		return s.hashed
	}
	return Hash(s.buffer)
}

// begins returns the first bytes of the folded form of the current word, as [Wanted] has them.
func (s *scanner) begins() uint64 {
	if s.ascii {
		return s.first
	}
	return tail(s.buffer[:min(len(s.buffer), beginningBytes)])
}
