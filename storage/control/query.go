package control

import (
	"context"
	"database/sql"
	"fmt"
	"iter"

	"github.com/webrace/webrace/xmlschema"
)

// table says how documents of one kind are read.
type table struct {
	// selection gives the columns of a record; its verbs stand for the node table and the condition.
	selection string
	nodes     string // what the node table is called there
	// lookUps are the conditions that ask an index what a hint says. Each has one parameter.
	lookUps map[xmlschema.Field]string
}

var urdTable = table{
	selection: "SELECT xml, revision, interest, check_time, %s FROM urd WHERE %s ORDER BY n",
	nodes:     "(SELECT nodes FROM urd_nodes WHERE urd_nodes.n = urd.n)",
	lookUps: map[xmlschema.Field]string{
		xmlschema.FieldID:      "id = ?",
		xmlschema.FieldOwner:   "owner = ?",
		xmlschema.FieldURI:     "uri = ?",
		xmlschema.FieldKeyword: "n IN (SELECT urd FROM keyword WHERE key = ?)",
	},
}

var aciTable = table{
	selection: "SELECT xml, seq, retrieved, 0, %s FROM aci WHERE %s ORDER BY seq",
	nodes:     "nodes",
}

// record is a stored document.
type record struct {
	xml    []byte
	number int64 // the revision of a URD, the place of an ACI
	second int64 // the revision of a URD's interest, the time at which an ACI was retrieved
	third  int64 // the time at which a check of a URD was asked for
}

// condition chooses among the documents of a table: those that its SQL holds for and, where there is a
// query, that it selects something in.
type condition struct {
	where string
	args  []any
	query *xmlschema.Query
}

// and adds a condition in SQL.
func (c *condition) and(where string, args ...any) {
	if c.where != "" {
		where = c.where + " AND " + where
	}
	c.where, c.args = where, append(c.args, args...)
}

// matches adds an XPath expression: what indexes can answer of it becomes SQL as well, only to have fewer
// documents to evaluate it on.
func (c *condition) matches(expression string, t table) (err error) {
	if c.query, err = xmlschema.Compile(expression); err != nil {
		return err
	}
	for _, h := range c.query.Hints() {
		if where, known := t.lookUps[h.Field]; known {
			c.and(where, h.Value)
		}
	}
	return nil
}

// documents reads what a condition chooses. It parses the XML of nothing else.
func documents[T any](ctx context.Context, s *Store, doing string, t table, c condition, decode func(record) (T, error)) iter.Seq2[T, error] {
	nodes := "NULL"
	if c.query != nil {
		nodes = t.nodes
	}
	scan := func(r *sql.Rows) (T, error) {
		var none T
		var rec record
		var nodes sql.RawBytes
		if err := r.Scan(&rec.xml, &rec.number, &rec.second, &rec.third, &nodes); err != nil {
			return none, err
		}
		if c.query == nil {
			return decode(rec)
		}
		selected, err := c.query.Match(ctx, nodes)
		switch {
		case err != nil:
			return none, err
		case !selected:
			return none, errSkip
		}
		return decode(rec)
	}
	return rows(ctx, s, doing, scan, fmt.Sprintf(t.selection, nodes, c.where), c.args...)
}

// failed is the results of what could not be asked.
func failed[T any](err error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		yield(none, err)
	}
}
