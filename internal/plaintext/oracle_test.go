package plaintext

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// slowLine is all that may be asked of a line, read character by character.
type slowLine struct {
	span          [2]int
	indent, width int
	words, first  int
	initial       rune
	marked        bool
}

// slowBlocks cuts a text by the rule of the package alone: it reads all of each line, and asks for all of it.
func slowBlocks(text string) (blocks [][2]int) {
	var paragraph []slowLine
	flush := func() {
		if len(paragraph) > 0 {
			blocks = append(blocks, slowCut(paragraph)...)
		}
		paragraph = nil
	}
	for at := 0; at < len(text); {
		n := strings.IndexAny(text[at:], "\r\n")
		end, next := at+n, at+n+1
		if n < 0 {
			end, next = len(text), len(text)
		} else if strings.HasPrefix(text[end:], "\r\n") {
			next++
		}
		content := strings.Trim(text[at:end], space)
		if content == "" {
			flush()
		} else {
			start := at + strings.Index(text[at:end], content)
			paragraph = append(paragraph, slowLineOf(content, start, slowColumns(text[at:start])))
		}
		if len(paragraph) == mostLines {
			flush()
		}
		at = next
	}
	flush()
	return blocks
}

func slowLineOf(content string, start, indent int) slowLine {
	l := slowLine{
		span: [2]int{start, start + len(content)}, indent: indent, width: indent + slowColumns(content),
		words: len(strings.Fields(content)), marked: mark.MatchString(content[:min(len(content), longestMark)]),
	}
	for _, word := range strings.Fields(content) {
		if i := strings.IndexFunc(word, isInitial); i >= 0 {
			l.initial, _ = utf8.DecodeRuneInString(word[i:])
			l.first = min(slowColumns(word), longestWord)
			break
		}
	}
	return l
}

func slowColumns(text string) (n int) {
	for _, r := range text {
		switch {
		case r == '\t':
			n += 8 - n%8
		case r >= firstWide:
			n += 2
		default:
			n++
		}
	}
	return n
}

func slowCut(lines []slowLine) (blocks [][2]int) {
	margin, marks := 0, 0
	for _, l := range lines {
		if l.words > 1 || isUncased(l.initial) {
			margin = max(margin, l.width)
		}
		if l.marked {
			marks++
		}
	}
	hadRoom := func(i int) bool { // line i, for what the next one begins with
		return margin < narrowest || margin > widest || lines[i].width+1+max(lines[i+1].first, 1) <= margin
	}
	runOn := slowRunsOn(lines, margin, hadRoom)
	head := 0
	blocks = append(blocks, lines[0].span)
	for i := 1; i < len(lines); i++ {
		l := &lines[i]
		goesOn := runOn && (!l.marked || marks == 1)
		if !runOn && !l.marked && lines[head].marked {
			goesOn = l.indent > lines[head].indent || !hadRoom(i-1)
		}
		if goesOn {
			blocks[len(blocks)-1][1] = l.span[1]
		} else {
			blocks, head = append(blocks, l.span), i
		}
	}
	return blocks
}

func slowRunsOn(lines []slowLine, margin int, hadRoom func(int) bool) bool {
	roomy, small, words, unspaced := 0, 0, 0, false
	for i, l := range lines {
		words += l.words
		unspaced = unspaced || isUncased(l.initial)
		if i > 0 && (unicode.IsLower(l.initial) || isUncased(l.initial)) {
			small++
		}
		if i > 0 && hadRoom(i-1) {
			roomy++
		}
	}
	return len(lines) > 1 && margin >= narrowest && margin <= widest && small > 0 && 2*roomy <= small &&
		(unspaced || words >= leastWords*len(lines))
}

func compareWithSlow(t *testing.T, text []byte) {
	t.Helper()
	var got [][2]int
	Blocks(text, func(start, end int) bool {
		got = append(got, [2]int{start, end})
		return true
	})
	if want := slowBlocks(string(text)); !slices.Equal(got, want) {
		t.Fatalf("%q: %v, want %v", text, got, want)
	}
}

// Texts of lines that are nearly what the rule tells apart.
func TestBlocksAreThoseOfTheRuleReadSlowly(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(28, 11))
	pieces := strings.Split("- |* |• |– x|1. |(2) |12:30 |[10:00] |2026-11-28 |28.11. |Nov 28 |Mon, |Decimal(|3.14|├─ |the ferry |Ferry |leaves at ten |"+
		"unless |東京から横浜まで船で|ñandú |É|wind\u00a0blows |\u00a0|\t|    |self.f(x) |https://a.example/an/address |\xff|\x01|\u1100|.|#|9", "|")
	for range 60_000 {
		var text bytes.Buffer
		for lines := 1 + r.IntN(8); lines > 0; lines-- {
			for text.WriteString(strings.Repeat(" ", max(0, r.IntN(7)-3))); r.IntN(7) > 0; {
				text.WriteString(pieces[r.IntN(len(pieces))])
			}
			text.WriteString([]string{"\n", "\n", "\n", "\r\n", "\r", "\n\n"}[r.IntN(6)])
		}
		compareWithSlow(t, text.Bytes())
	}
}
