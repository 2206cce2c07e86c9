package analyze

import "unicode/utf8"

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
	paired      bool   // the character at at has already been the second of a pair
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
				return true
			}
			if s.word() {
				return true
			}
			continue
		}
		r, size := s.decode(s.at)
		switch classify(r) {
		case ideograph:
			if s.pair(r, size) {
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
	s.start, s.ascii, s.buffer = s.at, false, s.buffer[:0]
	for s.at < s.end {
		r, size := s.decode(s.at)
		kind := classify(r)
		if kind == separator || kind == ideograph {
			break
		}
		if kind == letter {
			s.buffer = appendFold(s.buffer, r)
		} else {
			s.buffer = appendMark(s.buffer, r)
		}
		s.at += size
	}
	s.stop = s.at
	return len(s.buffer) > 0
}

// pair takes the ideograph r together with the one after it. One that has none after it is taken alone,
// unless it was the second of a pair.
func (s *scanner) pair(r rune, size int) bool {
	s.start, s.stop, s.ascii = s.at, s.at+size, false
	s.buffer = appendFold(s.buffer[:0], r)
	s.at += size
	if s.at < s.end {
		if second, size := s.decode(s.at); classify(second) == ideograph {
			s.buffer = appendFold(s.buffer, second)
			s.stop += size
			s.paired = true
			return len(s.buffer) > 0
		}
	}
	alone := !s.paired
	s.paired = false
	return alone && len(s.buffer) > 0
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
