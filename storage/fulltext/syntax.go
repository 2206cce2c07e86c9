package fulltext

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	maxQuery     = 4 << 10 // bytes
	maxNesting   = 32      // parentheses and signs within one another
	maxTexts     = 64      // words and phrases
	minBeginning = 2       // letters before *: fewer would begin most words
	maxFuzziness = 2       // letters that may differ; the library has no more
)

// QueryError tells what is wrong with a query, and where. It is an [ErrQuery].
type QueryError struct {
	Query  string
	Column int // of the first character that is wrong, counted in characters from 1
	Reason string
}

func (e *QueryError) Error() string {
	return fmt.Sprintf("%v: column %d: %s", ErrQuery, e.Column, e.Reason)
}

func (e *QueryError) Unwrap() error { return ErrQuery }

// node is a part of a query: one of the types below.
type node interface{}

type (
	// allOf are to be found together. Unless AND stood between them, they may be given up for any of them.
	allOf struct {
		nodes    []node
		explicit bool
	}
	anyOf struct{ nodes []node }
	not   struct{ node node }
	must  struct{ node node } // with it, those beside it that are no must are welcome, and not asked for
	every struct{}            // all documents

	// text is to be found in a field, or in any of them when that is empty.
	text struct {
		field  string
		words  string
		phrase bool // it was written between quotes
		begins bool // its last word is the beginning of one
		edits  int  // letters of its only word that may differ
	}
	// filter is a condition on what is known of a document.
	filter struct{ field, value string }
)

// parser reads a query by recursive descent:
//
//	any = all { "OR" all }
//	all = one { [ "AND" ] one }
//	one = ( "NOT" | "-" | "+" ) one | [ FIELD ":" ] ( WORD [ "*" | "~" [ N ] ] | PHRASE | "(" any ")" )
//
// What is read next stands at a place that is no white space.
type parser struct {
	query  string
	at     int // in bytes
	texts  int
	nested int
	err    *QueryError // the first
}

// parse reads a query.
func parse(query string) (node, error) {
	p := &parser{query: query}
	var n node
	switch {
	case len(query) > maxQuery:
		p.fail(0, "it is longer than %d bytes", maxQuery)
	case !utf8.ValidString(query):
		p.fail(0, "it is no UTF-8 text")
	case strings.TrimSpace(query) == "":
		p.fail(0, "it is empty: write what to look for")
	default:
		n = p.any("")
		if p.at < len(query) {
			p.fail(p.at, "this ) closes nothing; to look for it, put quotes around it")
		}
		if n == nil {
			p.fail(0, "there is no word in it")
		}
	}
	if p.err != nil {
		return nil, p.err
	}
	return n, nil
}

// fail keeps the first error, and ends the reading.
func (p *parser) fail(at int, format string, args ...any) node {
	if p.err == nil {
		p.err = &QueryError{p.query, utf8.RuneCountInString(p.query[:at]) + 1, fmt.Sprintf(format, args...)}
	}
	p.at = len(p.query)
	return nil
}

func (p *parser) any(field string) node {
	var nodes []node
	for {
		n := p.all(field)
		if p.err != nil {
			return nil
		}
		operator := p.at
		if n == nil && (len(nodes) > 0 || p.peek() == "OR") {
			return p.fail(operator, `OR stands between two things to look for; as a word, write "OR"`)
		}
		if n != nil {
			nodes = append(nodes, n)
		}
		if !p.accept("OR") {
			break
		}
	}
	switch len(nodes) {
	case 0:
		return nil
	case 1:
		return nodes[0]
	}
	return anyOf{nodes}
}

func (p *parser) all(field string) node {
	var all allOf
	and := -1 // where an AND stands with nothing behind it yet
	for !p.end() && p.peek() != "OR" {
		at := p.at
		if p.accept("AND") {
			if len(all.nodes) == 0 || and >= 0 {
				and = at
				break
			}
			all.explicit, and = true, at
			continue
		}
		if n := p.one(field); n != nil {
			all.nodes, and = append(all.nodes, n), -1
		}
	}
	if and >= 0 {
		return p.fail(and, `AND stands between two things to look for; as a word, write "AND"`)
	}
	switch {
	case len(all.nodes) == 0:
		return nil
	case len(all.nodes) == 1:
		if _, ok := all.nodes[0].(not); !ok {
			return all.nodes[0]
		}
	}
	return all
}

// one reads one thing to look for; nil when it is punctuation alone.
func (p *parser) one(field string) node {
	at := p.at
	sign := p.query[at : at+1]
	switch {
	case p.accept("NOT"):
		sign = "-"
		if p.end() {
			return p.fail(at, `NOT wants something behind it; as a word, write "NOT"`)
		}
	case (sign == "-" || sign == "+") && p.signs():
		p.at++
	default:
		return p.primary(field)
	}
	if p.nested++; p.nested > maxNesting {
		return p.fail(at, "more than %d levels within one another", maxNesting)
	}
	n := p.one(field)
	p.nested--
	switch {
	case n == nil:
		return nil
	case sign == "+":
		return must{n}
	}
	return not{n}
}

func (p *parser) primary(field string) node {
	at := p.at
	r, size := p.rune()
	switch {
	case isQuote(r):
		return p.phrase(field, size)
	case r == '(':
		return p.group(field)
	}
	word := p.word()
	name, ok := p.fieldOf(word, at)
	if !ok {
		return p.plain(at, field, word)
	}
	p.at = at + len(name) + 1
	switch {
	case p.err != nil:
		return nil
	case p.ends():
		return p.fail(at, "%s: wants a value right behind the colon, as in %s", name, fields[name].example)
	case field != "":
		return p.fail(at, "%s: stands within another field", name)
	case fields[name].conforms != nil:
		return p.filter(at, name)
	}
	if r, _ := p.rune(); isQuote(r) || r == '(' {
		return p.primary(fields[name].name)
	}
	at = p.at
	return p.plain(at, fields[name].name, p.word())
}

func (p *parser) filter(at int, name string) node {
	f, value := fields[name], ""
	switch r, size := p.rune(); {
	case isQuote(r):
		value = p.quoted(size)
	case r == '(':
		return p.fail(p.at, "%s: takes one value; for one of several write (%s:A OR %s:B)", name, name, name)
	default:
		value = p.word()
	}
	if p.err == nil && !f.conforms(value) {
		return p.fail(at, "%s:%s: write %s", name, value, f.example)
	}
	return filter{f.name, value}
}

func (p *parser) group(field string) node {
	at := p.at
	if p.nested++; p.nested > maxNesting {
		return p.fail(at, "more than %d levels within one another", maxNesting)
	}
	p.at++
	n := p.any(field)
	p.nested--
	switch {
	case p.err != nil:
		return nil
	case p.at == len(p.query):
		return p.fail(at, "this ( is not closed; to look for it, put quotes around it")
	}
	p.at++
	return n
}

func (p *parser) phrase(field string, quote int) node {
	at := p.at
	words := p.quoted(quote)
	if p.err == nil && p.at < len(p.query) {
		if c := p.query[p.at]; c == '~' || c == '*' {
			return p.fail(p.at, "%c belongs behind a single word", c)
		}
	}
	return p.count(at, text{field: field, words: words, phrase: true})
}

// quoted reads what stands between quotes.
func (p *parser) quoted(quote int) string {
	at := p.at
	p.at += quote
	from := p.at
	for p.at < len(p.query) {
		r, size := p.rune()
		p.at += size
		if isQuote(r) {
			return p.query[from : p.at-size]
		}
	}
	p.fail(at, "this quote is not closed: write another at the end of the phrase")
	return ""
}

// plain makes of a word what is to be found.
func (p *parser) plain(at int, field, word string) node {
	if word == "*" {
		return every{}
	}
	t := text{field: field, words: word}
	if body, n, ok := cutFuzziness(word); ok {
		t.words, t.edits = body, n
		switch {
		case n < 1 || n > maxFuzziness:
			return p.fail(at+len(body), "%s: at least 1 and at most %d letters may differ", word[len(body):], maxFuzziness)
		case len(analyzed(body)) != 1:
			return p.fail(at+len(body), "~ belongs behind a single word")
		}
		return p.count(at, t)
	}
	if body, ok := strings.CutSuffix(word, "*"); ok {
		t.words, t.begins = body, true
		words := analyzed(body)
		if len(words) == 0 || utf8.RuneCountInString(words[len(words)-1].folded) < minBeginning {
			return p.fail(at, "at least %d letters must come before *", minBeginning)
		}
	}
	if i := strings.IndexByte(t.words, '*'); i >= 0 && joinsLetters(t.words, i) {
		return p.fail(at+i, "* can only stand at the end of a word; to look for it, put quotes around the text")
	}
	return p.count(at, t)
}

// count gives a text on, unless there is no word in it or there are too many.
func (p *parser) count(at int, t text) node {
	if p.err != nil || len(analyzed(t.words)) == 0 {
		return nil
	}
	if p.texts++; p.texts > maxTexts {
		return p.fail(at, "more than %d words and phrases", maxTexts)
	}
	return t
}

// fieldOf returns the name of the field that a word begins with. What looks like one and is none is an
// error, unless it can only be meant as text.
func (p *parser) fieldOf(word string, at int) (name string, ok bool) {
	name, rest, ok := strings.Cut(word, ":")
	if !ok || name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz") != "" {
		return "", false
	}
	if _, known := fields[name]; known {
		return name, true
	}
	quoted := false
	if after := at + len(word); rest == "" && after < len(p.query) {
		r, _ := utf8.DecodeRuneInString(p.query[after:])
		quoted = isQuote(r)
	}
	address := strings.HasPrefix(rest, "//") || strings.HasPrefix(rest, ":")
	if rest == "" && !quoted || address || strings.Trim(rest, "0123456789") == "" && !quoted {
		return "", false // a colon that ends a word, a URL, a name in C++, a port
	}
	p.fail(at, "there is no field %s%s; to look for text with a colon, put quotes around it", name, nearestField(name))
	return "", false
}
