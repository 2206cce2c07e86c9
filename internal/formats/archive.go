package formats

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/webrace/webrace/internal/charsets"
	"github.com/webrace/webrace/internal/pdftext"
	"github.com/webrace/webrace/internal/xmltoken"
)

// archive is a zip file, of which parts are read while they fit the limit together.
type archive struct {
	*writer
	parts map[string]*zip.File
	twice bool  // several parts have the same name
	left  int64 // bytes
}

// oleMagic begins files of the format before zip, in which encrypted ones of the new format are, too.
var oleMagic = []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")

// open reads the directory of an archive; nil if there is none, of which the reason is noted.
func (w *writer) open(body []byte) *archive {
	switch {
	case bytes.HasPrefix(body, oleMagic) && bytes.Contains(body, []byte("E\x00n\x00c\x00r\x00y\x00p\x00t\x00e\x00d\x00P\x00a\x00c\x00k")):
		w.refuse(pdftext.Encrypted, "it is encrypted: its text needs a password")
		return nil
	case bytes.HasPrefix(body, oleMagic):
		w.refuse(pdftext.Broken, "it is of the format that office programs had before 2007, which is not read")
		return nil
	case !bytes.HasPrefix(body, zipMagic):
		w.refuse(pdftext.Broken, "it is no such file: it does not begin as a zip archive does")
		return nil
	}
	z, err := zip.NewReader(bytes.NewReader(body), int64(len(body)))
	if err != nil {
		w.refuse(pdftext.Broken, "it is damaged: %v", err)
		return nil
	}
	a := &archive{writer: w, parts: make(map[string]*zip.File, len(z.File)), left: w.limits.Inflated}
	for _, f := range z.File {
		if f.Flags&1 != 0 {
			w.refuse(pdftext.Encrypted, "it is encrypted: its text needs a password")
			return nil
		}
		if name := partName(f.Name); a.parts[name] == nil { // of two the first counts
			a.parts[name] = f
		} else {
			a.twice = true
		}
	}
	return a
}

// partName is how parts are compared: office programs do not regard case.
func partName(name string) string {
	return strings.ToLower(strings.TrimPrefix(path.Clean("/"+strings.ReplaceAll(name, "\\", "/")), "/"))
}

// read returns a part, or what of it fits the limit; nil if there is none.
func (a *archive) read(name string) []byte {
	f := a.parts[partName(name)]
	if f == nil || a.ended() {
		return nil
	}
	expected := int(min(f.UncompressedSize64, uint64(a.left)))
	if !a.memory.take(expected) {
		return nil
	}
	r, err := f.Open()
	if err != nil {
		a.spoil("its part %s is damaged: %v", name, err)
		return nil
	}
	defer r.Close()
	body, err := io.ReadAll(io.LimitReader(r, a.left+1))
	if int64(len(body)) > a.left {
		body = body[:a.left]
		a.exceed("its parts are larger than %d MiB together: what is behind that is left out", a.limits.Inflated>>20)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		a.spoil("its part %s is damaged: %v", name, err)
	}
	a.left -= int64(len(body))
	if !a.memory.take(len(body) - expected) { // it said that it was less, or more
		return nil
	}
	return body
}

// xml returns a reader of a part of XML; nil if there is none.
func (a *archive) xml(name string) *xmltoken.Reader {
	text := a.text(name)
	if text == nil {
		return nil
	}
	return xmltoken.NewReader(text)
}

// text returns a part of XML in UTF-8; nil if there is none.
func (a *archive) text(name string) []byte {
	body := a.read(name)
	if text, _, err := charsets.ToUTF8(body, "application/xml"); err == nil && body != nil {
		return text
	}
	return body
}

// mustHave notes that a part is missing without which there is no text.
func (a *archive) mustHave(name string) bool {
	if a.parts[partName(name)] == nil {
		a.spoil("it is no such document: it has no part %s", name)
		return false
	}
	return true
}

// local returns the name of an element or attribute without its prefix.
func local(name []byte) string {
	return string(name[bytes.IndexByte(name, ':')+1:])
}

// attribute returns an attribute of the start tag that was read, by its name without a prefix.
func attribute(r *xmltoken.Reader, name string) string {
	for key, value := range r.Attributes() {
		if local(key) == name {
			return string(value)
		}
	}
	return ""
}

// properties reads title and language from the part that describes the document.
func (a *archive) properties(part string) {
	r := a.xml(part)
	if r == nil {
		return
	}
	element, title := "", ""
	for {
		switch r.Next() {
		case xmltoken.None:
			a.name(title)
			return
		case xmltoken.Start:
			if element = local(r.Name); r.Empty {
				element = ""
			}
		case xmltoken.End:
			element = ""
			a.name(title) // of several the first
		case xmltoken.Text:
			switch {
			case element == "title" && a.Title == "":
				title += string(r.Text)
			case element == "language" && a.Language == "":
				a.Language = strings.TrimSpace(string(r.Text))
			}
		}
	}
}
