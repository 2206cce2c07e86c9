package main

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/webrace/webrace/xmlschema"
)

// thing is an entry of a list: a job, or an offer.
type thing struct {
	number int
	words  string
	more   []string // what an offer says beside its title
}

// listSite is a site whose list goes over several pages, and changes.
type listSite struct {
	*rand.Rand
	*httptest.Server
	seed    uint64
	library *library

	front    int    // how many things stand on a front page, and no more in the list; 0 for a site without one
	size     int    // of a page
	lead     int    // of the first one
	address  string // of the list, as it is now
	numbered string // how a page is called, but for the first
	isOffset bool   // by the number of its first thing
	isCursor bool   // by the last thing on the page before
	numbers  map[string]int
	pager    func(s *listSite, page, pages int) string
	isAside  bool // what leads on is navigation
	isOffers bool // the things have links, and say more
	things   []thing
	made     int

	mu     sync.Mutex
	pages  map[string]listPage // by their addresses
	log    []listRequest
	failed map[string]int  // what is answered for a round
	away   map[string]bool // what leads to a page about maintenance for a round
}

// listPage is a page as it is sent, and as the oracle knows it.
type listPage struct {
	name string
	body string
	sheet
}

type listRequest struct {
	address string
	status  int
}

// mostJoined is how many follow a list that others join. In a crowd of more than 32 all are taken to know no more of
// other pages than its latest member does, where they meet a page for the first time.
const mostJoined = 32 - 3

var listWords = strings.Fields("ferry ferry ferry boat boat oar oar harbour tower river lamp market bridge sailor rope anchor captain island winter storm")

func newListSite(t *testing.T, seed uint64) *listSite {
	r := rand.New(rand.NewPCG(seed, 28))
	s := &listSite{Rand: r, seed: seed, library: &library{papers: make(map[string]*paper)}, size: 2 + r.IntN(4), isAside: r.IntN(2) == 0, isOffers: r.IntN(2) == 0,
		address: "/jobs", numbered: oneOf(r, "?page=%d", "/page/%d", "?sort=new&p=%d", "?offset=%d", "?start=%d"), pager: oneOf(r, nextAlone, allNumbers),
		numbers: make(map[string]int),
	}
	s.lead, s.isOffset = s.size, strings.Contains(s.numbered, "offset") || strings.Contains(s.numbered, "start")
	if seed%3 == 0 {
		s.numbered, s.pager, s.isOffset, s.isCursor = "?after=%d", nextAlone, false, true
	}
	if r.IntN(3) == 0 {
		s.front = 2 + r.IntN(2)
	}
	for range s.front + s.size + r.IntN(3*s.size) {
		s.things = append(s.things, s.make())
	}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

func oneOf[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// make makes a thing, which now and then is called like another.
func (s *listSite) make() thing {
	s.made++
	t := thing{number: s.made, words: s.words()}
	if s.IntN(6) > 0 {
		t.words += fmt.Sprint(" no", s.made)
	}
	if s.isOffers {
		t.more = s.more()
	}
	return t
}

func (s *listSite) more() []string {
	all := []string{oneOf(s.Rand, "for sale", "for sale", "sold", "harbour"), fmt.Sprint(s.IntN(4), " euro")}
	return all[:1+s.IntN(2)]
}

func (s *listSite) words() string {
	all := make([]string, 1+s.IntN(5))
	for i := range all {
		all[i] = oneOf(s.Rand, listWords...)
	}
	return strings.Join(all, " ")
}

// change lets a round pass: things come, go, change places, and come to say something else; pages become longer or
// shorter.
func (s *listSite) change() {
	switch what, size := s.IntN(20), 2+s.IntN(4); {
	case what == 0:
		s.size = size
	case what == 1:
		s.lead = size
	case what < 4:
		for range 2 + s.IntN(4) {
			s.things = slices.Insert(s.things, 0, s.make())
		}
	}
	for range s.IntN(3) {
		n := len(s.things)
		switch i := s.IntN(n); s.IntN(12) {
		case 10, 11:
			if s.isOffers {
				s.things[i].more = s.more()
			}
		case 0, 1, 2, 3:
			s.things = slices.Insert(s.things, 0, s.make())
		case 4, 5:
			if n > s.front+2 {
				s.things = slices.Delete(s.things, i, i+1)
			}
		case 6:
			s.things[i].words = s.make().words
		case 7:
			s.things[i].words = s.things[s.IntN(n)].words
		case 8:
			s.things = slices.Insert(s.things, i, s.make())
		case 9:
			if j := s.IntN(n); n > 4 {
				s.things[i], s.things[j] = s.things[j], s.things[i]
			}
		}
	}
}

// nextAlone leads to the next page, and allNumbers to all pages.
func nextAlone(s *listSite, page, pages int) string {
	if page+1 == pages {
		return ""
	}
	return fmt.Sprintf("<a href='%s'>next</a>", s.addressOf(page+1))
}

func allNumbers(s *listSite, page, pages int) (links string) {
	for other := range pages {
		if other != page {
			links += fmt.Sprintf(" <a href='%s'>%d</a>", s.addressOf(other), other+1)
		}
	}
	return strings.TrimSpace(links)
}

func (s *listSite) addressOf(page int) string {
	if page == 0 {
		if i := strings.IndexByte(s.numbered, '&'); i >= 0 {
			return s.address + s.numbered[:i]
		}
		return s.address
	}
	if s.isOffset || s.isCursor {
		return s.address + fmt.Sprintf(s.numbered, s.number(page))
	}
	return s.address + fmt.Sprintf(s.numbered, page+1)
}

// begin returns the number of the first thing on a page.
func (s *listSite) begin(page int) int {
	if page == 0 {
		return 0
	}
	return s.lead + (page-1)*s.size
}

// number returns what a page of the list is known by.
func (s *listSite) number(page int) int {
	switch {
	case s.isCursor && page > 0:
		return s.things[min(s.front, len(s.things)):][s.begin(page)-1].number
	case s.isOffset:
		return s.begin(page)
	}
	return page
}

func (s *listSite) name(page int) string { return fmt.Sprint("page ", s.number(page)) }

func (s *listSite) start() string {
	if s.front > 0 {
		return "/"
	}
	return s.addressOf(0)
}

// publish puts the pages there as they are now.
func (s *listSite) publish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pages = make(map[string]listPage)
	front := min(s.front, len(s.things))
	if s.front > 0 {
		s.pages["/"] = s.page("front", "The newest", s.things[:front], fmt.Sprintf("<a href='%s'>archive</a>", s.addressOf(0)))
		s.paper("front", &paper{})
	}
	s.failed, s.away = make(map[string]int), make(map[string]bool)
	rest := s.things[front:]
	pages := 1
	for s.begin(pages) < len(rest) {
		pages++
	}
	for n := range pages {
		s.numbers[s.addressOf(n)] = s.number(n)
		s.pages[s.addressOf(n)] = s.page(s.name(n), "All jobs", rest[min(s.begin(n), len(rest)):min(s.begin(n+1), len(rest))], s.pager(s, n, pages))
		p := &paper{distance: n}
		if !s.isCursor {
			p.next = s.nextBefore(n)
		}
		if n+1 < pages && !s.isCursor {
			p.next = s.name(n + 1)
		}
		if n > 0 {
			if p.from = s.name(n - 1); !s.isCursor {
				p.before = p.from
			}
			if !s.isCursor && s.pager(s, 0, 9) == allNumbers(s, 0, 9) {
				p.from, p.distance = s.name(0), 1
			}
		}
		if s.front > 0 {
			if p.distance++; n == 0 {
				p.from = "front"
			}
		}
		s.paper(s.name(n), p)
	}
	if s.IntN(4) == 0 && s.library.clock > 0 {
		s.fail(s.IntN(pages))
	}
}

// nextBefore returns the next page of the list to which a page led when it was visited last, and which may be there no
// more.
func (s *listSite) nextBefore(page int) string {
	was := s.library.papers[s.name(page)]
	if was == nil || len(was.editions) == 0 {
		return ""
	}
	next := 0
	for address, number := range s.numbers {
		if number > s.number(page) && (next == 0 || number < next) && strings.Contains(was.editions[len(was.editions)-1].body, "'"+address+"'") {
			next = number
		}
	}
	if next == 0 {
		return ""
	}
	return fmt.Sprint("page ", next)
}

// fail lets a page be in want of an answer, or lead elsewhere, for a round.
func (s *listSite) fail(page int) {
	address := s.addressOf(page)
	if s.away[address] = address != s.start() && s.IntN(2) == 0; !s.away[address] {
		s.failed[address] = http.StatusServiceUnavailable
	}
	s.pages["/maintenance"] = s.page("maintenance", "Back soon", nil, "")
	s.paper("maintenance", &paper{distance: s.library.papers[s.name(page)].distance})
}

// paper tells the oracle where a page stands.
func (s *listSite) paper(name string, p *paper) {
	if was := s.library.papers[name]; was != nil {
		p.editions, p.visited, p.led = was.editions, was.visited, was.led
	}
	s.library.papers[name] = p
}

func (s *listSite) page(name, heading string, things []thing, pager string) listPage {
	p := listPage{name: name}
	add := func(element string, l line) {
		p.sheet = append(p.sheet, l)
		p.body += "<" + element + ">" + l.words + "\n"
	}
	addOffer := func(t thing) {
		l := line{words: t.words, link: fmt.Sprint("/o/", t.number), title: t.words, list: true}
		p.body += fmt.Sprintf("<li><a href='%s'>%s</a>", l.link, l.words)
		if len(things) == 1 { // which is no part of a list
			l.link, l.title = "", ""
		}
		p.sheet = append(p.sheet, l)
		for _, l.words = range t.more {
			add("p", l)
		}
		p.body += "</li>"
	}
	p.body = "<!DOCTYPE html>"
	add("title", line{words: "Levanda"})
	p.body += "</title>"
	add("h1", line{words: heading})
	p.body += "</h1><ul id=list>"
	for _, t := range things {
		if s.isOffers {
			addOffer(t)
			continue
		}
		add("li", line{words: t.words, list: true})
	}
	p.body += "</ul>"
	if pager != "" {
		words := strings.Join(strings.Fields(anchor.ReplaceAllString(pager, "")), " ")
		p.sheet = append(p.sheet, line{words: words, aside: s.isAside, leads: true})
		p.body += map[bool]string{true: "<nav>" + pager + "</nav>", false: "<p>" + pager}[s.isAside]
	}
	add("p", line{words: "Written by the keeper of the lighthouse"})
	for i := range p.sheet {
		p.sheet[i].at = i
	}
	return p
}

var anchor = regexp.MustCompile(`<[^>]*>`)

func (s *listSite) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	address := r.URL.RequestURI()
	if address == "/robots.txt" {
		http.NotFound(w, r)
		return
	}
	status := http.StatusOK
	page, known := s.pages[address]
	tag := fmt.Sprintf(`"%x"`, sha256.Sum256([]byte(page.body)))
	switch {
	case s.failed[address] != 0:
		status = s.failed[address]
	case s.away[address]:
		status = http.StatusFound
		w.Header().Set("Location", "/maintenance")
	case !known:
		status = http.StatusNotFound
	case r.Header.Get("If-None-Match") == tag:
		status = http.StatusNotModified
	}
	s.log = append(s.log, listRequest{address, status})
	w.Header().Set("ETag", tag)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	if status == http.StatusOK {
		w.Write([]byte(page.body))
	}
}

// follow makes URDs for the list.
func (s *listSite) follow(n int) (urds []*xmlschema.URD) {
	for range n {
		u := xmlschema.NewURD(fmt.Sprintf("s%d-%d", s.seed, len(s.library.followers)), s.URL+s.start())
		u.ID, u.Depth = u.Owner, 0
		if n <= 32 {
			u.Depth = oneOf(s.Rand, 0, 0, 2, 3)
		}
		u.Change = oneOf(s.Rand, xmlschema.ChangeAdded, xmlschema.ChangeAdded, xmlschema.ChangeAdded, xmlschema.ChangePage, xmlschema.ChangeFirst)
		u.Remember = oneOf(s.Rand, 0, 0, 0, 1, 2, 5)
		u.Keywords.Match, u.Keywords.Threshold = oneOf(s.Rand, xmlschema.MatchAny, xmlschema.MatchAny, xmlschema.MatchAll), oneOf(s.Rand, 0, 20, 20, 40)
		keys := make(map[string]bool)
		for range oneOf(s.Rand, 0, 1, 1, 2) {
			if word := oneOf(s.Rand, listWords...); !keys[word] {
				keys[word] = true
				u.Keywords.Keywords = append(u.Keywords.Keywords, xmlschema.Keyword{Key: word, Weight: 1 + s.IntN(5)})
			}
		}
		none := ""
		if word := oneOf(s.Rand, listWords...); len(keys) > 0 && !keys[word] && u.Keywords.Match == xmlschema.MatchAll {
			none = word
			u.Keywords.Groups = []xmlschema.Group{{Match: xmlschema.MatchNone, Keywords: []xmlschema.Keyword{{Key: word, Weight: 1}}}}
		}
		if s.IntN(4) == 0 {
			u.Select = []xmlschema.Rule{{Language: "css", Text: "#list"}}
		}
		s.library.followers = append(s.library.followers, newFollower(u, none))
		urds = append(urds, u)
	}
	return urds
}

// join lets others follow the list, and some ask for something else, which they were told nothing of.
func (s *listSite) join() (urds []*xmlschema.URD) {
	if len(s.library.followers) > mostJoined {
		return nil
	}
	if s.IntN(3) == 0 {
		urds = s.follow(1 + s.IntN(3))
	}
	if f := oneOf(s.Rand, s.library.followers...); s.IntN(2) == 0 && !f.AnyChange() {
		f.Keywords.Threshold = (f.Keywords.Threshold + oneOf(s.Rand, 10, 20)) % 50
		clear(f.first)
		clear(f.last)
	}
	return urds
}

// read lets the oracle visit the pages that were asked for since the last call, and returns who is told of which
// version.
func (s *listSite) read() (told []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, r := range s.log {
		if s.isCursor && slices.ContainsFunc(s.log[i+1:], func(other listRequest) bool { return other.address == r.address }) {
			continue // before it was found at its new place, it was asked whether it has moved
		}
		if page, known := s.pages[r.address]; known && (r.status == http.StatusOK || r.status == http.StatusNotModified) {
			if s.isCursor {
				s.library.turn(page.name, s.ledTo(page.body))
			}
			for _, owner := range s.library.visit(page.name, page.body, page.sheet) {
				told = append(told, fmt.Sprintf("%s %s%s %d", owner, s.URL, r.address, len(s.library.papers[page.name].editions)))
			}
		}
	}
	s.log = nil
	return told
}
