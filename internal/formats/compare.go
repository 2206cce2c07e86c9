package formats

import (
	"strings"
)

// IsTable reports whether the text of documents of a type is rows.
func IsTable(mediaType string) bool {
	switch byMediaType[mediaType] {
	case CSV, TSV, XLSX, ODS:
		return true
	}
	return false
}

// WithoutIndexes returns leaves of JSON without the numbers of elements in their paths, by which they can be compared
// when others come before them.
func WithoutIndexes(leaves []string) []string {
	without := make([]string, len(leaves))
	for i, leaf := range leaves {
		without[i] = withoutIndexes(leaf)
	}
	return without
}

func withoutIndexes(leaf string) string {
	end := pathEnd(leaf)
	if end < 0 {
		return leaf
	}
	path := make([]byte, 0, end)
	for at := 0; at < end; {
		step := stepEnd(leaf, at)
		if isIndex(leaf[at:step]) {
			path = append(path, "[]"...)
		} else {
			path = append(path, leaf[at:step]...)
		}
		at = step
	}
	return string(path) + leaf[end:]
}

// Value returns a leaf of JSON without its path: what [Leaf] was given. A text that is no leaf is returned as it is.
func Value(leaf string) string {
	if end := pathEnd(leaf); end > 0 {
		return leaf[end+len(": "):]
	}
	return leaf
}

// pathEnd returns where the colon behind the path of a leaf stands; -1 if the text has no path.
func pathEnd(leaf string) int {
	for at := 0; at < len(leaf); {
		if strings.HasPrefix(leaf[at:], ": ") {
			return at
		}
		step := stepEnd(leaf, at)
		if step < 0 {
			return -1
		}
		at = step
	}
	return -1
}

// stepEnd returns where a step of a path ends: a key in brackets and quotes, a number in brackets, or a byte of a key
// that is an identifier, of the points between, or of what stands for a part that was left out; -1 if there is none.
func stepEnd(leaf string, at int) int {
	switch c := leaf[at]; {
	case strings.HasPrefix(leaf[at:], `["`):
		if end := strings.Index(leaf[at+1:], `"]`); end > 0 {
			return at + 1 + end + 2
		}
	case c == '[':
		if end := strings.IndexByte(leaf[at:], ']'); end > 0 && isIndex(leaf[at:at+end+1]) {
			return at + end + 1
		}
	case strings.HasPrefix(leaf[at:], "…"):
		return at + len("…")
	case c == '.' || isIdentifier("_"+string(c)):
		return at + 1
	}
	return -1
}

// isIndex reports whether a step of a path is the number of an element.
func isIndex(step string) bool {
	return len(step) > 2 && step[0] == '[' && strings.Trim(step[1:len(step)-1], "0123456789") == ""
}
