package sql

import "bytes"

// appendHTML appends a value as it came from a driver, as text of HTML, in which blank lines part paragraphs.
func appendHTML(b []byte, value any, k kind) []byte {
	switch v := value.(type) {
	case string:
		return appendParagraphs(b, appendUTF8(nil, []byte(v)))
	case []byte:
		return appendParagraphs(b, appendUTF8(nil, v))
	}
	return appendPlain(b, value, k) // which has nothing to escape
}

func appendParagraphs(b, text []byte) []byte {
	if bytes.IndexByte(text, '\n') < 0 {
		return appendEscaped(b, text)
	}
	parts := bytes.Split(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), []byte("\n\n"))
	if len(parts) == 1 {
		return appendEscaped(b, parts[0])
	}
	for _, part := range parts {
		b = append(b, "<p>"...)
		b = appendEscaped(b, part)
		b = append(b, "</p>\n"...)
	}
	return b
}

// appendEscaped appends a text with what would be markup in it escaped.
func appendEscaped(b, text []byte) []byte {
	from := 0
	for i, c := range text {
		var escaped string
		switch c {
		case '&':
			escaped = "&amp;"
		case '<':
			escaped = "&lt;"
		case '>':
			escaped = "&gt;"
		case '"':
			escaped = "&#34;"
		case 0:
			escaped = "\uFFFD"
		default:
			continue
		}
		b = append(append(b, text[from:i]...), escaped...)
		from = i + 1
	}
	return append(b, text[from:]...)
}
