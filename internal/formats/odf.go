package formats

import (
	"bytes"
	"strconv"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/pdftext"
	"github.com/webrace/webrace/internal/xmltoken"
)

const (
	odfContent  = "content.xml"
	odfManifest = "META-INF/manifest.xml"
)

// odf reads a file of OpenDocument (ISO 26300): text, a presentation, or a spreadsheet. Comments, and text that was
// deleted while changes were tracked, are not text.
func (w *writer) odf(body []byte) {
	a := w.open(body)
	if a == nil || !a.mustHave(odfContent) {
		return
	}
	if bytes.Contains(a.read(odfManifest), []byte("encryption-data")) {
		w.refuse(pdftext.Encrypted, "it is encrypted: its text needs a password")
		return
	}
	a.properties("meta.xml")
	o := odf{paragraphs: paragraphs{writer: w}, field: webrace.FieldBody}
	if r := a.xml(odfContent); r != nil {
		o.content(r, nil)
	}
	if !o.pages || o.full {
		return
	}
	if r := a.xml("styles.xml"); r != nil {
		o.field = webrace.FieldNavigation
		o.content(r, headsAndFeet)
	}
}

// headsAndFeet are the elements of styles that hold text of pages: of all, of left ones, of the first.
var headsAndFeet = map[string]bool{
	"header": true, "header-left": true, "header-first": true, "footer": true, "footer-left": true, "footer-first": true,
}

// odf is the work on a document.
type odf struct {
	paragraphs
	field       webrace.Field // of paragraphs
	pages       bool          // it is of a word processor
	spreadsheet bool
	table       *table
	cells       []string
	column      int // the next
	rowText     int // bytes in the cells
	rowRepeats  int
	cell        odfCell
}

// odfCell is the cell that is open.
type odfCell struct {
	open    bool
	text    []byte
	repeats int
}

// notText are elements whose text is not that of the document.
var notText = map[string]bool{
	"tracked-changes": true, "annotation": true, "note-citation": true, "automatic-styles": true, "font-face-decls": true,
	"scripts": true, "tracked-change": true, "sequence-decls": true, "shapes": true, "forms": true,
	"desc": true, "binary-data": true, "ruby-text": true, "content-validations": true,
}

// content reads a part, or only what is within elements of some names.
func (o *odf) content(r *xmltoken.Reader, within map[string]bool) {
	inside := 0
	if within == nil {
		inside = 1
	}
	for {
		switch r.Next() {
		case xmltoken.None:
			o.finish()
			return
		case xmltoken.Start:
			name := local(r.Name)
			if o.skip(notText[name] || name == "title" && string(r.Name) != "text:title", r.Empty) { // that of a picture
				continue
			}
			if within[name] && !r.Empty {
				inside++
			}
			if inside == 0 {
				continue
			}
			if o.start(r, name); r.Empty {
				o.close(name)
			}
		case xmltoken.End:
			name := local(r.Name)
			if o.skipEnd() || inside == 0 {
				continue
			}
			if o.close(name); within[name] {
				inside--
			}
			if o.full || o.ended() {
				return
			}
		case xmltoken.Text:
			if o.depth == 0 && inside > 0 {
				o.add(r.Text...)
			}
		}
	}
}

// finish writes what is left of a document that ends too early.
func (o *odf) finish() {
	for len(o.open) > 0 {
		o.end()
	}
	if o.table != nil {
		o.table.end()
	}
}

func (o *odf) start(r *xmltoken.Reader, name string) {
	switch name {
	case "spreadsheet":
		o.spreadsheet = true
	case "text":
		o.pages = true
	case "p":
		o.begin(o.field)
	case "h":
		o.begin(o.field)
		level, _ := strconv.Atoi(attribute(r, "outline-level"))
		o.heading(max(level, 1))
	case "tab", "line-break", "s":
		o.add(' ')
	case "a":
		o.link(attribute(r, "href"))
	}
	if !o.spreadsheet {
		return
	}
	switch name {
	case "table":
		o.sheet(attribute(r, "name"))
	case "table-row":
		o.cells, o.column, o.rowText, o.rowRepeats = o.cells[:0], 0, 0, repeats(r, "number-rows-repeated")
	case "table-cell", "covered-table-cell":
		o.cell = odfCell{open: true, text: o.cell.text[:0], repeats: repeats(r, "number-columns-repeated")}
	}
}

// repeats returns how often a cell or row stands there.
func repeats(r *xmltoken.Reader, name string) int {
	n, err := strconv.Atoi(attribute(r, name))
	if err != nil || n < 1 {
		return 1
	}
	return n
}

// mostRepeats is how often a row is written that is said to repeat.
const mostRepeats = 100

func (o *odf) sheet(name string) {
	if o.table != nil {
		o.table.end()
	}
	o.table = &table{writer: o.writer}
	o.full = o.full || !o.block([]byte(collapse(name)), webrace.FieldHeading)
}

func (o *odf) close(name string) {
	switch {
	case name == "p" || name == "h":
		if top := o.top(); o.cell.open && top != nil {
			o.cell.text = append(append(o.cell.text, ' '), top.text...)
			o.open = o.open[:len(o.open)-1]
			return
		}
		o.end()
	case o.table == nil:
	case name == "table-cell" || name == "covered-table-cell":
		o.closeCell()
	case name == "table-row":
		if filledCells(o.cells) == 0 {
			return
		}
		for range min(o.rowRepeats, mostRepeats) {
			o.full = o.full || !o.table.row(o.cells)
		}
		if o.rowRepeats > mostRepeats {
			o.exceed("of rows that repeat, more than %d are left out", mostRepeats)
		}
	case name == "table":
		o.table.end()
		o.table = nil
	}
}

// closeCell adds a cell to its row, as often as it stands there. Empty ones at the end take no memory, and no row has
// more text than the document may have: who looks at the cells looks at each of them.
func (o *odf) closeCell() {
	cell := o.cell
	o.cell.open = false
	text := collapse(string(cell.text))
	end := o.column + min(cell.repeats, o.limits.Columns+1)
	if text != "" && end > o.limits.Columns {
		o.exceed("columns behind the %dth are left out", o.limits.Columns)
		end = o.limits.Columns
	}
	for text != "" && len(o.cells) < end {
		if len(o.cells) < o.column {
			o.cells = append(o.cells, "")
			continue
		}
		if o.rowText += len(text); o.rowText > o.limits.Text {
			o.exceed("a row of it has more than %d MiB of text", o.limits.Text>>20)
			break
		}
		o.cells = append(o.cells, text)
	}
	o.column = min(o.column+cell.repeats, o.limits.Columns+1)
}
