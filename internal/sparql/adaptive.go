package sparql

const (
	// readPerSeek is how many quads a store reads one after the other in the time that it looks for one elsewhere.
	readPerSeek = 8
	// mostOfMemory is the part of a query's memory that a table may take which only saves time.
	mostOfMemory = 8
	// misjudged is how many times its estimate a table may have.
	misjudged = 4
)

// leastSeeks is how often a pattern is looked for at least before all that fits it is read. Tests have fewer.
var leastSeeks int64 = 64

// adaptiveOp looks for the triples of a pattern with what is bound before, until that has taken as long as reading all
// that fits the pattern would. Then it reads them, once, into a hash table: a ring of patterns, of each of which there
// are many, is no search for each triple. What is few rows, or ends early, never pays for a table, and whatever comes
// takes twice as long at most as the better of the two.
type adaptiveOp struct {
	*scanOp
	table func() *hashTable
	hash  *hashOp // nil: not yet, or it was too large
	seeks int64   // how many are left before the table
	rows  int     // the most that the table may have
}

// adaptive is a scan that may change to a table: where the same variables are bound each time, in one graph.
func (p *planner) adaptive(n *tripleNode, scan *scanOp, env environment, estimate int64) operator {
	keys := n.binds().certain.intersect(env.outer)
	if len(env.graph.ids) != 1 || estimate == 0 || !keys.any() || !keys.within(env.certain) {
		return scan
	}
	return &adaptiveOp{scanOp: scan, seeks: max(leastSeeks, estimate/readPerSeek), rows: int(misjudged * max(leastSeeks, estimate)),
		table: func() *hashTable { return p.table(n, env) }}
}

func (o *adaptiveOp) open() {
	if o.seeks--; o.seeks == 0 {
		o.read()
	}
	if o.hash != nil {
		o.hash.open()
		return
	}
	o.scanOp.open()
}

// read makes the table, if it is no larger than it may be.
func (o *adaptiveOp) read() {
	t := o.table()
	if o.x.err == nil && t.buildWithin(o.row, o.rows, int(o.x.memory/mostOfMemory)) {
		o.hash = &hashOp{bindings: bindings{row: o.row}, table: t}
	}
}

func (o *adaptiveOp) next() bool {
	if o.hash != nil {
		return o.hash.next()
	}
	return o.scanOp.next()
}

func (o *adaptiveOp) undo() {
	if o.hash != nil {
		o.hash.undo()
		return
	}
	o.scanOp.undo()
}
