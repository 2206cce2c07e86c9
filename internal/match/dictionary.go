package match

// dictionary maps the keys of a segment's atoms to these: several atoms may share a key. It is filled
// once, and read by any number of goroutines.
//
// Most keys that a page asks for are absent, and the table is larger than any cache. So a byte of each
// key is kept apart: one look at it settles nearly every question. A key that is there lies beside its atom.
type dictionary struct {
	tags    []uint8 // 0 where the slot is free
	entries []entry // a power of two
	links   []link
	taken   int
}

// entry is a key, in two halves so that it takes no more room than it needs, and the atom, or linked plus the index of
// the first link.
type entry struct{ low, high, atom uint32 }

func (e *entry) key() uint64 { return uint64(e.high)<<32 | uint64(e.low) }

type link struct{ atom, next uint32 } // next is another link's index plus one

const (
	linked = 1 << 31
	marked = linked - 1 // in the place of an atom, where a key has none
)

func tagOf(key uint64) uint8 { return uint8(key>>56) | 1 }

// add has the atom found by the key.
func (d *dictionary) add(key uint64, atom uint32) {
	e, known := d.entry(key)
	switch {
	case !known:
		e.atom = atom
	case e.atom == marked:
		e.atom = atom
	case e.atom&linked == 0:
		d.links = append(d.links, link{e.atom, 0}, link{atom, uint32(len(d.links)) + 1})
		e.atom = linked | uint32(len(d.links)-1)
	default:
		d.links = append(d.links, link{atom, e.atom&^linked + 1})
		e.atom = linked | uint32(len(d.links)-1)
	}
}

// mark makes the key one of the dictionary's, whether or not an atom is found by it.
func (d *dictionary) mark(key uint64) {
	if e, known := d.entry(key); !known {
		e.atom = marked
	}
}

// entry returns the entry of the key, and whether there was one.
func (d *dictionary) entry(key uint64) (e *entry, known bool) {
	if 8*(d.taken+1) > 5*len(d.entries) {
		d.grow()
	}
	i := d.slot(key)
	if e = &d.entries[i]; d.tags[i] != 0 {
		return e, true
	}
	d.tags[i], *e = tagOf(key), entry{low: uint32(key), high: uint32(key >> 32)}
	d.taken++
	return e, false
}

func (d *dictionary) grow() {
	old := *d
	size := max(16, 2*len(old.entries))
	d.tags, d.entries = make([]uint8, size), make([]entry, size)
	for i, tag := range old.tags {
		if e := old.entries[i]; tag != 0 {
			at := d.slot(e.key())
			d.tags[at], d.entries[at] = tag, e
		}
	}
}

// slot returns where the key is or would be; the dictionary is not full.
func (d *dictionary) slot(key uint64) uint64 {
	mask, tag := uint64(len(d.tags)-1), tagOf(key)
	for i := key & mask; ; i = (i + 1) & mask {
		if t := d.tags[i]; t == 0 || t == tag && d.entries[i].key() == key {
			return i
		}
	}
}

// has reports whether the key is one of the dictionary's.
func (d *dictionary) has(key uint64) bool { return d.taken > 0 && d.tags[d.slot(key)] != 0 }

// each calls visit for each of the atoms that are found by the key.
func (d *dictionary) each(key uint64, visit func(atom uint32)) {
	if d.taken == 0 {
		return
	}
	i := d.slot(key)
	if d.tags[i] == 0 {
		return
	}
	atom := d.entries[i].atom
	if atom&linked == 0 {
		if atom != marked {
			visit(atom)
		}
		return
	}
	for next := atom&^linked + 1; next != 0; {
		l := d.links[next-1]
		visit(l.atom)
		next = l.next
	}
}
