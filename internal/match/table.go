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
// row new.

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
	var sum uint64
	number := func(name string) (int32, bool) { return c.numbers.Get(xxhash.Sum64String(name)) }
	isColumn := func(name string) bool {
		_, is := number(name)
		return is
	}
	for column, cell := range entries.Cells(string(row), isColumn) {
		n, is := number(column)
		switch {
		case column == "": // the row with the names
			for name := range strings.SplitSeq(cell, "; ") {
				sum += xxhash.Sum64String(name)
			}
		case !onlyKnown || !is || c.known[n]:
			sum += xxhash.Sum64String(cell)
		}
	}
	return max(sum&^(ageMask|inPart), 2*(ageMask+1))
}

// ageInColumns returns how many versions ago the cells of a row were seen in those columns that are known.
func (c *comparison) ageInColumns(row []byte) uint8 {
	hash := c.columns.hashRow(compared(&c.clean, row), true)
	if place, met := c.places.Get(hash >> ageBits); met && int(place) < len(c.known) {
		return uint8(c.known[place] & ageMask) // that row itself is not there any more
	}
	return never
}
