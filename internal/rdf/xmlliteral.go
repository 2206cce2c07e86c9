package rdf

import (
	"bytes"
	"cmp"
	"slices"
)

// literal reads the content of an element up to its end, and returns it as exclusive canonical XML with comments.
func (x *xmlReader) literal() ([]byte, error) {
	x.chars, x.canonical = x.chars[:0], true
	defer func() { x.canonical = false }()
	var written []binding // namespaces that tags declare which are open; bound is that of an element's mark
	for depth := 0; ; {
		kind, err := x.next()
		if err != nil {
			return nil, err
		}
		if kind == xmlStart {
			depth++
			written = append(written, binding{bound: true})
			written = x.canonicalTag(written)
		} else if depth--; depth < 0 {
			return x.chars, nil
		} else {
			for !written[len(written)-1].bound {
				written = written[:len(written)-1]
			}
			written = written[:len(written)-1]
			x.chars = append(append(append(x.chars, "</"...), x.ended...), '>')
		}
		if err := x.checkLength(x.chars); err != nil {
			return nil, err
		}
	}
}

// canonicalTag appends a start tag: namespaces that it uses, unless a tag around it has them, then attributes, sorted.
func (x *xmlReader) canonicalTag(written []binding) []binding {
	x.chars = append(append(x.chars, '<'), x.name.qualified...)
	first := len(written)
	used := append(make([]xmlName, 0, 8), x.name)
	for _, a := range x.attrs {
		if len(a.prefix) > 0 {
			used = append(used, a.xmlName)
		}
	}
	for _, n := range used {
		if string(n.prefix) != "xml" && !declaredBy(written, n) {
			written = append(written, binding{prefix: string(n.prefix), space: n.space})
		}
	}
	slices.SortFunc(written[first:], func(a, b binding) int { return cmp.Compare(a.prefix, b.prefix) })
	for _, b := range written[first:] {
		x.chars = append(x.chars, " xmlns"...)
		if b.prefix != "" {
			x.chars = append(append(x.chars, ':'), b.prefix...)
		}
		x.canonicalValue([]byte(b.space))
	}
	slices.SortFunc(x.attrs, func(a, b attribute) int {
		return cmp.Or(cmp.Compare(a.space, b.space), bytes.Compare(a.local, b.local))
	})
	for _, a := range x.attrs {
		x.chars = append(append(x.chars, ' '), a.qualified...)
		x.canonicalValue(a.value)
	}
	x.chars = append(x.chars, '>')
	return written
}

// declaredBy reports whether the namespace of a name is in force in what was written.
func declaredBy(written []binding, n xmlName) bool {
	for _, b := range slices.Backward(written) {
		if !b.bound && b.prefix == string(n.prefix) {
			return b.space == n.space
		}
	}
	return len(n.prefix) == 0 && n.space == ""
}

func (x *xmlReader) canonicalValue(value []byte) {
	x.chars = append(x.chars, `="`...)
	for _, c := range value {
		switch c {
		case '&':
			x.chars = append(x.chars, "&amp;"...)
		case '<':
			x.chars = append(x.chars, "&lt;"...)
		case '"':
			x.chars = append(x.chars, "&quot;"...)
		case '\t':
			x.chars = append(x.chars, "&#x9;"...)
		case '\n':
			x.chars = append(x.chars, "&#xA;"...)
		case '\r':
			x.chars = append(x.chars, "&#xD;"...)
		default:
			x.chars = append(x.chars, c)
		}
	}
	x.chars = append(x.chars, '"')
}

// canonicalText escapes the text that begins at an offset.
func canonicalText(chars []byte, start int) []byte {
	if !bytes.ContainsAny(chars[start:], "&<>\r") {
		return chars
	}
	text := bytes.Clone(chars[start:])
	chars = chars[:start]
	for _, c := range text {
		switch c {
		case '&':
			chars = append(chars, "&amp;"...)
		case '<':
			chars = append(chars, "&lt;"...)
		case '>':
			chars = append(chars, "&gt;"...)
		case '\r':
			chars = append(chars, "&#xD;"...)
		default:
			chars = append(chars, c)
		}
	}
	return chars
}
