package schedule

// indexedHeap is a binary heap that knows where each item lies, so that any can be taken out.
type indexedHeap[T any] struct {
	items []T
	less  func(a, b T) bool
	place func(T) *int // where an item keeps its place: 0 when it is in no heap, otherwise its index plus 1
}

func (p *indexedHeap[T]) len() int { return len(p.items) }

func (p *indexedHeap[T]) top() T { return p.items[0] }

func (p *indexedHeap[T]) push(x T) {
	p.items = append(p.items, x)
	p.up(len(p.items) - 1)
}

// remove takes out an item, if it is in.
func (p *indexedHeap[T]) remove(x T) {
	at := *p.place(x) - 1
	if at < 0 {
		return
	}
	last := len(p.items) - 1
	*p.place(x) = 0
	moved := p.items[last]
	clear(p.items[last:])
	p.items = p.items[:last]
	if at < last {
		p.items[at] = moved
		p.up(p.down(at))
	}
}

func (p *indexedHeap[T]) up(at int) {
	x := p.items[at]
	for at > 0 && p.less(x, p.items[(at-1)/2]) {
		p.set(at, p.items[(at-1)/2])
		at = (at - 1) / 2
	}
	p.set(at, x)
}

func (p *indexedHeap[T]) down(at int) int {
	x := p.items[at]
	for {
		child := 2*at + 1
		if child >= len(p.items) {
			break
		}
		if child+1 < len(p.items) && p.less(p.items[child+1], p.items[child]) {
			child++
		}
		if !p.less(p.items[child], x) {
			break
		}
		p.set(at, p.items[child])
		at = child
	}
	p.set(at, x)
	return at
}

func (p *indexedHeap[T]) set(at int, x T) {
	p.items[at] = x
	*p.place(x) = at + 1
}

// order brings the items into their order again, after what they are compared by has changed.
func (p *indexedHeap[T]) order() {
	for at := len(p.items)/2 - 1; at >= 0; at-- {
		p.down(at)
	}
}
