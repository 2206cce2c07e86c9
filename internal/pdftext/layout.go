package pdftext

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/webrace/webrace"
)

// What makes a heading: so much larger than most of the text, and no longer than so many bytes.
const (
	headingScale   = 1.15
	longestHeading = 250
)

// layOut makes blocks of lines: lines that run on are a paragraph, which never goes over the end of a page. The
// lines are in the order in which they are read, and so are the blocks.
func layOut(lines []line, chapters outline) []Block {
	lines = mergeParts(lines)
	running := runningLines(lines)
	l := layout{lines: lines, body: bodySize(lines, running), leading: leading(lines), chapters: chapters}
	l.tagged = slices.ContainsFunc(lines, func(l line) bool { return l.heading })
	var blocks []Block
	for start := 0; start < len(lines); {
		end := start + 1
		if !running[start] {
			edge := l.edge(start, running)
			for end < len(lines) && !running[end] && l.runsOn(start, end, edge) {
				end++
			}
		}
		blocks = append(blocks, l.block(lines[start:end], running[start]))
		start = end
	}
	return blocks
}

// mergeParts puts together what stands side by side on a line: where the spacing within a line is irregular, PDFium
// sees several. Words that are closer than a blank is wide are one.
func mergeParts(lines []line) []line {
	merged := lines[:0:0]
	for _, b := range lines {
		n := len(merged)
		if n == 0 || !besides(merged[n-1], b) {
			merged = append(merged, b)
			continue
		}
		a := &merged[n-1]
		const blank = 0.15 // of the size
		if b.left-a.right > blank*max(a.size, b.size) {
			a.text += " "
		}
		if a.text += b.text; len(b.text) > len(a.text)/2 {
			a.size, a.end = b.size, b.end
		}
		a.right, a.hyphen = max(a.right, b.right), b.hyphen
	}
	return merged
}

// besides reports whether b goes on where line a ends, or is written a little higher or lower there. What is further
// away is another column.
func besides(a, b line) bool {
	size := max(a.size, b.size)
	gap := b.left - a.right
	return a.page == b.page && !a.turned && !b.turned && !a.hyphen && a.heading == b.heading &&
		math.Abs(a.end-b.y) < 0.6*size && gap > -0.4*size && gap < 1.2*size
}

// layout is what is known of the lines as a whole.
type layout struct {
	lines    []line
	body     float64 // the size of most of the text
	leading  float64 // from baseline to baseline in a paragraph, in sizes
	chapters outline
	tagged   bool // the file marks which lines are headings
}

// block makes a block of the lines of a paragraph.
func (l *layout) block(lines []line, running bool) Block {
	b := Block{Text: join(lines), Page: lines[0].page, Field: webrace.FieldBody}
	switch {
	case running:
		b.Field = webrace.FieldNavigation
	case len(b.Text) <= longestHeading && strings.ContainsFunc(b.Text, unicode.IsLetter) && l.isHeading(lines[0], b.Text):
		b.Field = webrace.FieldHeading
	}
	return b
}

// isHeading asks the file's structure and its bookmarks, and the size of the font where there is no structure.
func (l *layout) isHeading(first line, text string) bool {
	if first.heading || len(l.chapters) > 0 && l.chapters[plainTitle(text)] {
		return true
	}
	return !l.tagged && l.larger(first)
}

func (l *layout) larger(a line) bool { return l.body > 0 && !a.turned && a.size >= l.body*headingScale }

// join puts lines together, and the words that were divided between them.
func join(lines []line) string {
	text := lines[0].text
	for i, l := range lines[1:] {
		whole, divided := text, lines[i].hyphen
		if !divided {
			whole, divided = undivided(text, l.text)
		}
		if !divided {
			whole += " "
		}
		text = whole + l.text
	}
	if lines[len(lines)-1].hyphen {
		text += "-"
	}
	return text
}

// undivided takes the hyphen from the end of a line that divides a word: a small letter stands before it, and begins
// the next line.
func undivided(text, next string) (string, bool) {
	whole, hyphen := strings.CutSuffix(text, "-")
	last, _ := utf8.DecodeLastRuneInString(whole)
	first, _ := utf8.DecodeRuneInString(next)
	if hyphen && unicode.IsLower(last) && unicode.IsLower(first) {
		return whole, true
	}
	return text, false
}

// sizeClass is a size of a font, to half a point.
func sizeClass(size float64) int { return int(math.Round(size * 2)) }

// bodySize returns the size of the font that most of the text has; of two the smaller one.
func bodySize(lines []line, running []bool) float64 {
	count := map[int]int{}
	for i, l := range lines {
		if !running[i] {
			count[sizeClass(l.size)] += len(l.text)
		}
	}
	best := 0
	for class, n := range count {
		if n > count[best] || n == count[best] && class < best {
			best = class
		}
	}
	return float64(best) / 2
}

// Distances between the lines of a paragraph, in sizes of the font: what is usual, what is possible, and how much
// larger than usual one may be.
const (
	usualLeading = 1.25
	leastLeading = 0.7
	mostLeading  = 2.2
	leadingSlack = 1.15
)

// leading returns the distance that most lines which reach the right edge of their column have to the next: those are
// lines of paragraphs.
func leading(lines []line) float64 {
	count := map[int]int{}
	for i := 1; i < len(lines); i++ {
		a, b := lines[i-1], lines[i]
		if a.page != b.page || sizeClass(a.size) != sizeClass(b.size) || b.right > a.right*1.02 || len(a.text) < 40 {
			continue
		}
		if d := (a.end - b.y) / a.size; d >= leastLeading && d <= mostLeading {
			count[int(math.Round(d*20))]++
		}
	}
	best := 0
	for class, n := range count {
		if n > count[best] || n == count[best] && class < best {
			best = class
		}
	}
	if count[best] < 3 {
		return usualLeading
	}
	return float64(best) / 20
}

// follows reports whether line b stands under line a as the next line of a paragraph does.
func (l *layout) follows(a, b line) bool {
	if a.page != b.page || a.size <= 0 || a.turned || b.turned || a.heading != b.heading || math.Abs(a.size-b.size) > 0.08*a.size {
		return false
	}
	down := (a.end - b.y) / a.size
	return down >= leastLeading && down <= l.leading*leadingSlack
}

// edge returns the right edge of the column that a line stands in: that of the lines which follow one another there.
func (l *layout) edge(start int, running []bool) float64 {
	const most = 60 // lines that are looked at, in each direction
	edge := l.lines[start].right
	for i := start + 1; i < len(l.lines) && i < start+most && !running[i] && l.follows(l.lines[i-1], l.lines[i]); i++ {
		edge = max(edge, l.lines[i].right)
	}
	for i := start; i > 0 && i > start-most && !running[i-1] && l.follows(l.lines[i-1], l.lines[i]); i-- {
		edge = max(edge, l.lines[i-1].right)
	}
	return edge
}

// runsOn reports whether a line goes on with the paragraph that begins at another: it stands close under the line
// before, is not indented, begins no item of a list, and its first word had no place in the line before.
func (l *layout) runsOn(start, at int, edge float64) bool {
	a, b := l.lines[at-1], l.lines[at]
	if !l.follows(a, b) {
		return false
	}
	if l.larger(a) || a.heading || a.hyphen {
		return true
	}
	if beginsItem(b.text) {
		return false
	}
	if b.left > a.left+a.size/2 && !(at == start+1 && beginsItem(a.text)) {
		return false
	}
	return a.right+wordWidth(b) >= edge
}

// wordWidth is about how wide the first word of a line is, with the blank before it.
func wordWidth(l line) float64 {
	const perCharacter = 0.5 // of the size
	word, _, _ := strings.Cut(l.text, " ")
	return perCharacter * l.size * float64(utf8.RuneCountInString(word)+1)
}

// beginsItem reports whether a line begins an item of a list: with a bullet, or a number or letter and a dot or
// parenthesis.
func beginsItem(text string) bool {
	first, _, more := strings.Cut(text, " ")
	if !more {
		return false
	}
	r, size := utf8.DecodeRuneInString(first)
	if size == len(first) {
		return strings.ContainsRune("•‣◦▪●○■□–—-*·►➢✓\uf0b7", r)
	}
	label, dotted := strings.CutSuffix(first, ".")
	if !dotted {
		if label, dotted = strings.CutSuffix(first, ")"); !dotted {
			return false
		}
	}
	label = strings.TrimPrefix(label, "(")
	if len(label) == 1 {
		return true
	}
	return len(label) > 0 && len(label) <= 3 && strings.Trim(label, "0123456789") == ""
}

// runningPages is on how many pages a line is found that runs through a file.
const runningPages = 3

// runningLines finds the lines that pages have in common, but for numbers, at their upper or lower end: headers,
// footers and page numbers.
func runningLines(lines []line) []bool {
	type place struct {
		text string
		y    int
	}
	ends := pageEnds(lines)
	placeOf := func(i int) place { return place{withoutNumbers(lines[i].text), int(math.Round(lines[i].y / 4))} }
	pages := map[place]int{}
	for _, i := range ends {
		pages[placeOf(i)]++
	}
	running := make([]bool, len(lines))
	for _, i := range ends {
		running[i] = pages[placeOf(i)] >= runningPages
	}
	return running
}

// pageEnds returns the numbers of the two highest and the two lowest lines of each page.
func pageEnds(lines []line) (ends []int) {
	const atEachEnd = 2
	for start := 0; start < len(lines); {
		end := start
		for end < len(lines) && lines[end].page == lines[start].page {
			end++
		}
		byHeight := make([]int, end-start)
		for i := range byHeight {
			byHeight[i] = start + i
		}
		slices.SortStableFunc(byHeight, func(a, b int) int {
			switch {
			case lines[a].y > lines[b].y:
				return -1
			case lines[a].y < lines[b].y:
				return 1
			}
			return 0
		})
		if n := len(byHeight); n > 2*atEachEnd {
			byHeight = append(byHeight[:atEachEnd], byHeight[n-atEachEnd:]...)
		}
		ends, start = append(ends, byHeight...), end
	}
	return ends
}

// withoutNumbers writes a # for each number.
func withoutNumbers(text string) string {
	var b strings.Builder
	number := false
	for _, r := range text {
		if unicode.IsDigit(r) {
			if !number {
				b.WriteByte('#')
			}
			number = true
			continue
		}
		number = false
		b.WriteRune(r)
	}
	return b.String()
}

// titleOf returns the heading of the first page that is set in the largest font; nothing if all is of one size.
func titleOf(lines []line) string {
	running := make([]bool, len(lines))
	body := bodySize(lines, running)
	best := -1
	for i := 0; i < len(lines) && lines[i].page == lines[0].page; i++ {
		if !lines[i].turned && lines[i].size >= body*headingScale && (best < 0 || lines[i].size > lines[best].size) {
			best = i
		}
	}
	if best < 0 {
		return ""
	}
	end := best + 1
	for end < len(lines) && lines[end].page == lines[best].page && sizeClass(lines[end].size) == sizeClass(lines[best].size) {
		end++
	}
	if title := join(lines[best:end]); len(title) <= longestHeading {
		return title
	}
	return ""
}
