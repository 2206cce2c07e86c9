package sparql

import "slices"

// pathOp finds the ends of paths of any length.
type pathOp struct {
	x *execution
	bindings
	walk     walker
	path     *path // ?, * or +
	subject  variable
	object   variable
	from, to ID // constants, where there is no variable
	graph    graphPlace
	free     bool // whether both ends are variables

	starts  []ID // that are still to be begun from; only if neither end is bound
	kept    int  // bytes of these
	start   ID
	back    bool
	end     ID       // the only one that counts, if it is bound as well
	reached *closure // from start; nil: nothing, or nothing more
}

func (o *pathOp) open() {
	o.forget()
	o.walk.graphs = o.graph.current(o.row)
	from, to := o.from, o.to
	if o.subject != 0 {
		from = o.row[o.subject]
	}
	if o.object != 0 {
		to = o.row[o.object]
	}
	o.back, o.end = from == 0, 0
	switch {
	case o.free && (from != 0 && !o.isNode(from) || to != 0 && !o.isNode(to)):
	case from != 0:
		o.end = to
		o.begin(from)
	case to != 0:
		o.begin(to)
	default:
		o.back = false
		o.starts = o.allStarts()
	}
}

func (o *pathOp) begin(start ID) { o.start, o.reached = start, o.walk.closure(o.path, o.back, start) }

// isNode reports whether a term is in the graph. That of a variable has to be, also for a path of no length; that of a
// constant has not (section 9.3).
func (o *pathOp) isNode(id ID) bool {
	for _, graph := range o.walk.graphs {
		if o.x.has(Pattern{Subject: id, Graph: graph}) || o.x.has(Pattern{Object: id, Graph: graph}) {
			return true
		}
	}
	return false
}

func (o *pathOp) forget() {
	o.finish()
	o.x.keep(-o.kept)
	o.starts, o.kept = nil, 0
}

// finish is the end of what is reached from one start.
func (o *pathOp) finish() {
	if o.reached != nil {
		o.reached.close()
		o.reached = nil
	}
}

// allStarts returns where paths may begin: at any node if they may be of no length.
func (o *pathOp) allStarts() []ID {
	seen := map[ID]bool{}
	var all []ID
	add := func(id ID) bool {
		if seen[id] {
			return true
		}
		seen[id] = true
		all = append(all, id)
		o.kept += 40
		return o.x.keep(40)
	}
	if o.path.op == pathOneOrMore && o.path.parts[0].op == pathLink {
		if p := o.x.id(o.path.parts[0].iri); p != 0 {
			o.x.each(Pattern{Predicate: p}, o.walk.graphs, func(q Pattern) bool { return add(q.Subject) })
		}
		return all
	}
	o.x.each(Pattern{}, o.walk.graphs, func(q Pattern) bool { return add(q.Subject) && add(q.Object) })
	return all
}

func (o *pathOp) next() bool {
	o.undo()
	for o.x.step() {
		if o.reached == nil {
			if len(o.starts) == 0 {
				o.forget()
				return false
			}
			o.begin(o.starts[0])
			o.starts = o.starts[1:]
		}
		to, found := o.reached.next()
		if !found || to == o.end {
			o.finish() // it comes once
		}
		if !found || o.end != 0 && to != o.end {
			continue
		}
		from := o.start
		if o.back {
			from, to = to, from
		}
		if o.bindEnd(o.subject, from) && o.bindEnd(o.object, to) {
			return true
		}
		o.undo()
	}
	return false
}

func (o *pathOp) bindEnd(v variable, id ID) bool { return v == 0 || o.bind(v, id) }

// walker goes along paths.
type walker struct {
	x      *execution
	graphs []ID
}

// step calls a function with the nodes that a path leads to from one, until it returns false, which step then returns,
// too. A node may come several times, but not at the end of a path of any length.
func (w *walker) step(p *path, back bool, from ID, to func(ID) bool) bool {
	switch p.op {
	case pathLink:
		if id := w.x.id(p.iri); id != 0 {
			return w.scan(back, from, Pattern{Predicate: id}, nil, to)
		}
		return true
	case pathNegated:
		return (!p.forward || w.scan(back, from, Pattern{}, w.x.idsOf(p.not), to)) &&
			(!p.backward || w.scan(!back, from, Pattern{}, w.x.idsOf(p.notBack), to))
	case pathInverse:
		return w.step(p.parts[0], !back, from, to)
	case pathAlternative:
		for _, part := range p.parts {
			if !w.step(part, back, from, to) {
				return false
			}
		}
		return true
	case pathSequence:
		return w.sequence(p.parts, back, from, to)
	default:
		c := w.closure(p, back, from)
		defer c.close()
		for end, found := c.next(); found; end, found = c.next() {
			if !to(end) {
				return false
			}
		}
		return w.x.err == nil
	}
}

func (w *walker) scan(back bool, from ID, find Pattern, not []ID, to func(ID) bool) bool {
	find.Subject = from
	if back {
		find.Subject, find.Object = 0, from
	}
	going := true
	w.x.each(find, w.graphs, func(q Pattern) bool {
		end := q.Object
		if back {
			end = q.Subject
		}
		going = slices.Contains(not, q.Predicate) || to(end)
		return going
	})
	return going && w.x.err == nil
}

func (w *walker) sequence(parts []*path, back bool, from ID, to func(ID) bool) bool {
	if len(parts) == 0 {
		return to(from)
	}
	first, rest := parts[0], parts[1:]
	if back {
		first, rest = parts[len(parts)-1], parts[:len(parts)-1]
	}
	return w.step(first, back, from, func(middle ID) bool { return w.sequence(rest, back, middle, to) })
}

// closure is what ?, * and + lead to from a node, breadth first (section 18.4, ALP). It goes on from an end no sooner
// than the next one is asked for: what was asked of that end meanwhile has left a cursor near.
type closure struct {
	walk    *walker
	path    *path
	back    bool
	visited map[ID]bool
	found   []ID // these, in the order in which they were visited
	at      int  // so many of them were returned
}

const visitedBytes = 48 // about what is kept of a node that was visited

func (w *walker) closure(p *path, back bool, from ID) *closure {
	c := &closure{walk: w, path: p, back: back, visited: map[ID]bool{}}
	if p.op == pathOneOrMore {
		c.goOn(from)
	} else {
		c.visit(from)
	}
	return c
}

// next returns an end that was not returned before, if there is one.
func (c *closure) next() (end ID, found bool) {
	if !c.walk.x.step() {
		return 0, false
	}
	if c.at == 1 || c.at > 1 && c.path.op != pathZeroOrOne {
		c.goOn(c.found[c.at-1])
	}
	if c.at == len(c.found) || c.walk.x.err != nil {
		return 0, false
	}
	c.at++
	return c.found[c.at-1], true
}

func (c *closure) goOn(from ID) { c.walk.step(c.path.parts[0], c.back, from, c.visit) }

func (c *closure) visit(id ID) bool {
	if c.visited[id] {
		return true
	}
	c.visited[id] = true
	c.found = append(c.found, id)
	return c.walk.x.keep(visitedBytes)
}

func (c *closure) close() { c.walk.x.keep(-visitedBytes * len(c.found)) }
