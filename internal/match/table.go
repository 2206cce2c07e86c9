package match

import (
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/entries"
	"github.com/webrace/webrace/internal/hashtable"
)

// A row of a table is remembered by its cells, whatever the order of columns, and so are the columns. A row is
// known as well if its cells in those columns are that the versions before had: a column that is added makes no
// row new. Of one that is gone the baseline cannot say what is left of the rows: that is looked up in their text.

// columns are those of the tables of a text, by the hashes of their names.
type columns struct {
	numbers hashtable.Table
	known   []bool // one of the versions before had it
}

// findColumns takes note of the columns of a text.
func (c *comparison) findColumns(text *webrace.Text) {
	c.columns.numbers.Reset()
	c.columns.known = c.columns.known[:0]
	for _, name := range text.Columns {
		hash := xxhash.Sum64String(name)
		if _, had := c.columns.numbers.GetOrSet(hash, int32(len(c.columns.known))); !had {
			c.columns.known = append(c.columns.known, c.age(hashBlock(c.withSum(hash, 0))) != never)
		}
	}
}

// hashRow returns a hash of a row: of all its cells, or of those in columns that are known.
func (c *columns) hashRow(row []byte, onlyKnown bool) uint64 {
	sum := sumOfCells(string(row), func(name string) (isColumn, counts bool) {
		n, is := c.numbers.Get(xxhash.Sum64String(name))
		return is, !is || !onlyKnown || c.known[n]
	}, nil)
	return max(sum&^(ageMask|inPart), 2*(ageMask+1))
}

// sumOfCells returns the sum of the hashes of the cells of a row, of those whose columns count. Of the row with the
// names of the columns it is that of these, of all of them unless a function chooses some.
func sumOfCells(row string, column func(name string) (isColumn, counts bool), named func(name string) bool) (sum uint64) {
	isColumn := func(name string) bool {
		is, _ := column(name)
		return is
	}
	for name, cell := range entries.Cells(row, isColumn) {
		if name == "" { // the row with the names
			for name := range strings.SplitSeq(cell, "; ") {
				if named == nil || named(name) {
					sum += xxhash.Sum64String(name)
				}
			}
		} else if _, counts := column(name); counts {
			sum += xxhash.Sum64String(cell)
		}
	}
	return sum
}

// ageInColumns returns how many versions ago the cells of a row were seen in those columns that are known.
func (c *comparison) ageInColumns(row []byte) uint8 {
	hash := c.columns.hashRow(compared(&c.clean, row), true)
	if place, met := c.places.Get(hash >> ageBits); met && int(place) < len(c.known) {
		return uint8(c.known[place] & ageMask) // that row itself is not there any more
	}
	return never
}

// isNames reports whether a row is that with the names of the columns.
func (c *columns) isNames(row []byte) bool {
	for name := range entries.Cells(string(row), func(name string) bool {
		_, is := c.numbers.Get(xxhash.Sum64String(name))
		return is
	}) {
		return name == ""
	}
	return false
}

// KnowRows takes the rows of a table for known that the latest version had, whose text is given, in the columns that
// both have. It is to be called where the comparison reports that the columns are others.
func (c *Comparison) KnowRows(now, last *webrace.Text) {
	if last == nil {
		return
	}
	isIn := func(text *webrace.Text) map[string]bool {
		names := make(map[string]bool, len(text.Columns))
		for _, name := range text.Columns {
			names[name] = true
		}
		return names
	}
	after, before := isIn(now), isIn(last)
	isShared := func(name string) bool { return before[name] && after[name] }
	var clean []byte
	had := make(map[uint64]bool)
	for _, b := range last.Blocks {
		row := string(compared(&clean, last.Compared(b)))
		had[sumOfCells(row, func(name string) (bool, bool) { return before[name], isShared(name) }, isShared)] = true
	}
	delete(had, 0)
	for i, b := range now.Blocks {
		if c.ages[i] == 0 || c.ages[i] == empty {
			continue
		}
		row := string(compared(&clean, now.Compared(b)))
		if had[sumOfCells(row, func(name string) (bool, bool) { return after[name], isShared(name) }, nil)] {
			c.ages[i] = 0
		}
	}
}
