package plaintext

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// mark is what a record begins with: the sign of a list, a number of one, a date, or a time of day; and more behind it.
var mark = regexp.MustCompile(`^(?:` +
	`[-*+•·–—◦▪‣] +|` +
	`\(?\d{1,3}[.)] +|` +
	`[\[(<]?(?:` + date + `|` + clock + `)[\])>,;:.Tt|\s-]` +
	`)[^\n]*[\pL\pN]`)

const (
	month = `(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.?`
	date  = `(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*\.?,? )?(?:` +
		`\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](?:\d{4}|\d{2})|\d{1,2}\.\d{1,2}\.|\d{8}|` +
		`\d{1,2}\.? ` + month + `(?:,? \d{4})?|` + month + ` {1,2}\d{1,2}(?:,? \d{4})?|\d{1,2}-` + month + `-\d{4}|1\d{9}\.\d{3})`
	clock = `\d{1,2}[:.h]\d{2}(?::\d{2})?(?:[.,]\d+)?(?: ?[ap]m)?`
)

// longestMark is how many bytes of a line are looked at.
const longestMark = 80

// isMarked reports whether a line begins as a record does.
func isMarked(line []byte) bool {
	return mayBeMarked(line) && mark.Match(line[:min(len(line), longestMark)])
}

// mayBeMarked reports whether a line begins as a mark may, which saves most lines the expression.
func mayBeMarked(line []byte) bool {
	const signs = "•·–—◦▪‣" // of lists
	next := byte(0)
	if len(line) > 1 {
		next = line[1]
	}
	switch c := line[0]; {
	case c >= utf8.RuneSelf:
		sign, size := utf8.DecodeRune(line)
		return size < len(line) && line[size] == ' ' && strings.ContainsRune(signs, sign)
	case isLetter(c):
		return isName(line)
	case c == '-' || c == '*' || c == '+':
		return next == ' '
	case c == '(' || c == '[' || c == '<':
		return isNumber(line[1:]) || isName(line[1:])
	default:
		return isNumber(line)
	}
}

// isNumber reports whether a text may begin with the number of a list, a date or a time of day.
func isNumber(b []byte) bool {
	n := 0
	for n < len(b) && isDigit(b[n]) {
		n++
	}
	switch {
	case n == len("20261128"):
		return true
	case n == 0 || n == len(b):
		return false
	case b[n] == ' ':
		return isName(b[n+1:])
	}
	return strings.IndexByte(".)-/:h", b[n]) >= 0
}

// isName reports whether a text may begin with the name of a month or a day.
func isName(b []byte) bool {
	if len(b) <= 3 {
		return false
	}
	switch string(b[:3]) {
	case "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun":
	default:
		return false
	}
	end := 3
	for end < len(b) && isLetter(b[end]) {
		end++
	}
	return end == len(b) || strings.IndexByte("., -])>;:|\t\n\v\f\r", b[end]) >= 0
}
