package control

import (
	"context"
	"database/sql"
	"fmt"
	"iter"

	"github.com/webrace/webrace/xmlschema"
)

// table is how documents of one kind are read.
type table struct {
	// selection gives the columns of a record and the node table, NULL when that is the document; a condition
	// follows, and the order.
	selection string
	order     string
	// lookUps are the conditions that ask an index for what a hint names. Each has one parameter.
	lookUps map[xmlschema.Field]string
	scanned map[xmlschema.Field]string // those that no index answers
}

var urdTable = table{
	selection: "SELECT nodes, revision, interest, check_time, crawl, start, NULL FROM urd WHERE ",
	order:     " ORDER BY n",
	lookUps: map[xmlschema.Field]string{
		xmlschema.FieldID:      "id = ?",
		xmlschema.FieldOwner:   "owner = ?",
		xmlschema.FieldURI:     "uri = ?",
		xmlschema.FieldKeyword: "n IN (SELECT urd FROM keyword WHERE key = ?)",
	},
	scanned: map[xmlschema.Field]string{
		xmlschema.FieldProtocol: "protocol = ?",
		xmlschema.FieldUrgency:  "CAST(urgency AS TEXT) = ?", // as a string, which is not equal to 03
	},
}

var aciTable = table{
	selection: "SELECT xml, seq, retrieved, 0, '', '', nodes FROM aci WHERE ",
	order:     " ORDER BY seq",
}

// record is a stored document.
type record struct {
	document []byte // the node table of a URD, the XML of an ACI
	number   int64  // the revision of a URD, the place of an ACI
	second   int64  // the revision of a URD's interest, the time at which an ACI was retrieved
	third    int64  // the time at which a check of a URD was asked for
	crawl    string // of a URD, and where it starts
	start    string
}

// condition chooses among the documents of a table: those that its SQL holds for and, where there is a
// query, that it selects something in.
type condition struct {
	where string
	args  []any
	query *xmlschema.Query

	indexed bool // an index finds what its SQL holds for
	one     bool // which is one document at most
	limit   int  // so many documents at most; 0 is no limit
}

// and adds a condition in SQL.
func (c *condition) and(where string, args ...any) {
	if c.where != "" {
		where = c.where + " AND " + where
	}
	c.where, c.args = where, append(c.args, args...)
}

// matches adds an XPath expression: what the columns can answer of it becomes SQL as well, only to have
// fewer documents to evaluate it on, and none if that is all there is to it.
func (c *condition) matches(expression string, t table) (err error) {
	if c.query, err = xmlschema.Compile(expression); err != nil {
		return err
	}
	known := 0
	for _, h := range c.query.Hints() {
		where, indexed := t.lookUps[h.Field]
		if !indexed {
			where = t.scanned[h.Field]
		}
		if where == "" {
			continue
		}
		c.and(where, h.Value)
		c.indexed, c.one = c.indexed || indexed, c.one || h.Field == xmlschema.FieldID
		known++
	}
	if c.query.Decided() && known == len(c.query.Hints()) {
		c.query = nil
	}
	return nil
}

// documents reads what a condition chooses. It decodes nothing else.
func documents[T any](ctx context.Context, s *Store, doing string, t table, c condition, decode func(record) (T, error)) iter.Seq2[T, error] {
	text := t.selection + c.where + t.order
	if c.limit > 0 {
		text, c.args = text+" LIMIT ?", append(c.args, c.limit)
	}
	if !c.one {
		return rows(ctx, s, doing, chooser(ctx, c.query, decode), text, c.args...)
	}
	// A context that may end costs two goroutines: more than it takes to find one document.
	if err := ctx.Err(); err != nil {
		return failed[T](fmt.Errorf("%s: %w", doing, err))
	}
	return first(1, rows(context.WithoutCancel(ctx), s, doing, chooser(ctx, c.query, decode), text, c.args...))
}

// chooser returns what decodes a row if the query selects something in it. Without a query, all are chosen.
func chooser[T any](ctx context.Context, query *xmlschema.Query, decode func(record) (T, error)) func(*sql.Rows) (T, error) {
	return func(r *sql.Rows) (T, error) {
		var none T
		var rec record
		var document, nodes sql.RawBytes
		if err := r.Scan(&document, &rec.number, &rec.second, &rec.third, &rec.crawl, &rec.start, &nodes); err != nil {
			return none, err
		}
		rec.document = document
		if query == nil {
			return decode(rec)
		}
		if nodes == nil {
			nodes = document
		}
		selected, err := query.Match(ctx, nodes)
		switch {
		case err != nil:
			return none, err
		case !selected:
			return none, errSkip
		}
		return decode(rec)
	}
}

// failed is the results of what could not be asked.
func failed[T any](err error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		yield(none, err)
	}
}
