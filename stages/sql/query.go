package sql

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// lexis is how the SQL of a database is cut into words, as far as that decides where a parameter may stand.
type lexis struct {
	dollarQuotes    bool // $tag$ … $tag$ is a text
	escapeStrings   bool // E'…' has backslashes
	backslashes     bool // '…' and "…" have
	nestedComments  bool // /* /* */ */
	hashComments    bool // # begins one
	dashNeedsSpace  bool // -- begins one where a blank stands behind it
	runsComments    bool // /*! … */ is executed
	backticks       bool // `…` is a name
	brackets        bool // […] is a name
	questionMarks   bool // ? is a parameter of the driver
	numbersWithMark bool // parameters are ?1 and not $1
}

// query is a statement whose parameters have names: parts of its text, each but the last with a parameter behind it.
type query struct {
	text  string // as it was written
	parts []part
	names []string // of the parameters, in the order in which they come first
}

// part is a piece of a statement.
type part struct {
	text string
	at   int    // where it begins in the statement
	name string // of the parameter behind it; empty for the last part
}

// queryError is what is wrong with a statement, and where.
type queryError struct {
	text string
	at   int
	why  string
}

func (e *queryError) Error() string { return fmt.Sprintf("%s: %s", placeOf(e.text, e.at), e.why) }

// placeOf names a place in a statement, as people count.
func placeOf(text string, at int) string {
	at = min(at, len(text))
	line := strings.Count(text[:at], "\n") + 1
	column := utf8.RuneCountInString(text[strings.LastIndexByte(text[:at], '\n')+1:at]) + 1
	return fmt.Sprintf("line %d, column %d of the query", line, column)
}

// reads are the words with which a statement begins that reads.
var reads = []string{"SELECT", "WITH", "VALUES", "TABLE"}

// parse cuts a statement at its parameters, which are $ and a name. What looks like one within a text, the name of a
// column or a comment is none. A statement that is none to read with, or is more than one, is refused: that is told
// early and clearly here, and it is the database that would execute neither.
func (l lexis) parse(text string) (*query, error) {
	s := scanner{lexis: l, text: text, query: &query{text: text}}
	for s.at < len(text) {
		if err := s.next(); err != nil {
			return nil, err
		}
	}
	if !s.begun {
		return nil, s.wrong(0, "it is empty")
	}
	if !s.ended {
		s.end = len(text)
	}
	s.query.parts = append(s.query.parts, part{text: text[s.from:s.end], at: s.from})
	return s.query, nil
}

// scanner goes through a statement.
type scanner struct {
	lexis
	text  string
	query *query
	at    int
	from  int  // where the current part begins
	end   int  // where the statement ends by a semicolon
	begun bool // something of the statement has come
	ended bool
}

func (s *scanner) wrong(at int, format string, args ...any) error {
	return &queryError{s.text, at, fmt.Sprintf(format, args...)}
}

// peek returns the byte so many behind the current one; 0 behind the end.
func (s *scanner) peek(n int) byte {
	if s.at+n < len(s.text) {
		return s.text[s.at+n]
	}
	return 0
}

// next passes over one word, text, comment or character.
func (s *scanner) next() error {
	start, c := s.at, s.text[s.at]
	if s.blank() {
		return nil
	}
	if past, isComment, err := s.comment(); isComment || err != nil {
		s.at = past
		return err
	}
	if s.ended {
		return s.wrong(start, "a second statement begins here, and a query is one")
	}
	switch {
	case isWord(c) && c != '$':
		return s.word()
	case !s.begun && c != '(':
		return s.wrong(start, "a query begins with %s", strings.Join(reads, ", "))
	case c == '\'' || c == '"' || c == '`' && s.backticks:
		return s.quoted(c, s.backslashes && c != '`')
	case c == '[' && s.brackets:
		return s.quoted(']', false)
	case c == '$':
		return s.dollar()
	case c == '?' && s.questionMarks:
		return s.wrong(start, "parameters have names here: write $name in the place of ?")
	case c == ';':
		s.end, s.ended = start, true
	}
	s.begun = true
	s.at++
	return nil
}

func (s *scanner) blank() bool {
	if strings.IndexByte(" \t\r\n\f\v", s.text[s.at]) < 0 {
		return false
	}
	s.at++
	return true
}

// comment returns where a comment that begins here ends.
func (s *scanner) comment() (past int, is bool, err error) {
	rest := s.text[s.at:]
	switch {
	case rest[0] == '#' && s.hashComments, strings.HasPrefix(rest, "--") && (!s.dashNeedsSpace || len(rest) == 2 || rest[2] <= ' '):
		if line := strings.IndexByte(rest, '\n'); line >= 0 {
			return s.at + line, true, nil
		}
		return len(s.text), true, nil
	case !strings.HasPrefix(rest, "/*"):
		return s.at, false, nil
	case s.runsComments && (s.peek(2) == '!' || s.peek(2) == 'M' && s.peek(3) == '!'):
		return s.at, false, s.wrong(s.at, "a comment that is executed is none: leave /*! out")
	}
	depth := 1
	for i := 2; i < len(rest); i++ {
		switch {
		case strings.HasPrefix(rest[i:], "*/"):
			i++
			if depth--; depth == 0 {
				return s.at + i + 1, true, nil
			}
		case s.nestedComments && strings.HasPrefix(rest[i:], "/*"):
			i++
			depth++
		}
	}
	return s.at, false, s.wrong(s.at, "this comment does not end")
}

// isWord reports whether a byte is one of a name or number.
func isWord(c byte) bool {
	return c == '_' || c == '$' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// word passes over a name, in which dollars may stand, or a number.
func (s *scanner) word() error {
	start := s.at
	for s.at < len(s.text) && isWord(s.text[s.at]) {
		s.at++
	}
	word := s.text[start:s.at]
	is := func(other string) bool { return strings.EqualFold(word, other) }
	if !s.begun && !slices.ContainsFunc(reads, is) {
		return s.wrong(start, "a query begins with %s, and not with %.40s", strings.Join(reads, ", "), word)
	}
	s.begun = true
	switch {
	case is("INTO"): // a file, in MariaDB
		return s.wrong(start, "INTO writes what is read somewhere, and a query is given back: leave it out (a column of that name is quoted)")
	case is("E") && s.escapeStrings && s.peek(0) == '\'':
		return s.escapes()
	}
	return nil
}

// escapes passes over a text with backslashes, which goes on in the next line if that begins with a quote.
func (s *scanner) escapes() error {
	for {
		if err := s.quoted('\'', true); err != nil {
			return err
		}
		rest := s.text[s.at:]
		next := strings.TrimLeft(rest, " \t\r\n\f\v")
		if blank := rest[:len(rest)-len(next)]; !strings.ContainsAny(blank, "\n\r") || !strings.HasPrefix(next, "'") {
			return nil
		}
		s.at = len(s.text) - len(next)
	}
}

// quoted passes over what stands in quotes, which are doubled within.
func (s *scanner) quoted(quote byte, backslashes bool) error {
	start := s.at
	s.begun = true
	for s.at++; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; {
		case c == '\\' && backslashes:
			s.at++
		case c == quote && s.peek(1) == quote && quote != ']':
			s.at++
		case c == quote:
			s.at++
			return nil
		}
	}
	s.at = len(s.text)
	return s.wrong(start, "what is quoted from here on does not end")
}

// dollar passes over a parameter, or a text in dollar quotes.
func (s *scanner) dollar() error {
	start := s.at
	end := start + 1
	for end < len(s.text) && isWord(s.text[end]) && s.text[end] != '$' {
		end++
	}
	name := s.text[start+1 : end]
	begins := name != "" && (name[0] < '0' || name[0] > '9')
	if s.dollarQuotes && (name == "" || begins) && end < len(s.text) && s.text[end] == '$' {
		tag := s.text[start : end+1]
		closing := strings.Index(s.text[end+1:], tag)
		if closing < 0 {
			return s.wrong(start, "what is quoted by %.40s does not end", tag)
		}
		s.at = end + 1 + closing + len(tag)
		return nil
	}
	if !begins {
		return s.wrong(start, "$ stands before no name: write $name for the value of a parameter")
	}
	s.query.parts = append(s.query.parts, part{text: s.text[s.from:start], at: s.from, name: name})
	if !slices.Contains(s.query.names, name) {
		s.query.names = append(s.query.names, name)
	}
	s.at, s.from = end, end
	return nil
}

// statement is the text that a driver is given, within what stands around it, and the names of the values that go with
// it.
type statement struct {
	query  *query
	text   string
	values []string
	starts []int // where each part of the query begins in the text
}

// render writes the statement with the driver's parameters.
func (q *query) render(l lexis, before, after string) *statement {
	st := &statement{query: q}
	var b strings.Builder
	b.WriteString(before)
	for _, p := range q.parts {
		st.starts = append(st.starts, b.Len())
		b.WriteString(p.text)
		switch {
		case p.name == "":
		case l.numbersWithMark:
			b.WriteString("?" + strconv.Itoa(slices.Index(q.names, p.name)+1))
		case l.questionMarks:
			b.WriteByte('?')
			st.values = append(st.values, p.name)
		default:
			b.WriteString("$" + strconv.Itoa(slices.Index(q.names, p.name)+1))
		}
	}
	if st.values == nil {
		st.values = q.names
	}
	b.WriteString(after)
	st.text = b.String()
	return st
}

// place names the place in the query of a byte of the text that the driver was given; "" of one beyond the query.
func (s *statement) place(at int) string {
	i, _ := slices.BinarySearch(s.starts, at+1)
	if i == 0 || at >= len(s.text) {
		return ""
	}
	p := s.query.parts[i-1]
	return placeOf(s.query.text, p.at+min(at-s.starts[i-1], len(p.text)))
}
