package formats

import (
	"net/url"
	"path"
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/charsets"
	"github.com/webrace/webrace/internal/htmltext"
	"github.com/webrace/webrace/internal/pdftext"
	"github.com/webrace/webrace/internal/xmltoken"
)

const epubContainer = "META-INF/container.xml"

// epub reads a book (EPUB 2 and 3): its title, and its chapters in the order in which they are read.
func (w *writer) epub(body []byte) {
	a := w.open(body)
	if a == nil || !a.mustHave(epubContainer) {
		return
	}
	name := a.first(epubContainer, "rootfile", "full-path")
	if name == "" || !a.mustHave(name) {
		a.spoil("it is no book: its container names no package")
		return
	}
	a.properties(name)
	secret := a.encrypted()
	chapters := a.spine(name)
	locked := 0
	for _, chapter := range chapters {
		if secret[partName(chapter)] {
			locked++
			continue
		}
		page := a.read(chapter)
		if page == nil {
			continue
		}
		if !w.chapter(page) || w.ended() {
			return
		}
	}
	switch {
	case locked > 0 && locked == len(chapters):
		w.refuse(pdftext.Encrypted, "it is encrypted, as those are that only some programs may show")
	case locked > 0:
		w.spoil("%d of its %d chapters are encrypted", locked, len(chapters))
	case len(chapters) == 0:
		w.spoil("it is no book: its package %s names no chapters", name)
	}
}

// first returns an attribute of the first element of a name in a part.
func (a *archive) first(part, element, name string) string {
	r := a.xml(part)
	if r == nil {
		return ""
	}
	for kind := r.Next(); kind != xmltoken.None; kind = r.Next() {
		if kind == xmltoken.Start && local(r.Name) == element {
			return attribute(r, name)
		}
	}
	return ""
}

// encrypted returns the parts that are.
func (a *archive) encrypted() map[string]bool {
	parts := map[string]bool{}
	r := a.xml("META-INF/encryption.xml")
	if r == nil {
		return parts
	}
	for kind := r.Next(); kind != xmltoken.None; kind = r.Next() {
		if kind == xmltoken.Start && local(r.Name) == "CipherReference" {
			parts[partName(unescape(attribute(r, "URI")))] = true
		}
	}
	return parts
}

// spine returns the parts that are the chapters of a package, each once.
func (a *archive) spine(part string) (chapters []string) {
	r := a.xml(part)
	if r == nil {
		return nil
	}
	manifest, seen := map[string]string{}, map[string]bool{}
	for kind := r.Next(); kind != xmltoken.None; kind = r.Next() {
		if kind != xmltoken.Start {
			continue
		}
		switch local(r.Name) {
		case "item":
			manifest[attribute(r, "id")] = attribute(r, "href")
		case "itemref":
			href := manifest[attribute(r, "idref")]
			chapter := path.Join(path.Dir(part), unescape(href))
			if href == "" || seen[partName(chapter)] {
				continue
			}
			seen[partName(chapter)] = true
			chapters = append(chapters, chapter)
		}
	}
	return chapters
}

// unescape returns the name of a part that a reference leads to.
func unescape(reference string) string {
	name, _, _ := strings.Cut(reference, "#")
	if plain, err := url.PathUnescape(name); err == nil {
		return plain
	}
	return name
}

// chapter adds a page of XHTML, and reports whether there is place for more. Its title is mostly that of the book, or
// its first heading again.
func (w *writer) chapter(page []byte) bool {
	text, _, err := charsets.ToUTF8(page, "application/xhtml+xml")
	if err != nil {
		text = page
	}
	s := &htmltext.Scanner{Options: htmltext.Options{XHTML: true, MaxLinks: w.limits.Links, MaxBlocks: w.limits.Blocks}}
	s.Scan(text)
	for _, b := range s.Text.Blocks {
		if b.Field != webrace.FieldTitle && !w.block(s.Text.Slice(b), b.Field) {
			return false
		}
	}
	if s.Text.Cut {
		w.exceed("it has more than %d blocks of text", w.limits.Blocks)
	}
	for _, l := range s.Links {
		w.link(string(l.URL))
	}
	return true
}
