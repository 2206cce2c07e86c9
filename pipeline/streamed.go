package pipeline

import (
	"github.com/reugn/go-streams"
	"github.com/reugn/go-streams/flow"
)

// A node can stand in a stream of go-streams' own. Between two nodes nothing is copied; a value that comes from
// a foreign stage gets a lease of its own, and one that goes to a foreign stage is done when that has taken it.
var _ streams.Flow = (*node)(nil)

// In returns the channel of the values that lead to the stage. Closing it says that nothing more comes.
func (n *node) In() chan<- any {
	n.asked.Do(func() {
		n.values = make(chan any)
		n.run.spawn(func() {
			defer n.in.close()
			for value := range n.values {
				n.in.put(&Item{Value: value, lineage: n.newLease(nil)}, nil, nil)
			}
		})
	})
	return n.values
}

// Out returns a channel of the values, not items, that leave the default port.
func (n *node) Out() <-chan any {
	values, behind := make(chan any), &node{in: newInbox(n.in.cap())}
	n.connect("", behind)
	n.run.spawn(func() {
		defer close(values)
		for one := make([]*Item, 1); behind.in.take(one) > 0; {
			select {
			case values <- Own(one[0].Value):
				one[0].lineage.done(nil)
			case <-n.run.ctx.Done():
				one[0].lineage.done(n.run.ctx.Err())
			}
		}
	})
	return values
}

// Via leads the default port to the next flow.
func (n *node) Via(next streams.Flow) streams.Flow {
	if to, ok := next.(*node); ok {
		n.connect("", to)
		return next
	}
	flow.DoStream(n, next)
	return next
}

// To leads the default port to a sink.
func (n *node) To(sink streams.Sink) { flow.DoStream(n, sink) }
