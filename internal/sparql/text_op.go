package sparql

import "github.com/webrace/webrace"

// textOp finds what has a text with all words of a query: each subject once in the default graph, or once in each named
// graph, in the order of the dataset.
type textOp struct {
	x *execution
	bindings
	subject  variable
	constant ID
	property webrace.Term
	words    string
	limit    int // of subjects, in each graph
	graph    graphPlace

	hits []textHit
	of   map[ID][]int // by subject; nil: not looked for yet
	all  []int
	rest []int // of hits
}

type textHit struct{ subject, graph ID } // no graph: the default graph

func (o *textOp) open() {
	if o.of == nil {
		o.find()
	}
	wanted := o.constant
	if o.subject != 0 {
		wanted = o.row[o.subject]
	}
	o.rest = o.all
	if wanted != 0 {
		o.rest = o.of[wanted]
	}
}

func (o *textOp) next() bool {
	o.undo()
	for len(o.rest) > 0 && o.x.step() {
		hit := o.hits[o.rest[0]]
		o.rest = o.rest[1:]
		if (o.subject == 0 || o.bind(o.subject, hit.subject)) && (hit.graph == 0 || o.bind(o.graph.variable, hit.graph)) {
			return true
		}
		o.undo()
	}
	return false
}

func (o *textOp) find() {
	o.of = map[ID][]int{}
	known, count := map[textHit]bool{}, map[ID]int{}
	graphs := o.graph.ids
	if o.graph.variable != 0 {
		graphs = []ID{0}
	}
	with := Pattern{}
	if o.property != "" {
		with.Predicate = o.x.id(o.property)
	}
	for literal, err := range o.x.dataset.Words(o.x.ctx, o.words) {
		if err != nil {
			o.x.fail(err)
			return
		}
		with.Object = literal
		o.x.each(with, graphs, func(q Pattern) bool {
			hit := textHit{subject: q.Subject}
			if o.graph.variable != 0 {
				hit.graph = q.Graph
			}
			full := o.limit > 0 && count[hit.graph] >= o.limit
			if !known[hit] && !full {
				known[hit] = true
				count[hit.graph]++
				o.of[hit.subject] = append(o.of[hit.subject], len(o.hits))
				o.all = append(o.all, len(o.hits))
				o.hits = append(o.hits, hit)
				o.x.keep(160)
			}
			return hit.graph != 0 || !full
		})
		if o.graph.variable == 0 && o.limit > 0 && count[0] >= o.limit || !o.x.step() {
			return
		}
	}
}
