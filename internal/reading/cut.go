package reading

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// Words returns how many words Markdown has: runs of what is no white space, with a letter or digit among them.
func Words(markdown []byte) (n int) {
	for at := 0; at < len(markdown); n++ {
		end := endOfWord(markdown, at)
		if end < 0 {
			break
		}
		at = end
	}
	return n
}

// endOfWord returns where the first word ends that begins at or behind a place; -1 if there is none.
func endOfWord(text []byte, at int) int {
	counts := false
	for at < len(text) {
		r, size := utf8.DecodeRune(text[at:])
		if unicode.IsSpace(r) {
			if counts {
				return at
			}
		} else if unicode.IsLetter(r) || unicode.IsDigit(r) {
			counts = true
		}
		at += size
	}
	if counts {
		return at
	}
	return -1
}

// Cut returns the beginning of Markdown: as many of its blocks as have at most so many words together, and if the first
// that has any has more, that many words of it. A block of code that is cut ends with its fence. It reports whether
// anything was left out. Blocks are what blank lines separate, outside of code.
func Cut(markdown []byte, words int) (beginning []byte, cut bool) {
	end, left := 0, words
	for at := 0; at < len(markdown); {
		next := endOfBlock(markdown, at)
		n := Words(markdown[at:next])
		if n > left {
			if left == words { // what comes before has no words
				return cutBlock(markdown[:next], words), true
			}
			return append(bytes.TrimRight(markdown[:end:end], "\n"), '\n'), true
		}
		left -= n
		at, end = next, next
	}
	return markdown, false
}

// endOfBlock returns where the block ends that begins at a place, with the blank lines behind it.
func endOfBlock(markdown []byte, at int) int {
	var fence []byte
	blank := false
	for at < len(markdown) {
		end := len(markdown)
		if i := bytes.IndexByte(markdown[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		line := bytes.TrimSpace(markdown[at:end])
		switch {
		case fence != nil:
			fence = stillOpen(fence, line)
		case len(line) == 0:
			blank = true
		case blank:
			return at
		default:
			fence = fenceOf(line)
		}
		at = end
	}
	return at
}

// fenceOf returns what a line begins a block of code with, which may be in a list or a quotation; nil if it begins
// none.
func fenceOf(line []byte) []byte {
	line = line[containers(line):]
	for _, mark := range []string{"`", "~"} {
		if n := len(line) - len(bytes.TrimLeft(line, mark)); n >= 3 && (mark == "~" || bytes.IndexByte(line[n:], '`') < 0) {
			return line[:n]
		}
	}
	return nil
}

// stillOpen returns the fence of a block of code again, unless a line ends the block; nil then.
func stillOpen(fence, line []byte) []byte {
	line = bytes.TrimSpace(line[containers(line):])
	if bytes.HasPrefix(line, fence) && len(bytes.Trim(line, string(fence[:1]))) == 0 {
		return nil
	}
	return fence
}

// containers returns the length of what a line of quotations and items of lists begins with.
func containers(line []byte) (n int) {
	for n < len(line) {
		digits := len(line[n:]) - len(bytes.TrimLeft(line[n:], "0123456789"))
		rest := line[n+digits:]
		switch {
		case line[n] == ' ' || line[n] == '>':
			n++
		case len(rest) > 1 && rest[1] == ' ' && (digits == 0 && bytes.IndexByte([]byte("-+*"), rest[0]) >= 0 || digits > 0 && (rest[0] == '.' || rest[0] == ')')):
			n += digits + 2
		default:
			return n
		}
	}
	return n
}

// cutBlock returns so many words of a block.
func cutBlock(block []byte, words int) []byte {
	end := 0
	for range words {
		end = endOfWord(block, end)
	}
	beginning := append(block[:end:end], '\n')
	return append(beginning, openFence(beginning)...)
}

// openFence returns the line that ends the block of code which is open at the end of a text; nil if none is.
func openFence(text []byte) (closing []byte) {
	var fence []byte
	for line := range bytes.Lines(text) {
		if fence != nil {
			fence = stillOpen(fence, line)
			continue
		}
		if fence = fenceOf(line); fence == nil {
			continue
		}
		closing = bytes.Map(func(r rune) rune { // the line after a list's marker is indented
			if r == '>' {
				return r
			}
			return ' '
		}, line[:containers(line)])
		closing = append(append(closing, fence...), '\n')
	}
	if fence == nil {
		return nil
	}
	return closing
}
