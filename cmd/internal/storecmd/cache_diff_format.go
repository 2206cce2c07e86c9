package storecmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/webrace/webrace/internal/terminal"
	"github.com/webrace/webrace/internal/wording"
	"github.com/webrace/webrace/stages/keywordfilter/textdiff"
	"github.com/webrace/webrace/storage/objects"
)

// difference is that of two versions, by lines.
type difference struct {
	versions [2]objects.Version
	lines    [2][]string
	cut      [2]bool // there was more behind them
	whole    [2]bool // they are all of a page, which has no main part
	changes  []textdiff.Change
	minimal  bool
	standsIn bool     // the later one is of another kind, and no state of the document
	moved    bool     // all that differs is in another place, or makes nothing new
	table    bool     // lines are rows
	entries  []string // of the lines of the later version, what changed of the entries that they are of
}

// differenceJSON is what cache diff --json writes.
type differenceJSON struct {
	URL     string       `json:"url"`
	From    int          `json:"from"`
	To      int          `json:"to"`
	Equal   bool         `json:"equal"`
	Minimal bool         `json:"minimal"`           // no fewer lines could be removed and added
	FromCut bool         `json:"from_cut,omitzero"` // there was more behind its lines, which is not compared
	ToCut   bool         `json:"to_cut,omitzero"`
	Changes []changeJSON `json:"changes"`
}

// changeJSON is lines that were replaced. Lines are counted from 1; without any it is the place where
// they would be.
type changeJSON struct {
	FromLine int      `json:"from_line"`
	Removed  []string `json:"removed"`
	ToLine   int      `json:"to_line"`
	Added    []string `json:"added"`
	Entries  []string `json:"entries,omitzero"` // what changed of the entries and rows that they are of, as alerts tell it
}

func (d *difference) json() differenceJSON {
	v := differenceJSON{URL: d.versions[0].URL, From: d.versions[0].Number, To: d.versions[1].Number,
		Equal: len(d.changes) == 0, Minimal: d.minimal, FromCut: d.cut[0], ToCut: d.cut[1], Changes: []changeJSON{}}
	for _, c := range d.changes {
		v.Changes = append(v.Changes, changeJSON{
			FromLine: c.A + 1, Removed: append([]string{}, d.lines[0][c.A:c.AEnd]...),
			ToLine: c.B + 1, Added: append([]string{}, d.lines[1][c.B:c.BEnd]...), Entries: d.entriesIn(c),
		})
	}
	return v
}

// longestEntry is how many bytes are shown of what changed of an entry.
const longestEntry = 120

// entriesIn returns what changed of the entries, and of the rows, that lines are of which took the place of others.
func (d *difference) entriesIn(c textdiff.Change) (all []string) {
	for i := c.B; i < min(c.BEnd, len(d.entries)); i++ {
		if said := d.entries[i]; said != "" && !slices.Contains(all, said) {
			all = append(all, said)
		}
	}
	if d.table {
		all = append(all, textdiff.Edits(d.lines[0][c.A:c.AEnd], d.lines[1][c.B:c.BEnd], longestEntry)...)
	}
	return all
}

// marks are put around what was removed and added.
type marks struct {
	removed, added, place, end string // around lines
	removedWord, addedWord     [2]string
}

var (
	plainMarks = marks{removedWord: [2]string{"[-", "-]"}, addedWord: [2]string{"{+", "+}"}}
	colours    = marks{
		removed: "\x1b[31m", added: "\x1b[32m", place: "\x1b[36m", end: "\x1b[0m",
		removedWord: [2]string{"\x1b[7m", "\x1b[27m"}, addedWord: [2]string{"\x1b[7m", "\x1b[27m"},
	}
)

// format writes the difference as diff -u does; in colour, for a terminal, with the words marked that changed.
func (d *difference) format(f diffFlags, colour bool) string {
	m := plainMarks
	if colour {
		m = colours
		for i := range d.lines {
			d.versions[i].URL = terminal.Visible(d.versions[i].URL)
			for j, line := range d.lines[i] {
				content := strings.TrimSuffix(line, "\n")
				d.lines[i][j] = terminal.Visible(content) + line[len(content):]
			}
		}
	}
	out := &diffWriter{difference: d, marks: m, words: f.words, colour: colour}
	for i, sign := range []string{"---", "+++"} {
		v := d.versions[i]
		fmt.Fprintf(out, "%s %s version %d\t%s\n", sign, v.URL, v.Number, wording.Moment(v.FetchedAt))
	}
	if !d.minimal {
		out.WriteString("(the versions have so little in common that there may be a shorter way from one to the other)\n")
	}
	for _, hunk := range textdiff.Hunks(d.changes, len(d.lines[0]), len(d.lines[1]), f.context) {
		out.hunk(hunk)
	}
	return out.String()
}

// diffWriter writes a difference.
type diffWriter struct {
	*difference
	strings.Builder
	marks
	words, colour bool
}

func (w *diffWriter) hunk(h textdiff.Hunk) {
	fmt.Fprintf(w, "%s@@ -%s +%s @@%s%s\n", w.place, lineRange(h.A, h.AEnd), lineRange(h.B, h.BEnd), w.end, w.changed(h))
	at := h.A
	for _, c := range h.Changes {
		w.lines(" ", "", w.difference.lines[0][at:c.A])
		w.change(c)
		at = c.AEnd
	}
	w.lines(" ", "", w.difference.lines[0][at:h.AEnd])
}

// mostEntries is how many entries are shown of a hunk.
const mostEntries = 3

// changed returns what changed of the entries and rows of a hunk.
func (w *diffWriter) changed(h textdiff.Hunk) string {
	var all []string
	for _, c := range h.Changes {
		all = append(all, w.entriesIn(c)...)
	}
	all = slices.Compact(all) // of an entry several fields of which changed
	switch {
	case len(all) == 0:
		return ""
	case len(all) > mostEntries:
		all = append(all[:mostEntries], "…")
	}
	return " " + strings.Join(all, " · ")
}

// lineRange writes lines as diff -u does: the first and how many, where it is not one.
func lineRange(from, to int) string {
	switch to - from {
	case 0:
		return fmt.Sprintf("%d,0", from)
	case 1:
		return fmt.Sprint(from + 1)
	}
	return fmt.Sprintf("%d,%d", from+1, to-from)
}

func (w *diffWriter) lines(sign, colour string, lines []string) {
	for _, line := range lines {
		end := ""
		if colour != "" {
			end = w.end
		}
		fmt.Fprintf(w, "%s%s%s%s\n", colour, sign, strings.TrimSuffix(line, "\n"), end)
	}
}

func (w *diffWriter) change(c textdiff.Change) {
	removed, added := w.difference.lines[0][c.A:c.AEnd], w.difference.lines[1][c.B:c.BEnd]
	if w.words || w.colour && len(removed) > 0 && len(added) > 0 {
		from, to := joined(removed), joined(added)
		changes, _ := textdiff.Diff(textdiff.Forms(from), textdiff.Forms(to))
		if w.words {
			w.lines(" ", "", w.merged(from, to, changes))
			return
		}
		removed = split(marked(from, changes, w.removedWord, func(c textdiff.Change) (int, int) { return c.A, c.AEnd }))
		added = split(marked(to, changes, w.addedWord, func(c textdiff.Change) (int, int) { return c.B, c.BEnd }))
	}
	w.lines("-", w.removed, removed)
	w.lines("+", w.added, added)
}

// joined returns the words of lines, each of which ends with a word of its own.
func joined(lines []string) []string {
	var words []string
	for _, line := range lines {
		words = append(words, textdiff.Words(strings.TrimSuffix(line, "\n")+"\n")...)
	}
	return words
}

func split(text string) []string { return strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n") }

// marked puts marks around the words that changed. A mark never spans lines.
func marked(words []string, changes []textdiff.Change, mark [2]string, side func(textdiff.Change) (from, to int)) string {
	var b strings.Builder
	at := 0
	for _, c := range changes {
		from, to := side(c)
		b.WriteString(strings.Join(words[at:from], ""))
		markLines(&b, strings.Join(words[from:to], ""), mark)
		at = to
	}
	b.WriteString(strings.Join(words[at:], ""))
	return b.String()
}

func markLines(b *strings.Builder, text string, mark [2]string) {
	for line := range strings.Lines(text) {
		content, ended := strings.CutSuffix(line, "\n")
		if content != "" {
			b.WriteString(mark[0] + content + mark[1])
		}
		if ended {
			b.WriteByte('\n')
		}
	}
}

// merged returns the lines of both sides as one, with what was removed and added marked.
func (w *diffWriter) merged(from, to []string, changes []textdiff.Change) []string {
	m := w.marks
	if w.colour {
		m.removedWord, m.addedWord = [2]string{w.removed, w.end}, [2]string{w.added, w.end}
	}
	var b strings.Builder
	at := 0
	for _, c := range changes {
		b.WriteString(strings.Join(from[at:c.A], ""))
		markLines(&b, strings.Join(from[c.A:c.AEnd], ""), m.removedWord)
		markLines(&b, strings.Join(to[c.B:c.BEnd], ""), m.addedWord)
		at = c.AEnd
	}
	b.WriteString(strings.Join(from[at:], ""))
	return split(b.String())
}
