package extract

import (
	"bytes"
	"mime"
	"strings"
)

// splitParts returns the parts of a multipart body, each with its header, at most as many as are wanted. What is
// before the first delimiter and after the last is not for eyes. A last part that is not ended is one
// nevertheless; a body in which no delimiter is found has no parts.
func splitParts(body []byte, boundary string, most int) (parts [][]byte) {
	delimiter := []byte("--" + boundary)
	start := -1
	for i := 0; len(parts) < most; {
		n := bytes.Index(body[i:], delimiter)
		if n < 0 {
			break
		}
		i += n
		next, last, ok := afterDelimiter(body, i, i+len(delimiter))
		if !ok {
			i += len(delimiter)
			continue
		}
		if start >= 0 {
			parts = append(parts, withoutLineEnd(body[start:max(start, i)]))
		}
		if last {
			return parts
		}
		start, i = next, next
	}
	if start >= 0 && start < len(body) && len(parts) < most {
		parts = append(parts, body[start:])
	}
	return parts
}

// afterDelimiter returns where the line after the delimiter between start and end begins, and whether it is
// the last one; ok is false if it is none, because more than white space stands around it.
func afterDelimiter(body []byte, start, end int) (next int, last, ok bool) {
	if start > 0 && body[start-1] != '\n' {
		return 0, false, false
	}
	line, rest := cutLine(body[end:])
	line, last = bytes.CutPrefix(line, []byte("--"))
	return len(body) - len(rest), last, len(bytes.Trim(line, " \t")) == 0
}

// withoutLineEnd takes away the end of the last line, which belongs to the delimiter.
func withoutLineEnd(b []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(b, []byte("\n")), []byte("\r"))
}

// boundaryOf returns what separates the parts of a body: by its content type, or else by its first line that
// looks like a delimiter, if one like it ends the parts. It is empty if there is none.
func boundaryOf(contentType string, body []byte) string {
	if _, parameters, err := mime.ParseMediaType(contentType); err == nil && parameters["boundary"] != "" {
		return parameters["boundary"]
	}
	if boundary := brokenParameter(contentType); boundary != "" {
		return boundary
	}
	for rest := body; len(rest) > 0; {
		var line []byte
		line, rest = cutLine(rest)
		delimiter := bytes.TrimRight(line, " \t")
		boundary, ok := bytes.CutPrefix(delimiter, []byte("--"))
		if !ok || len(boundary) == 0 {
			continue
		}
		if bytes.Contains(rest, append(append([]byte("\n"), delimiter...), "--"...)) {
			return string(boundary)
		}
		break
	}
	return ""
}

// brokenParameter returns the boundary of a content type that is not well-formed.
func brokenParameter(contentType string) string {
	const key = "boundary="
	for i := 0; i+len(key) < len(contentType); i++ {
		if strings.EqualFold(contentType[i:i+len(key)], key) {
			value, _, _ := strings.Cut(contentType[i+len(key):], ";")
			return strings.Trim(value, " \t\"'")
		}
	}
	return ""
}
