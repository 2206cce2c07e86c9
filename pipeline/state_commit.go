package pipeline

import "github.com/webrace/webrace/internal/pointer"

// stateWrite is a write that is not committed. Those of a key are a list, in their order.
type stateWrite struct {
	at            stateKey
	value         []byte
	item          *Item // for which it was made
	by            *stateChanges
	before, after *stateWrite // of the same key
}

// stateChanges are what is written for the items of a lease. All of it is guarded by the mu of its states.
type stateChanges struct {
	states  *states
	writes  []*stateWrite
	ended   bool
	done    func(error)     // to be called when they are durable, or never will be
	failed  error           // why they never will be: they stand behind some of which that is known
	waits   *stateChanges   // that have not ended, before whose end these cannot be committed; nil if that is not known
	waiting []*stateChanges // those that have ended and wait for these
}

// changesOf returns what is written for the lease of an item. Without a lease it has ended as soon as it is written.
func (s *states) changesOf(it *Item) (c *stateChanges, ended bool) {
	if it == nil || it.lease == nil {
		return &stateChanges{states: s}, true
	}
	it.lease.update(func(l *leaseState) {
		if l.changes == nil {
			l.changes = &stateChanges{states: s}
		}
		c = l.changes
	})
	return c, false
}

// put adds a write. s.mu is held, as in all that follows but end and undoCall.
func (s *states) put(c *stateChanges, it *Item, at stateKey, value []byte) {
	last := s.last[at]
	if last != nil && last.by == c && last.item == it {
		last.value = value
		return
	}
	w := &stateWrite{at: at, value: value, item: it, by: c, before: last}
	if last != nil {
		last.after = w
	}
	s.last[at] = w
	c.writes = append(c.writes, w)
	if err := s.broken[at]; err != nil && c.failed == nil {
		c.failed = err
	}
}

// end ends the lease of the changes. done is called when all of them are durable, or at once if there is nothing to
// wait for: it may be before end returns.
func (c *stateChanges) end(o Outcome, queued bool, done func(error)) {
	s := c.states
	s.mu.Lock()
	c.done = done
	var over []func()
	switch {
	case o.Err == nil:
		over = s.settle(c)
	case queued && !o.RetryAt.IsZero():
		over = s.drop(c, nil)
	default:
		over = s.breakOff(c, o.Err)
	}
	s.mu.Unlock()
	for _, f := range over {
		f()
	}
}

// settle commits changes that have ended, with all that they build upon, as soon as all of that has ended, and then
// those that have waited for them. It returns what is to be called without s.mu.
func (s *states) settle(c *stateChanges) (over []func()) {
	if c.failed != nil {
		return s.breakOff(c, c.failed)
	}
	c.ended = true
	waiting := c.waiting
	c.waiting = nil
	group, blocker := c.foundation()
	if blocker != nil {
		c.waits = blocker
		blocker.waiting = append(blocker.waiting, c)
	} else {
		over = s.commit(group)
	}
	return append(over, s.settleAll(waiting)...)
}

func (s *states) settleAll(waiting []*stateChanges) (over []func()) {
	for _, c := range waiting {
		if c.done != nil { // not committed with others
			over = append(over, s.settle(c)...)
		}
	}
	return over
}

// foundation returns the changes with all that they build upon, or of these one that has not ended: then nothing can be
// committed.
func (c *stateChanges) foundation() (group map[*stateChanges]bool, blocker *stateChanges) {
	group = map[*stateChanges]bool{c: true}
	for next := []*stateChanges{c}; len(next) > 0; {
		of := next[len(next)-1]
		next = next[:len(next)-1]
		for _, w := range of.writes {
			before := w.before
			for before != nil && before.by == of {
				before = before.before
			}
			switch {
			case before == nil || group[before.by]:
				continue
			case !before.by.ended:
				return nil, before.by
			case before.by.waits != nil && !before.by.waits.ended:
				return nil, before.by.waits
			}
			group[before.by] = true
			next = append(next, before.by)
		}
	}
	return group, nil
}

// commit hands a group of changes to the store: of each key the last value.
func (s *states) commit(group map[*stateChanges]bool) (over []func()) {
	var writes []StateWrite
	var done []func(error)
	for c := range group {
		for _, w := range c.writes {
			if w.after == nil || !group[w.after.by] {
				writes = append(writes, StateWrite{State: w.at.state, Key: w.at.key, Value: w.value})
			}
		}
		done = append(done, c.done)
		c.done = nil
	}
	for c := range group {
		for _, w := range c.writes {
			s.unlink(w)
		}
		c.writes = nil
	}
	all := func(err error) {
		for _, f := range done {
			f(err)
		}
	}
	if len(writes) == 0 {
		return []func(){func() { all(nil) }}
	}
	s.store.Commit(writes, all)
	return nil
}

// unlink takes a write out of the list of its key.
func (s *states) unlink(w *stateWrite) {
	if w.before != nil {
		w.before.after = w.after
	}
	switch {
	case w.after != nil:
		w.after.before = w.before
	case w.before != nil:
		s.last[w.at] = w.before
	default:
		delete(s.last, w.at)
	}
	w.before, w.after = nil, nil
}

// drop undoes changes, and ends them with an error or without.
func (s *states) drop(c *stateChanges, err error) (over []func()) {
	for _, w := range c.writes {
		s.unlink(w)
	}
	done, waiting := c.done, c.waiting
	c.writes, c.done, c.waiting, c.ended = nil, nil, nil, true
	return append([]func(){func() { done(err) }}, s.settleAll(waiting)...)
}

// breakOff drops changes of a lease whose work is not done, and will be only in another run: whatever was written after
// them must not become durable before they do.
func (s *states) breakOff(c *stateChanges, err error) (over []func()) {
	var behind []*stateChanges
	for _, w := range c.writes {
		s.broken[w.at] = err
		for after := w.after; after != nil; after = after.after {
			if after.by != c && after.by.failed == nil {
				after.by.failed = err
				behind = append(behind, after.by)
			}
		}
	}
	over = s.drop(c, err)
	for _, b := range behind {
		if b.ended && b.done != nil {
			over = append(over, s.breakOff(b, err)...)
		}
	}
	return over
}

// undoCall undoes what a stage has written for an item on which it then failed.
func (it *Item) undoCall() {
	if it.lease == nil || pointer.Load(&it.lease.state) == nil {
		return
	}
	var c *stateChanges
	it.lease.update(func(l *leaseState) { c = l.changes })
	if c == nil {
		return
	}
	c.states.mu.Lock()
	defer c.states.mu.Unlock()
	kept := c.writes[:0]
	for _, w := range c.writes {
		if w.item == it {
			c.states.unlink(w)
		} else {
			kept = append(kept, w)
		}
	}
	c.writes = kept
}
