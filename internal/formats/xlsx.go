package formats

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/xuri/excelize/v2"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/pdftext"
)

// atOnce is how many spreadsheets are read at once: all their cells are in memory.
const atOnce = 2

var spreadsheets = make(chan struct{}, atOnce)

// xlsx reads a spreadsheet of SpreadsheetML (ISO 29500): a sheet is a table below its name, and cells are what a
// reader sees of them. Nothing is computed: of a formula the value counts that was stored with it.
func (w *writer) xlsx(body []byte) {
	a := w.open(body)
	if a == nil {
		return
	}
	if a.twice { // of which the library takes the last
		w.refuse(pdftext.Broken, "several of its parts have the same name")
		return
	}
	select {
	case spreadsheets <- struct{}{}:
		defer func() { <-spreadsheets }()
	case <-w.ctx.Done():
		w.ended()
		return
	}
	if reason := a.excessive(); reason != "" {
		w.refuse(pdftext.Memory, "%s", reason)
		return
	}
	if err := w.sheets(body); err != nil && !w.ended() {
		w.spoil("it is damaged: %v", err)
	}
}

// sheets reads the sheets. The library is made for files of friends: what panics in it is damaged.
func (w *writer) sheets(body []byte) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	f, err := excelize.OpenReader(bytes.NewReader(body), excelize.Options{
		UnzipSizeLimit: w.limits.Inflated, UnzipXMLSizeLimit: w.limits.Inflated, // so that nothing is written to disk
		ShortDatePattern: "yyyy-mm-dd", // of cells that leave it to the reader's country
	})
	if err != nil {
		if tooLarge(err) {
			w.refuse(pdftext.Memory, "its parts are larger than %d MiB together", w.limits.Inflated>>20)
			return nil
		}
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if p, err := f.GetDocProps(); err == nil && p != nil {
		w.name(p.Title)
		w.Language = p.Language
	}
	for _, name := range f.GetSheetList() {
		if !w.block([]byte(collapse(name)), webrace.FieldHeading) {
			return nil
		}
		if err := w.rows(f, name); err != nil || w.ended() {
			return err
		}
	}
	return nil
}

// cellOfXLSX is as how many others a cell counts, or a row, which the library reads slowly.
const cellOfXLSX = 4

func (w *writer) rows(f *excelize.File, sheet string) (err error) {
	rows, err := f.Rows(sheet)
	if err != nil {
		w.spoil("its sheet %q cannot be read: %v", shorten(sheet, longestName), err) // as one of charts
		return nil
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	t := table{writer: w}
	defer t.end()
	for rows.Next() {
		if w.ended() {
			return nil
		}
		cells, err := rows.Columns()
		if err != nil {
			return fmt.Errorf("sheet %q: %w", sheet, err)
		}
		if len(cells) > 0 && !t.count((cellOfXLSX-1)*(1+len(cells))) || !t.row(cells) {
			return nil
		}
	}
	return rows.Error()
}

// tooLarge reports whether the library refuses a file for the size of what is in it.
func tooLarge(err error) bool { return strings.Contains(err.Error(), "unzip size exceeds") }
