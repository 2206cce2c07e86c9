package fulltext

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/webrace/webrace/internal/analyze"
)

// end passes over white space, and reports whether the query or the group that is being read ends there.
func (p *parser) end() bool {
	for p.at < len(p.query) {
		r, size := p.rune()
		if !unicode.IsSpace(r) {
			return r == ')'
		}
		p.at += size
	}
	return true
}

// ends reports whether a word would end right here.
func (p *parser) ends() bool {
	if p.at == len(p.query) {
		return true
	}
	r, _ := p.rune()
	return unicode.IsSpace(r) || r == ')'
}

func (p *parser) rune() (rune, int) { return utf8.DecodeRuneInString(p.query[p.at:]) }

// peek returns the operator that comes next, or "".
func (p *parser) peek() string {
	if p.end() {
		return ""
	}
	for _, operator := range []string{"AND", "OR", "NOT"} {
		rest, ok := strings.CutPrefix(p.query[p.at:], operator)
		if r, _ := utf8.DecodeRuneInString(rest); ok && (rest == "" || unicode.IsSpace(r) || r == '(' || r == ')') {
			return operator
		}
	}
	return ""
}

// accept passes over an operator if it comes next.
func (p *parser) accept(operator string) bool {
	if p.peek() != operator {
		return false
	}
	p.at += len(operator)
	return true
}

// signs reports whether the character here is a sign that belongs to what stands right behind it.
func (p *parser) signs() bool {
	rest := p.query[p.at+1:]
	r, _ := utf8.DecodeRuneInString(rest)
	return rest != "" && (analyze.InWord(r) || r == '(' || isQuote(r))
}

// word reads up to white space, a quote or the end of the group. Parentheses within it are balanced, as
// in print(x).
func (p *parser) word() string {
	from, open := p.at, 0
	for p.at < len(p.query) {
		r, size := p.rune()
		switch {
		case unicode.IsSpace(r) || isQuote(r) && p.at > from:
			return p.query[from:p.at]
		case r == '(':
			open++
		case r == ')' && open == 0:
			return p.query[from:p.at]
		case r == ')':
			open--
		}
		p.at += size
	}
	return p.query[from:]
}

func isQuote(r rune) bool { return r == '"' || r == '“' || r == '”' || r == '„' }

// cutFuzziness splits ~ or ~N off the end of a word.
func cutFuzziness(word string) (body string, edits int, ok bool) {
	body, digits, ok := strings.Cut(word, "~")
	if !ok || body == "" {
		return word, 0, false
	}
	if digits == "" {
		return body, 1, true
	}
	edits, err := strconv.Atoi(digits)
	return body, edits, err == nil
}

// joinsLetters reports whether the character at i stands between two letters or digits.
func joinsLetters(text string, i int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:i])
	after, _ := utf8.DecodeRuneInString(text[i+1:])
	return analyze.InWord(before) && analyze.InWord(after)
}
