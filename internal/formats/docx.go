package formats

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/xmltoken"
)

const docxMain = "word/document.xml"

// isDocxMain reports whether a part is the body of a document: some programs of offices on the web number it.
var isDocxMain = regexp.MustCompile(`(?i)^word/document\d*\.xml$`).MatchString

// docx reads a document of WordprocessingML (ISO 29500): its body, the notes, and as navigation the heads and feet of
// its pages. Text that was deleted while changes were tracked is not text.
func (w *writer) docx(body []byte) {
	a := w.open(body)
	if a == nil {
		return
	}
	main := docxMain
	if found := slices.DeleteFunc(a.like("word/document"), func(name string) bool { return !isDocxMain(name) }); len(found) > 0 {
		main = found[0]
	}
	if !a.mustHave(main) {
		return
	}
	a.properties("docProps/core.xml")
	d := docx{paragraphs: paragraphs{writer: w}, files: a, styles: a.docxStyles()}
	d.part(main, webrace.FieldBody)
	for _, name := range slices.Concat(a.like("word/footnotes"), a.like("word/endnotes")) {
		d.part(name, webrace.FieldBody)
	}
	for _, name := range a.like("word/header", "word/footer") {
		d.part(name, webrace.FieldNavigation)
	}
	for _, name := range a.like("word/_rels/document", "word/_rels/footnotes", "word/_rels/endnotes", "word/_rels/header", "word/_rels/footer") {
		a.relations(name)
	}
}

// like returns the names of the parts that begin so, in their order.
func (a *archive) like(prefixes ...string) (names []string) {
	for name := range a.parts {
		if slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) }) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// relations adds the links that a part has.
func (a *archive) relations(part string) {
	r := a.xml(part)
	if r == nil {
		return
	}
	for kind := r.Next(); kind != xmltoken.None; kind = r.Next() {
		if kind == xmltoken.Start && local(r.Name) == "Relationship" && strings.HasSuffix(attribute(r, "Type"), "/hyperlink") {
			a.link(attribute(r, "Target"))
		}
	}
}

// docx is the work on a document.
type docx struct {
	paragraphs
	files  *archive
	styles map[string]int // the level of the headings of a style; 0 for a title
	field  webrace.Field  // of the part
}

// docxStyles returns the styles that make headings. What programs call them differs by language, and their names do
// not.
func (a *archive) docxStyles() map[string]int {
	styles := map[string]int{}
	parts := a.like("word/styles")
	if len(parts) == 0 {
		return styles
	}
	r := a.xml(parts[0]) // others say it again, with effects
	if r == nil {
		return styles
	}
	id := ""
	for kind := r.Next(); kind != xmltoken.None; kind = r.Next() {
		if kind != xmltoken.Start {
			continue
		}
		switch local(r.Name) {
		case "style":
			id = attribute(r, "styleId")
		case "name":
			name := strings.ToLower(attribute(r, "val"))
			if level, err := strconv.Atoi(strings.TrimPrefix(name, "heading ")); err == nil && level > 0 {
				styles[id] = level
			} else if name == "title" {
				styles[id] = 0
			}
		case "outlineLvl":
			if level, err := strconv.Atoi(attribute(r, "val")); err == nil && level >= 0 && level < 9 {
				styles[id] = level + 1
			}
		}
	}
	return styles
}

func (d *docx) part(name string, field webrace.Field) {
	r := d.files.xml(name)
	if r == nil || d.full {
		return
	}
	d.field = field
	text := false // the innermost element is one of text
	for {
		switch r.Next() {
		case xmltoken.None:
			for len(d.open) > 0 {
				d.end()
			}
			d.depth = 0
			return
		case xmltoken.Start:
			name := local(r.Name)
			if d.skip(name == "Fallback" || name == "moveFrom" || name == "rt", r.Empty) {
				continue
			}
			text = name == "t" && !r.Empty
			d.start(r, name)
		case xmltoken.End:
			if text = false; d.skipEnd() {
				continue
			}
			if local(r.Name) == "p" {
				d.end()
			}
			if d.full || d.ended() {
				return
			}
		case xmltoken.Text:
			if text && d.depth == 0 {
				d.add(r.Text...)
			}
		}
	}
}

func (d *docx) start(r *xmltoken.Reader, name string) {
	switch name {
	case "p":
		if !r.Empty {
			d.begin(d.field)
		}
	case "tab", "br", "cr":
		d.add(' ')
	case "noBreakHyphen":
		d.add('-')
	case "pStyle":
		if level, heading := d.styles[attribute(r, "val")]; heading {
			d.heading(level)
		}
	case "outlineLvl":
		if level, err := strconv.Atoi(attribute(r, "val")); err == nil && level >= 0 && level < 9 {
			d.heading(level + 1)
		}
	}
}
