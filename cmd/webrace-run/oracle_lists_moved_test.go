package main

import (
	"slices"
	"strings"
)

// elsewhere is another page as a follower knows it.
type elsewhere struct {
	shown    []sheet // since the page at hand was visited last
	latest   sheet
	isNear   bool
	isBehind bool
}

// knew reports whether the page had a line in a version, and whether that is known again by its offer: what an offer
// holds comes with it, whose links may be others each time, unless it was at hand already. Of a few words alone it is
// known again in a list.
func (e *elsewhere) knew(s sheet, l line, last sheet) (knew, byOffer bool) {
	switch {
	case s.hasOffer(l):
		return s.says(l, true), true
	case l.link != "" && (last.hasOffer(l) || !s.says(line{words: l.title}, false)):
		return false, false
	}
	return s.says(l, false) && (e.isNear || len(strings.Fields(l.words)) >= 4), false
}

// had reports whether the page had a line, and whether that has gone.
func (e *elsewhere) had(l line, last sheet) (had, lost bool) {
	for _, s := range e.shown {
		if knew, byOffer := e.knew(s, l, last); knew && byOffer {
			return true, !e.latest.says(l, true)
		} else if knew {
			had, lost = true, !e.latest.says(l, false)
		}
	}
	return had, lost
}

func (f *follower) elsewhere(l *library, p *paper, isFirst bool) (all []elsewhere) {
	places := append(slices.Clone(p.list), place{name: p.before, isNear: true}, place{name: p.next, isNear: true, isBehind: true}, place{name: p.from, isNear: len(p.list) > 0})
	for i, at := range places {
		name := at.name
		if name == "" || slices.ContainsFunc(places[:i], func(other place) bool { return other.name == name }) {
			continue
		}
		other := l.papers[name]
		if other == nil || other == p || f.last[name] == 0 || len(other.editions) == 0 {
			continue
		}
		e := elsewhere{isNear: at.isNear, isBehind: at.isBehind}
		if !at.isGone {
			e.latest = f.units(other.editions[len(other.editions)-1].sheet)
		}
		for n := f.last[name]; n >= f.first[name]; n-- {
			if f.first[name] > 1 && len(e.shown) == 2 {
				break // of who came later no more is remembered, if others came since
			}
			e.shown = append(e.shown, f.units(other.editions[n-1].sheet))
			if !isFirst && other.editions[n-1].at <= p.visited {
				break
			}
		}
		all = append(all, e)
	}
	return all
}

// units returns what can move.
func (f *follower) units(s sheet) sheet {
	return slices.DeleteFunc(slices.Clone(f.look(s)), func(l line) bool { return l.aside })
}

// moved returns what came to a page from others: since what it was last, or to a page that was not there.
func (f *follower) moved(l *library, p *paper, now, last sheet) (moved sheet) {
	others := f.elsewhere(l, p, last == nil)
	now = f.units(now)
	if last == nil {
		for _, e := range others {
			var came, all sheet
			for _, l := range now {
				if had, lost := e.had(l, nil); lost {
					came, all = append(came, l), append(all, l)
				} else if had {
					all = append(all, l)
				}
			}
			if moved = append(moved, came...); e.isNear && len(came) > 0 { // so what frames the list is known as well
				moved = append(moved, all...)
			}
		}
		return moved
	}
	wentFromElsewhere := func(l line) bool {
		return slices.ContainsFunc(others, func(e elsewhere) bool {
			_, lost := e.had(l, last)
			return lost
		})
	}
	for _, g := range gaps(f.units(last), now, wentFromElsewhere) {
		var went sheet
		for _, line := range g.came {
			if wentFromElsewhere(line) {
				went = append(went, line)
			}
		}
		if len(went) <= g.putIn() {
			moved = append(moved, went...)
		}
		for _, e := range others {
			for _, shown := range e.shown {
				if e.isBehind {
					moved = append(moved, e.cameUp(g, now, last, shown)...)
				}
			}
		}
	}
	return moved
}

// gap is a place of a text between lines that stay: what came there, and what went.
type gap struct{ came, went sheet }

// putIn returns how many lines were put in, beyond those that took another's place.
func (g gap) putIn() int { return max(0, len(g.came)-len(g.went)) }

// gaps returns the places at which lines came. A line stays if either text has it once, and what stood before it then,
// of what stays, stands before it now. What went from elsewhere may be another one.
func gaps(last, now sheet, wentFromElsewhere func(line) bool) (all []gap) {
	at := func(s sheet, l line) int {
		return slices.IndexFunc(s, func(other line) bool { return isLike(last, now, l, other) })
	}
	isSingle := func(l line) bool {
		like := func(s sheet) (n int) {
			for _, other := range s {
				if isLike(last, now, l, other) {
					n++
				}
			}
			return n
		}
		return like(last) == 1 && like(now) == 1 && !wentFromElsewhere(l)
	}
	stays := func(l line) bool {
		return isSingle(l) && !slices.ContainsFunc(now, func(other line) bool {
			return isSingle(other) && (at(now, other) < at(now, l)) != (at(last, other) < at(last, l))
		})
	}
	start := 0
	for i := 0; i <= len(now); i++ {
		if i < len(now) && !stays(now[i]) {
			continue
		}
		from, to := 0, len(last)
		if start > 0 {
			from = at(last, now[start-1]) + 1
		}
		if i < len(now) {
			to = at(last, now[i])
		}
		all = append(all, gap{now[start:i].but(last), last[from:to].but(now)})
		start = i + 1
	}
	return all
}

// isLike reports whether a line of one of two texts is like one of either: of an offer that both have, as a line of
// that.
func isLike(last, now sheet, l, other line) bool {
	inBoth := func(l line) bool { return last.hasOffer(l) && now.hasOffer(l) }
	if inBoth(l) || inBoth(other) {
		return l.words == other.words && l.link == other.link
	}
	return l.words == other.words
}

// cameUp returns what of a gap was on the next page, and stands behind all that stays, but for what leads on and what
// is there as well. If the last entry was taken off, it was the first there.
func (e *elsewhere) cameUp(g gap, now, last, next sheet) sheet {
	end := 0
	for i, l := range now {
		if last.has(l) && !l.leads && !next.has(l) {
			end = i + 1
		}
	}
	came := slices.DeleteFunc(g.came.without(now[:end]), func(l line) bool {
		knew, _ := e.knew(next, l, last)
		return !knew
	})
	if len(came) <= g.putIn() {
		return came
	}
	head := slices.IndexFunc(next, func(l line) bool { return !now.has(l) })
	if head < 0 {
		return came
	}
	return came.only(next[:head])
}
