package main

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// oracleSite is a site of documents of several kinds, which change from round to round, and who watches them.
type oracleSite struct {
	*rand.Rand
	*httptest.Server
	seed        uint64
	sources     []oracleSource
	index       *oracleDocument
	maintenance *oracleDocument
	urds        []*oracleURD
	made        int
	pairs       int

	moved   map[string]string // from an address to the next one
	weather map[*oracleDocument]*oracleWeather
	gave    map[string]map[string]bool // by starts that have given documents, where they led

	mu    sync.Mutex
	pages map[string]oraclePage // by their addresses
}

// oracleWeather is what is answered in the place of a document for some rounds.
type oracleWeather struct {
	rounds int
	answer oraclePage
}

// oracleSource is something that changes, and is published at one address, or at more.
type oracleSource interface {
	change()
	publish()
	document() *oracleDocument
	place() *oraclePlace
	rules() (language string, parts []string) // by which parts of it may be selected
}

// oraclePlace is where a document is, and where it is linked: there, or where it was before.
type oraclePlace struct{ at, linked string }

func (s *oracleSite) newPlace(kind string) *oraclePlace {
	address := fmt.Sprintf("/%s%d", kind, s.number())
	return &oraclePlace{address, address}
}

// address is where a document is asked for.
func (p *oraclePlace) address() string { return p.linked }

func (p *oraclePlace) place() *oraclePlace { return p }

func (d *oracleDocument) document() *oracleDocument { return d }

// oraclePage is what is answered at an address.
type oraclePage struct {
	status    int
	location  string
	mediaType string
	doc       *oracleDocument
	oracleVersion
	links []string
}

var oracleWords = strings.Fields("ferry ferry ferry boat boat oar harbour storm tower river lamp market bridge sailor rope anchor captain island winter")

func newOracleSite(t *testing.T, seed uint64, ask func(answer func())) *oracleSite {
	s := &oracleSite{Rand: rand.New(rand.NewPCG(seed, 29)), seed: seed, index: new(oracleDocument), maintenance: new(oracleDocument),
		moved: make(map[string]string), weather: make(map[*oracleDocument]*oracleWeather), gave: make(map[string]map[string]bool)}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ask(func() { s.serve(w, r) })
	}))
	t.Cleanup(s.Close)
	s.sources = []oracleSource{newOracleProse(s), newOracleProse(s), newOracleFeed(s), newOracleFeed(s), newOracleJSON(s), newOracleTable(s)}
	s.publish()
	return s
}

// number is one that nothing else of the site has.
func (s *oracleSite) number() int {
	s.made++
	return s.made
}

// words are some, and now and then one that nothing else says.
func (s *oracleSite) words() string {
	all := make([]string, 1+s.IntN(5))
	for i := range all {
		all[i] = oneOf(s.Rand, oracleWords...)
	}
	if s.IntN(6) > 0 {
		all = append(all, fmt.Sprint("no", s.number()))
	}
	return strings.Join(all, " ")
}

// publish puts the pages there as they are now.
func (s *oracleSite) publish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pages = make(map[string]oraclePage)
	p := oraclePage{doc: s.index}
	p.add("title", oracleBlock{words: "Levanda", counts: 4})
	for i, source := range s.sources {
		source.publish()
		address := source.place().address()
		p.links = append(p.links, address)
		p.add(fmt.Sprintf("p><a href='%s'", address), oracleBlock{words: fmt.Sprint("to ", i), counts: 1})
	}
	s.pages["/"] = p
	for address, p := range s.pages {
		if w := s.weather[p.doc]; w != nil && w.rounds > 0 {
			w.answer.doc = p.doc
			s.pages[address] = w.answer
		}
	}
	maintenance := oraclePage{doc: s.maintenance}
	maintenance.add("title", oracleBlock{words: "Back soon", counts: 4})
	s.pages["/maintenance"] = maintenance
	for from, to := range s.moved {
		s.pages[from] = oraclePage{status: http.StatusMovedPermanently, location: to}
	}
}

// change lets a round pass.
func (s *oracleSite) change() {
	for _, w := range s.weather {
		w.rounds--
	}
	for _, source := range s.sources {
		source.change()
		s.disturb(source)
	}
	s.publish()
}

// disturb lets a document move now and then, or something else be answered in its place for some rounds.
func (s *oracleSite) disturb(source oracleSource) {
	if w := s.weather[source.document()]; w != nil && w.rounds >= 0 { // what is there for a fourth round is the document
		return
	}
	switch html := "<!DOCTYPE html><title>Back soon</title><p>We are back soon\n"; s.IntN(24) {
	case 0:
		s.move(source.place())
	case 1:
		s.set(source, oraclePage{status: http.StatusServiceUnavailable})
	case 2:
		s.set(source, oraclePage{status: http.StatusFound, location: "/maintenance"})
	case 3:
		s.set(source, oraclePage{}) // no bytes
	case 4:
		if _, isProse := source.(*oracleProse); !isProse {
			s.set(source, oraclePage{oracleVersion: oracleVersion{body: html}})
		}
	}
}

func (s *oracleSite) set(source oracleSource, answer oraclePage) {
	s.weather[source.document()] = &oracleWeather{1 + s.IntN(3), answer}
}

// move gives a document another address, for good. It is linked there, or at the one before.
func (s *oracleSite) move(p *oraclePlace) {
	to := fmt.Sprint("/moved", s.number())
	s.moved[p.at] = to
	if p.at = to; s.IntN(2) == 0 {
		p.linked = to
	}
}

// add puts a block at the end of a page.
func (p *oraclePage) add(element string, b oracleBlock) {
	p.items = append(p.items, oracleItem{blocks: []oracleBlock{b}})
	if b.part != "" {
		element += " class=" + b.part
	}
	first, second, _ := strings.Cut(element, "><")
	p.body += "<" + element + ">" + b.words
	for _, e := range []string{second, first} {
		if e != "" {
			p.body += "</" + strings.Fields(e)[0] + ">"
		}
	}
	p.body += "\n"
}

func (s *oracleSite) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	p, known := s.pages[r.URL.RequestURI()]
	s.mu.Unlock()
	switch {
	case !known:
		http.NotFound(w, r)
		return
	case p.location != "":
		w.Header().Set("Location", p.location)
	}
	if p.status != 0 {
		w.WriteHeader(p.status)
		return
	}
	tag := fmt.Sprintf(`"%x"`, sha256.Sum256([]byte(p.body)))
	w.Header().Set("ETag", tag)
	if w.Header().Set("Content-Type", p.mediaType); p.mediaType == "" {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
	}
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Write([]byte(p.body))
}

// reached returns the documents that a start leads to, and their addresses.
func (s *oracleSite) reached(start string, depth int) map[*oracleDocument]string {
	reached := make(map[*oracleDocument]string)
	next := []string{start}
	for level := 1; len(next) > 0 && (depth == 0 || level <= depth); level++ {
		var links []string
		for _, address := range next {
			p := s.pages[address]
			for p.location != "" {
				if level == 1 && p.status == http.StatusFound && s.gave[start] != nil && !s.gave[start][p.location] {
					break // it is redirected away
				}
				address, p = p.location, s.pages[p.location]
			}
			if p.doc == nil || p.status != 0 || reached[p.doc] != "" {
				continue
			}
			reached[p.doc] = address
			links = append(links, p.links...)
		}
		next = links
	}
	return reached
}

// watch lets a round pass, and returns who is told of what: URD, URL and version.
func (s *oracleSite) watch() map[string]*oracleTold {
	var reached []map[*oracleDocument]string
	visited := make(map[*oracleDocument]string)
	for _, u := range s.urds {
		r := s.reached(u.start, u.depth)
		reached = append(reached, r)
		maps.Copy(visited, r)
	}
	isNew := make(map[*oracleDocument]bool)
	for d, address := range visited {
		v := s.pages[address].oracleVersion
		v.at = address
		if n := len(d.versions); n == 0 || d.versions[n-1].body != v.body || d.versions[n-1].at != v.at {
			d.versions = append(d.versions, v)
			isNew[d] = true
		}
	}
	for _, u := range s.urds {
		for _, address := range s.reached(u.start, 1) {
			if s.gave[u.start] == nil {
				s.gave[u.start] = make(map[string]bool)
			}
			s.gave[u.start][address] = true
		}
	}
	told := make(map[string]*oracleTold)
	for i, u := range s.urds {
		for d, address := range reached[i] {
			if !isNew[d] && u.known[d] != nil {
				continue
			}
			s.pairs++
			if t := u.show(d); t != nil {
				told[fmt.Sprintf("%s %s%s %d", u.id, s.URL, address, len(d.versions))] = t
			}
		}
	}
	return told
}

// follow makes URDs.
func (s *oracleSite) follow(n int) (made []*oracleURD) {
	for range n {
		u := &oracleURD{id: fmt.Sprintf("s%d-%d", s.seed, len(s.urds)), known: make(map[*oracleDocument]*oracleKnown)}
		u.owner, u.start, u.depth = u.id, "/", oneOf(s.Rand, 0, 0, 2)
		u.change, u.match = oneOf(s.Rand, "added", "added", "added", "page", "first"), oneOf(s.Rand, "any", "any", "all")
		u.remember, u.threshold = oneOf(s.Rand, 0, 0, 0, 1, 2, 5), oneOf(s.Rand, 0, 20, 20, 40)
		source := oneOf(s.Rand, s.sources...)
		if language, parts := source.rules(); s.IntN(3) > 0 && !source.document().hasJustMoved(source.place()) {
			u.start, u.depth = source.place().address(), 1+s.IntN(2)
			if s.IntN(2) == 0 && len(parts) > 0 {
				u.language, u.parts = language, parts[:1+s.IntN(len(parts))]
			}
		}
		s.ask(u)
		s.urds, made = append(s.urds, u), append(made, u)
	}
	return made
}

// hasJustMoved reports whether a document has moved since the last round. Who starts there, or where it was, may be
// asked before anything shows that it is the document of others, and finds another one: its versions begin anew.
func (d *oracleDocument) hasJustMoved(p *oraclePlace) bool {
	n := len(d.versions)
	return n > 0 && d.versions[n-1].at != p.at
}

// ask chooses keywords.
func (s *oracleSite) ask(u *oracleURD) {
	words := slices.Compact(slices.Sorted(slices.Values(oracleWords)))
	s.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
	some := func(n int) (all []oracleKeyword) {
		for range n {
			all = append(all, oracleKeyword{words[0], 1 + s.IntN(5)})
			words = words[1:]
		}
		return all
	}
	if u.keywords = some(oneOf(s.Rand, 0, 1, 1, 1, 2)); s.IntN(3) == 0 {
		for i := range u.keywords { // which many blocks say
			u.keywords[i].word = []string{"ferry", "boat"}[i]
			words = slices.DeleteFunc(words, func(w string) bool { return w == u.keywords[i].word })
		}
	}
	if len(u.keywords) > 0 && u.match == "all" {
		u.either = some(oneOf(s.Rand, 0, 0, 2))
		for _, k := range some(s.IntN(2)) {
			u.none = append(u.none, k.word)
		}
	}
}

// xml is a URD as it is written.
func (u *oracleURD) xml(site string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<urd id='%s' owner='%s'", u.id, u.owner)
	if u.remember > 0 {
		fmt.Fprintf(&b, " remember='%d'", u.remember)
	}
	fmt.Fprintf(&b, "><uri>%s%s</uri><type change='%s'/>", site, u.start, u.change)
	if !u.isForAnyChange() {
		u.writeKeywords(&b)
	}
	if len(u.parts) > 0 {
		b.WriteString("<selection>")
		for _, part := range u.parts {
			fmt.Fprintf(&b, "<select %s='.%s'/>", u.language, part)
		}
		b.WriteString("</selection>")
	}
	fmt.Fprintf(&b, "<depth level='%d'/></urd>\n", u.depth)
	return b.String()
}

func (u *oracleURD) writeKeywords(b *strings.Builder) {
	keyword := func(all []oracleKeyword) {
		for _, k := range all {
			fmt.Fprintf(b, "<keyword key='%s' weight='%d'/>", k.word, k.weight)
		}
	}
	fmt.Fprintf(b, "<keywords match='%s' threshold='%d'>", u.match, u.threshold)
	keyword(u.keywords)
	if len(u.either) > 0 {
		b.WriteString("<group match='any'>")
		keyword(u.either)
		b.WriteString("</group>")
	}
	for _, word := range u.none {
		fmt.Fprintf(b, "<group match='none'><keyword key='%s'/></group>", word)
	}
	b.WriteString("</keywords>")
}
