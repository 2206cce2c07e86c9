package sparql

// operator yields solutions by binding variables in a row, which all operators of a scope share: joins are nested loops
// that backtrack, and what a level has bound is where the next one begins to look.
type operator interface {
	open()      // begins anew, from the variables that are bound
	next() bool // takes back what it has bound, and binds the next solution
	undo()      // takes back what it has bound; it has to be opened again
}

// unitOp is the one solution that binds nothing; emptyOp none.
type (
	unitOp  struct{ done bool }
	emptyOp struct{}
)

func (o *unitOp) open() { o.done = false }
func (o *unitOp) undo() {}
func (o *unitOp) next() bool {
	first := !o.done
	o.done = true
	return first
}

func (emptyOp) open()      {}
func (emptyOp) undo()      {}
func (emptyOp) next() bool { return false }

// bindings are variables that an operator has bound in a row.
type bindings struct {
	row   []ID
	bound []variable
}

// bind binds a variable, and reports false if it has another value. Zero fits all.
func (b *bindings) bind(v variable, id ID) bool {
	if id == 0 {
		return true
	}
	if b.row[v] == 0 {
		b.row[v] = id
		b.bound = append(b.bound, v)
		return true
	}
	return b.row[v] == id
}

func (b *bindings) undo() {
	for _, v := range b.bound {
		b.row[v] = 0
	}
	b.bound = b.bound[:0]
}

// joinOp is a nested loop over any number of levels.
type joinOp struct {
	x      *execution
	levels []operator
	depth  int // of the level that yields next; -1: none
}

func (o *joinOp) open() {
	o.depth = 0
	o.levels[0].open()
}

func (o *joinOp) next() bool {
	for o.depth >= 0 && o.x.step() {
		switch {
		case !o.levels[o.depth].next():
			o.depth--
		case o.depth == len(o.levels)-1:
			return true
		default:
			o.depth++
			o.levels[o.depth].open()
		}
	}
	return false
}

func (o *joinOp) undo() {
	for ; o.depth >= 0; o.depth-- {
		o.levels[o.depth].undo()
	}
}

// leftOp is OPTIONAL.
type leftOp struct {
	left, right operator
	inRight     bool
	matched     bool
}

func (o *leftOp) open() {
	o.left.open()
	o.inRight = false
}

func (o *leftOp) next() bool {
	for {
		if !o.inRight {
			if !o.left.next() {
				return false
			}
			o.right.open()
			o.inRight, o.matched = true, false
		}
		if o.right.next() {
			o.matched = true
			return true
		}
		o.inRight = false
		if !o.matched {
			return true
		}
	}
}

func (o *leftOp) undo() {
	if o.inRight {
		o.right.undo()
	}
	o.left.undo()
}

type unionOp struct {
	parts []operator
	at    int
}

func (o *unionOp) open() {
	o.at = 0
	o.parts[0].open()
}

func (o *unionOp) next() bool {
	for o.at < len(o.parts) {
		if o.parts[o.at].next() {
			return true
		}
		if o.at++; o.at < len(o.parts) {
			o.parts[o.at].open()
		}
	}
	return false
}

func (o *unionOp) undo() {
	if o.at < len(o.parts) {
		o.parts[o.at].undo()
	}
}

// filterOp yields the solutions for which all conditions are true.
type filterOp struct {
	operator
	x          *execution
	conditions []truth
}

func (o *filterOp) next() bool {
	for o.operator.next() && o.x.step() {
		if holds(o.conditions) {
			return o.x.err == nil
		}
	}
	return false
}

func holds(conditions []truth) bool {
	for _, c := range conditions {
		if ok, err := c(); err != nil || !ok {
			return false
		}
	}
	return true
}

// antiOp is MINUS by nested loops: it yields the solutions on the left that none on the right is compatible with.
type antiOp struct {
	operator
	right operator
}

func (o *antiOp) next() bool {
	for o.operator.next() {
		o.right.open()
		if !o.right.next() {
			return true
		}
		o.right.undo()
	}
	return false
}

// extendOp is BIND.
type extendOp struct {
	operator
	x *execution
	bindings
	variable variable
	value    computation
	passing  bool // the value goes to the results alone: it gets no id of its own, and is not kept
}

func (o *extendOp) open() { o.operator.open() }

func (o *extendOp) next() bool {
	o.bindings.undo()
	for o.operator.next() && o.x.step() {
		t, err := o.value()
		switch {
		case err != nil:
			return o.x.err == nil
		case o.passing:
			o.x.passing[o.variable] = t
			return o.bind(o.variable, passingID|ID(o.variable)) && o.x.err == nil
		case o.bind(o.variable, o.x.id(t)):
			return o.x.err == nil
		}
	}
	return false
}

func (o *extendOp) undo() {
	o.bindings.undo()
	o.operator.undo()
}

// nameOp binds the name of a GRAPH to what its operator has bound a hidden variable to, or the other way round.
type nameOp struct {
	operator
	bindings
	hidden, name variable
	given        bool
}

func (o *nameOp) open() {
	if o.given = o.row[o.name] != 0; o.given {
		o.row[o.hidden] = o.row[o.name]
	}
	o.operator.open()
}

func (o *nameOp) next() bool {
	o.bindings.undo()
	for o.operator.next() {
		if o.bind(o.name, o.row[o.hidden]) {
			return true
		}
	}
	o.forget()
	return false
}

func (o *nameOp) forget() {
	if o.given {
		o.row[o.hidden] = 0
	}
}

func (o *nameOp) undo() {
	o.bindings.undo()
	o.operator.undo()
	o.forget()
}

// tableOp is VALUES.
type tableOp struct {
	x *execution
	bindings
	variables []variable
	rows      [][]ID
	at        int
}

func (o *tableOp) open() { o.at = 0 }

func (o *tableOp) next() bool {
	o.undo()
	for o.at < len(o.rows) && o.x.step() {
		o.at++
		if o.bindRow(o.variables, o.rows[o.at-1]) {
			return true
		}
	}
	return false
}

// bindRow binds variables, all or none.
func (b *bindings) bindRow(variables []variable, row []ID) bool {
	for i, v := range variables {
		if !b.bind(v, row[i]) {
			b.undo()
			return false
		}
	}
	return true
}

// graphsOp goes through the named graphs, or looks whether one is there.
type graphsOp struct {
	x *execution
	bindings
	name variable
	rest []ID
}

func (o *graphsOp) open() {
	if id := o.row[o.name]; id != 0 {
		o.rest = nil
		if o.x.hasGraph(id) {
			o.rest = []ID{id}
		}
		return
	}
	o.rest = o.x.namedGraphs()
}

func (o *graphsOp) next() bool {
	o.undo()
	if len(o.rest) == 0 || !o.x.step() {
		return false
	}
	o.bind(o.name, o.rest[0])
	o.rest = o.rest[1:]
	return true
}

func (x *execution) hasGraph(id ID) bool {
	_, lists := x.dataset.(GraphLister)
	if x.restricted || lists || x.graphsAreRead {
		return x.isNamed(id)
	}
	return x.has(Pattern{Graph: id})
}
