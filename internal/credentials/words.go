package credentials

import (
	"errors"
	"strings"
)

// SplitWords splits a command line into its words, as a shell does that replaces nothing: white space separates them,
// 'single' and "double" quotes keep it, a backslash takes the next character as it is, in double quotes only before a
// backslash or a double quote.
func SplitWords(line string) (words []string, err error) {
	var word strings.Builder
	begun, quote := false, rune(0)
	escaped := false
	for _, r := range line {
		switch {
		case escaped:
			if quote == '"' && r != '"' && r != '\\' {
				word.WriteByte('\\')
			}
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			begun, escaped = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			begun, quote = true, r
		case r == ' ' || r == '\t' || r == '\r' || r == '\n':
			if begun {
				words = append(words, word.String())
				word.Reset()
			}
			begun = false
		default:
			begun = true
			word.WriteRune(r)
		}
	}
	switch {
	case quote != 0:
		return nil, errors.New("a quotation mark is not closed")
	case escaped:
		return nil, errors.New(`it ends in a backslash: write \\ for one`)
	case begun:
		words = append(words, word.String())
	}
	return words, nil
}

// JoinWords writes words so that [SplitWords] reads them.
func JoinWords(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = word
		if word == "" || strings.ContainsAny(word, " \t\r\n'\"\\") {
			quoted[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}
