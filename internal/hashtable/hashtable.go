// Package hashtable has two maps for which Go's own are too slow: a [Table] that is filled anew for each page, and a
// [Map] whose states stay as they were.
package hashtable

// Table maps 64-bit hashes to numbers from 0 on, by open addressing: clearing a Go map and filling it again takes
// several times as long. The zero value is empty. The hashes must be well mixed in their lower bits.
type Table struct {
	entries []entry // a power of two of them, at most half of them taken
	taken   int
	old     []entry // room for what is moved when the table grows
}

type entry struct {
	hash  uint64
	value int32 // one more than the number, 0 when free
}

// The entries of the smallest table, of the largest whose memory is kept, and how many there may be for each
// that was taken before the next filling begins with fewer.
const least, largestKept, spacious = 1 << 10, 1 << 16, 8

// Reset empties the table, and gives back the memory of an unusually large one. What was larger than it
// needed to be becomes half as large: to clear much for little is what would cost most.
func (t *Table) Reset() {
	if len(t.entries) > largestKept {
		*t = Table{}
	}
	if n := len(t.entries); n > least && n > spacious*t.taken {
		t.entries = t.entries[:n/2]
	}
	if t.taken > 0 {
		clear(t.entries)
		t.taken = 0
	}
}

// Len returns how many hashes have a number.
func (t *Table) Len() int { return t.taken }

// Get returns the number of the hash, if it has one.
func (t *Table) Get(hash uint64) (number int32, ok bool) {
	if t.taken == 0 {
		return 0, false
	}
	e := t.slot(hash)
	return e.value - 1, e.value != 0
}

// GetOrSet returns the number of the hash; one that has none is given this one.
func (t *Table) GetOrSet(hash uint64, number int32) (is int32, had bool) {
	if 2*t.taken >= len(t.entries) {
		t.grow()
	}
	e := t.slot(hash)
	if e.value != 0 {
		return e.value - 1, true
	}
	t.taken++
	*e = entry{hash, number + 1}
	return number, false
}

// Set gives the hash a number, and returns the one it had.
func (t *Table) Set(hash uint64, number int32) (old int32, had bool) {
	old, had = t.GetOrSet(hash, number)
	if had {
		t.slot(hash).value = number + 1
	}
	return old, had
}

func (t *Table) slot(hash uint64) *entry {
	mask := uint64(len(t.entries) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		if e := &t.entries[i&uint64(len(t.entries)-1)]; e.value == 0 || e.hash == hash {
			return e
		}
	}
}

// grow makes the table twice as large, where it is if there is room.
func (t *Table) grow() {
	n := max(least, 2*len(t.entries))
	if cap(t.entries) < n {
		old := t.entries
		t.entries = make([]entry, n)
		t.place(old)
		return
	}
	t.old = append(t.old[:0], t.entries...)
	t.entries = t.entries[:n]
	clear(t.entries)
	t.place(t.old)
}

// place puts entries of a smaller table in their places.
func (t *Table) place(entries []entry) {
	for _, e := range entries {
		if e.value != 0 {
			*t.slot(e.hash) = e
		}
	}
}
