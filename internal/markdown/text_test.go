package markdown_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/formats"
	"github.com/webrace/webrace/internal/markdown"
)

func TestTextsOfFormats(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		format formats.Format
		body   string
		want   string
	}{
		{"a table", formats.CSV, "Part,Price,In stock\nBolt | *M8*,12,\nNut,,yes\n", `
| Part | Price | In stock |
| --- | --- | --- |
| Bolt \| \*M8\* | 12 |
| Nut |  | yes |
`},
		{"a value that reads like another column, of which nothing is lost", formats.CSV, "a,b,c\n\"1; c: 2\",\"x: y\",3\n", `
| a | b | c |
| --- | --- | --- |
| 1 |  | 2; b: x: y; c: 3 |
`},
		{"a table of which one column has no name", formats.CSV, "a,,c\n1,2,3\n", `
| a | B | c |
| --- | --- | --- |
| 1 | 2 | 3 |
`},
		{"a table without names", formats.CSV, "1,2\n3,4\n", "\nA: 1; B: 2\n\nA: 3; B: 4\n"},
		{"a list of JSON", formats.JSON, `[{"a":"# b"},{"a":"<b>"}]`, "\n- \\[0\\].a: # b\n- \\[1\\].a: &lt;b>\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := formats.Read(context.Background(), c.format, []byte(c.body), nil)
			if got := string(markdown.AppendText([]byte("\n"), &d.Text)); got != c.want {
				t.Errorf("%q is\n%s\nnot\n%s", c.body, got, c.want)
			}
		})
	}
}

func TestTextOfAFeedHasAHeadingForEachEntry(t *testing.T) {
	t.Parallel()
	text := textOfBlocks([]webrace.Block{{Field: webrace.FieldTitle}, {Field: webrace.FieldHeading, Entry: 1}, {Entry: 1}, {Field: webrace.FieldHeading, Entry: 2}, {Entry: 2}},
		"Feed", "First", "said # 1.\nand more", "Second", "1. no list")
	text.Feed = true
	const want = "# Feed\n\n## First\n\nsaid # 1. and more\n\n## Second\n\n1\\. no list\n"
	if got := string(markdown.AppendText(nil, text)); got != want {
		t.Errorf("it is\n%s\nnot\n%s", got, want)
	}
}

// textOfBlocks returns a text of blocks like those, with these texts.
func textOfBlocks(blocks []webrace.Block, texts ...string) *webrace.Text {
	text := &webrace.Text{}
	for i, s := range texts {
		b := blocks[i%len(blocks)]
		b.Start = int32(len(text.Bytes))
		text.Bytes = append(text.Bytes, s...)
		b.End = int32(len(text.Bytes))
		text.Bytes = append(text.Bytes, '\n')
		text.Blocks = append(text.Blocks, b)
	}
	return text
}

// checkText returns what is wrong with the Markdown of a text without tables: its words are those of the blocks, and
// it has no links.
func checkText(tb testing.TB, text *webrace.Text) string {
	tb.Helper()
	md := markdown.AppendText(nil, text)
	if wrong := harm(md); wrong != "" {
		return wrong
	}
	var want reader
	for _, b := range text.Blocks {
		want.add(string([]rune(string(text.Slice(b)))), "", false)
		want.text = append(want.text, ' ')
	}
	want.words = strings.Fields(string(want.text))
	return difference(want.reading, rendered(tb, md))
}

func FuzzAppendText(f *testing.F) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 50 {
		f.Add(string(randomPage(r)), string(randomPage(r)), uint8(r.IntN(64)))
	}
	f.Fuzz(func(t *testing.T, one, two string, kinds uint8) {
		block := func(kind uint8) webrace.Block {
			return webrace.Block{Field: webrace.Field(kind & 3), Entry: int32(kind >> 2 & 1)}
		}
		text := textOfBlocks([]webrace.Block{block(kinds), block(kinds >> 3)}, one, two, two, one)
		if wrong := checkText(t, text); wrong != "" {
			t.Errorf("%q, %q are\n%s\n%s", one, two, markdown.AppendText(nil, text), wrong)
		}
	})
}

func TestRoundTripOfRandomTexts(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(9, 10))
	for range 4_000 {
		var texts []string
		for range 3 {
			texts = append(texts, string(randomPage(r)))
		}
		text := textOfBlocks([]webrace.Block{{Field: webrace.Field(r.IntN(4))}, {Entry: int32(r.IntN(2))}, {Entry: int32(r.IntN(2))}}, texts...)
		if wrong := checkText(t, text); wrong != "" {
			t.Fatalf("%q are\n%s\n%s", texts, markdown.AppendText(nil, text), wrong)
		}
	}
}
