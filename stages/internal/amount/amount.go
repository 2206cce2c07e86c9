// Package amount reads numbers as people write them: "1.234,56 €", "1,234.56", "1 234,56", "1'234.56", "1.299,-",
// "¥1,234".
//
// Which sign parts thousands and which decimals mostly follows from the number itself: the last of two, one that
// stands twice, one that has not three digits behind it, one in front of a dash. Two things are ambiguous: "1.234"
// and "1,234" are two numbers each, and a space after a word and digits may end a name, as in "iPhone 15 999 €".
// There the other amounts of the page decide, else the language of the text, by the Unicode CLDR. Digits may be those
// of any script. It never fails: what is no number is not found.
package amount

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Amount is a number that was read.
type Amount struct {
	Digits  string // "-1234.50"
	Written string // as it stands in the text
	Other   string // the digits of what it may be as well; "" if it is not ambiguous
	Why     string // of an ambiguous one: by what it was decided
}

// Value returns the number.
func (a Amount) Value() float64 {
	n, _ := strconv.ParseFloat(a.Digits, 64) // of digits alone: it can only be too large
	return n
}

// Read returns the first number in a text beside which a currency stands, by its sign, code or name; the first number
// if there is none, and false if there is no number at all. Language is that of the text, as a BCP 47 tag, "" if it
// is not known: then a point parts decimals, and a comma thousands. The page is the text around it, whose amounts
// decide before the language what is ambiguous.
func Read(text, language string, page []byte) (Amount, bool) {
	return decide(text, language, page, true)
}

// First is Read without regard to currencies.
func First(text, language string, page []byte) (Amount, bool) {
	return decide(text, language, page, false)
}

// longest is how much of a text is looked at, in bytes: a number stands at the beginning, or the selection is wrong.
const longest = 4096

// decide reads a number as its language writes it and, if it is ambiguous, as the page does.
func decide(text, language string, page []byte, currencies bool) (Amount, bool) {
	f := formatOf(language)
	a, found := read(text, f, currencies)
	if a.Other == "" {
		return a, found
	}
	why := "as no language is known"
	if f.known {
		why = "as the language " + language + " writes it"
	}
	if learned, is := learn(page, f); is {
		a, found = read(text, learned, currencies)
		why = "as other amounts of the page are written"
	}
	a.Why = why
	return a, found
}

// read reads a number, and what it is if spaces after words part thousands otherwise.
func read(text string, f format, currencies bool) (Amount, bool) {
	s := &scanner{runes: []rune(text[:min(len(text), longest)]), format: f}
	a, found := s.find(currencies)
	if s.spaced {
		s.format.spaces, s.end = !f.spaces, 0
		if other, _ := s.find(currencies); other.Digits != a.Digits {
			a.Other = other.Digits
		}
	}
	return a, found
}

// scanner goes through the numbers of a text.
type scanner struct {
	runes      []rune
	format     format
	start, end int  // of the number that was read last
	spaced     bool // by a space after a word and digits, as in "iPhone 15 999"
}

// find returns the first number, or the first beside a currency if there is one.
func (s *scanner) find(currencies bool) (first Amount, found bool) {
	for {
		a, ok := s.next()
		if !ok {
			return first, found
		}
		if !currencies || s.besideCurrency() {
			return a, true
		}
		if !found {
			first, found = a, true
		}
	}
}

func (s *scanner) at(i int) rune {
	if i < 0 || i >= len(s.runes) {
		return -1
	}
	return s.runes[i]
}

// next reads the number that comes next.
func (s *scanner) next() (Amount, bool) {
	s.start = s.end
	for digit(s.at(s.start)) < 0 {
		if s.start++; s.start >= len(s.runes) {
			return Amount{}, false
		}
	}
	alone := s.standsAlone()
	groups, separators, spaced := s.groups(alone || s.format.spaces)
	decimal, other := decimalOf(groups, separators, s.tail(), s.format)
	s.spaced = s.spaced || spaced && !alone
	a := Amount{Digits: s.digits(groups, decimal), Written: string(s.runes[s.start:s.end])}
	if other >= 0 {
		a.Other = s.digits(groups, other)
	}
	return a, true
}

// digits returns a number with a point before its decimals.
func (s *scanner) digits(groups []string, decimal int) string {
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
	return plain.String()
}

// What stands between the digits of a number.
const (
	point   = '.'
	comma   = ','
	spacing = '\'' // or a space, or what else only parts thousands
	surely  = '٫'  // only parts decimals
)

// groups reads the digits of a number, as parted by separators, and leaves s.end behind it. Spaced tells that there is
// a space that parts thousands if spaces do so.
func (s *scanner) groups(spaces bool) (groups []string, separators []rune, spaced bool) {
	var group []byte
	i := s.start
	for {
		if d := digit(s.at(i)); d >= 0 {
			group = append(group, byte('0'+d))
			i++
			continue
		}
		groups = append(groups, string(group))
		kind, ok := s.separator(i)
		if !ok || kind == spacing && !s.threeDigits(i+1) {
			break
		}
		if s.at(i) == ' ' {
			if len(groups[0]) > 3 || groups[0][0] == '0' {
				break
			}
			spaced = true
			if !spaces {
				break
			}
		}
		separators, group = append(separators, kind), nil
		i++
	}
	s.end = i
	return groups, separators, spaced
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
	case '\'', '’', '٬', '\u00a0', '\u202f', '\u2009', ' ':
		return spacing, true
	}
	return 0, false
}

// threeDigits reports whether exactly three digits stand there.
func (s *scanner) threeDigits(i int) bool {
	return digit(s.at(i)) >= 0 && digit(s.at(i+1)) >= 0 && digit(s.at(i+2)) >= 0 && digit(s.at(i+3)) < 0
}

// tail returns the sign that parts decimals where a dash stands for them, as in "12,-"; 0 if there is none.
func (s *scanner) tail() rune {
	switch s.at(s.end + 1) {
	case '-', '–', '—', '−':
		if r := s.at(s.end); r == point || r == comma {
			return r
		}
	}
	return 0
}

// standsAlone reports whether the number is not behind a word that may be named with digits: an amount is all that
// stands there, or stands behind a currency or a mark.
func (s *scanner) standsAlone() bool {
	i := s.start - 1
	for s.at(i) == ' ' || s.at(i) == '\u00a0' || s.at(i) == '-' || s.at(i) == '−' {
		i--
	}
	r := s.at(i)
	return !unicode.IsLetter(r) && digit(r) < 0 || isCurrency(s.word(i, -1))
}

// decimalOf returns the number of the group that holds the decimals, 0 for none; and the one that may hold them as
// well, -1 if it is not ambiguous.
func decimalOf(groups []string, separators []rune, tail rune, f format) (at, other int) {
	if i := slices.Index(separators, surely); i >= 0 {
		return i + 1, -1
	}
	points, commas := count(separators, point), count(separators, comma)
	lastOf := func(kind rune) int { return lastIndex(separators, kind) + 1 }
	switch {
	case tail != 0, points+commas == 0:
		return 0, -1
	case points > 0 && commas > 0:
		return max(lastOf(point), lastOf(comma)), -1
	case points+commas > 1: // 1.234.567
		return 0, -1
	}
	kind := rune(point)
	if commas > 0 {
		kind = comma
	}
	at = lastOf(kind)
	whole := strings.TrimLeft(groups[0], "0")
	switch {
	case len(separators) > 1, len(groups[at]) != 3, whole == "", len(whole) > 3: // 1'234.567, 1.5, 0.125, 1234.567
		return at, -1
	case kind == f.decimal:
		return at, 0
	}
	return 0, at
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
