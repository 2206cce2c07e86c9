package storecmd

import (
	"strings"
	"testing"

	"github.com/webrace/webrace/stages/keywordfilter/textdiff"
	"github.com/webrace/webrace/storage/objects"
)

func TestADiffInColourMarksTheWordsThatChanged(t *testing.T) {
	t.Parallel()
	d := &difference{
		versions: [2]objects.Version{{URL: "http://a.example/", Number: 1}, {URL: "http://a.example/", Number: 2}},
		lines:    [2][]string{{"same", "costs 5 euro today", "gone"}, {"same", "costs 7 euro", "new"}},
	}
	d.changes, d.minimal = textdiff.Diff(d.lines[0], d.lines[1])
	_, hunk, _ := strings.Cut(d.format(diffFlags{context: 3}, true), "@@\x1b[0m\n")
	want := " same\n" +
		"\x1b[31m-costs \x1b[7m5\x1b[27m euro\x1b[7m today\x1b[27m\x1b[0m\n\x1b[31m-\x1b[7mgone\x1b[27m\x1b[0m\n" +
		"\x1b[32m+costs \x1b[7m7\x1b[27m euro\x1b[0m\n\x1b[32m+\x1b[7mnew\x1b[27m\x1b[0m\n"
	if hunk != want {
		t.Errorf("got  %q\nwant %q", hunk, want)
	}
	_, hunk, _ = strings.Cut(d.format(diffFlags{words: true}, false), "@@\n")
	if want := " costs [-5-]{+7+} euro[- today-]\n [-gone-]{+new+}\n"; hunk != want {
		t.Errorf("got  %q\nwant %q", hunk, want)
	}
}
