package portal

import (
	"cmp"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
	"github.com/webrace/webrace/xmlschema/urdimport"
)

// importRoutes are those of what one watched with other programs.
var importRoutes = []route{
	{pattern: "GET /import", own: showImport, section: "interests"},
	{pattern: "POST /import", own: tryImport, section: "interests", most: mostOfImport, long: true},
	{pattern: "POST /import/take", own: takeImport, section: "interests", most: mostOfImport, long: true},
}

const (
	mostOfFile     = 4 << 20 // bytes: it comes back in a form, whose characters may take three bytes each
	mostImported   = 10_000  // entries
	importedShown  = 500
	importInMemory = 1 << 20 // bytes of a form; the rest of it goes to a file
)

// importPage is what is shown of a file with interests.
type importPage struct {
	Form    *form
	Read    bool // it was read, and nothing is stored yet
	Taken   bool // it was taken over
	Name    string
	Content string
	Entries []importedEntry
	Found   int // that would be taken over, or were
	Left    int // entries that are not shown
}

// importedEntry is an entry of a file.
type importedEntry struct {
	Title, Place string
	Said         []string // why it is left out, or what is not taken over of it
	LeftOut      bool
}

func showImport(v *visit, _ control.Owned) error {
	return v.show(http.StatusOK, "import", importPage{Form: newForm(nil)})
}

// tryImport shows what would become of a file, entry by entry. Nothing is stored.
func tryImport(v *visit, mine control.Owned) error {
	p, entries, err := v.readImport(mine)
	if err != nil {
		return err
	}
	if !p.Form.ok() {
		return v.show(http.StatusUnprocessableEntity, "import", p)
	}
	p.Read = true
	for _, e := range entries {
		p.add(importedOf(e))
	}
	return v.show(http.StatusOK, "import", p)
}

// takeImport stores what a file asks for, each entry by itself: one that cannot be stored leaves the others.
func takeImport(v *visit, mine control.Owned) error {
	p, entries, err := v.readImport(mine)
	if err != nil {
		return err
	}
	if !p.Form.ok() {
		return v.show(http.StatusUnprocessableEntity, "import", p)
	}
	p.Taken, p.Content = true, ""
	for _, e := range entries {
		shown := importedOf(e)
		if e.URD != nil {
			if err := v.take(mine, e.URD, &shown); err != nil {
				return err
			}
		}
		p.add(shown)
	}
	return v.show(http.StatusOK, "import", p)
}

// take stores an interest. Where it may not be, the entry is told why.
func (v *visit) take(mine control.Owned, u *xmlschema.URD, e *importedEntry) error {
	_, err := mine.Add(v.r.Context(), u)
	f := newForm(nil)
	switch {
	case err == nil:
	case errors.As(err, new(*control.TakenError)):
		e.leaveOut(text("import.there"))
	case f.refused(err):
		for _, said := range f.Wrong {
			e.leaveOut(said)
		}
	default:
		return err
	}
	return nil
}

func (e *importedEntry) leaveOut(said string) {
	e.LeftOut, e.Said = true, append(e.Said, said)
}

// add counts an entry, and shows it if there is room.
func (p *importPage) add(e importedEntry) {
	if !e.LeftOut {
		p.Found++
	}
	if len(p.Entries) == importedShown {
		p.Left++
		return
	}
	p.Entries = append(p.Entries, e)
}

func importedOf(e urdimport.Entry) importedEntry {
	shown := importedEntry{Title: e.URI, Place: e.Path, LeftOut: e.URD == nil}
	if e.Line > 0 {
		shown.Place = text("import.line", e.Line)
	}
	if e.URD != nil {
		shown.Title = cmp.Or(e.URD.Title, e.URD.URI)
	}
	for _, p := range e.Problems {
		shown.Said = append(shown.Said, p.Message)
	}
	if len(e.Lost) > 0 {
		shown.Said = append(shown.Said, text("import.lost", strings.Join(e.Lost, ", ")))
	}
	for _, p := range e.Warnings {
		shown.Said = append(shown.Said, p.Message)
	}
	return shown
}

// readImport reads the file, or the text, that a form brings.
func (v *visit) readImport(mine control.Owned) (p importPage, entries []urdimport.Entry, err error) {
	if p.Form, p.Name, p.Content, err = v.importForm(); err != nil || !p.Form.ok() {
		return p, nil, err
	}
	read, err := urdimport.Read(strings.NewReader(p.Content), urdimport.Options{
		Name: p.Name, Most: mostImported, Check: v.allows, Defaults: urdimport.Defaults{Owner: mine.Owner(), Depth: 1, Feeds: 1},
	})
	if err != nil {
		p.Form.wrong("content", "import.wrong", err.Error())
		return p, nil, nil
	}
	for i := range read.Entries {
		if u := read.Entries[i].URD; u != nil {
			u.ID, u.Owner = "", mine.Owner() // an id names what is there already, perhaps another's
		}
	}
	return p, read.Entries, nil
}

// importForm returns what a form with a file brings: its fields, and the name and the text of the file.
func (v *visit) importForm() (f *form, name, content string, err error) {
	if strings.HasPrefix(v.r.Header.Get("Content-Type"), "multipart/form-data") {
		if err := v.r.ParseMultipartForm(importInMemory); err != nil {
			if errors.As(err, new(*http.MaxBytesError)) {
				return nil, "", "", refuse(http.StatusRequestEntityTooLarge, "error.large", v.most>>10)
			}
			return nil, "", "", refuse(http.StatusBadRequest, "error.form")
		}
		defer v.r.MultipartForm.RemoveAll()
	}
	if f, err = v.form(); err != nil {
		return nil, "", "", err
	}
	name, content = f.line("filename"), f.Value("content")
	if file, header, err := v.r.FormFile("file"); err == nil && header.Size > 0 {
		defer file.Close()
		b, err := io.ReadAll(file)
		if err != nil {
			return nil, "", "", refuse(http.StatusBadRequest, "error.form")
		}
		name, content = header.Filename, string(b)
	}
	switch {
	case strings.TrimSpace(content) == "":
		f.wrong("content", "import.empty")
	case len(content) > mostOfFile:
		f.wrong("content", "import.large", mostOfFile>>20)
	}
	return f, name, content, nil
}

// allows finds fault with what people may not ask for.
func (v *visit) allows(u *xmlschema.URD) (faults []xmlschema.Fault) {
	if most := v.tools.options.MaxDepth; u.Depth == 0 || u.Depth > most {
		faults = append(faults, xmlschema.Fault{About: "depth", Message: text("import.deep", u.Depth, most)})
	}
	if _, is := u.Prefix(); is && !v.tools.options.Prefixes {
		faults = append(faults, xmlschema.Fault{About: "uri", Message: text("import.no_prefix")})
	}
	return faults
}
