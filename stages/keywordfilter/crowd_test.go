package keywordfilter

import (
	"fmt"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// TestCrowdIsLookedAtAsFarAsAPageConcernsIt counts the profiles that are looked at for a page in each state of its
// visit: none of a crowd that the page does not concern, however large that is, and of one that it concerns in part,
// these.
func TestCrowdIsLookedAtAsFarAsAPageConcernsIt(t *testing.T) {
	t.Parallel()
	const concerned = 3
	for name, kind := range map[string]func(i int, u *xmlschema.URD){
		"levels":    func(i int, u *xmlschema.URD) { u.Depth = i % 6 },
		"prefixes":  func(i int, u *xmlschema.URD) { u.URI = start + []string{"*", "p*", "q*"}[i%3*min(1, i/concerned)] },
		"page":      func(_ int, u *xmlschema.URD) { u.Change = xmlschema.ChangePage },
		"first":     func(_ int, u *xmlschema.URD) { u.Change = xmlschema.ChangeFirst },
		"remember":  func(i int, u *xmlschema.URD) { u.Remember = i % 9 },
		"selective": func(_ int, u *xmlschema.URD) { selects("css", "p")(u) },
		"private":   func(_ int, u *xmlschema.URD) { u.Secret = "key" },
		"everyone":  func(int, *xmlschema.URD) {},
	} {
		sizes := []int{100, 3_000}
		if testing.Short() {
			sizes = sizes[:1]
		}
		for _, size := range sizes {
			w := newWorld(t, 1, map[bool]string{true: "everyone", false: "requesters"}[name == "everyone"], mostFew)
			w.audience.revision = 1
			var crowd []*control.URD
			for i := range size {
				u := xmlschema.NewURD(fmt.Sprint("owner", i), start) // who share rules: what few owners ask for is charged to each
				u.ID, u.Keywords = fmt.Sprint("u", i), xmlschema.NewKeywords(xmlschema.Keyword{Key: fmt.Sprint("word", i), Weight: 5})
				u.Depth = 0
				kind(i, u)
				if i < concerned {
					u.Depth, u.Keywords.Keywords[0].Key = 0, "ibm"
				}
				crowd = append(crowd, w.stored(u))
			}
			w.put(crowd...)
			secret := crowd[0].Secret
			reach := []webrace.Reach{{Crawl: "crawl", Distance: 2}}
			looked := func(d *webrace.Document) int64 {
				before := w.stage.env.Counters()["matched"]
				got := taken{world: w, acis: map[string]*xmlschema.ACI{}}
				if err := w.stage.match(w.Context(), w.audience, pipeline.NewItem(d, func(pipeline.Outcome) {}), got); err != nil {
					t.Fatal(err)
				}
				return w.stage.env.Counters()["matched"] - before
			}
			must := func(state string, d *webrace.Document, want int64) *webrace.Visit {
				if n := looked(d); n != want {
					t.Errorf("%s, %d URDs, %s: %d were looked at, want %d", name, size, state, n, want)
				}
				return w.left(d)
			}
			fetched := func(words string, v *webrace.Visit) *webrace.Document {
				return w.fetchedFrom(page, secret, html(words), v, reach)
			}
			again := func(v *webrace.Visit) *webrace.Document {
				d := unchanged(*v, reach)
				d.Secret = secret
				return d
			}
			must("a first page with ibm", fetched("ibm, and others", nil), concerned)
			visit := must("a first page", fetched("of nothing", nil), 0)
			must("another version", fetched("of something else", visit), 0)
			must("the same again", again(visit), 0)
			late := *crowd[concerned]
			late.Interest, late.Revision = w.audience.revision+1, w.audience.revision+1
			w.audience.revision++
			w.put(&late)
			must("the same again, with a URD that is new", again(visit), 1)
		}
	}
}

// stored is a URD as of the revision of the base; who starts a crawl has the same one.
func (w *world) stored(u *xmlschema.URD) *control.URD {
	stored := &control.URD{URD: u, Revision: w.audience.revision, Interest: w.audience.revision}
	if _, watches := u.Prefix(); !watches {
		stored.Crawl = webrace.Crawl{ID: "crawl", Start: u.URI, Levels: u.Depth, Secret: u.Secret}
	}
	return stored
}

// put puts URDs into the base, instead of those with their ids.
func (w *world) put(all ...*control.URD) {
	revised := map[string]*control.URD{}
	for _, u := range all {
		revised[u.ID] = u
	}
	w.audience = w.audience.with(revised, w.stage.env)
}
