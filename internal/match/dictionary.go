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

const linked = 1 << 31

func tagOf(key uint64) uint8 { return uint8(key>>56) | 1 }

// add says that the atom is found by the key.
func (d *dictionary) add(key uint64, atom uint32) {
	if 8*(d.taken+1) > 5*len(d.entries) {
		d.grow()
	}
	i := d.slot(key)
	e := &d.entries[i]
	switch {
	case d.tags[i] == 0:
		d.tags[i], *e = tagOf(key), entry{uint32(key), uint32(key >> 32), atom}
		d.taken++
	case e.atom&linked == 0:
		d.links = append(d.links, link{e.atom, 0}, link{atom, uint32(len(d.links)) + 1})
		e.atom = linked | uint32(len(d.links)-1)
	default:
		d.links = append(d.links, link{atom, e.atom&^linked + 1})
		e.atom = linked | uint32(len(d.links)-1)
	}
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
		visit(atom)
		return
	}
	for next := atom&^linked + 1; next != 0; {
		l := d.links[next-1]
		visit(l.atom)
		next = l.next
	}
}
