package sparql

import "slices"

// graphPlace is the graph that patterns are matched in.
type graphPlace struct {
	variable variable // its name is bound to this
	ids      []ID     // or it is the merge of these
}

// current returns the graphs that are looked in; what is bound to the variable, zero if nothing yet is.
func (g *graphPlace) current(row []ID) []ID {
	if g.variable != 0 {
		return []ID{row[g.variable]}
	}
	return g.ids
}

// scanOp finds the triples of a pattern. It has a cursor while there may be more of them.
type scanOp struct {
	x *execution
	bindings
	variables [3]variable
	constants [3]ID
	not       []ID // predicates
	graph     graphPlace

	pattern  Pattern // with what was bound when it was opened
	follows  bool    // something of it was: there are few triples then, and mostly one
	at       int     // which of graph.ids
	cursor   *finder // nil: at the end of that graph
	ahead    bool    // the cursor is at the next quad already
	quad     Pattern
	started  bool
	finished bool
}

func (o *scanOp) open() {
	var ids [3]ID
	o.follows = false
	for i, v := range o.variables {
		ids[i] = o.constants[i]
		if v != 0 {
			ids[i] = o.row[v]
			o.follows = o.follows || ids[i] != 0
		}
	}
	o.pattern = Pattern{Subject: ids[0], Predicate: ids[1], Object: ids[2]}
	o.started, o.finished = false, false
	if v := o.graph.variable; v != 0 {
		o.pattern.Graph = o.row[v]
		return
	}
	if o.at = 0; len(o.graph.ids) == 0 {
		o.finished = true
		return
	}
	o.pattern.Graph = o.graph.ids[0]
}

// undo gives the cursor back, too: whoever goes on below may be the next to ask for one like it.
func (o *scanOp) undo() {
	o.bindings.undo()
	if o.cursor != nil {
		o.x.giveBack(o.cursor)
		o.cursor = nil
	}
}

func (o *scanOp) next() bool {
	o.bindings.undo()
	for !o.finished && o.x.step() {
		if !o.advance() {
			if o.at++; o.graph.variable != 0 || o.at >= len(o.graph.ids) {
				o.finished = true
				return false
			}
			o.pattern.Graph, o.started = o.graph.ids[o.at], false
			continue
		}
		if o.bindQuad(o.quad) {
			return true
		}
		o.bindings.undo()
	}
	return false
}

// advance goes to the next quad of a graph. What follows from something bound is looked for at once: if there is no
// more of it, the cursor is free, for other patterns of the same subject.
func (o *scanOp) advance() bool {
	switch {
	case !o.started:
		o.started, o.ahead = true, false
		o.cursor = o.x.seek(o.pattern)
	case o.cursor != nil && !o.ahead && !o.x.next(o.cursor):
		o.cursor = nil
	}
	if o.cursor == nil {
		return false
	}
	o.quad, o.ahead = o.cursor.Quad(), o.follows
	if o.ahead && !o.x.next(o.cursor) {
		o.cursor = nil
	}
	return o.x.err == nil
}

func (o *scanOp) bindQuad(q Pattern) bool {
	for i, id := range [3]ID{q.Subject, q.Predicate, q.Object} {
		if v := o.variables[i]; v != 0 && !o.bind(v, id) {
			return false
		}
	}
	if len(o.not) > 0 && slices.Contains(o.not, q.Predicate) {
		return false
	}
	if v := o.graph.variable; v != 0 {
		return o.bind(v, q.Graph)
	}
	for _, q.Graph = range o.graph.ids[:o.at] {
		if o.x.has(q) {
			return false
		}
	}
	return true
}
