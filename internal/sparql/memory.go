package sparql

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
)

// Memory is a Dataset in memory, for what one document states, and for tests. What is added without a graph is its
// default graph: it is no union. It may be read by several goroutines once nothing more is added.
type Memory struct {
	ids   map[webrace.Term]ID
	terms []webrace.Term
	quads map[Pattern]bool // those of the default graph have Union as their graph
	names []ID             // of graphs

	mu     sync.Mutex
	orders [16][]Pattern // by which places are bound: sorted by those first; made when it is asked for
}

var (
	_ Dataset     = (*Memory)(nil)
	_ GraphLister = (*Memory)(nil)
)

// NewMemory returns a dataset whose default graph holds some triples.
func NewMemory(triples []webrace.Triple) *Memory {
	m := &Memory{ids: map[webrace.Term]ID{}, terms: []webrace.Term{""}, quads: map[Pattern]bool{}}
	for _, t := range triples {
		m.Add(rdf.Quad{Triple: t})
	}
	return m
}

// Add adds a quad to the dataset.
func (m *Memory) Add(q rdf.Quad) {
	graph := Union
	if q.Graph != "" {
		graph = m.AddGraph(q.Graph)
	}
	m.quads[Pattern{m.id(q.Subject), m.id(q.Predicate), m.id(q.Object), graph}] = true
	m.orders = [16][]Pattern{}
}

// AddGraph makes sure that the dataset has a graph of a name, which may be empty.
func (m *Memory) AddGraph(name webrace.Term) ID {
	id := m.id(name)
	if !slices.Contains(m.names, id) {
		m.names = append(m.names, id)
	}
	return id
}

func (m *Memory) id(t webrace.Term) ID {
	id, ok := m.ids[t]
	if !ok {
		id = ID(len(m.terms))
		m.ids[t] = id
		m.terms = append(m.terms, t)
	}
	return id
}

// Find implements Dataset.
func (m *Memory) Find(t webrace.Term) (ID, error) { return m.ids[t], nil }

// Term implements Dataset.
func (m *Memory) Term(id ID) (webrace.Term, error) { return m.terms[id], nil }

// Graphs implements GraphLister.
func (m *Memory) Graphs(context.Context) ([]ID, error) { return m.names, nil }

// Cursor implements Dataset.
func (m *Memory) Cursor(bound Pattern) (Cursor, error) {
	shape := shapeOf(bound)
	return &memoryCursor{of: m, quads: m.order(shape), shape: shape}, nil
}

// Estimate implements Dataset. It is exact.
func (m *Memory) Estimate(p Pattern) (int64, error) {
	shape := shapeOf(p)
	order := m.order(shape)
	first, _ := find(order, p, shape)
	count, _ := slices.BinarySearchFunc(order[first:], p, func(q, p Pattern) int {
		if comparePlaces(q, p, shape) > 0 {
			return 1
		}
		return -1
	})
	return int64(count), nil
}

// Words implements Dataset: texts are split at what is no letter or digit, and compared in lower case.
func (m *Memory) Words(_ context.Context, query string) iter.Seq2[ID, error] {
	return func(yield func(ID, error) bool) {
		wanted := words(query)
		for id, term := range m.terms {
			if rdf.KindOf(term) != rdf.Literal || len(wanted) == 0 {
				continue
			}
			has := words(rdf.Value(term))
			missing := func(word string) bool { return !slices.Contains(has, word) }
			if !slices.ContainsFunc(wanted, missing) && !yield(ID(id), nil) {
				return
			}
		}
	}
}

func words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// shapeOf returns which places of a pattern are bound.
func shapeOf(p Pattern) (shape int) {
	for i, id := range places(p) {
		if id != 0 {
			shape |= 1 << i
		}
	}
	return shape
}

func places(p Pattern) [4]ID { return [4]ID{p.Subject, p.Predicate, p.Object, p.Graph} }

// comparePlaces compares the places of a shape.
func comparePlaces(a, b Pattern, shape int) int {
	left, right := places(a), places(b)
	for i := range left {
		if shape&(1<<i) != 0 && left[i] != right[i] {
			return cmp.Compare(left[i], right[i])
		}
	}
	return 0
}

func find(order []Pattern, p Pattern, shape int) (int, bool) {
	return slices.BinarySearchFunc(order, p, func(q, p Pattern) int { return comparePlaces(q, p, shape) })
}

const graphPlaceBound = 1 << 3

// order returns the quads sorted by the places of a shape, then by the others. Without a graph, those of the default
// graph are not among them.
func (m *Memory) order(shape int) []Pattern {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.orders[shape] != nil {
		return m.orders[shape]
	}
	order := make([]Pattern, 0, len(m.quads))
	for q := range m.quads {
		if q.Graph != Union || shape&graphPlaceBound != 0 {
			order = append(order, q)
		}
	}
	slices.SortFunc(order, func(a, b Pattern) int {
		return cmp.Or(comparePlaces(a, b, shape), comparePlaces(a, b, ^shape))
	})
	m.orders[shape] = order
	return order
}

// memoryCursor is a Cursor over one order.
type memoryCursor struct {
	of    *Memory
	quads []Pattern
	shape int
	bound Pattern
	at    int
}

func (c *memoryCursor) Seek(p Pattern) bool {
	c.bound = p
	if shape := shapeOf(p); shape != c.shape {
		c.quads, c.shape = c.of.order(shape), shape
	}
	c.at, _ = find(c.quads, p, c.shape)
	return c.here()
}

func (c *memoryCursor) here() bool {
	return c.at < len(c.quads) && comparePlaces(c.quads[c.at], c.bound, c.shape) == 0
}

func (c *memoryCursor) Next() bool {
	c.at++
	return c.here()
}

func (c *memoryCursor) Quad() Pattern { return c.quads[c.at] }
func (c *memoryCursor) Err() error    { return nil }
func (c *memoryCursor) Close() error  { return nil }
