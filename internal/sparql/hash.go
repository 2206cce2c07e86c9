package sparql

import "math"

// hashTable holds the solutions of an operator that is run by itself, in a row of its own, by two of its variables.
type hashTable struct {
	x         *execution
	inner     operator
	innerRow  []ID
	variables []variable // of a solution, in the order of rows
	keys      []variable // at most two of them, bound in all solutions
	graph     variable   // of the graph that it is run in; 0: always the same

	built bool
	in    ID // the graph it was built in
	rows  []ID
	first map[[2]ID]int32
	next  []int32
	count int
	bytes int
}

// build runs the operator, unless it has been run in the same graph before.
func (h *hashTable) build(row []ID) {
	if !h.built || h.graph != 0 && h.in != row[h.graph] {
		h.buildWithin(row, math.MaxInt, math.MaxInt)
	}
}

// buildWithin reports whether there were so many solutions at most, and they took so many bytes. Of more nothing is
// kept.
func (h *hashTable) buildWithin(row []ID, most, mostBytes int) bool {
	h.x.keep(-h.bytes)
	h.built, h.bytes, h.count = true, 0, 0
	h.rows, h.next, h.first = h.rows[:0], h.next[:0], map[[2]ID]int32{}
	if h.graph != 0 {
		h.in = row[h.graph]
		h.innerRow[h.graph] = h.in
	}
	h.inner.open()
	for h.inner.next() && h.x.step() {
		for _, v := range h.variables {
			h.rows = append(h.rows, h.innerRow[v])
		}
		h.count++
		size := 8*len(h.variables) + 48
		if h.bytes += size; !h.x.keep(size) {
			return false
		}
		if h.count > most || h.bytes > mostBytes {
			h.inner.undo()
			h.x.keep(-h.bytes)
			h.rows, h.built, h.bytes = nil, false, 0
			return false
		}
	}
	h.next = make([]int32, h.count)
	for i := h.count - 1; i >= 0; i-- { // so that chains are in the order of solutions
		key := h.key(func(v variable) ID { return h.value(i, v) })
		h.next[i] = -1
		if after, ok := h.first[key]; ok {
			h.next[i] = after
		}
		h.first[key] = int32(i)
	}
	return h.x.err == nil
}

func (h *hashTable) key(of func(variable) ID) (key [2]ID) {
	for i, v := range h.keys {
		key[i] = of(v)
	}
	return key
}

func (h *hashTable) solution(i int) []ID {
	return h.rows[i*len(h.variables) : (i+1)*len(h.variables)]
}

func (h *hashTable) value(i int, v variable) ID {
	for at, other := range h.variables {
		if other == v {
			return h.rows[i*len(h.variables)+at]
		}
	}
	return 0
}

// find returns the first solution that may fit a row; -1 if there is none. The others follow in next.
func (h *hashTable) find(row []ID) int32 {
	if i, ok := h.first[h.key(func(v variable) ID { return row[v] })]; ok {
		return i
	}
	return -1
}

// hashOp joins with the solutions in a hash table.
type hashOp struct {
	bindings
	table *hashTable
	at    int32
}

func (o *hashOp) open() {
	o.table.build(o.row)
	o.at = o.table.find(o.row)
}

func (o *hashOp) next() bool {
	o.undo()
	for o.at >= 0 && o.table.x.step() {
		i := int(o.at)
		o.at = o.table.next[i]
		if o.bindRow(o.table.variables, o.table.solution(i)) {
			return true
		}
	}
	return false
}

// minusOp is MINUS by a hash table: it yields the solutions on the left for which none on the right is compatible and
// binds one of the same variables.
type minusOp struct {
	operator
	row    []ID
	table  *hashTable
	shared []int // which of the table's variables the left may bind
}

func (o *minusOp) next() bool {
	for o.operator.next() {
		if !o.removed() {
			return o.table.x.err == nil
		}
	}
	return false
}

func (o *minusOp) removed() bool {
	o.table.build(o.row)
	for i := o.table.find(o.row); i >= 0 && o.table.x.step(); i = o.table.next[i] {
		if o.compatible(o.table.solution(int(i))) {
			return true
		}
	}
	return false
}

func (o *minusOp) compatible(solution []ID) (both bool) {
	for _, i := range o.shared {
		left, right := o.row[o.table.variables[i]], solution[i]
		switch {
		case left == 0 || right == 0:
		case left != right:
			return false
		default:
			both = true
		}
	}
	return both
}

// scopeOp runs an operator in a row of its own, and binds what that gives. It does not keep it, so it is for what is
// opened once.
type scopeOp struct {
	bindings
	inner     operator
	innerRow  []ID
	variables []variable
	graph     variable
}

func (o *scopeOp) open() {
	if o.graph != 0 {
		o.innerRow[o.graph] = o.row[o.graph]
	}
	o.inner.open()
}

func (o *scopeOp) next() bool {
	o.bindings.undo()
next:
	for o.inner.next() {
		for _, v := range o.variables {
			if !o.bind(v, o.innerRow[v]) {
				o.bindings.undo()
				continue next
			}
		}
		return true
	}
	return false
}

func (o *scopeOp) undo() {
	o.bindings.undo()
	o.inner.undo()
}
