package sql

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/agent"
)

// list passes on the whole answer, as the document that the source is.
func (s *stage) list(ctx context.Context, v *agent.Visit, it *pipeline.Item, out pipeline.Emitter, on *session) error {
	most := s.limits(ctx, it)
	var found *result
	err := on.read(ctx, time.Duration(s.options.Timeout), func(ctx context.Context, r reader) (err error) {
		st := on.query.render(on.engine.lexis, "", "")
		found, err = on.collect(ctx, r, st, on.arguments(st, nil), false, most)
		return err
	})
	if err != nil {
		return err
	}
	s.env.Counter("rows").Add(int64(len(found.rows)))
	body, err := found.list(on, most.reserve)
	if err != nil {
		return err
	}
	return v.Answer(ctx, out, &webrace.Document{MediaType: "application/json", Body: body})
}

func (s *stage) limits(ctx context.Context, it *pipeline.Item) limits {
	return limits{s.options.MaxRows, int(s.options.MaxSize), func(bytes int) error { return s.env.Reserve(ctx, it, bytes) }}
}

// state is what is known of a source with a mark.
type state struct {
	Mark  *mark  `json:"mark,omitempty"`  // the last one; nil if there was no row yet
	Since *mark  `json:"since,omitempty"` // no row is read from before it, however far overlap goes back: of a first visit that left rows out
	Seen  []byte `json:"seen,omitempty"`  // hashes of the rows that will be read again, eight bytes each
}

// mostSeen is how many rows are known to have been read already, of those that will be again. More are passed on again:
// behind them, the cache knows equal versions.
const mostSeen = 5000

func readState(text []byte) (st state, err error) {
	if text == nil {
		return state{}, nil
	}
	if err := json.Unmarshal(text, &st); err != nil {
		return state{}, fmt.Errorf("what is known of the source: %w", err)
	}
	return st, nil
}

// rows passes on the rows that are new since the last visit, each as a document, and returns what is known then.
func (s *stage) rows(ctx context.Context, v *agent.Visit, it *pipeline.Item, out pipeline.Emitter, on *session) ([]byte, error) {
	known, err := readState(v.Known)
	if err != nil {
		return nil, err
	}
	var fresh *result
	var next state
	err = on.read(ctx, time.Duration(s.options.Timeout), func(ctx context.Context, r reader) error {
		m := marked{on, r, s.limits(ctx, it)}
		if v.Known == nil && s.options.Backlog > 0 {
			fresh, next, err = m.first(ctx, s.options.Backlog)
		} else {
			fresh, next, err = m.since(ctx, known)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	s.env.Counter("rows").Add(int64(len(fresh.rows)))
	for _, one := range fresh.rows {
		d, err := on.document(v.Request.URL, fresh, one)
		if err != nil {
			return nil, err
		}
		if err := v.Document(ctx, toPort{out, portRows}, d); err != nil {
			return nil, err
		}
	}
	return json.Marshal(next)
}

// toPort is an emitter whose items go to a port.
type toPort struct {
	pipeline.Emitter
	port string
}

func (p toPort) Emit(ctx context.Context, it *pipeline.Item) error { return p.EmitTo(ctx, p.port, it) }

// marked reads rows by their marks.
type marked struct {
	on   *session
	r    reader
	most limits
}

// first reads the newest rows, and knows those that were there at the time.
func (m marked) first(ctx context.Context, backlog int) (fresh *result, next state, err error) {
	from, err := m.on.lowest(ctx, m.r)
	if err != nil {
		return nil, next, err
	}
	if fresh, err = m.read(ctx, from, fmt.Sprintf(" ORDER BY %s DESC LIMIT %d", m.on.quoted(m.on.source.Mark), backlog)); err != nil {
		return nil, next, err
	}
	fresh.sort()
	if next, err = m.on.next(state{}, fresh); err != nil || next.Mark == nil {
		return fresh, next, err
	}
	since, err := m.on.begins(next)
	if err != nil {
		return nil, next, err
	}
	again, err := m.read(ctx, since.parameter(m.on.engine), "")
	if err != nil {
		return nil, next, err
	}
	again.sort()
	if next, err = m.on.next(next, again); err != nil {
		return nil, next, err
	}
	if n := len(next.Seen) / 8; n == mostSeen { // others were not passed on, and are not to be next time either
		next.Since = again.rows[len(again.rows)-n].mark
	}
	return fresh, next, nil
}

// since reads the rows that are new since what is known.
func (m marked) since(ctx context.Context, known state) (fresh *result, next state, err error) {
	var from any
	if known.Mark == nil {
		if from, err = m.on.lowest(ctx, m.r); err != nil {
			return nil, next, err
		}
	} else {
		begins, err := m.on.begins(known)
		if err != nil {
			return nil, next, err
		}
		from = begins.parameter(m.on.engine)
	}
	if fresh, err = m.read(ctx, from, ""); err != nil {
		return nil, next, err
	}
	fresh.sort()
	if next, err = m.on.next(known, fresh); err != nil {
		return nil, next, err
	}
	seen := make(map[uint64]bool, len(known.Seen)/8)
	for rest := known.Seen; len(rest) >= 8; rest = rest[8:] {
		seen[binary.BigEndian.Uint64(rest)] = true
	}
	fresh.rows = slices.DeleteFunc(fresh.rows, func(one row) bool { return seen[one.hash] })
	return fresh, next, nil
}

// read asks for the rows from a mark on. SQLite's driver makes times of texts, of which it is not known what they were:
// a column of its own has the mark as it is stored.
func (m marked) read(ctx context.Context, from any, order string) (*result, error) {
	var before, after string
	extra := m.on.engine == sqliteEngine
	switch {
	case extra:
		before, after = "SELECT *, +"+m.on.quoted(m.on.source.Mark)+" FROM (\n", "\n)"+order
	case order != "":
		before, after = "SELECT * FROM (\n", "\n) AS webrace"+order
	}
	st := m.on.query.render(m.on.engine.lexis, before, after)
	return m.on.collect(ctx, m.r, st, m.on.arguments(st, from), extra, m.most)
}

// quoted is the name of a column as it stands in a query.
func (on *session) quoted(name string) string {
	q := string(on.engine.quote)
	return q + strings.ReplaceAll(name, q, q+q) + q
}

// lowest is the value of $mark before all marks: it depends on the type of the column.
func (on *session) lowest(ctx context.Context, r reader) (any, error) {
	types, err := on.describe(ctx, r)
	if err != nil {
		return nil, err
	}
	typ := types[on.source.Mark]
	lowest, ok := on.engine.lowest(typ)
	if !ok {
		return nil, agent.Failf("the mark %s of query %s is of type %s, and a time or a number is one", on.source.Mark, on.name, typ)
	}
	return lowest, nil
}

// describe returns the types of the columns that a query answers with, by their names, and reads no row.
func (on *session) describe(ctx context.Context, r reader) (map[string]string, error) {
	st := on.query.render(on.engine.lexis, "SELECT * FROM (\n", "\n) AS webrace LIMIT 0")
	rows, err := r.QueryContext(ctx, st.text, make([]any, len(st.values))...)
	if err != nil {
		return nil, on.failed(err, st)
	}
	defer rows.Close()
	if _, err := (&collector{on: on}).columns(rows, false); err != nil {
		return nil, err
	}
	columns, err := rows.ColumnTypes()
	if err != nil {
		return nil, err
	}
	types := make(map[string]string, len(columns))
	for _, c := range columns {
		types[c.Name()] = c.DatabaseTypeName()
	}
	return types, on.failed(rows.Err(), st)
}

// begins is the mark from which rows are read next.
func (on *session) begins(known state) (mark, error) {
	o, err := parseOverlap(on.source.Overlap)
	if err != nil {
		return mark{}, err
	}
	from, err := known.Mark.before(o)
	if known.Since != nil && known.Since.compare(from) > 0 {
		from = *known.Since
	}
	return from, err
}

// sort has the rows in the order of their marks.
func (r *result) sort() {
	slices.SortFunc(r.rows, func(a, b row) int {
		return cmp.Or(a.mark.compare(*b.mark), compareKeys(r.key(a), r.key(b)))
	})
}

// next is what is known when rows were read, which are sorted: the last mark, and which of them will be read again.
func (on *session) next(known state, read *result) (state, error) {
	next := state{Mark: known.Mark}
	if n := len(read.rows); n > 0 {
		if last := read.rows[n-1].mark; next.Mark == nil || last.compare(*next.Mark) > 0 {
			next.Mark = last
		}
	}
	if next.Mark == nil {
		return next, nil
	}
	if next.Since = known.Since; next.Since != nil {
		o, _ := parseOverlap(on.source.Overlap) // as begins has read it
		if from, err := next.Mark.before(o); err != nil || from.compare(*next.Since) >= 0 {
			next.Since = nil
		}
	}
	since, err := on.begins(next)
	if err != nil {
		return next, err
	}
	again := read.rows[max(0, len(read.rows)-mostSeen):]
	for _, one := range again {
		if one.mark.compare(since) >= 0 {
			next.Seen = binary.BigEndian.AppendUint64(next.Seen, one.hash)
		}
	}
	if next.Since != nil && len(next.Seen)/8 == mostSeen && again[0].mark.compare(*next.Since) > 0 { // what is older was left out, too
		next.Since = again[0].mark
	}
	return next, nil
}

// document is the document of a row.
func (on *session) document(source string, found *result, of row) (*webrace.Document, error) {
	key := found.key(of)
	path := string(key)
	if len(on.source.Key) == 1 {
		path = urlnorm.EscapeKey(path)
	}
	address, err := urlnorm.OfRow(source, path)
	if err != nil {
		return nil, agent.Failf("a row of query %s cannot be addressed: %v", on.name, err)
	}
	return &webrace.Document{URL: address, MediaType: "text/html", Body: found.row(of)}, nil
}

// checkAll tries all sources, and tells of each what is wrong with it.
func (s *stage) checkAll(ctx context.Context) error {
	var all []error
	for name, source := range s.options.Sources {
		if err := s.check(ctx, name, source); err != nil {
			all = append(all, &pipeline.OptionError{Option: "sources." + name, Err: err})
		}
	}
	slices.SortFunc(all, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(all...)
}

// check connects to the database of a source, and has it prepare the query.
func (s *stage) check(ctx context.Context, name string, source Source) error {
	q, err := engines[source.Driver].lexis.parse(source.Query)
	if err != nil {
		return err
	}
	v, end := s.agent.Try(source.Secret)
	defer end()
	on, err := s.connect(ctx, v, &request{name: name, source: source, query: q, engine: engines[source.Driver]})
	if err != nil {
		return err
	}
	on.visit = nil
	return on.read(ctx, time.Duration(s.options.Timeout), func(ctx context.Context, r reader) error {
		st := q.render(on.engine.lexis, "", "")
		if err := on.engine.check(ctx, on.conn, r, st); err != nil {
			return on.failed(err, st)
		}
		_, err := on.describe(ctx, r)
		return err
	})
}
