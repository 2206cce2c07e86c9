package main

import (
	"math"
	"slices"
	"strings"

	"github.com/webrace/webrace/xmlschema"
)

// The oracle of lists knows what docs/model.md states of news, and docs/annotation.md of what moved between pages. It
// reads no markup and knows no store: a page is the lines that its site has put there, and each URD is asked by itself.

// line is a block of a page. Some are of an offer, which its link and its title tell from others.
type line struct {
	at    int // its place on the page: two may say the same
	words string
	link  string // of the offer; empty for none
	title string
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

	ledBefore string  // and at the one before that
	led       string  // to which next page it led at its last visit, in a list that is paged by a cursor
	of        string  // the page in whose place of such a list it stands
	list      []place // what is around that one

	editions []edition
	visited  int
}

// place is where a page stands from another.
type place struct {
	name     string
	isNear   bool
	isBehind bool
	isGone   bool // nothing leads there any more
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

// hasOffer reports whether a text has the offer that a line is of.
func (s sheet) hasOffer(of line) bool {
	return of.link != "" && slices.ContainsFunc(s, func(l line) bool { return l.link == of.link && l.title == of.title })
}

// has reports whether a text has a line: of an offer that it has, as a line of that, or else of any.
func (s sheet) has(line line) bool { return s.says(line, s.hasOffer(line)) }

func (s sheet) says(as line, there bool) bool {
	return slices.ContainsFunc(s, func(l line) bool { return l.words == as.words && (!there || l.link == as.link) })
}

// but returns the lines that none of the other texts has.
func (s sheet) but(others ...sheet) (left sheet) {
	for _, l := range s {
		if !slices.ContainsFunc(others, func(other sheet) bool { return other.has(l) }) {
			left = append(left, l)
		}
	}
	return left
}

// only returns the lines that another text has.
func (s sheet) only(other sheet) (left sheet) {
	for _, l := range s {
		if other.has(l) {
			left = append(left, l)
		}
	}
	return left
}

// without returns the lines that are not among some of them.
func (s sheet) without(some sheet) sheet {
	return slices.DeleteFunc(slices.Clone(s), func(l line) bool { return slices.Contains(some, l) })
}

// added returns the lines that none of the last versions had, the latest first: those of an offer that the latest had,
// as lines of that. Of offers that say the same as one that was there, new are those that are more than ever.
func (s sheet) added(ever, last []sheet) (added sheet) {
	for _, l := range s {
		there := last[0].hasOffer(l)
		isKnown := slices.ContainsFunc(last, func(v sheet) bool { return v.says(l, there) })
		if !there && l.link != "" && s.isOneMore(l, ever) {
			isKnown = false
		}
		if !isKnown {
			added = append(added, l)
		}
	}
	return added
}

// isOneMore reports whether a line is of an offer that reads as another does, which was there, and more offers do than
// in any version before.
func (s sheet) isOneMore(of line, ever []sheet) bool {
	said := s.offer(of.link)
	if !slices.ContainsFunc(s, func(l line) bool { return l.link != of.link && ever[0].hasOffer(l) && s.offer(l.link) == said }) {
		return false
	}
	n := s.saying(said)
	return !slices.ContainsFunc(ever, func(v sheet) bool { return v.saying(said) >= n })
}

// offer returns what the offer of a link holds.
func (s sheet) offer(link string) (said string) {
	for _, l := range s {
		if l.link == link {
			said += l.words + "\n"
		}
	}
	return said
}

// saying returns how many offers say something.
func (s sheet) saying(what string) int {
	links := make(map[string]bool)
	for _, l := range s {
		if l.link != "" && s.offer(l.link) == what {
			links[l.link] = true
		}
	}
	return len(links)
}

func isSame(x, y sheet) bool {
	return len(x.added([]sheet{y}, []sheet{y})) == 0 && !slices.ContainsFunc(y, func(l line) bool { return !x.says(l, false) })
}

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
		added := now.without(moved)
		return holds && (len(moved) == 0 || len(added) > 0 && (f.Change == xmlschema.ChangePage || f.isNews(now, added)))
	}
	last := f.look(p.editions[f.last[name]-1].sheet)
	if f.Change == xmlschema.ChangeFirst || isSame(now, last) || !holds {
		return false
	}
	remember := f.Remembers(5)
	moved := f.moved(l, p, now, last)
	added := now.added(f.known(p, 8), f.known(p, remember)).without(moved)
	if f.Change == xmlschema.ChangePage {
		return remember == 1 || len(added) > 0
	}
	return f.isNews(now, added) || f.comesToHold(now, last, moved)
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
	met, holds := f.holds(now.without(added))
	return !met || !holds
}

func (f *follower) asksForAny(s sheet) bool {
	return slices.ContainsFunc(f.Keywords.Keywords, func(k xmlschema.Keyword) bool { return s.count(k.Key) > 0 })
}

// comesToHold reports whether the condition did not hold on what was known of a page, what moved there included, and
// something that it asks for came or went.
func (f *follower) comesToHold(now, last, moved sheet) bool {
	if f.Remember > 1 || f.AnyChange() {
		return false
	}
	met, held := f.holds(slices.Concat(last, moved))
	if f.asksForAny(now.added([]sheet{last}, []sheet{last}).without(moved)) {
		return !held
	}
	return !met && f.none != "" && slices.ContainsFunc(last, func(l line) bool { return !now.says(l, false) })
}

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
