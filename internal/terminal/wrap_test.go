package terminal

import (
	"strings"
	"testing"
)

func TestWrap(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"fits":                               "fits",
		"one two three four\n":               "one two three\n  four\n",
		"   one two three four":              "   one two three\n   four",
		" 95  one two three four":            " 95  one two\n     three four",
		"a http://example.org/much/too/long": "a\n  http://example.org/much/too/long",
		"日本 日本 日本 日本\nnext":                  "日本 日本 日本\n  日本\nnext",
		"\x1b[1mone\x1b[22m two three":       "\x1b[1mone\x1b[22m two three",
		"":                                   "",
		"it goes on and on …":                "it goes on and\n  on …",
		"it goes onto and …":                 "it goes onto\n  and …",
	} {
		if got := Wrap(text, 16); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
		if got := Wrap(text, 0); got != text {
			t.Errorf("without a width %q becomes %q", text, got)
		}
	}
}

func TestALongTermStandsAboveItsText(t *testing.T) {
	t.Parallel()
	list := []Definition{{"a", "one two three four"}, {"bcd", "five"}, {"longer than a third", "six\nseven"}, {"e", ""}}
	want := "  a    one two three\n       four\n  bcd  five\n  longer than a third\n       six\n       seven\n  e\n"
	if got := Definitions(list, 2, 21); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := Definitions(list[:2], 2, 0); got != "  a    one two three four\n  bcd  five\n" {
		t.Errorf("without a width:\n%s", got)
	}
}

func TestParagraphsAreFilledAndExamplesAreNot(t *testing.T) {
	t.Parallel()
	if got, want := Paragraphs("one two\nthree four\n\n  a\n  b\n", 12), "one two\nthree four\n\n  a\n  b"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// FuzzWrap looks for a line that is too long though it has two words, and for text that is lost.
func FuzzWrap(f *testing.F) {
	for _, s := range []string{"a b c", "  x  y z", "error: w\n\n o", "日本 語"} {
		f.Add(s, uint8(9))
	}
	f.Add("it goes on …", uint8(10))
	f.Fuzz(func(t *testing.T, text string, columns uint8) {
		text = Visible(strings.ReplaceAll(strings.ReplaceAll(text, "\t", " "), "\r", " "))
		got := Wrap(text, int(columns))
		if a, b := strings.Join(strings.Fields(text), " "), strings.Join(strings.Fields(got), " "); a != b {
			t.Fatalf("%q becomes %q", text, got)
		}
		if columns < 8 {
			return
		}
		for line := range strings.Lines(got) {
			line = strings.ReplaceAll(strings.Trim(line, "\n"), " …", "") // which stays with its word
			if Columns(line) > int(columns) && len(strings.Fields(line)) > 1 {
				label, rest, _ := labelled(line, int(columns))
				if len(strings.Fields(label)) > 0 && len(strings.Fields(rest)) < 2 { // a word that is too long, behind a label
					continue
				}
				t.Fatalf("%q of %q is longer than %d", line, text, columns)
			}
		}
	})
}
