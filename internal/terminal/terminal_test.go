package terminal

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestVisible(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                "",
		"a line\n\tand another\r\n":       "a line\n\tand another\r\n",
		"\x1b[31mred":                     `\u001b[31mred`,
		"\x1b]8;;http://evil\x1b\\x\a":    `\u001b]8;;http://evil\u001b\x\u0007`,
		"over\rwritten\b\x00\x7f":         `over\u000dwritten\u0008\u0000\u007f`,
		"ends\r":                          `ends\u000d`,
		"\u009b2J\u0085":                  `\u009b2J\u0085`,
		"\x9b2J\xc3":                      `\x9b2J\xc3`,
		"\xed\xa0\x80\xf4\x90\x80\x80":    `\xed\xa0\x80\xf4\x90\x80\x80`,
		"gpj.\u202eexe\u2066\u200f\u061c": `gpj.\u202eexe\u2066\u200f\u061c`,
		"pay\u200bpal\ufeff\u2060\u00ad":  `pay\u200bpal\ufeff\u2060\u00ad`,
		"a\u200db\u200cc":                 `a\u200db\u200cc`,
		"می\u200cخواهم":                   "می\u200cخواهم",
		"می\u200c\u200cخ":                 "می\u200c" + `\u200c` + "خ",
		"👩\u200d🔬 ❤\ufe0f 1\ufe0f\u20e3":  "👩\u200d🔬 ❤\ufe0f 1\ufe0f\u20e3",
		"a\ufe0f\ufe0e\U000e0100":         "a\ufe0f" + `\ufe0e\U000e0100`,
		"\U000e0041\u3164\u115f\u2028":    `\U000e0041\u3164\u115f\u2028`,
		"é 漢字 e\u0301 \u0600":             "é 漢字 e\u0301 \u0600",
	} {
		if got := Visible(text); got != want {
			t.Errorf("%+q is shown as %+q, want %+q", text, got, want)
		}
	}
	if got := Line(" a\n\tb\u2028c\x1b\u0085 "); got != `a b c\u001b` {
		t.Errorf("as a line: %q", got)
	}
}

func TestWhatIsExactStandsBehindWhatWasWritten(t *testing.T) {
	t.Parallel()
	var screen bytes.Buffer
	w := NewWriter(&screen)
	io.WriteString(w, "cut \xe2\x82")
	io.WriteString(w.Exact(), "\x1b[K")
	io.WriteString(w, "\xac.")
	if got := screen.String(); got != `cut \xe2\x82`+"\x1b[K"+`\xac.` {
		t.Errorf("%q", got)
	}
}

// FuzzWriter looks for text that gets through, and for a place to cut it that makes a difference.
func FuzzWriter(f *testing.F) {
	for _, s := range []string{"\x1b[2J", "a\r\nb\rc", "\xc2\x9b", "\xe2\x80\xae", "👩\u200d🔬", "x\u200dy", "\xf0\x9f"} {
		f.Add(s, uint(1))
	}
	f.Fuzz(func(t *testing.T, text string, cut uint) {
		want := Visible(text)
		if !utf8.ValidString(want) {
			t.Fatalf("%q is not UTF-8", want)
		}
		for i, r := range strings.ReplaceAll(want, "\r\n", "\n") {
			allowed := r == '\n' || r == '\t' || r == joiner || r == nonJoiner || unicode.Is(unicode.Prepended_Concatenation_Mark, r)
			if !allowed && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)) {
				t.Fatalf("%q of %q gets through at %d", r, text, i)
			}
		}
		var screen bytes.Buffer
		w := NewWriter(&screen)
		at := int(cut % uint(len(text)+1))
		io.WriteString(w, text[:at])
		io.WriteString(w, text[at:])
		w.Exact()
		if screen.String() != want {
			t.Fatalf("%q cut at %d is shown as %q, want %q", text, at, screen.String(), want)
		}
	})
}
