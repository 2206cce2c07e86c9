package charsets

import (
	"math"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
)

// Where no encoding is declared, that one is taken which needs the fewest bits to encode the bytes that are not ASCII:
// as letters that follow one another in one of its languages, or as the characters that are frequent in it. TestDetect
// holds it against texts of which no table was made; what it takes for another is short, or Romanian with commas, which
// windows-1250 writes as cedillas in the same bytes.

// candidate is an encoding, with the languages that are written in it.
type candidate struct {
	encoding  string
	languages []string
	cost      float64 // in bits, to be this encoding at all: rare ones need more evidence
}

// candidates in the order in which those are preferred that give the same text.
var candidates = []candidate{
	{"windows-1252", western, 0},
	{"windows-1250", central, 2},
	{"windows-1251", cyrillic, 0},
	{"windows-1253", []string{"el"}, 0},
	{"windows-1254", []string{"tr"}, 2},
	{"windows-1255", []string{"he"}, 0},
	{"windows-1256", []string{"ar", "fa"}, 0},
	{"windows-1257", baltic, 3},
	{"windows-1258", []string{"vi"}, 3},
	{"windows-874", []string{"th"}, 0},
	{"koi8-r", []string{"ru", "bg"}, 1},
	{"koi8-u", []string{"uk", "be", "ru"}, 2},
	{"iso-8859-2", central, 3},
	{"iso-8859-5", cyrillic, 4},
	{"iso-8859-7", []string{"el"}, 2},
	{"iso-8859-8", []string{"he"}, 2},
	{"iso-8859-6", []string{"ar"}, 2},
	{"iso-8859-15", western, 4},
	{"iso-8859-13", baltic, 5},
	{"iso-8859-4", baltic, 4},
	{"iso-8859-16", []string{"ro"}, 6},
	{"iso-8859-3", []string{"eo"}, 6},
	{"ibm866", []string{"ru", "be", "bg"}, 4},
	{"x-mac-cyrillic", cyrillic, 6},
	{"macintosh", western, 8},
	{"shift_jis", []string{"ja"}, 0},
	{"euc-jp", []string{"ja"}, 0},
	{"gb18030", []string{"zh_CN"}, 0},
	{"big5", []string{"zh_TW"}, 0},
	{"euc-kr", []string{"ko"}, 0},
}

var (
	western  = []string{"ca", "da", "de", "en", "es", "et", "fi", "fr", "ga", "is", "it", "nb", "nl", "pt", "sv"}
	central  = []string{"cs", "hr", "hu", "pl", "ro", "sk", "sl"}
	baltic   = []string{"et", "lt", "lv"}
	cyrillic = []string{"be", "bg", "mk", "ru", "sr", "uk"}
)

const (
	sampled = 2048 // bytes beyond ASCII that are looked at
	around  = 8    // bytes of ASCII that are kept before and behind them
)

// sample returns the first bytes beyond ASCII, with what is near them.
func sample(body []byte) []byte {
	body = body[:len(body)-cutOff(body)]
	out := make([]byte, 0, 2*sampled)
	for beyond := 0; len(body) > 0 && beyond < sampled; {
		n := ascii(body)
		if n > 2*around {
			out = append(out, body[:around]...)
			body = body[n-around:]
			n = around
		}
		for n < len(body) && body[n] >= utf8.RuneSelf {
			n++
			beyond++
		}
		out = append(out, body[:n]...)
		body = body[n:]
	}
	return out
}

// byLetters guesses the encoding of text that declares none.
func byLetters(body []byte) string {
	s := sample(body)
	if mostlyUTF8(s) {
		return "utf-8"
	}
	pairs := pairsOf(s)
	least, best := math.Inf(1), ""
	for _, r := range readings() {
		if bits := r.bits(s, pairs, least); bits < least {
			least, best = bits, r.encoding
		}
	}
	return usual(best, s)
}

// reading is a way to read bytes: in an encoding, as text of a language.
type reading struct {
	candidate
	model *model
	table *table     // nil where a character may have several bytes
	class [256]uint8 // of each byte, in the model
}

var readings = sync.OnceValue(func() (all []*reading) {
	for _, c := range candidates {
		for _, language := range c.languages {
			r := &reading{candidate: c, model: models()[language], table: tables()[c.encoding]}
			for b := range r.class {
				if r.table != nil && r.table[b].kind <= letter {
					r.class[b] = r.model.classes[r.table[b].lower]
				}
			}
			all = append(all, r)
		}
	}
	return all
})

// bits returns what it takes to encode the sample in this way; it need not go on beyond a limit.
func (r *reading) bits(s []byte, pairs []pair, limit float64) float64 {
	if r.table == nil {
		return r.cost + r.model.bitsOfText(s, r.encoding)
	}
	bits := r.cost
	for _, p := range pairs {
		if bits += r.bitsOfPair(p); bits > limit {
			break
		}
	}
	return bits
}

// usual returns the first of the candidates that give the same text as that one.
func usual(best string, s []byte) string {
	t := tables()[best]
	for _, c := range candidates {
		if c.encoding == best || t == nil {
			break
		}
		if other := tables()[c.encoding]; other != nil && sameText(t, other, s) {
			return c.encoding
		}
	}
	return best
}

func sameText(a, b *table, s []byte) bool {
	for _, c := range s {
		if a[c].r != b[c].r {
			return false
		}
	}
	return true
}

// mostlyUTF8 reports whether of ten characters beyond ASCII nine are well-formed UTF-8.
func mostlyUTF8(sample []byte) bool {
	good, bad := 0, 0
	for len(sample) > 0 {
		r, n := utf8.DecodeRune(sample)
		switch {
		case r == utf8.RuneError && n == 1:
			bad++
		case n > 1:
			good++
		}
		sample = sample[n:]
	}
	return good > 0 && good >= 9*bad
}

// pair is two bytes that follow one another, at least one of which is not ASCII.
type pair struct{ first, second byte }

func pairsOf(s []byte) (pairs []pair) {
	last := byte(' ')
	for _, c := range s {
		if last|c >= utf8.RuneSelf {
			pairs = append(pairs, pair{last, c})
		}
		last = c
	}
	return append(pairs, pair{last, ' '})
}

// kind is what a character is to a model of any language.
type kind uint8

const (
	plainASCII kind = iota
	letter
	usualSign // punctuation that books have, and signs of money and measure
	openSign  // that is usual, also before a letter
	firstSign // that is usual, but not behind a letter
	joiner    // that is usual within words of some scripts
	rareSign
	nothing // no character, or a control
)

// char is what a byte means in an encoding.
type char struct {
	r     rune
	lower rune // as models have it
	kind  kind
	upper bool
}

// table is an encoding of one byte a character.
type table [256]char

// tables returns those of all candidates that have one.
var tables = sync.OnceValue(func() map[string]*table {
	all := make(map[string]*table)
	for _, c := range candidates {
		e, err := htmlindex.Get(c.encoding)
		if err != nil {
			panic("charsets: " + err.Error()) // a name of the list above
		}
		if m, ok := e.(*charmap.Charmap); ok {
			all[c.encoding] = newTable(m)
		}
	}
	return all
})

func newTable(m *charmap.Charmap) *table {
	var t table
	for b := range t {
		r := m.DecodeByte(byte(b))
		t[b] = char{r: r, lower: fold(r), kind: kindOf(r), upper: unicode.IsUpper(r)}
	}
	return &t
}

// fold returns a character as models have it: in lower case, and with a cedilla where others have a comma.
func fold(r rune) rune {
	switch r {
	case 'İ':
		return r
	case 'Ș', 'ș':
		return 'ş'
	case 'Ț', 'ț':
		return 'ţ'
	}
	return unicode.ToLower(r)
}

// signs are those that are not rare.
var signs = []struct {
	kind kind
	of   string
}{
	{usualSign, "’”»›…°§©®™€£№·،؛؟"},
	{openSign, "\u00a0–—•"},
	{firstSign, "‘‚“„«‹¿¡ªº¹²³¼½¾"},
	{joiner, "\u200c\u200d"},
}

func kindOf(r rune) kind {
	switch {
	case r < utf8.RuneSelf:
		return plainASCII
	case r == utf8.RuneError || unicode.IsControl(r) || unicode.Is(unicode.Co, r):
		return nothing
	case unicode.IsLetter(r) && r != 'ª' && r != 'º' || unicode.IsMark(r):
		return letter
	}
	for _, s := range signs {
		if strings.ContainsRune(s.of, r) {
			return s.kind
		}
	}
	return rareSign
}

// What it costs, in bits, to encode what models do not know.
const (
	bitsOfUsualSign = 6
	bitsOfRareSign  = 12
	bitsOfNothing   = 24
	bitsOfForeign   = 13 // a letter of another language
	bitsAfter       = 4  // a letter of ASCII behind such a one
	bitsOfCase      = 5  // more for a capital behind a small letter
	bitsOfMixture   = 5  // more for a letter of ASCII next to one of another script

	bitsOfRareCharacter = 15
	bitsOfPunctuation   = 6
	bitsOfHalfWidth     = 14 // for one byte
)

func (r *reading) bitsOfPair(p pair) (bits float64) {
	first, second := &r.table[p.first], &r.table[p.second]
	behindLetter := first.kind == letter || isLetter(p.first)
	switch second.kind {
	case nothing:
		return bitsOfNothing
	case usualSign, openSign:
		return bitsOfUsualSign
	case firstSign:
		if !behindLetter {
			return bitsOfUsualSign
		}
		return bitsOfRareSign
	case joiner:
		if first.kind == letter {
			return bitsOfUsualSign
		}
		return bitsOfRareSign
	case rareSign:
		return bitsOfRareSign
	case plainASCII:
		switch {
		case first.kind == openSign || first.kind == firstSign || first.r == '’' || first.kind != letter && !isLetter(p.second):
			return 0
		case first.kind != letter:
			return bitsOfMixture
		case r.class[p.first] == other:
			return bitsAfter
		}
	case letter:
		if second.upper && !first.upper && unicode.IsLetter(first.r) {
			bits = bitsOfCase
		}
		if first.kind == usualSign || first.kind == rareSign {
			bits += bitsOfMixture
		}
		if r.class[p.second] == other {
			return bits + bitsOfForeign
		}
	}
	if r.class[p.first] == latin || r.class[p.second] == latin {
		bits += bitsOfMixture
	}
	return bits + float64(r.model.pair(r.class[p.first], r.class[p.second]))/2
}

// bitsOfText returns what a text costs in an encoding of several bytes a character.
func (m *model) bitsOfText(s []byte, encoding string) (bits float64) {
	text, err := decode(s, encoding)
	if err != nil {
		return math.Inf(1)
	}
	last := rune(' ')
	for _, r := range string(text) {
		rank, known := m.common[r]
		switch {
		case r < utf8.RuneSelf:
			if last >= utf8.RuneSelf {
				bits += bitsNext(r)
			}
		case known:
			bits += bitsOfRank[rank]
		case r == utf8.RuneError || r < 0xa0 || r > 0xffff || unicode.Is(unicode.Co, r):
			bits += bitsOfNothing
		case 0xff61 <= r && r < 0xffa0:
			bits += bitsOfHalfWidth
		case 0x3000 <= r && r < 0x3040 || 0xff00 <= r && r < 0xff61 || kindOf(r) == usualSign:
			bits += bitsOfPunctuation
		default:
			bits += bitsOfRareCharacter
		}
		if r >= utf8.RuneSelf && last < utf8.RuneSelf {
			bits += bitsNext(last)
		}
		last = r
	}
	return bits
}

// bitsNext returns what it costs that a character of ASCII is next to one of another script.
func bitsNext(r rune) float64 {
	if isLetter(byte(r)) {
		return bitsOfMixture
	}
	return 1
}

// bitsOfRank are those of a character by its rank, by Zipf's law.
var bitsOfRank = func() (bits [ranked]float64) {
	for rank := range bits {
		bits[rank] = math.Log2(float64(rank+10)) + 2.5
	}
	return bits
}()
