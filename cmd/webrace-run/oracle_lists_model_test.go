package main

import (
	"math"
	"slices"
	"strings"

	"github.com/webrace/webrace/xmlschema"
)

// The oracle of lists knows what docs/model.md says of news, and docs/annotation.md of what moved between pages. It
// reads no markup and knows no store: a page is the lines that its site has put there, and each URD is asked by itself.

// line is a block of a page.
type line struct {
	words string
	list  bool // it stands in what some URDs select
	leads bool // it leads to other pages of the list
	aside bool // it is navigation
}

type sheet []line

// edition is a version of a page, and when it was fetched.
type edition struct {
	sheet
	body string
	at   int
}

// paper is a page of a site, wherever it has moved since, and where others stand from there.
type paper struct {
	distance int
	before   string // the page before in its list; empty for none
	next     string
	from     string // the page that led to it

	editions []edition
	visited  int
}

// follower is the owner of a URD.
type follower struct {
	*xmlschema.URD
	none  string         // the word that they forbid; empty for none
	first map[string]int // of each page that they were shown, the first edition
	last  map[string]int // and the last one, from 1 on
}

func newFollower(u *xmlschema.URD, none string) *follower {
	return &follower{u, none, make(map[string]int), make(map[string]int)}
}

// library is the pages of a site as they were visited, and its followers.
type library struct {
	papers    map[string]*paper
	followers []*follower
	clock     int
	pairs     int
}

// visit shows a page to its followers, and returns those who are told of it.
func (l *library) visit(name string, body string, now sheet) (told []string) {
	l.clock++
	p := l.papers[name]
	isNew := len(p.editions) == 0 || p.editions[len(p.editions)-1].body != body
	if isNew {
		p.editions = append(p.editions, edition{now, body, l.clock})
	}
	for _, f := range l.followers {
		if f.last[name] == len(p.editions) || f.Depth > 0 && p.distance >= f.Depth {
			continue
		}
		l.pairs++
		if f.isTold(l, name, isNew) {
			told = append(told, f.Owner)
		}
		if f.last[name] = len(p.editions); f.first[name] == 0 {
			f.first[name] = len(p.editions)
		}
	}
	p.visited = l.clock
	return told
}

// look returns what a follower looks at.
func (f *follower) look(s sheet) sheet {
	if len(f.Select) == 0 {
		return s
	}
	return slices.DeleteFunc(slices.Clone(s), func(l line) bool { return !l.list })
}

func (s sheet) has(words string) bool {
	return slices.ContainsFunc(s, func(l line) bool { return l.words == words })
}

// but returns the lines of which none of the other texts has the words.
func (s sheet) but(others ...sheet) (left sheet) {
	for _, l := range s {
		if !slices.ContainsFunc(others, func(other sheet) bool { return other.has(l.words) }) {
			left = append(left, l)
		}
	}
	return left
}

// only returns the lines of which another text has the words.
func (s sheet) only(other sheet) sheet { return s.but(s.but(other)) }

func isSame(x, y sheet) bool { return len(x.but(y)) == 0 && len(y.but(x)) == 0 }

// known returns the last versions of a page that a follower remembers, the latest first.
func (f *follower) known(p *paper, remember int) (all []sheet) {
	for _, e := range slices.Backward(p.editions[:len(p.editions)-1]) {
		s := f.look(e.sheet)
		if len(f.Select) == 0 && len(all) > 0 && isSame(all[len(all)-1], s) {
			continue
		}
		if all = append(all, s); len(all) == remember {
			break
		}
	}
	return all
}

// isTold reports whether a follower is told of the latest edition of a page.
func (f *follower) isTold(l *library, name string, isNew bool) bool {
	p := l.papers[name]
	now := f.look(p.editions[len(p.editions)-1].sheet)
	_, holds := f.holds(now)
	if f.last[name] == 0 {
		var moved sheet
		if isNew {
			moved = f.moved(l, p, now, nil)
		}
		added := now.but(moved)
		return holds && (len(moved) == 0 || len(added) > 0 && (f.Change == xmlschema.ChangePage || f.isNews(now, added)))
	}
	last := f.look(p.editions[f.last[name]-1].sheet)
	if f.Change == xmlschema.ChangeFirst || isSame(now, last) || !holds {
		return false
	}
	remember := f.Remembers(5)
	moved := f.moved(l, p, now, last)
	added := now.but(append(f.known(p, remember), moved)...)
	if f.Change == xmlschema.ChangePage {
		return remember == 1 || len(added) > 0
	}
	return f.isNews(now, added) || f.comesToHold(now, slices.Concat(last, now.only(moved)))
}

// holds reports whether the condition of a URD holds on a text, as far as it is about words, and altogether.
func (f *follower) holds(s sheet) (met, holds bool) {
	if f.AnyChange() {
		return true, len(s) > 0
	}
	found := 0
	for _, k := range f.Keywords.Keywords {
		if s.count(k.Key) > 0 {
			found++
		}
	}
	met = found > 0
	if f.Keywords.Match == xmlschema.MatchAll {
		met = found == len(f.Keywords.Keywords) && (f.none == "" || s.count(f.none) == 0)
	}
	return met, met && (f.Keywords.Threshold == 0 || f.relevance(s) > f.Keywords.Threshold)
}

func (s sheet) count(word string) (n int) {
	for _, l := range s {
		for _, w := range strings.Fields(l.words) {
			if w == word {
				n++
			}
		}
	}
	return n
}

// relevance is that of words on a page of less than 200 words.
func (f *follower) relevance(s sheet) int {
	rest := 1.0
	for _, k := range f.Keywords.Keywords {
		n := float64(s.count(k.Key))
		rest *= 1 - float64(k.Weight)/5*min(n/(n+0.7+0.3*0.25), 0.98)
	}
	return int(math.Floor(100*(1-rest) + 0.5 + 1e-9))
}

// isNews reports whether what makes the condition hold stands in what was added.
func (f *follower) isNews(now, added sheet) bool {
	if f.AnyChange() {
		return len(added) > 0
	}
	if !f.asksForAny(added) {
		return false
	}
	if f.Keywords.Threshold == 0 || f.relevance(added) > f.Keywords.Threshold {
		return true
	}
	met, holds := f.holds(now.but(added))
	return !met || !holds
}

func (f *follower) asksForAny(s sheet) bool {
	return slices.ContainsFunc(f.Keywords.Keywords, func(k xmlschema.Keyword) bool { return s.count(k.Key) > 0 })
}

// comesToHold reports whether the condition did not hold on what was known of a page, what moved there included, and
// something that it asks for came or went.
func (f *follower) comesToHold(now, known sheet) bool {
	if f.Remember > 1 || f.AnyChange() {
		return false
	}
	met, held := f.holds(known)
	if f.asksForAny(now.but(known)) {
		return !held
	}
	return !met && f.none != "" && len(known.but(now)) > 0
}

// elsewhere is another page as a follower knows it.
type elsewhere struct {
	shown    []sheet // since the page at hand was visited last
	latest   sheet
	isNear   bool
	isBehind bool
}

func (e *elsewhere) had(l line) bool {
	return (e.isNear || len(strings.Fields(l.words)) >= 4) && slices.ContainsFunc(e.shown, func(s sheet) bool { return s.has(l.words) })
}

func (f *follower) elsewhere(l *library, p *paper, isFirst bool) (all []elsewhere) {
	for i, name := range []string{p.before, p.next, p.from} {
		if name == "" || i == 2 && (name == p.before || name == p.next) {
			continue
		}
		other := l.papers[name]
		if other == nil || other == p || f.last[name] == 0 || len(other.editions) == 0 {
			continue
		}
		e := elsewhere{isNear: i < 2, isBehind: i == 1, latest: f.units(other.editions[len(other.editions)-1].sheet)}
		for n := f.last[name]; n >= f.first[name]; n-- {
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
			came := slices.DeleteFunc(slices.Clone(now), func(l line) bool { return !e.had(l) || e.latest.has(l.words) })
			if moved = append(moved, came...); e.isNear && len(came) > 0 { // so what frames the list is known as well
				moved = append(moved, slices.DeleteFunc(slices.Clone(now), func(l line) bool { return !e.had(l) })...)
			}
		}
		return moved
	}
	wentFromElsewhere := func(l line) bool {
		return slices.ContainsFunc(others, func(e elsewhere) bool { return e.had(l) && !e.latest.has(l.words) })
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
					moved = append(moved, cameUp(g, now, last, shown)...)
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
		return slices.IndexFunc(s, func(other line) bool { return other.words == l.words })
	}
	isSingle := func(l line) bool { return last.times(l) == 1 && now.times(l) == 1 && !wentFromElsewhere(l) }
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

func (s sheet) times(l line) (n int) {
	for _, other := range s {
		if other.words == l.words {
			n++
		}
	}
	return n
}

// cameUp returns what of a gap was on the next page, and stands behind all that stays, but for what leads on and what
// is there as well. If the last entry was taken off, it was the first there.
func cameUp(g gap, now, last, next sheet) sheet {
	end := 0
	for i, l := range now {
		if last.has(l.words) && !l.leads && !next.has(l.words) {
			end = i + 1
		}
	}
	came := g.came.only(next).only(now[end:])
	if len(came) <= g.putIn() {
		return came
	}
	head := slices.IndexFunc(next, func(l line) bool { return !now.has(l.words) })
	if head < 0 {
		return came
	}
	return came.only(next[:head])
}
