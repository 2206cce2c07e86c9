package analyze

import (
	"bytes"
	"strings"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// class is what a character is to a word.
type class uint8

const (
	separator class = iota // ends a word
	letter                 // a letter, digit, underscore, or a vowel sign that distinguishes words
	silent                 // belongs to the word it stands in and leaves no trace in the term
	ideograph              // of a script without spaces: paired with its neighbours
	dependent              // a sign of such a script that belongs to the character before it, and distinguishes words
)

// rowSize is how many characters a row holds.
const rowSize = 256

// row is what there is to know of characters that follow one another. It is made when the first of them is met: to
// look them up in Unicode's tables costs a thousand times as much, and a page may have millions of them.
type row struct {
	classes [rowSize]class
	ends    [rowSize]uint16 // of the folded forms within folds, each of which begins where the one before it ends
	folds   string
}

var rows [unicode.MaxRune/rowSize + 1]atomic.Pointer[row]

func rowOf(r rune) *row {
	place := &rows[uint32(r)/rowSize]
	known := place.Load()
	if known == nil {
		known = newRow(r &^ (rowSize - 1))
		place.Store(known)
	}
	return known
}

func newRow(first rune) *row {
	made, folds := new(row), []byte(nil)
	for i := range made.classes {
		made.classes[i] = classifySlowly(first + rune(i))
		folds = appendFoldSlowly(folds, first+rune(i))
		made.ends[i] = uint16(len(folds))
	}
	made.folds = string(folds)
	return made
}

// fold returns the folded form of a character of the row.
func (w *row) fold(r rune) string {
	i, start := r%rowSize, uint16(0)
	if i > 0 {
		start = w.ends[i-1]
	}
	return w.folds[start:w.ends[i]]
}

func classify(r rune) class {
	if r < 0 || r > unicode.MaxRune {
		return separator
	}
	return rowOf(r).classes[r%rowSize]
}

func classifySlowly(r rune) class {
	unspaced := unicode.In(r, unspacedScripts...)
	switch {
	case r == '_':
		return letter
	case unicode.Is(invisible, r):
		return silent
	case unicode.Is(fillers, r):
		return separator
	case unicode.In(r, southeastAsian...) && unicode.IsMark(r), r == thaiAm, r == laoAm:
		return dependent
	case unspaced && (unicode.IsLetter(r) || unicode.Is(unicode.Nl, r)), unicode.Is(unspacedLetters, r):
		return ideograph
	case unicode.IsLetter(r) || unicode.IsDigit(r):
		return letter
	case unicode.Is(unicode.Inherited, r), r < 0x900 && unicode.IsMark(r):
		// Accents, points and joiners. In the scripts of India and further east a mark is a vowel, and
		// words differ by it alone.
		return silent
	case unicode.IsMark(r):
		return letter
	case unicode.In(r, unicode.Nl, unicode.No), firstSquared <= r && r <= lastSquared:
		return classifyCompatible(r)
	}
	return separator
}

// classifyCompatible classifies a number or a symbol by what it stands for: letters and digits, or a single ideograph.
// Others are no part of a word: fractions, and what stands for several ideographs.
func classifyCompatible(r rune) class {
	parts := compatible(r)
	if parts == string(r) {
		return separator
	}
	first, size := utf8.DecodeRuneInString(parts)
	if size == len(parts) && classifySlowly(first) == ideograph {
		return ideograph
	}
	for _, part := range parts {
		if !unicode.IsLetter(part) && !unicode.IsDigit(part) || classifySlowly(part) != letter {
			return separator
		}
	}
	return letter
}

// compatible returns what a character stands for, without the parentheses around it.
func compatible(r rune) string { return strings.Trim(norm.NFKC.String(string(r)), "()") }

// plain holds the letters that differ from others by a stroke or a joining, which Unicode does not
// decompose.
var plain = map[rune]string{
	'ς': "σ", 'ß': "ss", 'æ': "ae", 'œ': "oe", 'ø': "o", 'đ': "d", 'ð': "d", 'þ': "th", 'ł': "l", 'ħ': "h", 'ŧ': "t", 'ı': "i",
}

// The Russian short i is a letter of its own, though Unicode decomposes it: without its breve, war would be
// found as warriors.
const (
	shortI = 'й'
	breve  = '\u0306'
)

// appendMark takes a mark that stands after the letters folded to dst: it leaves no trace, unless it
// makes a short i.
func appendMark(dst []byte, mark rune) []byte {
	const plainI = "и"
	if mark == breve && bytes.HasSuffix(dst, []byte(plainI)) {
		return utf8.AppendRune(dst[:len(dst)-len(plainI)], shortI)
	}
	return dst
}

// mostLetters is how many letters a character may stand for. There are two that stand for whole phrases, without
// the blanks that are in these: no query has what they would become, and a page of them would become many times as
// large.
const mostLetters = 4

// appendFold appends the folded form of a rune to dst. Only letters, ideographs and their signs have one; it consists
// of such, has at most mostLetters of them, and folds to itself.
func appendFold(dst []byte, r rune) []byte { return append(dst, rowOf(r).fold(r)...) }

func appendFoldSlowly(dst []byte, r rune) []byte {
	switch classifySlowly(r) {
	case letter:
		return appendLetters(dst, r)
	case ideograph:
		// A voiced kana stays one character, or pairs would split it.
		if part, size := utf8.DecodeRuneInString(compatible(r)); size == len(compatible(r)) && !isJamo(r) {
			r = part
		}
		return utf8.AppendRune(dst, r)
	case dependent:
		return utf8.AppendRune(dst, r)
	}
	return dst
}

func appendLetters(dst []byte, r rune) []byte {
	if unicode.ToLower(r) == shortI {
		return utf8.AppendRune(dst, shortI)
	}
	if unicode.IsDigit(r) {
		return append(dst, '0'+digit(r))
	}
	var whole [utf8.UTFMax]byte
	parts := whole[:utf8.EncodeRune(whole[:], r)]
	if split := norm.NFKD.Properties(parts).Decomposition(); split != nil {
		parts = split
	}
	from := len(dst)
	for len(parts) > 0 {
		part, size := utf8.DecodeRune(parts)
		parts = parts[size:]
		if classifySlowly(part) != letter {
			continue
		}
		part = unicode.ToLower(part)
		if simple, ok := plain[part]; ok {
			dst = append(dst, simple...)
			continue
		}
		dst = utf8.AppendRune(dst, part)
	}
	if utf8.RuneCount(dst[from:]) > mostLetters {
		return append(dst[:from], whole[:utf8.RuneLen(r)]...)
	}
	return dst
}

// digit returns the value of a decimal digit: those of a script follow one another from its 0 on, and so do those of
// scripts that the table has in one range.
func digit(r rune) byte {
	for _, in := range unicode.Nd.R16 {
		if uint32(in.Lo) <= uint32(r) && uint32(r) <= uint32(in.Hi) {
			return byte((uint32(r) - uint32(in.Lo)) % 10)
		}
	}
	for _, in := range unicode.Nd.R32 {
		if in.Lo <= uint32(r) && uint32(r) <= in.Hi {
			return byte((uint32(r) - in.Lo) % 10)
		}
	}
	return 0
}

// Fold returns the text without regard to case and diacritics: letters in lower case and without their
// marks, compatibility forms as what they stand for, the final sigma as any other. What is no part of a
// word stays as it is. Folding twice changes nothing.
func Fold(text string) string {
	rest := []byte(text)
	folded := make([]byte, 0, len(text))
	for len(rest) > 0 {
		r, size := utf8.DecodeRune(rest)
		switch classify(r) {
		case silent:
			folded = appendMark(folded, r)
		case separator:
			folded = append(folded, rest[:size]...)
		case letter:
			folded = appendFold(folded, r)
		default:
			folded, size = appendUnit(folded, rest)
		}
		rest = rest[size:]
	}
	return string(folded)
}

// InWord reports whether r can stand in a word.
func InWord(r rune) bool { return classify(r) != separator }
