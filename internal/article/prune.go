package article

// prune takes out of the main part what is none of it.
func (p *page) prune(at int32) {
	total := p.elements[at].left.prose
	short := int32(0)
	if p.elements[at].holds&(data|code) != 0 {
		short = shortLink
	}
	var header int32 // the end of the last element header
	var under int32  // the element that follows the heading of a section
	for i := at + 1; i < p.elements[at].end; {
		e := &p.elements[i]
		if e.node.Data == "header" && 8*e.left.prose < total {
			header = e.end
		}
		if e.hint&section != 0 {
			under = e.end
		} else if i == under {
			under++
		}
		if e.out || e.is&inline == 0 && (e.isCalledBeside(total) || i+1 != under && e.isLinks(short) || i < header && e.isSmallPrint()) {
			e.out = true
			i = e.end
			continue
		}
		i++
	}
}

// isCalledBeside reports whether an element of a main part with so much prose stands beside it, by what it is called.
func (e *element) isCalledBeside(total int32) bool {
	return e.holds&code == 0 && e.hint&(beside|replies|caption) != 0 && 4*e.left.prose < total && e.is&tabular == 0
}

// shortLink is the length of what is a name that a text refers to, rather than the title of a page.
const shortLink = 20

// isLinks reports whether an element is mostly links, none of them in a sentence, nor so short on the whole.
func (e *element) isLinks(short int32) bool {
	return 2*e.left.link > e.left.text && e.left.prose == 0 && !e.sentence && e.is&(heading|tabular|item) == 0 && e.holds&(data|code|section) == 0 && e.left.link >= short*e.left.links
}

// isSmallPrint reports whether an element of a header is a date, an author or the like.
func (e *element) isSmallPrint() bool {
	return e.left.prose == 0 && e.holds&title == 0 && e.is&smallPrint != 0
}

// pruneHeadings takes out of the main part the headings of what is out: those with nothing left below them until the
// next heading of their level, or of one above.
func (p *page) pruneHeadings(at int32) {
	for i := at + 1; i < p.elements[at].end; {
		e := &p.elements[i]
		if e.out {
			i = e.end
			continue
		}
		if e.is&heading != 0 && e.hint&section == 0 && p.isLeft(e) {
			e.out = true
		}
		i++
	}
}

// isLeft reports whether a heading is all that is left of its section.
func (p *page) isLeft(h *element) bool {
	some := false
	for i := h.end; i < p.elements[h.parent].end; i = p.elements[i].end {
		switch e := &p.elements[i]; {
		case e.out:
			some = true
		case e.is&heading != 0 && e.node.Data <= h.node.Data:
			return some
		default:
			return false
		}
	}
	return some
}
