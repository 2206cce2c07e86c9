package pipeline

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

// DeadLettersInMemory keeps dead letters as long as the program lasts, for programs that look at them themselves, and
// for tests. The zero value has none. Its methods may be called concurrently.
type DeadLettersInMemory struct {
	mu      sync.Mutex
	last    int
	letters []DeadLetterRecord
	marked  map[string]bool // to be replayed
}

var _ DeadLetters = (*DeadLettersInMemory)(nil)

// Put keeps a letter, and gives it an id.
func (d *DeadLettersInMemory) Put(_ context.Context, letter DeadLetterRecord) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.last++
	letter.ID = fmt.Sprint(d.last)
	d.letters = append(d.letters, letter)
	return nil
}

// All returns the letters there are, the oldest first.
func (d *DeadLettersInMemory) All() []DeadLetterRecord {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.letters)
}

// Replay has a letter processed again: the next run of its pipeline gives it to the stage that failed, and forgets it
// once that has ended well. If the stage fails again it is another letter. An id that there is not does nothing.
func (d *DeadLettersInMemory) Replay(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.marked == nil {
		d.marked = make(map[string]bool)
	}
	d.marked[id] = true
}

// Replays returns the letters of a pipeline that are to be processed again.
func (d *DeadLettersInMemory) Replays(_ context.Context, pipeline string) ([]DeadLetterRecord, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(d.letters), func(l DeadLetterRecord) bool {
		return l.Pipeline != pipeline || !d.marked[l.ID]
	}), nil
}

// Replayed forgets a letter.
func (d *DeadLettersInMemory) Replayed(_ context.Context, id string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.marked, id)
	d.letters = slices.DeleteFunc(d.letters, func(l DeadLetterRecord) bool { return l.ID == id })
	return nil
}
