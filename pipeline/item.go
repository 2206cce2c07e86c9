package pipeline

import (
	"fmt"
	"maps"
)

// Item is what travels on an edge: one value, whose Go type is the kind of the port it came from, with
// what stages want to add to it. The item knows the lease it belongs to: the request at a queue, or
// the reading position of a source, that is answered once everything made from it has been dealt with.
//
// An emitted item is read-only, because another branch may hold it too. To pass it on changed, use
// [Item.With].
type Item struct {
	Value any
	Meta  map[string]string

	lease  *lease
	branch branch
}

// NewItem returns an item with a lease of its own: end is called once, when every item made from this
// one has been dealt with. Sources use it to advance a cursor; other stages need no more than
// &Item{Value: v}, which joins the lease of the item being processed.
func NewItem(value any, end func(Outcome)) *Item {
	it := newLeased(value, nil)
	if end != nil {
		it.lease.origin = ending(end)
	}
	return it
}

// With returns an item of the same lease and meta data that carries another value.
func (it *Item) With(value any) *Item {
	return &Item{Value: value, Meta: it.Meta, lease: it.lease, branch: it.branch.unsent()}
}

// WithMeta returns a copy of the item with one more meta entry; the original is left alone.
func (it *Item) WithMeta(key, value string) *Item {
	meta := maps.Clone(it.Meta)
	if meta == nil {
		meta = make(map[string]string, 1)
	}
	meta[key] = value
	return &Item{Value: it.Value, Meta: meta, lease: it.lease, branch: it.branch.unsent()}
}

// Hold keeps the item's lease open after Process has returned, until the returned function is called,
// with an error if what was being waited for failed. A stage that hands its work on (to a store
// that gathers writes) holds the item and lets go when the effect is durable, so that no worker
// waits for a disk. Calling the function again does nothing.
//
// The stage's error policy is not asked any more: an error from [Retry] sends the item back to its queue,
// and any other ends the run, with the lease not done, because what the run accepts cannot be kept.
func (it *Item) Hold() (done func(error)) {
	if it.lease == nil {
		return func(error) {}
	}
	return it.lease.hold()
}

// ComesAgainAlone reports whether an error from [Retry] sends this item back to its queue, and no other. Otherwise a
// stage that has to wait for the item waits itself: those of a batch would be done anew together, and might wait for
// one another for ever.
func (it *Item) ComesAgainAlone() bool {
	if it.lease == nil {
		return false
	}
	group, is := it.lease.origin.(*joint)
	return it.lease.queued() && (!is || len(group.members) == 1)
}

// Learn adds something to the outcome that the queue or source is given when the lease ends.
func (it *Item) Learn(what any) {
	if it.lease != nil {
		it.lease.learn(what)
	}
}

// Release tells the queue that the resource this lease occupies (the connection of a host) is free,
// before the lease itself ends. Only the first call counts; a queue whose leases do not implement
// [Releaser] is not told.
func (it *Item) Release(note any) {
	if it.lease != nil {
		it.lease.releaseEarly(note)
	}
}

// OnEnd calls f when the lease ends, whatever its outcome: a pooled buffer goes back there.
func (it *Item) OnEnd(f func()) {
	if it.lease != nil {
		it.lease.onEnd(cleanup{end: f})
	}
}

// OnOutcome calls f when the item's lease ends, with its outcome.
func (it *Item) OnOutcome(f func(Outcome)) {
	if it.lease != nil {
		it.lease.onEnd(cleanup{outcome: f})
	}
}

// ValueOf returns the item's value as a T, or an error that names both types.
func ValueOf[T any](it *Item) (T, error) {
	v, ok := it.Value.(T)
	if !ok {
		return v, fmt.Errorf("takes %s, got %T", KindOf[T](), it.Value)
	}
	return v, nil
}
