package htmltree

import "golang.org/x/net/html"

// Room is memory for trees that are made one after the other, each in the place of the one before. The nodes of a large
// page take several times its length, and to collect them as garbage takes about as long as to read it. The zero value
// is ready. It must not be used by two goroutines at once.
type Room struct {
	nodes      chunks[html.Node]
	attributes chunks[html.Attribute]
}

const (
	nodesAtOnce      = 64
	attributesAtOnce = 128
	mostChunks       = 512 // that are kept: 32,768 nodes, or 4 MB
)

// Parse does as [Parse]. The tree holds until the next call, or until Clear; what its strings are stays.
func (r *Room) Parse(body []byte) (*html.Node, error) {
	r.Clear()
	return parse(body, r)
}

// Clear lets go of the tree, and of the page that its strings are parts of.
func (r *Room) Clear() {
	r.nodes.clear()
	r.attributes.clear()
}

func (r *Room) someNodes() []html.Node           { return r.nodes.next(nodesAtOnce) }
func (r *Room) someAttributes() []html.Attribute { return r.attributes.next(attributesAtOnce)[:0] }

// chunks are pieces of memory of one size, of which the first are in use.
type chunks[T any] struct {
	all  [][]T
	used int
}

func (c *chunks[T]) next(size int) []T {
	if c.used < len(c.all) {
		c.used++
		return c.all[c.used-1]
	}
	chunk := make([]T, size)
	if len(c.all) < mostChunks {
		c.all = append(c.all, chunk)
		c.used++
	}
	return chunk
}

func (c *chunks[T]) clear() {
	for _, chunk := range c.all[:c.used] {
		clear(chunk)
	}
	c.used = 0
}
