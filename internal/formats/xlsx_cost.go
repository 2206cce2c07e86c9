package formats

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/xuri/excelize/v2"

	"github.com/webrace/webrace/internal/xmltoken"
)

// The library keeps a row in memory at once, with a copy of a text for each cell that shows it, as often as a number
// format repeats it; it reads that format anew for each cell, and keeps a structure for each element of what is no
// sheet. So a file of some kilobytes can want more memory than there is. What it would want is computed before.

const (
	mostElements  = 3_000_000 // of what is no sheet: some hundred bytes each
	longestFormat = 1024      // bytes of a number format; spreadsheet programs allow 255
)

// sheetCost is what is known of the cost of cells.
type sheetCost struct {
	texts    []int // how long those are that cells share
	repeated int   // how often a number format may repeat a text
	elements int
}

// excessive returns why reading a spreadsheet would take too much; empty if it would not.
func (a *archive) excessive() string {
	parts := map[string][]byte{}
	for name := range a.parts {
		parts[name] = a.text(name)
	}
	c := sheetCost{repeated: 1}
	c.shared(xmltoken.NewReader(parts[partName("xl/sharedStrings.xml")]))
	if !c.formats(xmltoken.NewReader(parts[partName("xl/styles.xml")])) {
		return fmt.Sprintf("it has a number format of more than %d bytes", longestFormat)
	}
	for _, name := range a.like("") { // in their order; any may be a sheet
		if reason := c.rows(xmltoken.NewReader(parts[name]), a.limits.Inflated); reason != "" || a.ended() {
			return reason
		}
	}
	return ""
}

// shared reads how long the texts are that cells share.
func (c *sheetCost) shared(r *xmltoken.Reader) {
	for kind := r.Next(); kind != xmltoken.None; kind = r.Next() {
		switch {
		case kind == xmltoken.Start && local(r.Name) == "si":
			c.texts = append(c.texts, 0)
		case kind == xmltoken.Text && len(c.texts) > 0:
			c.texts[len(c.texts)-1] += len(r.Text)
		}
	}
}

// formats reads how often number formats repeat a text, and reports whether none is too long.
func (c *sheetCost) formats(r *xmltoken.Reader) bool {
	for kind := r.Next(); kind != xmltoken.None; kind = r.Next() {
		if kind != xmltoken.Start || local(r.Name) != "numFmt" {
			continue
		}
		for _, value := range r.Attributes() {
			if len(value) > longestFormat {
				return false
			}
			c.repeated = max(c.repeated, bytes.Count(value, []byte("@"))+bytes.Count(value, []byte("0")))
		}
	}
	return true
}

// rows returns why the rows of a part would take too much. As for the library, rows are one if their numbers do not
// grow.
func (c *sheetCost) rows(r *xmltoken.Reader, most int64) string {
	var value []byte
	number, highest := 0, 0
	cells, size := 0, int64(0)
	shared, element := false, ""
	for kind := r.Next(); kind != xmltoken.None; kind = r.Next() {
		switch kind {
		case xmltoken.Start:
			switch element = local(r.Name); element {
			case "row":
				if number = numberOf(r, number+1); number > highest {
					highest, cells, size = number, 0, 0
				}
			case "c":
				cells++
				shared, value = isShared(r), value[:0]
			case "v", "f":
			default:
				c.elements++
			}
		case xmltoken.Text:
			if element == "v" || element == "t" {
				value = append(value, r.Text...)
			}
		case xmltoken.End:
			if element = ""; local(r.Name) == "c" {
				size += c.cell(value, shared)
			}
		}
		switch {
		case size > most:
			return fmt.Sprintf("a row of it has more than %d MiB of text", most>>20)
		case cells > excelize.MaxColumns:
			return fmt.Sprintf("a row of it has more than %d cells", excelize.MaxColumns)
		case c.elements > mostElements:
			return fmt.Sprintf("it has more than %d elements besides its cells", mostElements)
		}
	}
	return ""
}

// cell returns how long the text of a cell is. One that shares its text has the number of that.
func (c *sheetCost) cell(value []byte, shared bool) int64 {
	size := len(value)
	if shared {
		if n, _ := strconv.Atoi(string(bytes.TrimSpace(value))); n >= 0 && n < len(c.texts) {
			size = c.texts[n]
		}
	}
	return int64(size) * int64(c.repeated)
}

func isShared(r *xmltoken.Reader) (shared bool) {
	for key, value := range r.Attributes() {
		if local(key) == "t" {
			shared = string(value) == "s"
		}
	}
	return shared
}

// numberOf returns the number that a row gives itself, or else the next.
func numberOf(r *xmltoken.Reader, next int) int {
	for key, value := range r.Attributes() {
		if n, err := strconv.Atoi(string(value)); local(key) == "r" && err == nil && n != 0 {
			next = n
		}
	}
	return next
}
