package normalform

import (
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// slowForm is the normal form as the package describes it, without a look at whether a text is in it.
func slowForm(text string) string {
	return norm.NFC.String(strings.Map(func(r rune) rune {
		if strings.ContainsRune("\u00ad\u061c\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff", r) {
			return -1
		}
		return r
	}, text))
}

func TestForms(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                        "",
		"ferry, 4.50 €":           "ferry, 4.50 €",
		"cafe\u0301":              "café",
		"cafe\u00ad\u0301":        "café",
		"fer\u00adry\u200b":       "ferry",
		"\ufeff\u200fferry":       "ferry",
		"\u1112\u1161\u11ab":      "한",
		"H₂O and m²":              "H₂O and m²",
		"می\u200cخواهم":           "می\u200cخواهم",
		"\u212b":                  "Å",
		"q\u0308\u0323":           "q\u0323\u0308",
		"👩\u200d🚀":                "👩\u200d🚀",
		"\u30ab\u3099":            "ガ",
		"\u0958 decomposed by \n": "\u0915\u093c decomposed by \n",
	} {
		var buffer []byte
		if got := string(Of(&buffer, []byte(text))); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestPlacesLeadBackToTheText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, find, want string }{
		{"un cafe\u0301 noir", "café", "cafe\u0301"},
		{"un cafe\u0301 noir", "noir", "noir"},
		{"un fer\u00adry\u200b noir", "ferry", "fer\u00adry"},
		{"a\u0301b\u0301", "á", "a\u0301"},
		{"a\u0301b\u0301", "b", "b"}, // there is no letter for the two
		{"\u200bferry", "ferry", "ferry"},
		{"a q\u0308 b", "q", "q"},
	} {
		form, a := Align(c.text)
		at := strings.Index(form, c.find)
		start, end := a.Origin(at, at+len(c.find))
		if got := c.text[start:end]; strings.TrimRight(got, "\u200b") != c.want {
			t.Errorf("%q in %q: %q, want %q", c.find, c.text, got, c.want)
		}
	}
}

// FuzzForm holds the fast ways against the slow one: all give the same form, making it again changes nothing, and each
// stretch of it has its origin in the text, whose form has it.
func FuzzForm(f *testing.F) {
	f.Add("un cafe\u0301 noir, fer\u00adry\u200b q\u0308\u0323 \u1112\u1161\u11ab \xff\u0301", uint8(3), uint8(9))
	f.Add(strings.Repeat("\u0301", 70)+"x", uint8(0), uint8(200))
	f.Fuzz(func(t *testing.T, text string, from, length uint8) {
		want := slowForm(text)
		if !utf8.ValidString(text) {
			text = strings.ToValidUTF8(text, "?")
			want = slowForm(text)
		}
		if got := String(text); got != want {
			t.Fatalf("%q: %q, want %q", text, got, want)
		}
		if again := String(want); again != want {
			t.Fatalf("again: %q, then %q", want, again)
		}
		form, a := Align(text)
		if form != want {
			t.Fatalf("aligned %q: %q, want %q", text, form, want)
		}
		start := min(int(from), len(form))
		end := min(start+int(length), len(form))
		begin, stop := a.Origin(start, end)
		if begin < 0 || stop > len(text) || begin > stop {
			t.Fatalf("%q: %d to %d of %q are %d to %d", text, start, end, form, begin, stop)
		}
		if !strings.Contains(String(text[begin:stop]), strings.ToValidUTF8(form[start:end], "")) && len(text) < 60 {
			t.Fatalf("%q has %q at %d to %d", text, form[start:end], begin, stop)
		}
	})
}

var text = strings.Repeat("Le café est ouvert; the ferry leaves at ten. Паром уходит в десять. ", 400)

func BenchmarkOf(b *testing.B) {
	for name, text := range map[string]string{"ascii": strings.Map(func(r rune) rune { return min(r, 'z') }, text), "latin and cyrillic": text, "nfd": norm.NFD.String(text)} {
		b.Run(name, func(b *testing.B) {
			var buffer []byte
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Of(&buffer, []byte(text))
			}
		})
	}
}
