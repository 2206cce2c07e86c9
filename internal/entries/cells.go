package entries

import (
	"iter"
	"strings"
)

// Cells yields the cells of a row of a table, "name: Bolt; price: 12", each with its column, which is empty where
// none is named. A part of a cell that looks like a cell of another column is one.
func Cells(row string, isColumn func(name string) bool) iter.Seq2[string, string] {
	return func(yield func(column, cell string) bool) {
		column, from := "", 0
		for at := 0; ; {
			if end := strings.Index(row[at:], ": "); end >= 0 && isColumn(row[at:at+end]) {
				if at > 0 && !yield(column, row[from:at-len("; ")]) {
					return
				}
				column, from = row[at:at+end], at
			}
			next := strings.Index(row[at:], "; ")
			if next < 0 {
				yield(column, row[from:])
				return
			}
			at += next + len("; ")
		}
	}
}
