package htmltext

// What follows is for those who make something else of a page than its text, and cut it into tokens by the same rules.

// NameEnd returns where the name of a tag ends that begins at i.
func NameEnd(src []byte, i int) int {
	for i < len(src) && !endsName[src[i]] {
		i++
	}
	return i
}

// NextAttribute reads one attribute of a tag from i on, where its name or another attribute ended. At the end of the
// tag the name is nil and next is where the tag ends, or -1 if the page ends first. Both are as the page writes them,
// parts of src; a value, even an empty one, is never nil.
func NextAttribute(src []byte, i int) (name, value []byte, next int, selfClosing bool) {
	return nextAttribute(src, i)
}

// TagEnd returns where a tag ends whose name ended at i, -1 if the page ends first, and whether it closes itself.
func TagEnd(src []byte, i int) (next int, selfClosing bool) {
	next, selfClosing, _ = skipAttributes(src, i)
	return next, selfClosing
}

// CommentEnd returns the place after the comment whose "<!--" ends at i.
func CommentEnd(src []byte, i int) int { return commentEnd(src, i) }

// CDATAEnd returns where the content of the CDATA section that starts at i ends, and the place after the section.
func CDATAEnd(src []byte, i int) (end, next int) { return cdataEnd(src, i) }

// IsRaw reports whether the content of an element of HTML, whose name is in lower case, has no tags where no scripts
// run.
func IsRaw(name string) bool {
	switch name {
	case "script", "style", "title", "textarea", "xmp", "iframe", "noembed", "noframes", "plaintext":
		return true
	}
	return false
}

// RawEnd returns where the content of such an element ends, which begins at i.
func RawEnd(name string, src []byte, i int) int {
	switch name {
	case "script":
		return scriptEnd(src, i)
	case "plaintext":
		return len(src)
	}
	return endTagOf(name, src, i)
}

// References decodes character references, and remembers those that it has met. The zero value is ready. It must not be
// used by two goroutines at once.
type References struct{ scanner Scanner }

// XML has the references that are decoded from now on be those of XML.
func (r *References) XML() { r.scanner.XHTML = true }

// Append appends b to dst with its character references decoded, by the rule of attributes or by that of text.
func (r *References) Append(dst, b []byte, attribute bool) []byte {
	return r.scanner.appendDecoded(dst, b, attribute, dropNUL)
}
