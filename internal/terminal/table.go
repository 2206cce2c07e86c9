package terminal

import "strings"

// A column is broken between words beside the others where that leaves it so many columns of the terminal, or all that
// it needs.
const leastColumn = 24

// Table lays out rows under a header, in as many columns of the terminal; the header may be nil. Fields that do not fit
// beside those before them stand below, a little to the right, in all rows alike. The last field, and one that stands
// alone, is broken between words. A width of 0 breaks nothing.
func Table(header []string, rows [][]string, columns int) string {
	if header != nil {
		rows = append([][]string{header}, rows...)
	}
	l := layout{columns: columns}
	l.arrange(rows)
	var b strings.Builder
	for _, row := range rows {
		l.write(&b, row)
	}
	return b.String()
}

// layout is where the fields of each row stand.
type layout struct {
	columns int
	at      []int  // where a field begins
	below   []bool // on a line of its own, or the first of one
}

const belowIndent = 4

// arrange gives each field its place: beside the one before if there is room for all that any row has there.
func (l *layout) arrange(rows [][]string) {
	var widths []int
	longest := 0 // of the words of the last field, which alone may be broken beside others
	for _, row := range rows {
		for i, field := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], Columns(field))
		}
		for word := range strings.FieldsSeq(row[len(row)-1]) {
			longest = max(longest, Columns(word))
		}
	}
	next := 0
	for i, needs := range widths {
		width := needs
		if i == len(widths)-1 {
			needs = max(longest, min(width, leastColumn))
		}
		below := i > 0 && l.columns > 0 && next+needs > l.columns
		if below {
			next = belowIndent
		}
		l.at, l.below = append(l.at, next), append(l.below, below)
		next += width + 2
	}
}

func (l *layout) write(b *strings.Builder, row []string) {
	used, ends := 0, false // what the line has, and whether it is to end before the next field
	for i, field := range row {
		if ends = ends || l.below[i]; field == "" {
			continue
		}
		if ends {
			b.WriteByte('\n')
			used, ends = 0, false
		}
		b.WriteString(strings.Repeat(" ", l.at[i]-used))
		if room := l.columns - l.at[i]; l.columns > 0 && Columns(field) > room {
			field = strings.Join(Fill(field, room, room), "\n"+strings.Repeat(" ", l.at[i]))
		}
		b.WriteString(field)
		used = l.at[i] + Columns(field)
	}
	b.WriteByte('\n')
}
