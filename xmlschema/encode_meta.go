package xmlschema

import (
	"slices"
	"strconv"
)

// encode writes what [Meta.Canonical] is, without a tree: a document is stored with it, so it is made as often
// as one is fetched. The values must be plain.
func (m *Meta) encode() []byte {
	b := make([]byte, 0, 256+64*len(m.Header)+96*len(m.Links))
	b = append(append(append(b, `<meta xmlns="`...), Namespace...), '"')
	if m.Status != 0 {
		b = appendAttr(b, "status", strconv.Itoa(m.Status))
	}
	b = appendAttr(b, "size", strconv.Itoa(m.Size))
	if m.ETag != "" {
		b = appendAttr(b, "etag", m.ETag)
	}
	if m.LastModified != "" {
		b = appendAttr(b, "lastmodified", m.LastModified)
	}
	if !m.Fetched.IsZero() {
		b = appendAttr(b, "fetched", formatTime(m.Fetched))
	}
	b = appendText(append(b, "><url"...), "url", m.URL)
	if m.IP != "" {
		b = appendText(append(b, "<ip"...), "ip", m.IP)
	}
	for i := range m.Header {
		b = appendAttr(append(b, "<header"...), "name", m.Header[i].Name)
		b = appendText(b, "header", m.Header[i].Value)
	}
	for _, link := range m.Links {
		b = append(appendAttr(append(b, "<link"...), "href", link), "/>"...)
	}
	return append(b, "</meta>"...)
}

// appendAttr appends an attribute.
func appendAttr(b []byte, name, value string) []byte {
	b = append(append(append(b, ' '), name...), `="`...)
	return append(appendEscaped(b, value, &escapedInAttribute), '"')
}

// appendText appends what follows the name and the attributes of an element of text alone.
func appendText(b []byte, name, value string) []byte {
	if value == "" {
		return append(b, "/>"...)
	}
	b = appendEscaped(append(b, '>'), value, &escapedInText)
	return append(append(append(b, "</"...), name...), '>')
}

// The characters that are escaped.
var (
	escapedInAttribute = [256]bool{'&': true, '<': true, '"': true}
	escapedInText      = [256]bool{'&': true, '<': true, '>': true}
)

func appendEscaped(b []byte, s string, special *[256]bool) []byte {
	from := 0
	for i := range len(s) {
		if special[s[i]] {
			b = append(append(b, s[from:i]...), escapes[s[i]]...)
			from = i + 1
		}
	}
	return append(b, s[from:]...)
}

// plain reports whether it is certain that all values are written as they are, but for the characters that
// mean something in XML. It may return false for meta-information that is.
func (m *Meta) plain() bool {
	if m.Status < 0 || m.Size < 0 || !plainString(m.URL, MaxAttribute, false) || !plainString(m.IP, plainToken, false) ||
		!plainString(m.ETag, plainValue, true) || !plainString(m.LastModified, plainValue, true) {
		return false
	}
	for i := range m.Header {
		if !plainString(m.Header[i].Name, plainToken, false) || !plainString(m.Header[i].Value, plainText, true) {
			return false
		}
	}
	return !slices.ContainsFunc(m.Links, func(link string) bool { return !plainString(link, MaxAttribute, false) })
}
