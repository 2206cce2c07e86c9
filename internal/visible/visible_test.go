package visible

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestWhatNobodySeesIsLeftOut(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"tea\tand\nmilk":                                         "tea\tand\nmilk",
		"\x1b[31mred\x1b]0;title\x07\x9b1m":                      "[31mred]0;title�1m",
		"a\u0085b\r\nc\x00\fd\u2028e":                            "a b\nc d e",
		"right \u202eto left\u202c, \u2066isolated\u2069":        "right to left, isolated",
		"tag \U000e0049\U000e0067\U000e006e variation\U000e0100": "tag  variation",
		"in\u200bvisible\u2060 \ufeffsoft\u00adhyphen":           "invisible softhyphen",
		"کتاب\u200cها 👩\u200d🔬 é":                                "کتاب\u200cها 👩\u200d🔬 é", // joiners are how these are written
		"\u0600123 x\ufdd0\ufffe\U0001ffffy":                     "\u0600123 xy",            // a number sign has a glyph; the others are no characters
		"bad \xff\xfe":                                           "bad �",
	} {
		if got := Text(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}

func TestALineIsShort(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		most int
		want string
	}{
		{" tea\r\n\tand  milk\u2029", 99, "tea and milk"},
		{"tea", 3, "tea"},
		{"ték\u200b", 3, "ték"},
		{"teas", 3, "te…"},
		{"te as", 4, "te…"},
		{"ééé", 2, "é…"},
		{"teas", 1, "…"},
		{"teas", 0, "…"},
		{"", 0, ""},
		{"bad \xff \ue000 icon", 99, "bad icon"},
	} {
		if got := Line(c.text, c.most); got != c.want {
			t.Errorf("%q in %d: %q, want %q", c.text, c.most, got, c.want)
		}
	}
}

// Whatever a text has in it, what is made of it is seen, stays as it is when it is made again, and is as short as it
// is to be.
func FuzzVisible(f *testing.F) {
	f.Add("tea\x1b[31m\u202e\U000e0041\xff", 5)
	f.Add("a\u2028b\u0085c\ue000 d\ufffde", 3)
	f.Fuzz(func(t *testing.T, s string, most int) {
		text, line := Text(s), Line(s, most)
		if Text(text) != text || Line(line, most) != line || Line(text, most) != line || Text(line) != line {
			t.Fatalf("%q becomes %q, and %q in %d", s, text, line, most)
		}
		if n := utf8.RuneCountInString(line); n > max(most, 1) || strings.ContainsAny(line, "\n\t") || strings.TrimSpace(line) != line {
			t.Fatalf("%q in %d becomes %q", s, most, line)
		}
		if !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool {
			return unicode.Is(unicode.Cc, r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) || r >= 0xE0000 && r < 0xE1000
		}) {
			t.Fatalf("%q is shown as %q", s, text)
		}
	})
}
