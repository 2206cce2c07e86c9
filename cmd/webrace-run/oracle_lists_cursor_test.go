package main

import "regexp"

// Some lists are paged by a cursor: the next page is called by the last thing on this one.

// ledTo returns the next page to which a page of a list that is paged by a cursor leads; empty for none.
func (s *listSite) ledTo(body string) string {
	if m := cursor.FindStringSubmatch(body); m != nil {
		return "page " + m[1]
	}
	return ""
}

var cursor = regexp.MustCompile(`<a href='[^']*[?]after=(\d+)'>next</a>`)

// turn lets a page of a list that is paged by a cursor lead to a next page by now, and finds in whose place it stands:
// the page that led to it led to that one before, or stands itself in the place of one which does.
func (l *library) turn(name, next string) {
	p := l.papers[name]
	if from := l.papers[p.from]; from != nil && name != first {
		before := p.from
		of := from.ledBefore
		if from.of != "" {
			before = from.of
			of = l.papers[before].led
		}
		if of != name && of != "" && of != p.from {
			p.of = of
			p.list = l.around(of, before)
		}
	}
	if p.of == "" && p.led != "" && next != "" && p.led != next && len(l.around(p.led, name)) > 0 {
		p.next = p.led
	}
	p.ledBefore, p.led = p.led, next
}

// first is the page of a list whose address has no cursor.
const first = "page 0"

// around returns the pages around one that stood behind another, if these are pages of a list: another follows, or the
// one before is not the first.
func (l *library) around(of, before string) []place {
	next := l.papers[of].led
	if next == "" && before == first {
		return nil
	}
	all := []place{{name: of, isNear: true, isGone: true}, {name: before, isNear: true, isGone: l.papers[before].led == of}}
	if next != "" {
		all = append(all, place{name: next, isNear: true, isGone: true})
	}
	return all
}
