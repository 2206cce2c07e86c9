package htmltext

import (
	"bytes"

	"github.com/webrace/webrace/internal/analyze"
)

// Some text stands beside the words that it is written in. Readings of ruby follow their block, so that the word that
// they are of is one: those of one element are one word. A footnote's number is parted from the word behind which it is
// raised; a power is not.

// beside determines what text is read that stands beside the words.
type beside uint8

const (
	noneBeside beside = iota
	reading           // rt, rtc
	fallback          // rp: what is shown around readings by who does not know them
	raised            // sup
)

// startBeside takes note of the start tag of an element of ruby, or of sup.
func (s *Scanner) startBeside(el *element) {
	s.endBeside()
	switch el.id {
	case elemRT:
		s.beside = reading
	case elemRP:
		s.beside = fallback
	case elemSup:
		s.beside = raised
	default:
		return
	}
	s.besideFrom, s.besideLinks = len(s.Text.Bytes), len(s.Links)+s.Skipped
}

// endTagBeside takes note of their end tags.
func (s *Scanner) endTagBeside(el *element) {
	s.endBeside()
	if n := len(s.readings); el.id == elemRuby && n > 0 && s.readings[n-1] != ' ' {
		s.readings = append(s.readings, ' ')
	}
}

// endBeside ends what is read beside the words, with its element, the next one, or the block.
func (s *Scanner) endBeside() {
	what := s.beside
	s.beside = noneBeside
	if what == noneBeside || s.besideFrom >= len(s.Text.Bytes) {
		return
	}
	text := s.Text.Bytes[s.besideFrom:]
	switch what {
	case reading:
		s.readings = append(s.readings, bytes.TrimSpace(text)...)
		fallthrough
	case fallback:
		s.Text.Bytes = s.Text.Bytes[:s.besideFrom]
		anchors := s.parts.anchors
		for i := len(anchors) - 1; i >= 0 && anchors[i].end > int32(s.besideFrom); i-- {
			anchors[i].start, anchors[i].end = min(anchors[i].start, int32(s.besideFrom)), int32(s.besideFrom)
		}
		s.begun = min(s.begun, s.besideFrom)
	case raised:
		linked := len(s.Links)+s.Skipped > s.besideLinks
		if analyze.IsNote(s.Text.Bytes[s.block:s.besideFrom], text, linked) {
			s.part()
		}
	}
}

// part puts a blank in front of what is read beside the words.
func (s *Scanner) part() {
	s.Text.Bytes = append(s.Text.Bytes, 0)
	copy(s.Text.Bytes[s.besideFrom+1:], s.Text.Bytes[s.besideFrom:])
	s.Text.Bytes[s.besideFrom] = ' '
	anchors := s.parts.anchors
	for i := len(anchors) - 1; i >= 0 && anchors[i].start >= int32(s.besideFrom); i-- {
		anchors[i].start++
		anchors[i].end++
	}
	if s.begun >= s.besideFrom {
		s.begun++
	}
}

// addReadings puts the readings of a block behind it.
func (s *Scanner) addReadings() {
	if len(s.readings) == 0 {
		return
	}
	s.Text.Bytes = append(append(s.Text.Bytes, ' '), s.readings...)
	s.readings = s.readings[:0]
}
