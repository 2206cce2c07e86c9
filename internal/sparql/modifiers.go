package sparql

import (
	"container/heap"
	"encoding/binary"
	"slices"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/sparql/value"
)

// appendKey writes what a row binds some variables to, so that equal ones are equal texts.
func appendKey(key []byte, row []ID, variables []variable) []byte {
	for _, v := range variables {
		key = binary.BigEndian.AppendUint64(key, uint64(row[v]))
	}
	return key
}

// distinctOp yields each solution once; reduced: not twice in a row.
type distinctOp struct {
	operator
	x         *execution
	row       []ID
	variables []variable
	reduced   bool
	seen      map[string]bool
	last      string
	key       []byte
	kept      int
}

func (o *distinctOp) open() {
	o.x.keep(-o.kept)
	o.kept, o.seen, o.last = 0, map[string]bool{}, ""
	o.operator.open()
}

func (o *distinctOp) next() bool {
	for o.operator.next() && o.x.step() {
		o.key = appendKey(o.key[:0], o.row, o.variables)
		o.key = append(o.key, 0) // not empty, without variables
		switch {
		case o.reduced && o.last == string(o.key), o.seen[string(o.key)]:
			continue
		case o.reduced:
			o.last = string(o.key)
			return true
		}
		o.seen[string(o.key)] = true
		size := len(o.key) + 48
		o.kept += size
		return o.x.keep(size)
	}
	return false
}

// sliceOp is OFFSET and LIMIT.
type sliceOp struct {
	operator
	offset, limit int64 // limit -1: none
	skip, left    int64
	running       bool
}

func (o *sliceOp) open() {
	o.skip, o.left = o.offset, o.limit
	if o.running = o.left != 0; o.running {
		o.operator.open()
	}
}

func (o *sliceOp) next() bool {
	if o.left == 0 {
		o.undo()
		return false
	}
	for ; o.running; o.skip-- {
		o.running = o.operator.next()
		if o.skip <= 0 {
			break
		}
	}
	o.left-- // below zero there is no limit
	return o.running
}

func (o *sliceOp) undo() {
	if o.running {
		o.operator.undo()
	}
	o.running = false
}

// orderOp is ORDER BY: it keeps all solutions, or as many as a LIMIT asks for.
type orderOp struct {
	operator
	x *execution
	bindings
	by         []computation
	descending []bool
	variables  []variable // of a solution
	most       int64      // solutions that are asked for; -1: all

	solutions []ordered
	keys      []webrace.Term // of the solution that is looked at
	at        int
	kept      int
}

type ordered struct {
	keys  []webrace.Term
	row   []ID
	place int // in the order in which they came
}

func (o *orderOp) open() {
	o.x.keep(-o.kept)
	o.solutions, o.at, o.kept = nil, 0, 0
	o.operator.open()
	for n := 0; o.operator.next() && o.x.step(); n++ {
		o.add(n)
	}
	if o.x.err == nil {
		slices.SortFunc(o.solutions, o.compare)
	}
}

// add keeps a solution, and drops the last if there are more than are asked for: then they are a heap, with the last on
// top.
func (o *orderOp) add(place int) {
	if o.keys == nil {
		o.keys = make([]webrace.Term, len(o.by))
	}
	s := ordered{keys: o.keys, place: place}
	for i, by := range o.by {
		s.keys[i], _ = by() // an error is no value
	}
	full := o.most >= 0 && int64(len(o.solutions)) >= o.most
	if full && (o.most == 0 || o.compare(s, o.solutions[0]) > 0) {
		return
	}
	s.keys, s.row = slices.Clone(s.keys), make([]ID, len(o.variables))
	for i, v := range o.variables {
		s.row[i] = o.row[v]
	}
	o.account(s, 1)
	switch {
	case full:
		o.account(o.solutions[0], -1)
		o.solutions[0] = s
		heap.Fix((*lastFirst)(o), 0)
	case o.most >= 0:
		heap.Push((*lastFirst)(o), s)
	default:
		o.solutions = append(o.solutions, s)
	}
}

func (o *orderOp) account(s ordered, sign int) {
	size := 80 + 8*len(s.row)
	for _, k := range s.keys {
		size += 16 + len(k)
	}
	o.kept += sign * size
	o.x.keep(sign * size)
}

func (o *orderOp) compare(a, b ordered) int {
	if !o.x.step() { // sorting ends early
		return 0
	}
	for i := range o.by {
		if c := value.Order(a.keys[i], b.keys[i]); c != 0 {
			if o.descending[i] {
				return -c
			}
			return c
		}
	}
	return a.place - b.place
}

func (o *orderOp) next() bool {
	o.bindings.undo()
	if o.at == len(o.solutions) || !o.x.step() {
		return false
	}
	o.at++
	return o.bindRow(o.variables, o.solutions[o.at-1].row)
}

func (o *orderOp) undo() { o.bindings.undo() }

// lastFirst is the heap of an orderOp.
type lastFirst orderOp

func (h *lastFirst) Len() int { return len(h.solutions) }
func (h *lastFirst) Less(i, j int) bool {
	return (*orderOp)(h).compare(h.solutions[i], h.solutions[j]) > 0
}
func (h *lastFirst) Swap(i, j int) { h.solutions[i], h.solutions[j] = h.solutions[j], h.solutions[i] }
func (h *lastFirst) Push(s any)    { h.solutions = append(h.solutions, s.(ordered)) }
func (h *lastFirst) Pop() any      { panic("an order keeps its length") }
