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
