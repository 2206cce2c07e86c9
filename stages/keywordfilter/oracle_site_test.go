package keywordfilter

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// world is a base of URDs that changes, documents that change, and what the visits of these have left behind.
type world struct {
	*fixture
	*rand.Rand
	stage    *stage
	audience *audience
	base     map[string]*lone
	visits   map[string]*webrace.Visit // by secret and URL
	pages    map[string][]string       // their paragraphs
	priced   bool                      // every URD is about the price of the one page there is
	told     []webrace.Told            // numbers of the last document, by the oracle
	pairs    int
	alerts   int
	numbers  int // alerts that a condition on a number allowed
	unmet    int // and did not allow
	nothing  int // versions of no bytes in the place of a document
	back     int // alerts of the number that was told last, and had left meanwhile
}

func newWorld(t *testing.T, seed uint64, audience string, few int) *world {
	f := newFixture(t)
	f.options.Audience = audience
	made, err := newStage(f.options, pipeline.NewEnv("p", "keyword-filter", f.resources))
	if err != nil {
		t.Fatal(err)
	}
	w := &world{
		fixture: f, Rand: rand.New(rand.NewPCG(seed, 1)), stage: made.(*stage), audience: newAudience(f.options),
		base: map[string]*lone{}, visits: map[string]*webrace.Visit{}, pages: map[string][]string{},
	}
	w.audience.mostFew = few
	return w
}

var (
	oracleSites = []string{"https://a.example/", "https://b.example/"}
	oracleWords = strings.Fields("ibm java xml crawler network page market price boat lamp tower river")
)

func (w *world) word() string {
	return oracleWords[min(w.IntN(len(oracleWords)), w.IntN(len(oracleWords)))]
}

// some returns one of these.
func some[T any](w *world, of ...T) T { return of[w.IntN(len(of))] }

// invent makes a URD with an id, of any kind.
func (w *world) invent(id string) *control.URD {
	u := xmlschema.NewURD("owner of "+id, some(w, oracleSites...))
	u.ID, u.Depth, u.Change = id, w.IntN(6), some(w, xmlschema.ChangeAdded, xmlschema.ChangeAdded, xmlschema.ChangePage, xmlschema.ChangeFirst)
	u.Remember = some(w, 0, 0, 0, 1, 2, 8)
	for range some(w, 0, 1, 1, 2, 3) {
		u.Keywords.Keywords = append(u.Keywords.Keywords, xmlschema.Keyword{Key: some(w, w.word(), w.word(), w.word()+" "+w.word()), Weight: 1 + w.IntN(5)})
	}
	u.Keywords.Match, u.Keywords.Threshold = some(w, xmlschema.MatchAny, xmlschema.MatchAny, xmlschema.MatchAll), some(w, 0, 10, 20)
	kind := w.IntN(8)
	if w.priced {
		kind, u.URI, u.Depth, u.Keywords = 2, oracleSites[0], 0, xmlschema.Keywords{}
	}
	switch kind {
	case 0:
		for _, css := range some(w, []string{"#price"}, []string{"b"}, []string{"#price", "b:not(#price)"}) {
			selects("css", css)(u)
		}
	case 1:
		ignores("css", "b")(u)
	case 2:
		selectsWhen(some(w, "#price", "b"), some(w, slices.Sorted(maps.Keys(oracleConditions))...))(u)
	}
	stored := &control.URD{URD: u, Revision: w.audience.revision, Interest: w.audience.revision}
	if w.IntN(4) == 0 {
		u.URI += some(w, "*", "shop*", "shop/x*")
		u.URI = some(w, u.URI, u.URI, "*", "https://*")
		return stored
	}
	if !w.priced {
		u.Secret = some(w, "", "", "", "key")
	}
	stored.Crawl = webrace.Crawl{ID: fmt.Sprintf("crawl of %s %s, %d", u.URI, u.Secret, w.IntN(2)), Start: u.URI, Levels: u.Depth, Secret: u.Secret}
	return stored
}

// revise changes so many URDs of the base, of which there are at most so many.
func (w *world) revise(changes, most int) {
	revised := map[string]*control.URD{}
	revision := w.audience.revision
	for range changes {
		revision++
		w.audience.revision = revision // for who is invented
		id := fmt.Sprint("u", w.IntN(most))
		if known := w.base[id]; known != nil && w.IntN(4) == 0 { // it is paused, or resumed as it was
			u, of := *known.URD, *known.URD.URD
			of.Paused, u.URD = !of.Paused, &of
			revised[id], w.base[id] = &u, w.lone(&u)
			continue
		}
		revised[id] = nil
		delete(w.base, id)
		if w.IntN(8) > 0 {
			u := w.invent(id)
			revised[id] = u
			w.base[id] = w.lone(u)
		}
	}
	w.audience = w.audience.with(revised, w.stage.env)
}

// visit lets a document be visited, by some crawls.
func (w *world) visit() {
	url := some(w, oracleSites...) + some(w, "", "shop", "shop/x")
	secret := some(w, "", "", "", "key")
	if w.priced {
		url, secret = oracleSites[0], ""
	}
	name := secret + " " + url
	visit := w.visits[name]
	var reach []webrace.Reach
	for _, site := range oracleSites {
		for n := range 2 {
			if w.IntN(2) == 0 {
				reach = append(reach, webrace.Reach{Crawl: fmt.Sprintf("crawl of %s %s, %d", site, secret, n), Distance: w.IntN(7)})
			}
		}
	}
	var d *webrace.Document
	if visit != nil && w.IntN(3) == 0 {
		d = unchanged(*visit, reach)
		d.URL, d.Secret = url, secret
	} else {
		d = w.fetchedFrom(url, secret, w.body(name), visit, reach)
	}
	w.compare(d)
	if w.IntN(8) > 0 { // otherwise the run ends before the visit is written
		w.visits[name] = w.left(d)
	}
}

// body is the next version of a page, sometimes one without text: paragraphs come and go.
func (w *world) body(name string) string {
	if w.priced {
		return fmt.Sprintf("<p>%s %s <b>%s</b>", w.word(), some(w, "", "", "<b id=price>", "<b id=price>3 ", "<b id=price>7 ", "<b id=price>25 "), w.word())
	}
	paragraphs := w.pages[name]
	if len(paragraphs) > 0 && w.IntN(2) == 0 {
		paragraphs = slices.Delete(slices.Clone(paragraphs), 0, 1)
	}
	for range w.IntN(3) {
		p := "<p>"
		for range w.IntN(5) {
			p += some(w, " ", " ", "<b>", "</b> ", "<b id=price>", fmt.Sprintf("<b id=price>%d ", some(w, 3, 7, 12, 25))) + w.word()
		}
		paragraphs = append(paragraphs, p)
	}
	w.pages[name] = paragraphs[max(0, len(paragraphs)-3):]
	return strings.Join(w.pages[name], "</b>")
}
