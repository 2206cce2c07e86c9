package rdf_test

import (
	"strings"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
)

func TestTerms(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ term, value, datatype, language string }{
		{string(rdf.NewIRI("https://example.org/a")), "https://example.org/a", "", ""},
		{string(rdf.NewBlank("b0")), "b0", "", ""},
		{string(rdf.NewString("a \"quoted\"\n\\ text\x00\x7f")), "a \"quoted\"\n\\ text\x00\x7f", rdf.XSDString, ""},
		{string(rdf.NewLangString("Wetter", "de-AT")), "Wetter", rdf.LangString, "de-at"},
		{string(rdf.NewTyped("1", rdf.XSDInteger)), "1", rdf.XSDInteger, ""},
	} {
		got := webrace.Term(c.term)
		if v := rdf.Value(got); v != c.value {
			t.Errorf("%s: the value is %q, want %q", c.term, v, c.value)
		}
		if d := rdf.Datatype(got); d != c.datatype {
			t.Errorf("%s: the datatype is %q, want %q", c.term, d, c.datatype)
		}
		if l := rdf.Language(got); l != c.language {
			t.Errorf("%s: the language is %q, want %q", c.term, l, c.language)
		}
	}
	if got := rdf.NewString("\t\x01\"\\é"); got != `"\t\u0001\"\\é"` {
		t.Errorf("a text is written as %s", got)
	}
	if rdf.NewTyped("a", rdf.XSDString) != rdf.NewString("a") {
		t.Error("a typed text differs from a plain one")
	}
}

func TestURLsBecomeIRIs(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"https://example.org/a?b=c%7C#d":   "https://example.org/a?b=c%7C#d",
		"http://h/a|b?c={d}^`\\<>\" é\x00": "http://h/a%7Cb?c=%7Bd%7D%5E%60%5C%3C%3E%22%20é%00",
	} {
		if got := rdf.EscapeIRI(url); got != want || !rdf.ValidIRI(got) {
			t.Errorf("%q becomes %q, want %q", url, got, want)
		}
	}
}

func FuzzLiterals(f *testing.F) {
	f.Add("a\\u0001\x01\"")
	f.Fuzz(func(t *testing.T, text string) {
		for _, term := range []string{string(rdf.NewString(text)), string(rdf.NewTyped(text, rdf.XSDDouble))} {
			if got := rdf.Value(webrace.Term(term)); got != text {
				t.Errorf("%q is read back as %q", text, got)
			}
			if strings.ContainsAny(term, "\n\r\x00") {
				t.Errorf("%q is not on a line", term)
			}
		}
	})
}
