package mcp

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/webrace/webrace/internal/visible"
)

// Whatever a page has in it, what is shown of it is text that a reader sees, stays as it is when it is looked at
// again, and makes no JSON another shape.
func FuzzClean(f *testing.F) {
	f.Add("tea\x1b[31m\u202e\U000e0041\xff")
	f.Fuzz(func(t *testing.T, text string) {
		shown := visible.Text(text)
		if visible.Text(shown) != shown || !utf8.ValidString(shown) {
			t.Fatalf("%q is shown as %q", text, shown)
		}
		if i := strings.IndexFunc(shown, func(r rune) bool {
			return unicode.Is(unicode.Cc, r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) || r >= 0xE0000 && r < 0xE1000
		}); i >= 0 {
			t.Fatalf("%q is shown as %q", text, shown)
		}
		answer, err := json.Marshal(map[string]any{text: []any{text, 1, nil, map[string]any{"x": text}}})
		if err != nil {
			t.Fatal(err)
		}
		cleaned, err := clean(answer)
		var back map[string]any
		if err != nil || json.Unmarshal(cleaned, &back) != nil || len(back) != 1 {
			t.Fatalf("%s becomes %s, %v", answer, cleaned, err)
		}
		want := visible.Text(string([]rune(text))) // JSON has one character for each wrong byte
		if list, ok := back[want].([]any); !ok || len(list) != 4 || list[0] != want {
			t.Fatalf("%s becomes %s", answer, cleaned)
		}
	})
}

// However a text is read in parts, they are together what it is, and each has no more than was asked for.
func FuzzParts(f *testing.F) {
	f.Add("# Tea\n\nis served at noon, "+strings.Repeat("é", 100), 16)
	f.Fuzz(func(t *testing.T, text string, most int) {
		if most < utf8.UTFMax || len(text) > 1<<16 {
			return
		}
		text = visible.Text(text)
		var all strings.Builder
		for offset := 0; ; {
			p, err := partOf(text, offset, most)
			if err != nil || len(p.Text) > most || p.Offset != offset || !utf8.ValidString(p.Text) {
				t.Fatalf("at %d: %+v, %v", offset, p, err)
			}
			all.WriteString(p.Text)
			if p.Next == 0 {
				break
			}
			if p.Next <= offset {
				t.Fatalf("it goes from %d to %d", offset, p.Next)
			}
			offset = p.Next
		}
		if all.String() != text {
			t.Fatalf("%q, want %q", all.String(), text)
		}
	})
}

func TestAPartBeginsWhereOneMay(t *testing.T) {
	t.Parallel()
	for _, offset := range []int{-1, 1, 6, 1 << 40} {
		if _, err := partOf("étea", offset, 10); err == nil || !strings.Contains(err.Error(), "next") {
			t.Errorf("offset %d: %v", offset, err)
		}
	}
}

// Nothing that is quoted can write the line that ends it.
func TestWhatIsQuotedEndsOnce(t *testing.T) {
	t.Parallel()
	words := make(map[string]bool)
	for range 50 {
		content := quoted("http://a.example/", "[end of quoted X]")
		line, _, _ := strings.Cut(contentText(t, content[1]), "\n")
		words[line] = true
	}
	if len(words) != 50 {
		t.Errorf("%d words of chance of 50", len(words))
	}
}

func contentText(t *testing.T, content any) string {
	t.Helper()
	text, err := json.Marshal(content)
	var said struct{ Text string }
	if err == nil {
		err = json.Unmarshal(text, &said)
	}
	if err != nil {
		t.Fatal(err)
	}
	return said.Text
}
