package textdiff

import (
	"slices"
	"strconv"
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/entries"
	"github.com/webrace/webrace/internal/normalform"
)

// unit is what of a text is new or gone as a whole: a block, or an entry of a list with all of its blocks.
type unit struct {
	text   string // as it is shown
	key    string // by which it is the same as one of another text; empty for nothing
	first  int    // the first of its blocks
	last   int    // and the last
	number int    // of a part of a page
	link   string // of an entry: by which it is the same, too, if no other entry has it
	entry  *webrace.Entry
	fields []string // of the entry: its blocks, but for those that stand aside
	named  int      // how many of them have a name, so that their order makes no difference
	label  string   // which of these tells people which entry it is
	rank   int      // how well it does
}

// units returns the units of a text in the order in which they begin, with white space collapsed.
//
// Of the rows of tables those columns alone are compared that are shared, if there are any: nil compares all. Parts
// of pages have these numbers.
func units(t *webrace.Text, shared map[string]bool, numbers []int) (all []unit) {
	if t == nil {
		return nil
	}
	columns := setOf(t.Columns)
	of := make([]int, len(t.Entries)) // its unit, counted from 1
	for i, b := range t.Blocks {
		compared := comparedOf(t, i)
		if b.Entry == 0 || t.Entries[b.Entry-1].IsPart() && numbers[b.Entry-1] == apart {
			all = append(all, blockUnit(t, i, compared, inColumns(compared, columns, shared)))
			continue
		}
		if of[b.Entry-1] == 0 {
			all = append(all, unit{first: i, entry: &t.Entries[b.Entry-1]})
			of[b.Entry-1] = len(all)
		}
		if compared != "" {
			all[of[b.Entry-1]-1].add(compared, b, entries.TitleRank(t, b))
		}
		all[of[b.Entry-1]-1].last = i
	}
	links := make(map[string]int)
	for i := range all {
		if u := &all[i]; u.entry != nil {
			content := "\x00" + strings.Join(u.content(), "\x00")
			u.key = "\x00" + strconv.FormatUint(u.entry.Name, 16) + content
			if u.entry.IsPart() {
				u.number = numbers[t.Blocks[u.first].Entry-1]
				u.key = "\x02" + strconv.Itoa(u.number) + content
			} else if u.entry.Link != 0 {
				u.link = "\x01" + strconv.FormatUint(u.entry.Link, 16) + content
				links[u.link]++
			}
		}
	}
	for i := range all {
		if links[all[i].link] > 1 {
			all[i].link = ""
		}
	}
	return all
}

// comparedOf returns what of a block is compared, with white space collapsed.
func comparedOf(t *webrace.Text, block int) string {
	text := string(t.Compared(t.Blocks[block]))
	if isCollapsed(text) {
		return text
	}
	return collapse(strings.ToValidUTF8(text, ""))
}

// isCollapsed reports whether there is nothing to collapse in a text, as far as that is told at a glance: it is
// printable ASCII without two blanks in a row, or one at an end.
func isCollapsed(text string) bool {
	last := byte(' ')
	for i := range len(text) {
		c := text[i]
		if c < ' ' || c > '~' || c == ' ' && last == ' ' {
			return false
		}
		last = c
	}
	return text == "" || last != ' '
}

// blockUnit is a block that is of no entry, with what is compared of it, and by which of its cells.
func blockUnit(t *webrace.Text, number int, compared, cells string) unit {
	u := unit{text: compared, key: normalform.String(cells), first: number, last: number}
	if u.key != compared {
		u.key = collapse(u.key)
	}
	if b := t.Blocks[number]; b.Aside || b.Skip > 0 {
		u.text = collapse(strings.ToValidUTF8(string(t.Slice(b)), ""))
	}
	return u
}

// content is the fields in the form in which they are compared, those that have a name in the order of the alphabet.
func (u *unit) content() []string {
	if u.named < len(u.fields) {
		return Forms(u.fields)
	}
	return slices.Sorted(slices.Values(Forms(u.fields)))
}

// add adds a block to an entry, and how well that tells people which it is: best does a name or a title.
func (u *unit) add(field string, b webrace.Block, rank int) {
	switch {
	case u.text == "":
	case b.Skip > 0: // it begins with a name
		u.text += "; "
	default:
		u.text += separator
	}
	u.text += field
	u.fields = append(u.fields, field)
	if b.Skip > 0 {
		u.named++
	}
	if name, _, _ := strings.Cut(field, ": "); name == "name" || name == "title" {
		rank = 2
	}
	if u.label == "" || rank > u.rank {
		u.label, u.rank = field, rank
	}
}

// longestLabel is how many bytes are shown of what tells which entry has changed.
const longestLabel = 64

// changedEntry describes which fields of an entry have changed since another version of it, and how: [−before] «after».
func changedEntry(old, now unit) (p piece) {
	before, after := setOf(Forms(old.fields)), setOf(Forms(now.fields))
	gone := func(other map[string]bool) func(string) bool {
		return func(field string) bool { return other[normalform.String(field)] }
	}
	went := slices.DeleteFunc(slices.Clone(old.fields), gone(after))
	came := slices.DeleteFunc(slices.Clone(now.fields), gone(before))
	if !slices.Contains(came, now.label) && now.label != "" {
		p = append(p, run{same, cut(now.label, longestLabel) + ": "})
	}
	for i, change := range pair(went, came) {
		if i > 0 {
			p = append(p, run{same, "; "})
		}
		p = append(p, change...)
	}
	return p
}

// inColumns returns the cells of a row that are in shared columns, in the order of the alphabet.
func inColumns(row string, columns, shared map[string]bool) string {
	if len(shared) == 0 {
		return row
	}
	var cells []string
	for column, cell := range entries.Cells(row, func(name string) bool { return columns[name] }) {
		switch {
		case column == "": // the row with the names
			cells = append(cells, strings.Split(cell, "; ")...)
		case shared[column]:
			cells = append(cells, cell)
		}
	}
	return strings.Join(slices.Sorted(slices.Values(cells)), "; ")
}

// sharedColumns returns the columns that two texts have.
func sharedColumns(old, now *webrace.Text) map[string]bool {
	if old == nil {
		return nil
	}
	shared, before := make(map[string]bool), setOf(old.Columns)
	for _, name := range now.Columns {
		if before[name] {
			shared[name] = true
		}
	}
	return shared
}
