package selection

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/normalform"
	"github.com/webrace/webrace/internal/xpath"
)

// pattern is a regular expression that can be looked for at a bounded cost.
type pattern struct {
	first *regexp.Regexp // finds the first match in a text
	next  *regexp.Regexp // finds, as its group, the first match behind the first character
	size  int            // the steps that a character may cost
	lines bool           // it speaks of lines, which are blanks to others
}

// largestPattern is the most instructions a pattern may have. A repetition multiplies them.
const largestPattern = 1000

// parseRegex compiles a regular expression in the syntax of RE2.
func parseRegex(s string) (*pattern, error) {
	tree, err := syntax.Parse(s, syntax.Perl)
	if err != nil {
		return nil, plain(err, s)
	}
	whole := tree.String() // what is quoted up to its end cannot be put in parentheses as it stands
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, plain(err, s)
	}
	if len(program.Inst) > largestPattern {
		return nil, fmt.Errorf("it is too costly: with its repetitions it has %d steps, and %d are allowed", len(program.Inst), largestPattern)
	}
	p := &pattern{size: len(program.Inst), lines: ofLines(tree)}
	if p.first, err = regexp.Compile(whole); err == nil {
		p.next, err = regexp.Compile(`\A(?s:.)(?s:.*?)(` + whole + `)`)
	}
	if err != nil {
		return nil, plain(err, s)
	}
	return p, nil
}

// ofLines reports whether a pattern has the beginning or the end of a line, or a line feed.
func ofLines(tree *syntax.Regexp) bool {
	switch tree.Op {
	case syntax.OpBeginLine, syntax.OpEndLine:
		return true
	case syntax.OpLiteral:
		return slices.Contains(tree.Rune, '\n')
	}
	return slices.ContainsFunc(tree.Sub, ofLines)
}

// plain is an error of the syntax package without what the context tells anyway.
func plain(err error, whole string) error {
	var e *syntax.Error
	switch {
	case !errors.As(err, &e):
		return err
	case e.Expr == whole:
		return errors.New(string(e.Code))
	}
	return fmt.Errorf("%s at %s", e.Code, e.Expr)
}

// stretch is the bytes from start to end of a text.
type stretch struct{ start, end int }

// each calls back with the matches in a text that are not empty, as FindAllIndex gives them. That could
// take the square of the text's length, when a pattern reads to the end to find something short; so what is
// read is paid for out of a budget, which may end it with a panic.
func (p *pattern) each(text string, budget *xpath.Budget, found func(stretch)) {
	budget.Spend(len(text) * p.size / stepsPerInstruction)
	if !p.first.MatchString(text) {
		return // as in most texts
	}
	re, from := p.first, 0 // from is where the reader begins: a character before what is looked at
	for {
		match := re.FindReaderSubmatchIndex(&meter{in: strings.NewReader(text[from:]), size: p.size, budget: budget})
		if match == nil {
			return
		}
		whole := match[:2]
		if re == p.next {
			whole = match[2:4]
		}
		at := stretch{from + whole[0], from + whole[1]}
		if at.end > at.start {
			found(at)
			_, last := utf8.DecodeLastRuneInString(text[:at.end])
			from = at.end - last
		} else if from = at.end; from == len(text) {
			return
		}
		re = p.next
	}
}

// stepsPerInstruction is how many instructions of a pattern, on a character each, cost as much as a step.
const stepsPerInstruction = 8

// meter reads a text, and pays for it.
type meter struct {
	in     *strings.Reader
	size   int // of the pattern
	owed   int
	budget *xpath.Budget
}

func (m *meter) ReadRune() (rune, int, error) {
	if m.owed += m.size; m.owed >= 1<<10 {
		m.budget.Spend(m.owed / stepsPerInstruction)
		m.owed = 0
	}
	return m.in.ReadRune()
}

// cut applies patterns to the blocks of a text, each with its white space collapsed: of every block, what
// one of the first patterns matches is kept, as blocks of the same field, or all of it if there are none;
// and of that, what one of the others matches is cut out.
func cut(text *webrace.Text, kept, ignored []*pattern, matched map[*pattern]bool, budget *xpath.Budget) *webrace.Text {
	out := &webrace.Text{Entries: text.Entries, Columns: text.Columns, Feed: text.Feed}
	for _, block := range text.Blocks {
		place := string(text.Bytes[block.Start:min(block.Start+int32(block.Skip), block.End)])
		content := contentOf(text.Slice(block))
		parts := []stretch{{0, len(content.shown)}}
		if len(kept) > 0 {
			parts = content.union(kept, matched, budget)
		}
		gaps := content.union(ignored, matched, budget)
		for _, p := range parts {
			left := without(content.shown, p, gaps)
			if appendBlock(out, left, block.Field) {
				b := &out.Blocks[len(out.Blocks)-1]
				if b.Entry, b.Aside = block.Entry, block.Aside; strings.HasPrefix(left, place) {
					b.Skip = block.Skip
				}
			}
		}
	}
	return out
}

// content is the text of a block.
type content struct {
	shown  string               // as it is shown, with white space collapsed
	joined string               // in normal form
	lines  string               // the same, with a line feed between lines
	places normalform.Alignment // of the forms in what is shown
}

func contentOf(block []byte) (c content) {
	var lines strings.Builder
	for line := range strings.Lines(string(block)) {
		if line = strings.Join(strings.Fields(line), " "); line == "" {
			continue
		}
		if lines.Len() > 0 {
			lines.WriteByte('\n')
		}
		lines.WriteString(line)
	}
	c.lines, c.places = normalform.Align(lines.String())
	c.shown, c.joined = strings.ReplaceAll(lines.String(), "\n", " "), strings.ReplaceAll(c.lines, "\n", " ")
	return c
}

// union returns the stretches that are matched, in order. Those that touch are one.
func (c *content) union(patterns []*pattern, matched map[*pattern]bool, budget *xpath.Budget) (all []stretch) {
	for _, p := range patterns {
		text := c.joined
		if p.lines {
			text = c.lines
		}
		p.each(text, budget, func(s stretch) {
			matched[p] = true
			budget.Spend(stepsPerMatch)
			s.start, s.end = c.places.Origin(s.start, s.end)
			if n := len(all); n > 0 && all[n-1].end == s.start {
				all[n-1].end = s.end
				return
			}
			all = append(all, s)
		})
	}
	slices.SortFunc(all, func(a, b stretch) int { return cmp.Compare(a.start, b.start) })
	merged := all[:0]
	for _, s := range all {
		if n := len(merged); n > 0 && s.start <= merged[n-1].end {
			merged[n-1].end = max(merged[n-1].end, s.end)
		} else {
			merged = append(merged, s)
		}
	}
	return merged
}

// stepsPerMatch is what a match costs besides being found: it is remembered.
const stepsPerMatch = 16

// without returns a stretch of a text, with a blank for each gap in it.
func without(text string, s stretch, gaps []stretch) string {
	var b strings.Builder
	at := s.start
	first, _ := slices.BinarySearchFunc(gaps, at, func(gap stretch, at int) int { return cmp.Compare(gap.end, at+1) })
	for _, gap := range gaps[first:] {
		if gap.start >= s.end {
			break
		}
		b.WriteString(text[at:max(at, gap.start)] + " ")
		at = min(gap.end, s.end)
	}
	b.WriteString(text[at:s.end])
	return strings.TrimSpace(b.String())
}

func appendBlock(t *webrace.Text, content string, field webrace.Field) bool {
	if content == "" {
		return false
	}
	if len(t.Bytes) > 0 {
		t.Bytes = append(t.Bytes, '\n')
	}
	start := len(t.Bytes)
	t.Bytes = append(t.Bytes, content...)
	t.Blocks = append(t.Blocks, webrace.Block{Start: int32(start), End: int32(len(t.Bytes)), Field: field})
	return true
}
