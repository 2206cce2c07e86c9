package pdftext

import (
	"strings"
	"unicode"
)

// Bounds of what a file may declare of its structure.
const (
	mostBookmarks  = 10_000
	mostElements   = 20_000 // of a page
	deepestElement = 64
	longestString  = 4 << 10 // bytes
)

// outline is the titles of chapters that a file lists as bookmarks, as [plainTitle] gives them.
type outline map[string]bool

// plainTitle is what has to be the same of a bookmark and the heading that it stands for: letters and digits.
func plainTitle(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}

// readOutline reads the bookmarks, which may make a circle.
func (r *reading) readOutline() outline {
	titles := outline{}
	pending := []uint64{r.call("FPDFBookmark_GetFirstChild", r.handle, 0)}
	for n := 0; len(pending) > 0 && n < mostBookmarks; n++ {
		at := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		if at == 0 {
			continue
		}
		if title := plainTitle(r.utf16From("FPDFBookmark_GetTitle", at)); title != "" {
			titles[title] = true
		}
		pending = append(pending,
			r.call("FPDFBookmark_GetNextSibling", r.handle, at), r.call("FPDFBookmark_GetFirstChild", r.handle, at))
	}
	return titles
}

// headingsOf returns the marked contents of a page that are headings by the tree of the file's structure.
func (r *reading) headingsOf(page uint64) map[int32]bool {
	tree := r.call("FPDF_StructTree_GetForPage", page)
	if tree == 0 {
		return nil
	}
	w := &structure{reading: r, headings: map[int32]bool{}}
	for i := range r.count("FPDF_StructTree_CountChildren", tree) {
		w.element(r.call("FPDF_StructTree_GetChildAtIndex", tree, uint64(i)), false, 0)
	}
	r.call("FPDF_StructTree_Close", tree)
	return w.headings
}

// structure is the walk over the elements of a page.
type structure struct {
	*reading
	headings map[int32]bool
	seen     int
}

func (w *structure) element(at uint64, heading bool, depth int) {
	if w.seen++; at == 0 || depth == deepestElement || w.seen > mostElements {
		return
	}
	heading = heading || isHeading(w.utf16From("FPDF_StructElement_GetType", at))
	for i := range w.count("FPDF_StructElement_CountChildren", at) {
		if w.seen > mostElements {
			return
		}
		if child := w.call("FPDF_StructElement_GetChildAtIndex", at, uint64(i)); child != 0 {
			w.element(child, heading, depth+1)
			continue
		}
		w.seen++
		if id := int32(w.call("FPDF_StructElement_GetChildMarkedContentID", at, uint64(i))); heading && id >= 0 {
			w.headings[id] = true
		}
	}
}

// isHeading reports whether a standard type of ISO 32000 is that of a heading.
func isHeading(kind string) bool {
	if kind == "Title" || kind == "H" {
		return true
	}
	return len(kind) == 2 && kind[0] == 'H' && kind[1] >= '1' && kind[1] <= '6'
}

// count calls a function that counts; -1 is how some of them tell that there is nothing.
func (in *instance) count(name string, args ...uint64) int {
	return max(0, int(int32(in.call(name, args...))))
}

// utf16From calls a function whose last arguments are a buffer and its length, and that returns how many bytes of
// UTF-16 there are, with the zero at their end. A text that is too long is empty.
func (in *instance) utf16From(name string, args ...uint64) string {
	return string(decodeUTF16(in.textFrom(name, args...)))
}

// textFrom is utf16From for any bytes.
func (in *instance) textFrom(name string, args ...uint64) []byte {
	length := int(uint32(in.call(name, append(args, 0, 0)...)))
	if length == 0 || length > longestString {
		return nil
	}
	buffer := in.allocate(length)
	in.call(name, append(args, uint64(buffer), uint64(length))...)
	text := append([]byte(nil), in.bytes(buffer, length)...)
	in.free(buffer)
	return text
}

// uriAction is the type of an action that opens a URL.
const uriAction = 3

// readLinks adds the URLs that the links of a page lead to.
func (r *reading) readLinks(page uint64) {
	position, link := r.scratch, r.scratch+4
	r.module.Memory().WriteUint32Le(position, 0)
	for len(r.links) < r.limits.Links && r.call("FPDFLink_Enumerate", page, uint64(position), uint64(link)) != 0 {
		at, _ := r.module.Memory().ReadUint32Le(link)
		action := r.call("FPDFLink_GetAction", uint64(at))
		if action == 0 || r.call("FPDFAction_GetType", action) != uriAction {
			continue
		}
		uri := r.textFrom("FPDFAction_GetURIPath", r.handle, action)
		if text := collapse(strings.ToValidUTF8(strings.TrimRight(string(uri), "\x00"), "")); text != "" {
			r.links = append(r.links, text)
		}
	}
}
