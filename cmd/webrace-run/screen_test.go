package main

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/webrace/webrace/internal/terminal"
)

var sequences = regexp.MustCompile("\x1b\\[[0-9;]*m")

func TestAParagraphIsBrokenUnderItsLabel(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		width int
		want  string
	}{
		{0, "key  one two«three» four 日本語日本語\n"},
		{14, "key  one\n     two«three\n     » four\n     日本語日\n     本語\n"},
	} {
		var out bytes.Buffer
		s := &screen{w: &out, width: c.width}
		s.line(run{"key  ", dim}, run{" one\n two", plain}, run{"«three»", bold}, run{"\tfour ", plain}, run{"日本語日本語", plain})
		if out.String() != c.want {
			t.Errorf("width %d: %q, want %q", c.width, out.String(), c.want)
		}
	}
}

func TestDotsStayWithTheirWord(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s := &screen{w: &out, width: 18}
	s.line(run{"key  ", dim}, run{"one two three …", plain})
	if want := "key  one two\n     three …\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

func TestStylesAreToldWhereTheyChange(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s := &screen{w: &out, colours: true}
	s.line(run{"", plain}, run{"a b ", plain}, run{"c d", bold}, run{" e", plain})
	if want := "a b \x1b[1mc d\x1b[0m e\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

// Whatever a page holds: no line is too long, no word gets lost, and the terminal is told nothing but styles.
func FuzzScreen(f *testing.F) {
	f.Add("one two", "\x1b]0;title\a three", 10)
	f.Add("\xff\xfe", "\u202egnorw 日本語", 12)
	f.Fuzz(func(t *testing.T, first, second string, width int) {
		width = 10 + max(width, -width)%100
		var out bytes.Buffer
		s := &screen{w: &out, width: width, colours: true}
		s.line(run{"label ", dim}, run{first, plain}, run{second, bold})
		text := sequences.ReplaceAllString(out.String(), "")
		for line := range strings.Lines(text) {
			if n := terminal.Columns(strings.TrimSuffix(line, "\n")); n > width {
				t.Fatalf("%d columns of %d: %q", n, width, line)
			}
		}
		if i := strings.IndexFunc(text, func(c rune) bool { return c != '\n' && unicode.IsControl(c) || c == '\u202e' }); i >= 0 {
			t.Fatalf("control characters: %q", text)
		}
		want := "label"
		for _, word := range slices.Concat(strings.Fields(first), strings.Fields(second)) {
			want += terminal.Visible(word)
		}
		if got := strings.Join(strings.Fields(text), ""); got != want {
			t.Fatalf("shown %q of %q", got, want)
		}
	})
}
