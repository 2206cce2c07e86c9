package analyze

import (
	"bytes"
	"slices"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Chinese, Japanese and Korean, and Thai, Lao, Khmer and Burmese with the scripts that are written like them, do not
// divide all words by spaces. Their words would have to be found with dictionaries, and page and keyword would be cut
// alike only if these know the word. So they are cut into units, and each pair of neighbours is a word here. A unit is
// what is read as one character: a letter with all that is written around it, however that is encoded.

var southeastAsian = []*unicode.RangeTable{
	unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tai_Le, unicode.New_Tai_Lue, unicode.Tai_Tham, unicode.Tai_Viet,
}

var unspacedScripts = append([]*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul}, southeastAsian...)

// unspacedLetters are of such scripts in fact, and of the common script by the standard.
var unspacedLetters = tableOf('ー', 'ｰ', '〆')

// invisible are characters that may stand in a word and are no part of it, whether they are seen or not: the soft
// hyphen, the Arabic stroke that makes a word longer, what tells the direction of writing, and the voicing of narrow
// kana, which is part of a unit.
var invisible = tableOf('\u00AD', '\u0640', '\u061C', '\u200E', '\u200F', '\u202A', '\u202B', '\u202C', '\u202D', '\u202E', '\u2060',
	'\u2066', '\u2067', '\u2068', '\u2069', '\uFEFF', narrowVoiced, narrowSemivoiced)

// fillers are letters by the standard, and blanks to all who see them.
var fillers = tableOf('\u115F', '\u1160', '\u3164', '\uFFA0')

const (
	voiced, semivoiced             = '\u3099', '\u309A'
	narrowVoiced, narrowSemivoiced = '\uFF9E', '\uFF9F'

	thaiAm, thaiA, thaiNikhahit = '\u0E33', '\u0E32', '\u0E4D'
	laoAm, laoA, laoNiggahita   = '\u0EB3', '\u0EB2', '\u0ECD'
	laoHo, laoNo, laoMo         = '\u0EAB', '\u0E99', '\u0EA1'
	laoHoNo, laoHoMo            = '\u0EDC', '\u0EDD'

	zeroWidthSpace = '\u200B' // which may be written between words, and is not visible

	firstSquared, lastSquared = '\u3200', '\u33FF' // symbols that stand for words, most of them units of measure
)

func tableOf(runes ...rune) *unicode.RangeTable {
	table := new(unicode.RangeTable)
	slices.Sort(runes)
	for _, r := range runes {
		table.R16 = append(table.R16, unicode.Range16{Lo: uint16(r), Hi: uint16(r), Stride: 1})
	}
	return table
}

// Jamo are the letters of which Korean syllables consist.
const (
	firstLead, lastLead         = '\u1100', '\u1112'
	firstVowel, lastVowel       = '\u1161', '\u1175'
	firstTail, lastTail         = '\u11A8', '\u11C2'
	firstSyllable, lastSyllable = '\uAC00', '\uD7A3'
	tails                       = lastTail - firstTail + 2 // of a lead and a vowel, with that of none
)

// isJamo reports whether r is one of the Korean letters, which stay what they are where they stand alone.
func isJamo(r rune) bool {
	return unicode.Is(unicode.Hangul, r) && (r < firstSyllable || r > lastSyllable) && (r < firstSquared || r > lastSquared)
}

// appendUnit appends the folded form of the unit that a text begins with to dst, and returns how long that is in the
// text. Characters that are written in parts are composed, and what leaves no trace is left out.
func appendUnit(dst, text []byte) ([]byte, int) {
	first, at := utf8.DecodeRune(text)
	from := len(dst)
	dst = appendFold(dst, first)
	for at < len(text) {
		r, size := utf8.DecodeRune(text[at:])
		last, lastSize := utf8.DecodeLastRune(dst[from:])
		if whole := composed(last, r); whole != 0 {
			dst = utf8.AppendRune(dst[:len(dst)-lastSize], whole)
			at += size
			continue
		}
		switch kind := classify(r); {
		case kind == silent, r == zeroWidthSpace && unicode.In(first, southeastAsian...):
		case kind == dependent || kind == ideograph && isStacker(last):
			dst = utf8.AppendRune(dst, r)
		case r == thaiA && bytes.ContainsRune(dst[from:], thaiNikhahit):
			dst = appendHalf(dst, from, thaiNikhahit, thaiAm)
		case r == laoA && bytes.ContainsRune(dst[from:], laoNiggahita):
			dst = appendHalf(dst, from, laoNiggahita, laoAm)
		default:
			return dst, at
		}
		at += size
	}
	return dst, at
}

// IsUnit reports whether a folded word is a single unit, and not a pair of them.
func IsUnit(folded string) bool {
	first, _ := utf8.DecodeRuneInString(folded)
	if kind := classify(first); kind != ideograph && kind != dependent {
		return false
	}
	_, size := appendUnit(nil, []byte(folded))
	return size == len(folded)
}

// isStacker reports whether r is a sign behind which a consonant is written below the one before.
func isStacker(r rune) bool { return r == '\u17D2' || r == '\u1039' || r == '\u1A60' }

// composed returns the character that two parts make up; 0 if they do not. Kana may be voiced by a mark, and Korean
// syllables may be written by their letters.
func composed(first, second rune) rune {
	switch {
	case second < laoNo:
		return 0
	case second == narrowVoiced || second == narrowSemivoiced:
		second += voiced - narrowVoiced
	case first >= firstLead && first <= lastLead && second >= firstVowel && second <= lastVowel:
		return firstSyllable + ((first-firstLead)*(lastVowel-firstVowel+1)+second-firstVowel)*tails
	case first >= firstSyllable && first <= lastSyllable && (first-firstSyllable)%tails == 0 && second >= firstTail && second <= lastTail:
		return first + second - firstTail + 1
	}
	return compositions()[[2]rune{first, second}]
}

// compositions are those of kana and Burmese that Unicode has, and the two Lao letters that are written as one.
var compositions = sync.OnceValue(func() map[[2]rune]rune {
	all := map[[2]rune]rune{{laoHo, laoNo}: laoHoNo, {laoHo, laoMo}: laoHoMo}
	add := func(first, last rune) {
		for r := first; r <= last; r++ {
			if parts := []rune(norm.NFD.String(string(r))); len(parts) == 2 {
				all[[2]rune(parts)] = r
			}
		}
	}
	add('\u1000', '\u109F')
	add('\u3041', '\u30FF')
	return all
})

// appendHalf appends a vowel whose first half stands in dst from a place on, in its place.
func appendHalf(dst []byte, from int, half, whole rune) []byte {
	i := from + bytes.LastIndex(dst[from:], utf8.AppendRune(nil, half))
	return utf8.AppendRune(slices.Delete(dst, i, i+utf8.RuneLen(half)), whole)
}
