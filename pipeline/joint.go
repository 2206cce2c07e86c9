package pipeline

import "sync"

// joint is the lease of what is made of several items. What is said of it is said of them: each has the outcome
// that everything made from the group comes to, and is told of the resource that was freed for it.
type joint struct {
	members []*Item
	end     func(member int, err error) // is told how each ends
	queued  bool                        // all of them are a queue's

	mu   sync.Mutex
	told any // the last note that concerns no member by what the members' leases say; nil if there is none
}

// newJoint returns the lease of a group, with one item alive. When it ends, end is told for each member.
func newJoint(members []*Item, end func(member int, err error)) *lease {
	j := &joint{members: members, end: end}
	j.queued = len(members) > 0
	for _, member := range members {
		j.queued = j.queued && member.lease != nil && member.lease.queued()
	}
	return newLease(j)
}

func (*joint) Item() *Item { return nil }

// Done tells the members.
func (j *joint) Done(o Outcome) {
	j.releaseRest()
	for i, member := range j.members {
		for _, what := range o.Learned {
			member.Learn(what)
		}
		if o.Failed != nil && member.lease != nil {
			member.lease.handled(o.Failed)
		}
		j.end(i, o.Err)
	}
}

// release tells the members that a note concerns. In a group of one there is nothing to tell apart. A note that
// concerns none, as far as the leases can tell, waits for the end of the group: the resource of a member that
// nothing has been done for must not be taken for free.
func (j *joint) release(note any) {
	if len(j.members) == 1 {
		j.members[0].Release(note)
		return
	}
	found := false
	for _, member := range j.members {
		if member.concerns(note) {
			member.Release(note)
			found = true
		}
	}
	if !found {
		j.mu.Lock()
		j.told = note
		j.mu.Unlock()
	}
}

// releaseRest tells the members that have not been released what the queue would not be told else.
func (j *joint) releaseRest() {
	j.mu.Lock()
	note := j.told
	j.mu.Unlock()
	if note == nil {
		return
	}
	for _, member := range j.members {
		member.Release(note)
	}
}

func (j *joint) concerns(note any) bool {
	for _, member := range j.members {
		if member.concerns(note) {
			return true
		}
	}
	return false
}

// concerns reports whether a note is about the item's lease, as far as that can tell.
func (it *Item) concerns(note any) bool {
	switch l := it.lease; {
	case l == nil:
		return false
	case l.joint() != nil:
		return l.joint().concerns(note)
	default:
		c, tells := l.origin.(NoteMatcher)
		return tells && c.Concerns(note)
	}
}

// Members returns the items that a keeper has made the item's value of (see [EmitGroup]), and those of a group of
// a [BatchProcessor]; nil for any other item. A stage that takes a group apart emits these, by [Item.With] if their
// values change: then each has an outcome of its own again, learns what is learned of it alone, and is released by
// itself. They are valid until Process returns.
func Members(it *Item) []*Item {
	if it.lease == nil || it.lease.joint() == nil {
		return nil
	}
	return it.lease.joint().members
}
