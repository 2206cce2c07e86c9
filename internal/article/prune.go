package article

// prune takes out of the main part what is none of it.
func (p *page) prune(at int32) {
	total := p.elements[at].left.prose
	var header int32 // the end of the last element header
	for i := at + 1; i < p.elements[at].end; {
		e := &p.elements[i]
		if e.node.Data == "header" && 8*e.left.prose < total {
			header = e.end
		}
		if e.out || e.is&inline == 0 && (e.isCalledBeside(total) || e.isLinks() || i < header && e.isSmallPrint()) {
			e.out = true
			i = e.end
			continue
		}
		i++
	}
}

// isCalledBeside reports whether an element of a main part with so much prose stands beside it, by what it is called.
func (e *element) isCalledBeside(total int32) bool {
	return e.hint&(beside|replies|caption) != 0 && 4*e.left.prose < total && e.is&tabular == 0
}

// isLinks reports whether an element is mostly links, and none of them in a sentence.
func (e *element) isLinks() bool {
	return 2*e.left.link > e.left.text && e.left.prose == 0 && !e.sentence && e.is&(heading|tabular) == 0
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
		if e.is&heading != 0 && p.isLeft(e) {
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
