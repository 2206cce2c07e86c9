// Package amount reads numbers as people write them: "1.234,56 €", "1,234.56", "1 234,56", "1'234.56", "¥1,234".
//
// Which sign parts thousands and which decimals mostly follows from the number itself: the last of two, one that stands
// twice, one that has not three digits behind it. Only "1.234" and "1,234" are two numbers each, and there the language
// of the text decides, by the Unicode CLDR. Digits may be those of any script. It never fails: what is no number is
// not found.
package amount

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Read returns the value of the first number in a text beside which a currency stands, by its sign, code or name; of
// the first number if there is none, and false if there is no number at all. Language is that of the text, as a BCP 47
// tag; "" if it is not known: then a point parts decimals, and a comma thousands.
func Read(text, language string) (float64, bool) {
	plain, found := read(text, language, true)
	n, _ := strconv.ParseFloat(plain, 64) // of digits alone: it can only be too large
	return n, found
}

// First is Read without regard to currencies, and returns the digits: "-1234.50".
func First(text, language string) (string, bool) {
	return read(text, language, false)
}

// longest is how much of a text is looked at, in bytes: a number stands at the beginning, or the selection is wrong.
const longest = 4096

func read(text, language string, currencies bool) (first string, found bool) {
	s := &scanner{runes: []rune(text[:min(len(text), longest)]), format: formatOf(language)}
	for {
		n, ok := s.next()
		if !ok {
			return first, found
		}
		if !currencies || s.besideCurrency() {
			return n, true
		}
		if !found {
			first, found = n, true
		}
	}
}

// scanner goes through the numbers of a text.
type scanner struct {
	runes      []rune
	format     format
	start, end int // of the number that was read last
}

func (s *scanner) at(i int) rune {
	if i < 0 || i >= len(s.runes) {
		return -1
	}
	return s.runes[i]
}

// next reads the number that comes next.
func (s *scanner) next() (string, bool) {
	s.start = s.end
	for digit(s.at(s.start)) < 0 {
		if s.start++; s.start >= len(s.runes) {
			return "", false
		}
	}
	groups, separators := s.groups()
	decimal := decimalOf(groups, separators, s.format)
	var plain strings.Builder
	if s.negative() {
		plain.WriteByte('-')
	}
	for i, group := range groups {
		if i > 0 && i == decimal {
			plain.WriteByte('.')
		}
		plain.WriteString(group)
	}
	return plain.String(), true
}

// What stands between the digits of a number.
const (
	point   = '.'
	comma   = ','
	spacing = '\'' // or a space, or what else only parts thousands
	surely  = '٫'  // only parts decimals
)

// groups reads the digits of a number, as parted by separators, and leaves s.end behind it.
func (s *scanner) groups() (groups []string, separators []rune) {
	var group []byte
	i := s.start
	for {
		if d := digit(s.at(i)); d >= 0 {
			group = append(group, byte('0'+d))
			i++
			continue
		}
		kind, ok := s.separator(i)
		groups = append(groups, string(group))
		if !ok || kind == spacing && !s.threeDigits(i+1) {
			break
		}
		separators, group = append(separators, kind), nil
		i++
	}
	s.end = i
	return groups, separators
}

// separator tells what a character between two digits is.
func (s *scanner) separator(i int) (kind rune, ok bool) {
	if digit(s.at(i+1)) < 0 {
		return 0, false
	}
	switch r := s.at(i); r {
	case '.', '．':
		return point, true
	case ',', '，':
		return comma, true
	case '٫':
		return surely, true
	case '\'', '’', '٬', '\u00a0', '\u202f', '\u2009':
		return spacing, true
	case ' ':
		return spacing, s.format.spaces
	}
	return 0, false
}

// threeDigits reports whether exactly three digits stand there.
func (s *scanner) threeDigits(i int) bool {
	return digit(s.at(i)) >= 0 && digit(s.at(i+1)) >= 0 && digit(s.at(i+2)) >= 0 && digit(s.at(i+3)) < 0
}

// decimalOf returns the number of the group that holds the decimals; 0 for none.
func decimalOf(groups []string, separators []rune, f format) int {
	if i := slices.Index(separators, surely); i >= 0 {
		return i + 1
	}
	points, commas := count(separators, point), count(separators, comma)
	lastOf := func(kind rune) int { return lastIndex(separators, kind) + 1 }
	switch {
	case points+commas == 0:
		return 0
	case points > 0 && commas > 0:
		return max(lastOf(point), lastOf(comma))
	case points+commas > 1: // 1.234.567
		return 0
	}
	kind := rune(point)
	if commas > 0 {
		kind = comma
	}
	at := lastOf(kind)
	whole := strings.TrimLeft(groups[0], "0")
	switch {
	case len(separators) > 1, len(groups[at]) != 3, whole == "", len(whole) > 3: // 1'234.567, 1.5, 0.125, 1234.567
		return at
	case kind == f.decimal:
		return at
	}
	return 0
}

func count(all []rune, r rune) (n int) {
	for _, other := range all {
		if other == r {
			n++
		}
	}
	return n
}

func lastIndex(all []rune, r rune) int {
	for i, other := range slices.Backward(all) {
		if other == r {
			return i
		}
	}
	return -1
}

// negative reports whether a minus stands before the number, or before its currency, and is none between two words.
func (s *scanner) negative() bool {
	i := s.start - 1
	for unicode.Is(unicode.Sc, s.at(i)) || s.at(i) == ' ' && unicode.Is(unicode.Sc, s.at(i-1)) {
		i--
	}
	if r := s.at(i); r != '-' && r != '−' && r != '－' {
		return false
	}
	before := s.at(i - 1)
	return before < 0 || unicode.IsSpace(before) || before == '(' || before == '\''
}

// besideCurrency reports whether a currency stands before or behind the number.
func (s *scanner) besideCurrency() bool {
	i := s.end
	for r := s.at(i); unicode.IsSpace(r) || r == '.' || r == ',' || r == '-' || r == '–' || r == '—'; r = s.at(i) { // 12.– CHF
		i++
	}
	behind := s.word(i, 1)
	for i = s.start - 1; unicode.IsSpace(s.at(i)) || s.at(i) == '-' || s.at(i) == '−' || s.at(i) == '.' || s.at(i) == ':'; i-- { // Fr. 12
	}
	return isCurrency(behind) || isCurrency(s.word(i, -1))
}

// longestWord is that of the names of currencies, and more.
const longestWord = 12

// word returns the currency sign or the word that begins, or ends, at a place.
func (s *scanner) word(i, step int) string {
	if r := s.at(i); r >= 0 && unicode.Is(unicode.Sc, r) {
		return string(r)
	}
	var word []rune
	for r := s.at(i); (unicode.IsLetter(r) || unicode.IsMark(r)) && len(word) < longestWord; r = s.at(i) {
		word, i = append(word, r), i+step
	}
	if step < 0 {
		slices.Reverse(word)
	}
	return string(word)
}

func isCurrency(word string) bool {
	if word == "" {
		return false
	}
	if r, n := utf8.DecodeRuneInString(word); n == len(word) && unicode.Is(unicode.Sc, r) {
		return true
	}
	if codes[word] {
		return true
	}
	return names[strings.ToLower(word)]
}

// digit returns the value of a decimal digit of any script; -1 for what is none.
func digit(r rune) int {
	switch {
	case r >= '0' && r <= '9':
		return int(r - '0')
	case r < 0x80 || !unicode.Is(unicode.Nd, r):
		return -1
	}
	zero := r
	for unicode.Is(unicode.Nd, zero-1) { // the digits of a script follow one another, and some scripts one another
		zero--
	}
	return int(r-zero) % 10
}
