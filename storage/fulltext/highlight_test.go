package fulltext

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestFragments(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, query, want, language string }{
		{"Annotations of the documents.", "annotate", "«Annotations» of the documents.", ""},
		{"Οι υπολογιστές της Θεσσαλονίκης", "ΘΕΣΣΑΛΟΝΙΚΗ", "Οι υπολογιστές της «Θεσσαλονίκης»", ""},
		{"one two three", `"two three" -one`, "one «two three»", ""},
		{"two one three two", `"two three"`, "two one three two", ""},
		{"two" + BlockEnd + "three", `"two three"`, "two three", ""},
		{"the state of the art", "state-of-the-art", "the «state of the art»", ""},
		{"crawlers and craws", "crawl*", "«crawlers» and craws", ""},
		{"dijkstra dikstra dijkstras", "dijkstra~1", "«dijkstra» «dikstra» «dijkstras»", ""},
		{"one\n\n two", "host:one +two", "one «two»", ""},
		{"the words", "the", "the words", ""},
		{"no hit", "other", "no hit", ""},
		{"bad query", `"bad`, "bad query", ""},
		{"東京都", "東京", "«東京»都", ""},
		{"Die Drucker und der Druck", "drucker", "Die «Drucker» und der «Druck»", "de"},
		{"The printers print", "printer", "The «printers» print", "en"},
		{"", "x", "", ""},
		{"...", "x", "", ""},
	} {
		if got := strings.Join(NewHighlighter(c.query).Fragments(c.text, c.language, 3, Guillemets), "|"); got != c.want {
			t.Errorf("of %q for %q: %q, want %q", c.text, c.query, got, c.want)
		}
	}
}

func TestFragmentsShowTheBestPartsOfATextInItsOrder(t *testing.T) {
	t.Parallel()
	far := strings.Repeat("nothing here ", 40)
	h := NewHighlighter("alpha beta gamma")
	text := far + "alpha " + far + "the alpha and the beta " + far + BlockEnd + "block of gamma " + far
	for n, want := range map[int][]string{
		1: {"… here nothing here nothing here the «alpha» and the «beta» nothing"},
		2: {"… here nothing here nothing here the «alpha» and the «beta» nothing", "… block of «gamma» nothing"},
		3: {"… nothing here nothing here nothing here «alpha» nothing", "the «alpha» and the «beta» nothing", "… block of «gamma» nothing"},
	} {
		got := h.Fragments(text, "", n, Guillemets)
		if len(got) != n {
			t.Fatalf("%d fragments, want %d: %q", len(got), n, got)
		}
		for i, part := range want {
			if !strings.Contains(got[i], part) || !strings.HasSuffix(got[i], " …") {
				t.Errorf("fragment %d of %d is %q, want %q", i+1, n, got[i], part)
			}
		}
	}
	none := NewHighlighter("delta").Fragments(far, "", 3, Guillemets)
	if want := strings.Join(strings.Fields(far)[:fragmentWords], " ") + " …"; len(none) != 1 || none[0] != want {
		t.Errorf("without a hit: %q", none)
	}
}

// FuzzFragments: fragments are parts of the text, in its order, with marks around words.
func FuzzFragments(f *testing.F) {
	f.Add("Annotations of the documents in Θεσσαλονίκη 東京都", `annotate "of the" 東京 θεσσ* x~1 host:y`)
	f.Add(strings.Repeat("a b ", 99), "+b -a")
	f.Add(strings.Repeat("a\fb ", 99), `b OR "a b"`)
	f.Fuzz(func(t *testing.T, text, query string) {
		if strings.ContainsAny(text, "«»…") {
			return
		}
		rest := strings.Join(strings.Fields(text), " ")
		for _, got := range NewHighlighter(query).Fragments(text, "", 3, Guillemets) {
			plain := strings.NewReplacer("«", "", "»", "", "… ", "", " …", "").Replace(got)
			_, after, ok := strings.Cut(rest, strings.TrimSpace(plain))
			if !ok {
				t.Fatalf("%q is no part of %q", plain, rest)
			}
			rest = after
			if strings.Count(got, "«") != strings.Count(got, "»") || utf8.ValidString(text) && !utf8.ValidString(got) {
				t.Errorf("fragment is %q", got)
			}
		}
	})
}
