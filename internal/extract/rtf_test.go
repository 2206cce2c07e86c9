package extract_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/webrace/webrace/internal/extract"
)

func TestRTF(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ body, want string }{
		{`{\rtf1\ansi The ferry leaves at nine\par Second {\b bold} one\par}`, "The ferry leaves at nine|Second bold one"},
		{`{\rtf1\ansi\ansicpg1251{\fonttbl{\f0 Times;}}{\colortbl;\red0;}{\info{\title T}}\'cf\'e0\'f0\'ee\'ec}`, "Паром"},
		{`{\rtf1 \u1055?\u-3913 ?x {\uc0\u8364}5 \uc2\u916 \'81\'80y}`, "П\uf0b7x €5 Δy"},
		{`{\rtf1 a\~b\_c\-d\{e\}\\f\emdash g\tab h\line i\
j}`, "a\u00a0b-cd{e}\\f—g h|i|j"},
		{`{\rtf1{\*\generator Word;}{\pict\bin5 }}{{x}{\field{\*\fldinst HYPERLINK "http://a.example"}{\fldrslt here}}}`, "here"},
		{"{\\rtf1 bro\r\nken {{{", "broken"},
		{`{\rtf1}}} after`, "after"},
	} {
		r := document(t, c.body, "application/rtf", extract.Options{})
		if got := strings.ReplaceAll(render(r.Text), "\n", "|"); got != c.want {
			t.Errorf("%s gives %q, want %q", c.body, got, c.want)
		}
	}
	if r := document(t, "not so", "application/rtf", extract.Options{}); len(r.Text.Blocks) > 0 {
		t.Errorf("what is no RTF has the text %q", r.Text.Bytes)
	}
}

func FuzzRTF(f *testing.F) {
	for _, seed := range []string{`{\rtf1 a\par b}`, `{\rtf1\u8364?\'80\bin3 xyz{\*\x y}}`, `{\rtf1\ansicpg932\'82\'a0}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		body = `{\rtf1 ` + body
		r := document(t, body, "text/rtf", extract.Options{})
		end := int32(0)
		for _, b := range r.Text.Blocks {
			if b.Start < end || b.End <= b.Start || int(b.End) > len(r.Text.Bytes) {
				t.Fatalf("%q gives the blocks %v", body, r.Text.Blocks)
			}
			end = b.End
		}
		if !utf8.Valid(r.Text.Bytes) || len(r.Text.Bytes) > 3*len(body) {
			t.Errorf("%q gives %q", body, r.Text.Bytes)
		}
	})
}
