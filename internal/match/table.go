package match

// table maps hashes to small numbers, by open addressing: it is filled anew for each page, and clearing a
// Go map and filling it again takes several times as long. The zero value is empty.
type table struct {
	entries []tableEntry // a power of two of them, at most half of them taken
	taken   int
}

type tableEntry struct {
	hash  uint64
	value int32 // one more than the number, 0 when free
}

const leastTable = 1 << 10

func (t *table) reset() {
	clear(t.entries)
	t.taken = 0
}

func (t *table) get(hash uint64) (int32, bool) {
	if t.taken == 0 {
		return 0, false
	}
	e := t.slot(hash)
	return e.value - 1, e.value != 0
}

// set gives the hash a number, and returns the one it had.
func (t *table) set(hash uint64, number int32) (old int32, had bool) {
	if 2*t.taken >= len(t.entries) {
		t.grow()
	}
	e := t.slot(hash)
	old, had = e.value-1, e.value != 0
	if !had {
		t.taken++
	}
	*e = tableEntry{hash, number + 1}
	return old, had
}

func (t *table) slot(hash uint64) *tableEntry {
	mask := uint64(len(t.entries) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		if e := &t.entries[i]; e.value == 0 || e.hash == hash {
			return e
		}
	}
}

func (t *table) grow() {
	old := t.entries
	t.entries = make([]tableEntry, max(leastTable, 2*len(old)))
	for _, e := range old {
		if e.value != 0 {
			*t.slot(e.hash) = e
		}
	}
}
