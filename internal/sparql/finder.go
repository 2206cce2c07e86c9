package sparql

// finder is a cursor of the query. All that look for quads of the same bound places take turns with a few of them: one
// that has gone through what is said of a subject is near what is asked of it next.
type finder struct {
	Cursor
	shape int
}

// A shape is which places of a pattern are bound. The union has one of its own: it is in another order than a graph.
const (
	propertyShape = 1<<0 | 1<<1
	objectShape   = 1 << 2
	unionShape    = 1 << 4
)

const cursorBytes = 32 << 10 // about what a cursor of a store holds

// seek returns a cursor at the first quad of a pattern; nil if there is none. It is for the caller alone until that
// gives it back.
func (x *execution) seek(p Pattern) *finder {
	shape := 0
	for i, id := range [...]ID{p.Subject, p.Predicate, p.Object, p.Graph} {
		switch {
		case id == 0:
		case id == Union:
			shape |= unionShape
		case id&localID != 0:
			return nil // a term that the dataset does not have
		default:
			shape |= 1 << i
		}
	}
	if shape&propertyShape == propertyShape {
		shape &^= objectShape // it makes no difference to a cursor
	}
	f := x.finder(p, shape)
	if f == nil || f.Seek(p) {
		return f
	}
	x.fail(f.Err())
	x.giveBack(f)
	return nil
}

// finder takes the cursor that was given back last, or makes one.
func (x *execution) finder(p Pattern, shape int) *finder {
	if idle := x.idle[shape]; len(idle) > 0 {
		x.idle[shape] = idle[:len(idle)-1]
		return idle[len(idle)-1]
	}
	c, err := x.dataset.Cursor(p)
	if err != nil {
		x.fail(err)
		return nil
	}
	x.cursors = append(x.cursors, c)
	x.keep(cursorBytes)
	return &finder{c, shape}
}

func (x *execution) giveBack(f *finder) { x.idle[f.shape] = append(x.idle[f.shape], f) }

// next goes to the next quad of a cursor. Without one, it gives the cursor back and reports false.
func (x *execution) next(f *finder) bool {
	if f.Next() {
		return true
	}
	x.fail(f.Err())
	x.giveBack(f)
	return false
}

// each calls a function for the quads of a pattern in each of some graphs, until it returns false. A triple may come
// once for each graph.
func (x *execution) each(p Pattern, graphs []ID, do func(Pattern) bool) {
	for _, p.Graph = range graphs {
		for f := x.seek(p); f != nil; {
			if !x.step() || !do(f.Quad()) {
				x.giveBack(f)
				return
			}
			if !x.next(f) {
				break
			}
		}
	}
}

// has reports whether a pattern has a quad. It is a step: it may be asked of thousands of graphs for one quad.
func (x *execution) has(p Pattern) bool {
	if !x.step() {
		return false
	}
	f := x.seek(p)
	if f != nil {
		x.giveBack(f)
	}
	return f != nil
}
