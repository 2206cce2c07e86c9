package sql

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	dbsql "database/sql"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"html"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/webrace/webrace/internal/suggest"
	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/stages/internal/agent"
)

// result is the answer to a query: its rows in one buffer, as objects of JSON, or as pages where they have marks.
type result struct {
	text []byte // of objects: a list that is not closed: "[", and each row with a comma behind it
	keys []byte
	rows []row
}

// row is where a row lies in the buffers of its result, which are no larger than options let them be.
type row struct {
	start, end       int32
	keyFrom, keyPast int32
	hash             uint64 // of its page
	mark             *mark  // nil without marks
}

func (r *result) row(of row) []byte { return r.text[of.start:of.end:of.end] }
func (r *result) key(of row) []byte { return r.keys[of.keyFrom:of.keyPast] }

// collector makes a result of what a driver scans, without a value in between: each cell of a row appends itself.
type collector struct {
	result
	on       *session
	marked   bool
	makesID  bool
	current  []byte   // of the row: its members
	keyParts [][]byte // of the row, in the order of the source's key
	isNull   bool     // one of them is
	mark     any      // of the row
	title    []byte   // of the row
	cells    int      // values so far, those within JSON included
}

// cell is a column.
type cell struct {
	c      *collector
	kind   kind
	before []byte // its value: its name, as a member of an object, or in a list of definitions
	key    int    // which part of the key it is; -1 if it is none
	isMark bool
	titles bool // it is the title of a row
	hidden bool // it is no column of the query
}

// Scan appends a value. It is what database/sql calls, before it would look at the type of the destination.
func (c *cell) Scan(value any) error {
	if c.isMark {
		if b, isBytes := value.([]byte); isBytes {
			c.c.mark = string(b)
		} else {
			c.c.mark = value
		}
	}
	if c.hidden {
		return nil
	}
	if c.key >= 0 {
		c.c.isNull = c.c.isNull || value == nil
		c.c.keyParts[c.key] = appendPlain(c.c.keyParts[c.key][:0], value, c.kind)
	}
	if c.c.marked {
		c.define(value)
		return nil
	}
	b := append(c.c.current, c.before...)
	from := len(b)
	b = appendValue(b, value, c.kind)
	c.c.cells++
	if c.kind == embedded {
		c.c.cells += bytes.Count(b[from:], []byte{','})
	}
	c.c.current = append(b, ',')
	return nil
}

// define adds a value to a list of definitions, unless there is none, or it is the title.
func (c *cell) define(value any) {
	switch {
	case value == nil:
	case c.titles:
		c.c.title = appendPlain(c.c.title, value, c.kind)
	default:
		b := append(c.c.current, c.before...)
		b = appendHTML(b, value, c.kind)
		c.c.current = append(b, "</dd>\n"...)
	}
}

// appendPlain appends a value as it is without quotes.
func appendPlain(b []byte, value any, k kind) []byte {
	switch v := value.(type) {
	case string:
		return appendUTF8(b, []byte(v))
	case []byte:
		return appendUTF8(b, v)
	case time.Time:
		return appendTime(b, v, k)
	}
	return appendValue(b, value, k)
}

func appendUTF8(b, v []byte) []byte {
	if utf8.Valid(v) {
		return append(b, v...)
	}
	return base64.StdEncoding.AppendEncode(b, v)
}

// columns prepares for the rows of an answer. Columns by which rows are known, entitled or marked have to be there.
func (c *collector) columns(rows *dbsql.Rows, extra bool) ([]any, error) {
	types, err := rows.ColumnTypes()
	if err != nil {
		return nil, err
	}
	source := c.on.source
	shown := types
	if extra {
		shown = types[:len(types)-1]
	}
	var names []string
	for i, t := range shown {
		name := t.Name()
		if at := slices.Index(names, name); at >= 0 {
			return nil, agent.Failf("columns %d and %d of query %s are both called %q: AS gives one another name", at+1, i+1, c.on.name, name)
		}
		names = append(names, name)
	}
	wanted := slices.Clone(source.Key)
	for _, name := range []string{source.Title, source.Mark} {
		if name != "" {
			wanted = append(wanted, name)
		}
	}
	for _, name := range wanted {
		if !slices.Contains(names, name) {
			return nil, agent.Failf("the answer to query %s has no column %q%s: it has %s", c.on.name, name, suggest.DidYouMean(suggest.Nearest(name, names)), suggest.And(names))
		}
	}
	c.makesID = source.Mark == "" && !(len(source.Key) == 1 && source.Key[0] == "id")
	if c.makesID && slices.Contains(names, "id") {
		return nil, agent.Failf("the column id of query %s is not its key, and the entries of a list are known by their id: give it another name (id AS …), or have it be the key", c.on.name)
	}
	c.keyParts = make([][]byte, len(source.Key))
	cells := make([]any, len(types))
	for i, t := range types {
		name := t.Name()
		one := &cell{c: c, kind: c.on.engine.kindOf(t.DatabaseTypeName()), key: slices.Index(source.Key, name), before: append(appendString(nil, name), ':')}
		if c.marked {
			one.titles, one.before = name == source.Title, fmt.Appendf(nil, "<dt>%s</dt>\n<dd id=\"%[1]s\">", html.EscapeString(name))
		}
		one.hidden = i >= len(shown)
		if one.isMark = source.Mark != "" && name == source.Mark && !extra; one.hidden {
			one.isMark, one.key = true, -1
		}
		cells[i] = one
	}
	return cells, nil
}

// add ends a row.
func (c *collector) add() error {
	if c.isNull {
		return agent.Failf("a row of query %s has no key: %s is NULL", c.on.name, suggest.Or(c.on.source.Key))
	}
	c.text, c.keys, c.rows = room(c.text, len(c.current)+1000), room(c.keys, 100), room(c.rows, 1)
	r := row{keyFrom: int32(len(c.keys)), start: int32(len(c.text))}
	if len(c.keyParts) == 1 {
		c.keys = append(c.keys, c.keyParts[0]...)
	} else {
		for i, part := range c.keyParts {
			if i > 0 {
				c.keys = append(c.keys, '/')
			}
			c.keys = append(c.keys, urlnorm.EscapeKey(string(part))...)
		}
	}
	r.keyPast = int32(len(c.keys))
	if c.marked {
		if err := c.addPage(&r); err != nil {
			return err
		}
	} else {
		c.addObject(&r)
	}
	c.rows = append(c.rows, r)
	c.current = c.current[:0]
	return nil
}

// room has a buffer grow to twice its size where it has no room for so much more: append has large ones grow by a
// quarter, so that what is there already is moved again and again.
func room[T any](b []T, more int) []T {
	if cap(b)-len(b) < more {
		return slices.Grow(b, max(len(b), 1024, more))
	}
	return b
}

// addObject adds a row as an object of a list.
func (c *collector) addObject(r *row) {
	c.text = append(c.text, '{')
	if c.makesID {
		c.text = append(c.text, `"id":`...)
		c.text = appendString(c.text, c.keys[r.keyFrom:])
		c.text = append(c.text, ',')
	}
	c.text = append(c.text, c.current[:len(c.current)-1]...)
	c.text = append(c.text, '}')
	r.end = int32(len(c.text))
	c.text = append(c.text, ",\n"...)
}

// addPage adds a row as a page: its title, and a list of what its other columns are called and hold, each of which has
// the name as its id.
func (c *collector) addPage(r *row) error {
	m, err := markOf(c.mark)
	if err != nil {
		return err
	}
	r.mark = &m
	if len(bytes.TrimSpace(c.title)) == 0 {
		c.title = append(c.title, c.keys[r.keyFrom:]...)
	}
	c.text = append(c.text, "<!DOCTYPE html>\n<meta charset=\"utf-8\">\n<title>"...)
	c.text = appendEscaped(c.text, c.title)
	c.text = append(c.text, "</title>\n<dl>\n"...)
	c.text = append(c.text, c.current...)
	c.text = append(c.text, "</dl>\n"...)
	r.end = int32(len(c.text))
	sum := sha256.Sum256(c.text[r.start:])
	r.hash = binary.BigEndian.Uint64(sum[:])
	c.title = c.title[:0]
	return nil
}

// limits are those of an answer.
type limits struct {
	rows, bytes int
	reserve     func(bytes int) error
}

// rowSize is about the memory of a row, with its mark.
const rowSize = 128

// collect asks a query, and reads its answer.
func (on *session) collect(ctx context.Context, r reader, st *statement, args []any, extra bool, most limits) (*result, error) {
	rows, err := r.QueryContext(ctx, st.text, args...)
	if err != nil {
		return nil, on.failed(err, st)
	}
	defer rows.Close()
	c := &collector{on: on, marked: on.source.Mark != ""}
	if !c.marked {
		c.text = append(c.text, "[\n"...)
	}
	cells, err := c.columns(rows, extra)
	if err != nil {
		return nil, err
	}
	held := 0
	for rows.Next() {
		if err := rows.Scan(cells...); err != nil {
			return nil, on.failed(err, st)
		}
		if err := c.add(); err != nil {
			return nil, err
		}
		switch size := len(c.text); {
		case len(c.rows) > most.rows:
			return nil, agent.Failf("query %s answers with more than %d rows (option max_rows): have it choose fewer%s", on.name, most.rows, on.orLimit())
		case size > most.bytes:
			return nil, agent.Failf("the answer to query %s is larger than %d bytes (option max_size): have it choose fewer rows or columns", on.name, most.bytes)
		case !c.marked && (c.cells > mostCells || size > mostSize):
			return nil, agent.Failf("the answer to query %s has more than %d values or %d bytes, and of a larger list not all is compared: have it choose fewer rows or columns, or name a mark",
				on.name, mostCells, mostSize)
		}
		if uses := cap(c.text) + cap(c.keys) + cap(c.rows)*rowSize; uses > held {
			if err := most.reserve(uses - held); err != nil {
				return nil, err
			}
			held = uses
		}
	}
	return &c.result, on.failed(rows.Err(), st)
}

// orLimit is what helps, too, where rows are read from a mark on.
func (on *session) orLimit() string {
	if on.source.Mark == "" {
		return ", or name a mark"
	}
	return ", as by ORDER BY " + on.source.Mark + " LIMIT …, which takes the next ones at the next visit"
}

// compareKeys orders keys: numbers first, by their size.
func compareKeys(a, b []byte) int {
	number := areDigits(a)
	switch other := areDigits(b); {
	case number && other:
		return cmp.Or(cmp.Compare(len(a), len(b)), bytes.Compare(a, b))
	case number != other && number:
		return -1
	case number != other:
		return 1
	}
	return bytes.Compare(a, b)
}

func areDigits(key []byte) bool {
	for _, c := range key {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(key) > 0
}

// list returns the rows as a list in the order of their keys, so that it is the same in whatever order they came.
func (r *result) list(on *session, reserve func(bytes int) error) ([]byte, error) {
	if len(r.rows) == 0 {
		return []byte("[]\n"), nil
	}
	byKey := func(a, b row) int { return compareKeys(r.key(a), r.key(b)) }
	text := r.text
	if !slices.IsSortedFunc(r.rows, byKey) {
		slices.SortFunc(r.rows, byKey)
		if err := reserve(len(r.text)); err != nil {
			return nil, err
		}
		text = append(make([]byte, 0, len(r.text)+1), "[\n"...)
		for _, one := range r.rows {
			text = append(append(text, r.row(one)...), ",\n"...)
		}
	}
	for i := 1; i < len(r.rows); i++ {
		if key := r.key(r.rows[i]); bytes.Equal(key, r.key(r.rows[i-1])) {
			return nil, agent.Failf("two rows of query %s have the key %.60q: name columns as its key that tell all rows apart", on.name, key)
		}
	}
	return append(text[:len(text)-len(",\n")], "\n]\n"...), nil
}
