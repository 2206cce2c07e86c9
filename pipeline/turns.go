package pipeline

import (
	"context"
	"sync"
)

// WorkersKey is the option workers_key of a stage with several workers: of items with the same key, one is worked on
// after the other, in the order in which they came. Package expression makes them of expressions.
type WorkersKey interface {
	Of(it *Item) (key string, err error)
	Parts() []Part                 // that it needs of an item
	CheckNames(given []Kind) error // refuses to name what nothing that comes has
}

// turns gives items to the workers of a stage, those of a key one after the other. What comes while its key is worked
// on waits in the line of that key, and other keys overtake it; the worker that has the key goes on with its line. When
// too many wait, no more are taken until one of them is worked on.
type turns struct {
	key    WorkersKey
	most   int        // items that wait
	taking sync.Mutex // makes it one step to take an item and to find its place

	mu      sync.Mutex
	room    *sync.Cond
	lines   map[string][]*Item // of the keys that are worked on; who waits for them
	waiting int
}

func newTurns(key WorkersKey, most int) *turns {
	t := &turns{key: key, most: most, lines: make(map[string][]*Item)}
	t.room = sync.NewCond(&t.mu)
	return t
}

// turn is an item whose turn it is.
type turn struct {
	item  *Item
	key   string
	wrong error // why it has no key: then it waits for none, and fails
}

// take waits for an item that can be worked on; false if no more will come.
func (t *turns) take(n *node) (turn, bool) {
	t.taking.Lock()
	defer t.taking.Unlock()
	one := make([]*Item, 1)
	for n.in.take(one) > 0 {
		next := turn{item: one[0]}
		next.wrong = n.guarded(func() (err error) {
			next.key, err = t.key.Of(next.item)
			return err
		})
		if next.wrong != nil || !t.park(next) {
			return next, true
		}
	}
	return turn{}, false
}

// park puts an item in the line of its key if that is worked on; if not, it is from now on.
func (t *turns) park(next turn) (parked bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	line, busy := t.lines[next.key]
	if !busy {
		t.lines[next.key] = nil
		return false
	}
	t.lines[next.key] = append(line, next.item)
	t.waiting++
	for t.waiting >= t.most { // each of these is in the line of a worker that is at work
		t.room.Wait()
	}
	return true
}

// after returns the item that comes after another of its key; false if none waits.
func (t *turns) after(done turn) (turn, bool) {
	if done.wrong != nil {
		return turn{}, false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	line := t.lines[done.key]
	if len(line) == 0 {
		delete(t.lines, done.key)
		return turn{}, false
	}
	next := turn{item: line[0], key: done.key}
	line[0] = nil
	t.lines[done.key] = line[1:]
	t.waiting--
	t.room.Signal()
	return next, true
}

// parked returns how many items wait for their turn.
func (t *turns) parked() int {
	if t == nil {
		return 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.waiting
}

// workInTurn is work of a stage whose items have keys.
func (n *node) workInTurn(t *turns, p Processor) {
	out, one := n.newEmitter(), make([]*Item, 1)
	for {
		next, more := t.take(n)
		if !more {
			return
		}
		for more {
			one[0] = next.item
			if next.wrong != nil {
				n.handle(failing{next.wrong}, one, out)
			} else {
				n.handle(p, one, out)
			}
			next, more = t.after(next)
		}
	}
}

// failing is a processor that fails.
type failing struct{ err error }

func (f failing) Process(context.Context, *Item, Emitter) error { return f.err }
