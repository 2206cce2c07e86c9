package match

// dictionary maps the keys of a segment's atoms to these: several atoms may share a key. It is filled
// once, and read by any number of goroutines.
//
// Most keys that a page asks for are absent, and the table is larger than any cache. So a byte of each
// key is kept apart: one look at it settles nearly every question.
type dictionary struct {
	tags  []uint8  // 0 where the slot is free
	keys  []uint64 // a power of two
	atoms []uint32 // the atom, or linked plus the index of the first link
	links []link
	taken int
}

type link struct{ atom, next uint32 } // next is another link's index plus one

const linked = 1 << 31

func tagOf(key uint64) uint8 { return uint8(key>>56) | 1 }

// add says that the atom is found by the key.
func (d *dictionary) add(key uint64, atom uint32) {
	if 8*(d.taken+1) > 5*len(d.keys) {
		d.grow()
	}
	i := d.slot(key)
	switch {
	case d.tags[i] == 0:
		d.tags[i], d.keys[i], d.atoms[i] = tagOf(key), key, atom
		d.taken++
	case d.atoms[i]&linked == 0:
		d.links = append(d.links, link{d.atoms[i], 0}, link{atom, uint32(len(d.links)) + 1})
		d.atoms[i] = linked | uint32(len(d.links)-1)
	default:
		d.links = append(d.links, link{atom, d.atoms[i]&^linked + 1})
		d.atoms[i] = linked | uint32(len(d.links)-1)
	}
}

func (d *dictionary) grow() {
	old := *d
	size := max(16, 2*len(old.keys))
	d.tags, d.keys, d.atoms = make([]uint8, size), make([]uint64, size), make([]uint32, size)
	for i, tag := range old.tags {
		if tag != 0 {
			at := d.slot(old.keys[i])
			d.tags[at], d.keys[at], d.atoms[at] = tag, old.keys[i], old.atoms[i]
		}
	}
}

// slot returns where the key is or would be; the dictionary is not full.
func (d *dictionary) slot(key uint64) uint64 {
	mask, tag := uint64(len(d.tags)-1), tagOf(key)
	for i := key & mask; ; i = (i + 1) & mask {
		if t := d.tags[i]; t == 0 || t == tag && d.keys[i] == key {
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
	atom := d.atoms[i]
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
