package charsets

import (
	"unicode/utf8"
)

// script is an encoding with the letters that make up most of a text in it, which text in no other
// encoding gives when it is read so.
type script struct {
	encoding string
	common   func(r rune) bool
	share    float64 // how much of the text beyond ASCII common letters usually are
}

const (
	russian = "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэф"
	greek   = "αοιετσνηυρπκμλςίόάέήύώωγδβφθχ"
	han     = "的一是不了在人有我他中大上到子和你地出道也年下生自之家而去小心多天然好法"
	han1    = han + "这来国个说们为时会里后过对开没还见经进发么" // simplified
	han2    = han + "這來國個說們為時會裡後過對開沒還見經進發麼" // traditional
)

func kana(r rune) bool   { return 0x3041 <= r && r <= 0x30fc }
func hangul(r rune) bool { return 0xac00 <= r && r <= 0xd7a3 }

func among(letters string) func(rune) bool {
	set := make(map[rune]bool)
	for _, r := range letters {
		set[r] = true
	}
	return func(r rune) bool { return set[r] }
}

var scripts = []script{
	{"shift_jis", kana, 0.5},
	{"euc-jp", kana, 0.5},
	{"gb18030", among(han1), 0.2},
	{"big5", among(han2), 0.2},
	{"euc-kr", hangul, 0.9},
	{"windows-1251", among(russian), 0.9},
	{"koi8-r", among(russian), 0.9},
	{"iso-8859-5", among(russian), 0.9},
	{"windows-1253", among(greek), 0.8},
}

// least is how much of its usual share a script's letters must reach to be believed.
const least = 0.4

// byLetters guesses the encoding of text that nobody declared, from the letters it gives when read as
// one or another. It knows UTF-8 with mistakes in it, Japanese, Chinese, Korean, Russian and Greek.
func byLetters(sample []byte) string {
	sample = sample[:len(sample)-cutOff(sample)]
	if mostlyUTF8(sample) {
		return "utf-8"
	}
	best, name := least, "windows-1252"
	for _, s := range scripts {
		if score := s.score(sample); score > best {
			best, name = score, s.encoding
		}
	}
	return name
}

// mostlyUTF8 says whether of ten characters beyond ASCII nine are well-formed UTF-8.
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

// score returns how much of its usual share the script's letters reach in the sample. A letter counts
// only after another one beyond ASCII: those of Latin scripts stand alone among the twenty-six. What
// cannot be decoded counts against it tenfold.
func (s script) score(sample []byte) float64 {
	text, err := decode(sample, s.encoding)
	if err != nil {
		return 0
	}
	common, all := 0, 0
	last := rune(0)
	for _, r := range string(text) {
		switch {
		case r < utf8.RuneSelf:
		case r == utf8.RuneError || r < 0xa0:
			all += 10
		default:
			all++
			if s.common(r) && last >= utf8.RuneSelf {
				common++
			}
		}
		last = r
	}
	if all == 0 {
		return 0
	}
	return float64(common) / float64(all) / s.share
}
