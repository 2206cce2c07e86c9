package sparql

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/sparql/value"
)

// Results are what a query answers: a boolean (ASK), solutions (SELECT) or triples (CONSTRUCT, DESCRIBE). They are
// computed while they are iterated over, once, by one goroutine; whoever stops early leaves no cursor open. An error
// ends them: what came before is a part, and no answer.
type Results struct {
	Form    Form
	Vars    []string // of solutions, without question marks
	Boolean bool     // of ASK

	query    *Query
	ctx      context.Context
	dataset  Dataset
	limits   Limits
	deadline time.Time
	kept     int64
}

// Kept returns how many bytes the query kept at once so far, as [Limits.Memory] counts them, once its iteration has
// ended.
func (r *Results) Kept() int64 { return r.kept }

// Run asks a query of a dataset. That of ASK is computed at once; the other forms when the results are iterated over.
func (q *Query) Run(ctx context.Context, d Dataset, limits Limits) (*Results, error) {
	if limits.Time == 0 {
		limits.Time = DefaultTime
	}
	if limits.Memory == 0 {
		limits.Memory = DefaultMemory
	}
	q, err := q.settled(d)
	if err != nil {
		return nil, err
	}
	r := &Results{Form: q.form, query: q, ctx: ctx, dataset: d, limits: limits, deadline: time.Now().Add(limits.Time)}
	switch q.form {
	case Select:
		r.Vars = q.Vars()
	case Ask:
		err := r.execute(func(x *execution, row []ID, op operator) { r.Boolean = op.next() })
		if err != nil {
			return nil, err
		}
	}
	return r, nil
}

// execute plans the query and gives it to a function, within its limits. It closes all cursors.
func (r *Results) execute(do func(x *execution, row []ID, op operator)) error {
	limit := &LimitError{"it would take longer than " + r.limits.Time.String()}
	ctx, cancel := context.WithDeadlineCause(r.ctx, r.deadline, limit)
	defer cancel()
	x := &execution{ctx: ctx, dataset: r.dataset, pay: r.limits.Pay, memory: r.limits.Memory, ids: map[webrace.Term]ID{},
		terms: map[ID]webrace.Term{}, passing: make([]webrace.Term, len(r.query.names))}
	x.env = &value.Env{Now: time.Now(), Base: r.query.base, Interrupted: func() error { return context.Cause(ctx) }}
	defer func() {
		x.close()
		r.kept = max(r.kept, x.most)
	}()
	q := r.query
	x.defaults = []ID{Union}
	if len(q.from) > 0 || len(q.named) > 0 {
		x.restricted = true
		x.defaults, x.named = once(x.idsOf(q.from)), once(x.idsOf(q.named))
	}
	p := &planner{x: x, query: q, names: len(q.names)}
	env := environment{row: make([]ID, p.names), graph: graphPlace{ids: x.defaults}, graphBound: true, once: true}
	op := p.selectQuery(q.root, env)
	if x.err == nil {
		op.open()
	}
	if x.err == nil {
		do(x, env.row, op)
	}
	if x.err == nil {
		x.look()
	}
	x.close()
	return x.err
}

// once returns each of some graphs once.
func once(graphs []ID) []ID {
	seen := make(map[ID]bool, len(graphs))
	return slices.DeleteFunc(graphs, func(id ID) bool {
		again := seen[id]
		seen[id] = true
		return again
	})
}

// Solutions yields the terms of each solution, by place in Vars; empty: unbound. The slice is the caller's.
func (r *Results) Solutions() iter.Seq2[[]webrace.Term, error] {
	return func(yield func([]webrace.Term, error) bool) {
		stopped := false
		err := r.execute(func(x *execution, row []ID, op operator) {
			for !stopped && op.next() {
				solution := make([]webrace.Term, len(r.query.root.project))
				for i, v := range r.query.root.project {
					solution[i] = x.term(row[v])
				}
				stopped = x.err != nil || !yield(solution, nil)
			}
			stopped = stopped && x.err == nil
		})
		if err != nil && !stopped {
			yield(nil, err)
		}
	}
}

// Triples yields the triples of a graph, each once.
func (r *Results) Triples() iter.Seq2[webrace.Triple, error] {
	return func(yield func(webrace.Triple, error) bool) {
		stopped := false
		err := r.execute(func(x *execution, row []ID, op operator) {
			emit := func(t webrace.Triple) bool {
				stopped = !yield(t, nil)
				return !stopped
			}
			if r.Form == Construct {
				r.query.construct(x, row, op, emit)
			} else {
				r.query.describeAll(x, row, op, emit)
			}
		})
		if err != nil && !stopped {
			yield(webrace.Triple{}, err)
		}
	}
}

// construct fills the template by each solution; what would be no triple is left out (section 16.2).
func (q *Query) construct(x *execution, row []ID, op operator, emit func(webrace.Triple) bool) {
	seen, fresh := map[[3]ID]bool{}, map[[3]ID]bool{} // the latter with blank nodes of this solution
	for n := 0; op.next(); n++ {
		clear(fresh)
		for _, t := range q.template {
			ids, terms, ok, isFresh := [3]ID{}, [3]webrace.Term{}, true, false
			for i, one := range [...]varOrTerm{t.subject, t.predicate, t.object} {
				switch {
				case one.variable == 0:
					ids[i], terms[i] = x.id(one.term), one.term
				case q.names[one.variable] == "":
					ids[i], terms[i] = passingID|ID(one.variable), rdf.NewBlank(fmt.Sprintf("c%dv%d", n, one.variable))
					isFresh = true
				default:
					ids[i], terms[i] = row[one.variable], x.term(row[one.variable])
				}
				ok = ok && terms[i] != ""
			}
			if !ok || rdf.KindOf(terms[0]) == rdf.Literal || rdf.KindOf(terms[1]) != rdf.IRI || seen[ids] || fresh[ids] || x.err != nil {
				continue
			}
			if isFresh {
				fresh[ids] = true
			} else {
				seen[ids] = true
				x.keep(64)
			}
			if !emit(webrace.Triple{Subject: terms[0], Predicate: terms[1], Object: terms[2]}) {
				return
			}
		}
	}
}

// describeAll yields the concise bounded descriptions of what is asked for: what is said of each, and of the blank
// nodes that this leads to.
func (q *Query) describeAll(x *execution, row []ID, op operator, emit func(webrace.Triple) bool) {
	places := q.describe
	if len(places) == 0 {
		for _, v := range q.root.project {
			places = append(places, varOrTerm{variable: v})
		}
	}
	d := describer{x: x, graphs: x.defaults, seen: map[ID]bool{}, emit: emit}
	for op.next() {
		for _, one := range places {
			id := x.id(one.term)
			if one.variable != 0 {
				id = row[one.variable]
			}
			if !d.describe(id) {
				return
			}
		}
	}
	for _, one := range places { // an IRI is described, also if the pattern has no solution
		if one.variable == 0 && !d.describe(x.id(one.term)) {
			return
		}
	}
}

type describer struct {
	x      *execution
	graphs []ID
	seen   map[ID]bool
	emit   func(webrace.Triple) bool
}

func (d *describer) describe(id ID) bool {
	queue := []ID{id}
	going := true
	for len(queue) > 0 && going && d.x.err == nil {
		subject := queue[0]
		queue = queue[1:]
		if subject == 0 || d.seen[subject] {
			continue
		}
		d.seen[subject] = true
		d.x.keep(40)
		for i, graph := range d.graphs {
			d.x.each(Pattern{Subject: subject}, []ID{graph}, func(q Pattern) bool {
				for _, q.Graph = range d.graphs[:i] {
					if d.x.has(q) {
						return true
					}
				}
				object := d.x.term(q.Object)
				if rdf.KindOf(object) == rdf.Blank {
					queue = append(queue, q.Object)
				}
				going = d.emit(webrace.Triple{Subject: d.x.term(q.Subject), Predicate: d.x.term(q.Predicate), Object: object})
				return going
			})
			if !going {
				return false
			}
		}
	}
	return going && d.x.err == nil
}
