package sparql

import (
	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/sparql/value"
)

// groupOp is GROUP BY with its aggregates (section 18.5.1). Without keys all solutions are one group, also if there are
// none.
type groupOp struct {
	operator
	x *execution
	bindings
	keys       []variable
	byKey      []computation // nil: the variable itself
	aggregates []groupAggregate
	all        []variable // of a solution, for COUNT(DISTINCT *)

	groups []*groupState // in the order in which they came
	at     int
	kept   int
}

type groupAggregate struct {
	aggregate
	argument computation // nil: COUNT(*)
	direct   variable    // of the argument, if it is nothing else
}

type groupState struct {
	keys    []ID
	results []value.Aggregate
	seen    []map[string]bool // what DISTINCT has had
}

func (o *groupOp) open() {
	o.x.keep(-o.kept)
	o.groups, o.at, o.kept = nil, 0, 0
	byKey := map[string]*groupState{}
	if len(o.keys) == 0 {
		byKey[""] = o.newGroup(nil)
	}
	keys, text := make([]ID, len(o.keys)), []byte(nil)
	positions := make([]variable, len(o.keys))
	for i := range positions {
		positions[i] = variable(i)
	}
	o.operator.open()
	for o.operator.next() && o.x.step() {
		for i, v := range o.keys {
			if o.byKey[i] == nil {
				keys[i] = o.row[v]
				continue
			}
			t, _ := o.byKey[i]() // an error is no value
			keys[i] = o.x.id(t)
		}
		text = appendKey(text[:0], keys, positions)
		group := byKey[string(text)]
		if group == nil {
			group = o.newGroup(keys)
			byKey[string(text)] = group
		}
		o.add(group)
	}
}

func (o *groupOp) newGroup(keys []ID) *groupState {
	g := &groupState{keys: append([]ID(nil), keys...), seen: make([]map[string]bool, len(o.aggregates))}
	for _, a := range o.aggregates {
		g.results = append(g.results, value.NewAggregate(a.name, a.separator))
	}
	o.groups = append(o.groups, g)
	o.keep(160 + 24*len(keys) + 96*len(o.aggregates))
	return g
}

func (o *groupOp) keep(bytes int) {
	o.kept += bytes
	o.x.keep(bytes)
}

// add gives a solution to the aggregates of its group.
func (o *groupOp) add(g *groupState) {
	for i, a := range o.aggregates {
		result := g.results[i]
		switch {
		case a.argument == nil:
			if !a.distinct || o.unseen(g, i, appendKey(nil, o.row, o.all)) {
				result.Add(value.True)
			}
		case a.direct != 0 && a.name == "COUNT":
			switch id := o.row[a.direct]; {
			case id == 0:
				result.Failed()
			case !a.distinct || o.unseen(g, i, appendKey(nil, o.row, []variable{a.direct})):
				result.Add(value.True)
			}
		default:
			t, err := a.argument()
			if err != nil {
				result.Failed()
				continue
			}
			if a.distinct && !o.unseen(g, i, []byte(t)) {
				continue
			}
			before := result.Bytes()
			result.Add(t)
			o.keep(result.Bytes() - before)
		}
	}
}

func (o *groupOp) unseen(g *groupState, aggregate int, key []byte) bool {
	if g.seen[aggregate] == nil {
		g.seen[aggregate] = map[string]bool{}
	}
	key = append(key, 0)
	if g.seen[aggregate][string(key)] {
		return false
	}
	g.seen[aggregate][string(key)] = true
	o.keep(len(key) + 48)
	return true
}

func (o *groupOp) next() bool {
	o.bindings.undo()
	if o.at == len(o.groups) || !o.x.step() {
		return false
	}
	g := o.groups[o.at]
	o.at++
	o.bindRow(o.keys, g.keys)
	for i, a := range o.aggregates {
		t, err := g.results[i].Result()
		if err != nil {
			o.x.ended(err)
			t = webrace.Term("")
		}
		o.bind(a.variable, o.x.id(t))
	}
	return o.x.err == nil
}

func (o *groupOp) undo() { o.bindings.undo() }
