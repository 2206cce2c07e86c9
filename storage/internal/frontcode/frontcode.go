// Package frontcode writes lists of strings that begin alike, each as the number of bytes that it shares with the one
// before it, and the rest. The links of a page mostly share their host and often their path, so this halves them at no
// cost to speak of. What was written is read as it was, and nothing else is read without an error.
package frontcode

import (
	"encoding/binary"
	"errors"
)

// ErrCorrupt means that something else was written.
var ErrCorrupt = errors.New("a list cannot be decoded")

// Append writes a list behind what is there.
func Append(to []byte, list []string) []byte {
	to = binary.AppendUvarint(to, uint64(len(list)))
	last := ""
	for _, s := range list {
		n := commonPrefix(last, s)
		to = binary.AppendUvarint(to, uint64(n))
		to = binary.AppendUvarint(to, uint64(len(s)-n))
		to = append(to, s[n:]...)
		last = s
	}
	return to
}

func commonPrefix(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// Cut takes a list off the beginning, which is never nil, and returns what is behind it.
func Cut(from []byte) (list []string, rest []byte, err error) {
	n, from, ok := number(from)
	if !ok || n > uint64(len(from)) { // each takes two bytes or more
		return nil, nil, ErrCorrupt
	}
	list = make([]string, 0, n)
	last := ""
	for range n {
		var shared, length uint64
		if shared, from, ok = number(from); !ok || shared > uint64(len(last)) {
			return nil, nil, ErrCorrupt
		}
		if length, from, ok = number(from); !ok || length > uint64(len(from)) {
			return nil, nil, ErrCorrupt
		}
		last = last[:shared] + string(from[:length])
		list, from = append(list, last), from[length:]
	}
	return list, from, nil
}

func number(from []byte) (n uint64, rest []byte, ok bool) {
	n, width := binary.Uvarint(from)
	if width <= 0 {
		return 0, nil, false
	}
	return n, from[width:], true
}
