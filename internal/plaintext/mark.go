package plaintext

import (
	"bytes"
	"regexp"
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
	const first = "-*+•·–—◦▪‣([<0123456789JFMASONDTWjfmasondtw"
	return bytes.IndexByte([]byte(first), line[0]) >= 0 && mark.Match(line[:min(len(line), longestMark)])
}
