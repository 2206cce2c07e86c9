package portal

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// stored returns an interest as it is stored.
func (w *world) stored(id string) control.URD {
	w.t.Helper()
	u, err := w.store.Get(w.t.Context(), id)
	w.ok(err)
	return u
}

// pairsOf are the fields of an interest's form as it is shown, with some changed.
func (w *world) pairsOf(id string, changed ...string) (pairs []string) {
	u := w.stored(id)
	values := browsed(interestValues(u.URD))
	values.Set("version", versionOf(u.URD))
	for i := 0; i < len(changed); i += 2 {
		values.Set(changed[i], changed[i+1])
	}
	for name := range values {
		pairs = append(pairs, name, values.Get(name))
	}
	return pairs
}

// newPairs are the fields of the form of a new interest, with some changed.
func newPairs(changed ...string) (pairs []string) {
	values := interestValues(xmlschema.NewURD("", ""))
	for i := 0; i < len(changed); i += 2 {
		values.Set(changed[i], changed[i+1])
	}
	for name := range values {
		pairs = append(pairs, name, values.Get(name))
	}
	return pairs
}

// idIn returns the id of the interest that an answer leads to.
func idIn(t *testing.T, a answer) string {
	t.Helper()
	u, err := url.Parse(a.header.Get("Location"))
	id, is := strings.CutPrefix(u.Path, "/interests/")
	if err != nil || !is || id == "" {
		t.Fatalf("it leads to no interest: %v", a)
	}
	return id
}

// An interest is written, listed, changed, paused, checked and deleted by forms alone.
func TestInterests(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	eleni := w.account("eleni")
	eleni.get("/interests").wants(t, http.StatusOK, "Nothing is watched")
	eleni.get("/interests/new").wants(t, http.StatusOK, `name="url"`, `name="keywords"`)
	wrong := eleni.post("/interests/new", newPairs("url", "boats.example", "keywords", "boat: 7", "title", "My <boats>")...)
	wrong.wants(t, http.StatusUnprocessableEntity, "did you mean https://boats.example", "boat: 7", "My &lt;boats&gt;", `aria-invalid="true"`)
	added := eleni.post("/interests/new", newPairs("url", "https://boats.example/", "keywords", "boat: 5\r\nannual report", "title", "My <boats>", "labels", "work")...)
	id := idIn(t, added.wants(t, http.StatusSeeOther, "done=interest_added"))
	eleni.get(added.header.Get("Location")).wants(t, http.StatusOK, "The interest is saved", "annual report: 3")
	eleni.post("/interests/new", newPairs("url", "https://boats.example/", "keywords", "annual report\nboat: 5", "title", "Again")...).
		wants(t, http.StatusUnprocessableEntity, "You have an interest already", "/interests/"+id, "Again")

	boat := w.aci("eleni", id, "One")
	w.aci("eleni", id, "Two")
	eleni.post("/a/"+fmt.Sprint(boat.Seq), "state", "useful").wants(t, http.StatusSeeOther)
	eleni.get("/interests").wants(t, http.StatusOK, "My &lt;boats&gt;", "2 annotations", "100 % of 1 marked", "/interests?label=work")

	eleni.post("/interests/"+id, w.pairsOf(id, "title", "Boats", "depth", "9")...).wants(t, http.StatusUnprocessableEntity, "from 1 to 5", `value="9"`)
	eleni.post("/interests/"+id, w.pairsOf(id, "title", "Boats", "labels", "")...).wants(t, http.StatusSeeOther, "interest_saved")
	if u := w.stored(id); u.Title != "Boats" || len(u.Labels) > 0 || len(u.Keywords.Keywords) != 2 {
		t.Errorf("it is %s", u.Canonical())
	}
	eleni.post("/interests/"+id+"/now").wants(t, http.StatusSeeOther, "check_asked")
	if w.stored(id).CheckAsked.IsZero() {
		t.Error("no check was asked for")
	}
	eleni.post("/interests/"+id+"/pause").wants(t, http.StatusSeeOther, "paused")
	eleni.get("/interests/"+id).wants(t, http.StatusOK, "paused", "Resume")
	eleni.post("/interests/"+id+"/now").wants(t, http.StatusSeeOther, "check_none")
	eleni.post("/interests/"+id+"/resume").wants(t, http.StatusSeeOther, "resumed")
	eleni.get("/interests/"+id+"/delete").wants(t, http.StatusOK, "Delete 1 interest?", "Boats")
	w.stored(id)
	eleni.post("/interests/"+id+"/delete").wants(t, http.StatusSeeOther, "/interests?done=")
	eleni.get("/interests/"+id).wants(t, http.StatusNotFound)
}

// What is ticked is changed together; what is to be deleted is asked first.
func TestSomeInterests(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	eleni := w.account("eleni")
	a, b := w.urd("eleni", "https://a.example/"), w.urd("eleni", "https://b.example/")
	other := w.urd("costas", "https://c.example/")
	bulk := func(do string, more ...string) answer {
		return eleni.post("/interests", append([]string{"do", do, "id", a, "id", b, "to", "/interests?q=example"}, more...)...)
	}
	bulk("pause").wants(t, http.StatusSeeOther, "/interests?q=example&done=paused")
	if !w.stored(a).Paused || !w.stored(b).Paused {
		t.Error("nothing was paused")
	}
	bulk("now").wants(t, http.StatusSeeOther, "check_none")
	bulk("resume").wants(t, http.StatusSeeOther, "resumed")
	bulk("now").wants(t, http.StatusSeeOther, "check_asked")
	if w.stored(a).Paused || w.stored(b).CheckAsked.IsZero() {
		t.Error("nothing was resumed, or checked")
	}
	bulk("label", "label", "two words").wants(t, http.StatusUnprocessableEntity, "one word", "two words", "checked")
	bulk("label", "label", "work").wants(t, http.StatusSeeOther, "labelled")
	eleni.get("/interests?label=work&q=A.EXAMPLE").wants(t, http.StatusOK, "https://a.example/", "1 interest<")
	if strings.Contains(eleni.get("/interests?label=none").body, "https://a.example/") {
		t.Error("what has no such label is listed")
	}
	bulk("unlabel", "label", "work").wants(t, http.StatusSeeOther)
	if len(w.stored(a).Labels) > 0 {
		t.Error("a label stays")
	}
	for _, do := range []string{"pause", "now", "label", "delete"} {
		bulk(do, "id", other, "label", "x", "sure", "1").wants(t, http.StatusNotFound)
	}
	if w.stored(a).Paused || len(w.stored(b).Labels) > 0 {
		t.Error("half of it was done")
	}
	eleni.post("/interests", "do", "pause").wants(t, http.StatusSeeOther, "no_interest_ticked")
	bulk("eat").wants(t, http.StatusBadRequest)
	bulk("delete").wants(t, http.StatusOK, "Delete these 2 interests?")
	w.stored(a)
	bulk("delete", "sure", "1").wants(t, http.StatusSeeOther, "interests_deleted")
	eleni.get("/interests").wants(t, http.StatusOK, "Nothing is watched")
	w.stored(other)
}

// Two who change an interest at once see each other's change, and lose nothing.
func TestInterestChangedMeanwhile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	eleni := w.account("eleni")
	id := w.urd("eleni", "https://a.example/", func(u *xmlschema.URD) { u.Title = "First" })
	mine := w.pairsOf(id, "title", "Mine", "keywords", "ship: 2")
	eleni.post("/interests/"+id, w.pairsOf(id, "title", "Theirs")...).wants(t, http.StatusSeeOther)
	eleni.post("/interests/"+id+"/pause").wants(t, http.StatusSeeOther)
	both := eleni.post("/interests/"+id, mine...).wants(t, http.StatusConflict, "Theirs", "Mine", "ship: 2", "boat: 5")
	if got := w.stored(id); got.Title != "Theirs" {
		t.Errorf("a change is lost: %s", got.Canonical())
	}
	version := regexp.MustCompile(`name="version" value="([^"]+)"`).FindStringSubmatch(both.body)
	if version == nil {
		t.Fatal("it cannot be saved any more")
	}
	eleni.post("/interests/"+id, w.pairsOf(id, "title", "Mine", "keywords", "ship: 2", "version", version[1])...).wants(t, http.StatusSeeOther)
	if got := w.stored(id); got.Title != "Mine" || !got.Paused || got.Keywords.Keywords[0].Key != "ship" {
		t.Errorf("it is %s", got.Canonical())
	}
}

// What the form does not show stays, and is named.
func TestInterestKeepsWhatItsFormDoesNotShow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	eleni := w.account("eleni")
	u, err := xmlschema.NewDecoder(strings.NewReader(strings.ReplaceAll(wholeURD, ` secret="s"`, ""))).URD()
	w.ok(err)
	_, err = w.store.Put(t.Context(), []*xmlschema.URD{u})
	w.ok(err)
	eleni.get("/interests/u42").wants(t, http.StatusOK, "Also kept", "as a feed", "port 8080", "in groups", "POST request", "number &lt; 100")
	eleni.post("/interests/u42", w.pairsOf("u42")...).wants(t, http.StatusSeeOther)
	is := w.stored("u42")
	if string(is.Canonical()) != string(u.Canonical()) {
		t.Errorf("it was\n%s and is\n%s", u.Canonical(), is.Canonical())
	}
	eleni.post("/interests/u42", w.pairsOf("u42", "title", "Other")...).wants(t, http.StatusSeeOther)
	is = w.stored("u42")
	if is.Title = u.Title; string(is.Canonical()) != string(u.Canonical()) {
		t.Errorf("with another title\n%s is\n%s", u.Canonical(), is.Canonical())
	}
}

// A secret is one's own, or granted; how many interests one may have is said.
func TestInterestsAreWithinWhatIsAllowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	eleni := w.account("eleni")
	secret, err := credentials.NewSecret(credentials.KindBasic, "eleni", "hush")
	w.ok(err)
	w.ok(w.store.SetSecret(t.Context(), "bank", secret))
	w.ok(w.store.Of("eleni").SetSecret(t.Context(), "shop", secret))
	eleni.get("/interests/new").wants(t, http.StatusOK, "eleni/shop")
	if strings.Contains(eleni.get("/interests/new").body, "bank") {
		t.Error("another's secret is offered")
	}
	eleni.post("/interests/new", newPairs("url", "https://a.example/", "secret", "bank")...).wants(t, http.StatusUnprocessableEntity, "no secret bank that you may use")
	w.ok(w.store.SetBudget(t.Context(), "eleni", &control.Budget{URDs: 1, Keywords: 2}))
	eleni.post("/interests/new", newPairs("url", "https://a.example/", "keywords", "a\nb\nc")...).wants(t, http.StatusUnprocessableEntity, "2 keywords at most")
	eleni.post("/interests/new", newPairs("url", "https://a.example/", "secret", "eleni/shop")...).wants(t, http.StatusSeeOther)
	eleni.post("/interests/new", newPairs("url", "https://b.example/")...).wants(t, http.StatusUnprocessableEntity, "1 interests at most")
}

// What is another's is as if it were not there, and no GET changes anything.
func TestInterestsOfOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	eleni, costas := w.account("eleni"), w.account("costas")
	id := w.urd("eleni", "https://a.example/", func(u *xmlschema.URD) { u.Title, u.Labels = "Hers", []string{"private"} })
	before := w.stored(id)
	path := "/interests/" + id
	for _, r := range interestRoutes {
		method, pattern, _ := strings.Cut(r.pattern, " ")
		to := strings.ReplaceAll(pattern, "{id}", id)
		if method == http.MethodGet {
			if strings.Contains(pattern, "{id}") {
				costas.get(to).wants(t, http.StatusNotFound)
			} else if got := costas.get(to).wants(t, http.StatusOK); strings.Contains(got.body, "Hers") || strings.Contains(got.body, "private") {
				t.Errorf("%s shows another's", to)
			}
			eleni.get(to).wants(t, http.StatusOK)
			w.browser().get(to).wants(t, http.StatusSeeOther, "/login")
		} else if strings.Contains(pattern, "{id}") {
			costas.post(to, w.pairsOf(id, "title", "His")...).wants(t, http.StatusNotFound)
		}
	}
	for _, action := range []string{"pause", "resume", "now", "delete"} {
		if got := eleni.get(path + "/" + action); action != "delete" && got.status != http.StatusNotFound && got.status != http.StatusMethodNotAllowed {
			t.Errorf("GET %s: %d", action, got.status)
		}
	}
	if after := w.stored(id); after.Revision != before.Revision || !after.CheckAsked.IsZero() {
		t.Errorf("it was changed: %s", after.Canonical())
	}
}

// What interests say is text, and leads nowhere that a page must not.
func TestInterestsAreText(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	eleni := w.account("eleni")
	const evil = `</textarea></a><script src="//evil.example"></script>`
	id := w.urd("eleni", "https://a.example/?<script>", func(u *xmlschema.URD) {
		u.ID, u.Title, u.Labels = `"><script>/?#%2e`, evil, []string{`"><script>`}
		u.Keywords = xmlschema.NewKeywords(xmlschema.Keyword{Key: evil})
	})
	w.aci("eleni", id, "Boat")
	for _, path := range []string{"/", "/interests", interestPath(id), interestPath(id) + "/delete", "/interests?label=" + url.QueryEscape(`"><script>`)} {
		page := eleni.get(path).wants(t, http.StatusOK, "evil.example").body
		if strings.Count(page, "<script") != 1 {
			t.Errorf("%s: %s", path, page)
		}
	}
	eleni.post("/interests/new", newPairs("url", "javascript:alert(1)", "title", evil)...).wants(t, http.StatusUnprocessableEntity, "no address of a page")
}

// Interests are taken along as XML that can be imported, as JSON, and as OPML with labels as folders.
func TestInterestsAreExported(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	eleni := w.account("eleni")
	id := w.urd("eleni", "https://a.example/", func(u *xmlschema.URD) { u.Title, u.Labels = "A & <b>", []string{"boats", "work"} })
	w.urd("eleni", "https://feed.example/", func(u *xmlschema.URD) { u.Protocol, u.Labels = xmlschema.ProtocolFeed, []string{"boats"} })
	w.urd("costas", "https://c.example/")
	n := 0
	for u := range xmlschema.NewDecoder(strings.NewReader(eleni.get("/interests.xml").wants(t, http.StatusOK).body)).URDs() {
		if n++; u.ID == id && string(u.Canonical()) != string(w.stored(id).Canonical()) {
			t.Errorf("XML: %s", u.Canonical())
		}
	}
	var list []map[string]any
	if err := json.Unmarshal([]byte(eleni.get("/interests.json").wants(t, http.StatusOK).body), &list); err != nil || len(list) != 2 || n != 2 || list[0]["title"] != "A & <b>" {
		t.Errorf("%d in XML; JSON: %v, %v", n, list, err)
	}
	opml := eleni.get("/interests.opml").wants(t, http.StatusOK, `title="A &amp; &lt;b&gt;"`, `xmlUrl="https://feed.example/"`).body
	if !regexp.MustCompile(`(?s)text="boats">.*text="work">.*url="https://a.example/".*</outline>.*xmlUrl=.*</outline>`).MatchString(opml) || strings.Count(opml, `text="boats"`) != 1 {
		t.Errorf("OPML: %s", opml)
	}
}
