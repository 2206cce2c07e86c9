package sparql

import "slices"

// pathOp finds the ends of paths of any length, breadth first (section 18.4, ALP).
type pathOp struct {
	x *execution
	bindings
	walk     walker
	path     *path
	subject  variable
	object   variable
	from, to ID // constants, where there is no variable
	graph    graphPlace
	free     bool // whether both ends are variables

	starts []ID // that are still to be begun from; only if neither end is bound
	ends   []ID // that were reached from start
	start  ID
	back   bool
	at     int
	kept   int
}

func (o *pathOp) open() {
	o.forget()
	o.starts = nil
	o.walk.graphs = o.graph.current(o.row)
	from, to := o.from, o.to
	if o.subject != 0 {
		from = o.row[o.subject]
	}
	if o.object != 0 {
		to = o.row[o.object]
	}
	switch {
	case o.free && (from != 0 && !o.isNode(from) || to != 0 && !o.isNode(to)):
	case from != 0:
		o.back = false
		o.reach(from, to)
	case to != 0:
		o.back = true
		o.reach(to, 0)
	default:
		o.back = false
		o.starts = o.allStarts()
	}
}

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
	o.x.keep(-o.kept)
	o.ends, o.at, o.kept = nil, 0, 0
}

// reach collects the ends of the paths from a node, or that one end if it is given.
func (o *pathOp) reach(from, to ID) {
	o.start = from
	o.walk.step(o.path, o.back, from, func(end ID) bool {
		if to != 0 && end != to {
			return true
		}
		o.ends = append(o.ends, end)
		o.kept += 8
		return o.x.keep(8) && to == 0
	})
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
		if o.at == len(o.ends) {
			if len(o.starts) == 0 {
				o.forget()
				return false
			}
			start := o.starts[0]
			o.starts = o.starts[1:]
			o.x.keep(-8 * len(o.ends))
			o.kept -= 8 * len(o.ends)
			o.ends, o.at = o.ends[:0], 0
			o.reach(start, 0)
			continue
		}
		from, to := o.start, o.ends[o.at]
		o.at++
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
		return w.closure(p, back, from, to)
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

// closure goes along ?, * and +.
func (w *walker) closure(p *path, back bool, from ID, to func(ID) bool) bool {
	visited := map[ID]bool{}
	defer func() { w.x.keep(-40 * len(visited)) }()
	queue := []ID{from}
	going := true
	visit := func(id ID) bool {
		if visited[id] {
			return true
		}
		visited[id] = true
		if !w.x.keep(40) {
			going = false
			return false
		}
		if p.op != pathZeroOrOne {
			queue = append(queue, id)
		}
		going = to(id)
		return going
	}
	if p.op != pathOneOrMore {
		visited[from] = true
		if !w.x.keep(40) || !to(from) {
			return false
		}
	}
	for len(queue) > 0 && going && w.x.step() {
		next := queue[0]
		queue = queue[1:]
		w.step(p.parts[0], back, next, visit)
	}
	return going && w.x.err == nil
}
