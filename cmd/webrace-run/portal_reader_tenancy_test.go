package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/webrace/webrace/stages/portal"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
	"github.com/webrace/webrace/xmlschema/httprequest"
)

// private is in what ann alone may be shown.
const private = "private"

// tenants is a world in which ann asks with credentials of her own, by POST, and by POST with credentials that bob has
// been granted as well; and in which bob asks for the same URLs in plainer ways.
type tenants struct {
	*world
	ann, bob  []*xmlschema.URD
	own, both string // secrets: ann's, and of both
	told      []control.ACI
}

func newTenants(t *testing.T) *tenants {
	w := &tenants{world: newWorld(t), both: "both"}
	w.own = w.owns("ann", "bank")
	w.owns("bob", "bank")
	w.secret(w.both, hush)
	store, closeDir := openControl(t, w.data)
	for _, owner := range []string{"ann", "bob"} {
		if err := store.GrantSecret(t.Context(), w.both, owner); err != nil {
			t.Fatal(err)
		}
	}
	closeDir()
	answer := func(rw http.ResponseWriter, r *http.Request) {
		text := "tea for all"
		if user, _, _ := r.BasicAuth(); r.Method == http.MethodPost || user == "ann" {
			text = "tea " + private
		}
		serveDocument(rw, r, document(text, "/public"))
	}
	for _, path := range []string{"/", "/posted", "/both"} {
		w.handle(path, answer)
	}
	w.page("/public", "tea for the public", "/unseen")
	w.page("/unseen", "tea that ann alone came to")
	posting := func(u *xmlschema.URD) { u.Request = &httprequest.Request{Method: http.MethodPost, Body: "x"} }
	tea := about("tea")
	w.ann = these(
		w.asks("ann", "/", tea, as(w.own), id("a1")), w.asks("ann", "/posted", tea, posting, id("a2")),
		w.asks("ann", "/both", tea, posting, as(w.both), id("a3")), w.asks("ann", "/public", depth(2), tea, id("a4")),
	)
	w.bob = these(
		w.asks("bob", "/", tea, id("b1")), w.asks("bob", "/posted", tea, id("b2")), w.asks("bob", "/both", tea, as(w.both), id("b3")),
		w.asks("bob", "/*", tea, id("b4")), w.asks("bob", "/other", depth(0), tea, id("b5")),
	)
	w.page("/other", "nothing of it")
	w.run(append(w.ann[:len(w.ann):len(w.ann)], w.bob...))
	w.told = w.acis()
	if n := strings.Count(fmt.Sprint(w.summaries("ann")), private); n != 3 {
		t.Fatalf("ann was told of %d private pages: %q", n, w.summaries("ann"))
	}
	return w
}

func (w *tenants) summaries(owner string) (all []string) {
	for _, a := range w.told {
		if a.Owner == owner {
			all = append(all, a.Summary)
		}
	}
	return all
}

// addresses are all that ann has stored, and as ann knows it.
func (w *tenants) addresses() (all []string) {
	for _, a := range w.told {
		all = append(all, a.URI)
	}
	return all
}

// mustBePublic fails if what somebody else is shown has anything of what ann alone may be.
func (w *tenants) mustBePublic(what string, shown any) {
	w.t.Helper()
	if text := fmt.Sprintf("%+v", shown); strings.Contains(text, private) || strings.Contains(text, "#POST") {
		w.t.Errorf("%s shows what is private: %s", what, text)
	}
}

// Whatever bob drafts, nothing that ann's credentials or requests brought is found for it.
func TestAReaderGoesThroughNothingOfAnother(t *testing.T) {
	t.Parallel()
	w := newTenants(t)
	r := w.reader()
	tea := about("tea")
	posts := func(body string) func(*xmlschema.URD) {
		return func(u *xmlschema.URD) { u.Request = &httprequest.Request{Method: http.MethodPost, Body: body} }
	}
	for name, c := range map[string]struct {
		draft *xmlschema.URD
		found int
	}{
		"a prefix":                  {w.asks("bob", "/*", tea), 4},
		"everything":                {w.asks("bob", "/", tea, func(u *xmlschema.URD) { u.URI = "*" }), 4},
		"a crawl that never ran":    {w.asks("bob", "/never", depth(0), tea), 4},
		"wherever":                  {w.asks("bob", "/never", depth(0), tea, within(xmlschema.ScopeAny)), 4},
		"a crawl that ran":          {w.asks("bob", "/posted", tea), 1},
		"another request":           {w.asks("bob", "/posted", tea, posts("y")), 4},
		"credentials of one's own":  {w.asks("bob", "/", depth(0), tea, as("bob/bank")), 0},
		"credentials of both":       {w.asks("bob", "/never", depth(0), tea, as(w.both)), 1},
		"another request with them": {w.asks("bob", "/both", depth(0), tea, as(w.both), posts("y")), 1},
	} {
		result, err := r.Rematch(t.Context(), "bob", c.draft, 0, nil)
		if err != nil || result.Ended || len(result.Found) != c.found {
			t.Errorf("%s: %v, want %d of %+v", name, err, c.found, result)
		}
		w.mustBePublic(name, result)
	}
	result, err := r.Rematch(t.Context(), "ann", w.ann[1], 0, nil)
	if err != nil || len(result.Found) != 1 || !strings.Contains(result.Found[0].Summary, private) || strings.Contains(result.Found[0].URL, "#") {
		t.Errorf("ann does not find what is hers: %+v, %v", result, err)
	}
	// Who makes the same request is shown the same.
	if result, err = r.Rematch(t.Context(), "bob", w.asks("bob", "/posted", tea, within(xmlschema.ScopePrefix), posts("x")), 0, nil); err != nil || !strings.Contains(fmt.Sprint(result.Found), private) {
		t.Errorf("the same request: %+v, %v", result, err)
	}
}

// Nothing that is said of a URL depends on what others ask for there, but to who watches what others bring.
func TestAReaderExplainsNothingOfAnother(t *testing.T) {
	t.Parallel()
	w := newTenants(t)
	r := w.reader()
	for _, url := range append(w.addresses(), w.URL+"/nowhere") {
		all, err := r.Explain(t.Context(), "bob", url)
		if err != nil || len(all) != len(w.bob) {
			t.Fatalf("%s: %d URDs, %v", url, len(all), err)
		}
		for i, e := range all {
			if e.ID != w.bob[i].ID || e.Owner != "bob" {
				t.Errorf("%s: URD %s of %s", url, e.ID, e.Owner)
			}
			if !e.Asked && (e.Page != nil || len(e.Lines) > 0) || e.Asked && e.Page != nil && e.Page.Relevance == 0 || e.Why == "" {
				t.Errorf("%s: %+v", url, e)
			}
			for _, a := range e.Told {
				if a.Owner != "bob" || a.URD != e.ID {
					t.Errorf("%s: told of %+v", url, a)
				}
			}
			w.mustBePublic(url, []any{e.Why, e.Page, e.Lines, len(e.Told)})
		}
	}
	// A page of ann's crawl alone, within the scope of b5, which did not come there: it is said of b4 alone.
	seen, err := r.Explain(t.Context(), "bob", w.URL+"/unseen")
	if err != nil || !seen[3].Asked || seen[3].Page == nil {
		t.Errorf("b4: %+v, %v", seen, err)
	}
	unseen, err := r.Explain(t.Context(), "bob", w.URL+"/nowhere")
	if err != nil || seen[4].Asked || seen[4].Why != unseen[4].Why {
		t.Errorf("b5: %q, and of what nobody came to %q, %v", seen[4].Why, unseen[4].Why, err)
	}
	if all, err := r.Explain(t.Context(), "eve", w.URL+"/"); err != nil || len(all) > 0 {
		t.Errorf("eve, who has none: %+v, %v", all, err)
	}
	// By the plain URL, and by the one that annotations have, ann is told of what she asked for by POST.
	for _, url := range []string{w.URL + "/posted", w.URL + "/posted#" + w.ann[1].Request.Mark()} {
		mine, err := r.Explain(t.Context(), "ann", url)
		if err != nil || !mine[1].Asked || len(mine[1].Told) != 1 || mine[1].Page == nil || !mine[1].Page.Meets {
			t.Errorf("%s: %+v, %v", url, mine, err)
		}
	}
}

// What bob reads is what bob was told of, with the versions of that alone.
func TestAReaderReadsNothingOfAnother(t *testing.T) {
	t.Parallel()
	w := newTenants(t)
	r := w.reader()
	read := 0
	for _, a := range w.told {
		if a.Owner != "bob" {
			continue
		}
		read++
		reading, err := r.Read(t.Context(), a, urdOf(w.bob, a.URD))
		if err != nil || len(reading.Versions) != 1 {
			t.Errorf("%s: %+v, %v", a.URI, reading, err)
			continue
		}
		w.mustBePublic(a.URI, []any{reading, excerptText(reading.Text)})
		for _, u := range w.ann {
			if _, err := r.Read(t.Context(), a, u); err == nil {
				t.Errorf("%s is read by ann's URD %s", a.URI, u.ID)
			}
		}
	}
	if read < 5 {
		t.Errorf("bob was told of %d pages", read)
	}
}

// Whose credentials were taken back, or whose URD is gone, is shown what they were told of, and not that there is more.
func TestAReaderListsNoVersionsThatAURDIsNotShown(t *testing.T) {
	t.Parallel()
	w := newTenants(t)
	told := w.told
	w.handle("/", func(rw http.ResponseWriter, r *http.Request) { serveDocument(rw, r, document("more "+private)) })
	w.handle("/posted", func(rw http.ResponseWriter, r *http.Request) { serveDocument(rw, r, document("more "+private)) })
	w.run(w.ann, askAll...)
	r := w.reader()
	for _, a := range told {
		u := urdOf(w.ann, a.URD)
		if u == nil || u.ID > "a2" {
			continue
		}
		changed := *u
		changed.Secret, changed.Request = "", nil
		for n, by := range map[int][]*xmlschema.URD{2: {u}, 1: {nil, &changed}} {
			for _, u := range by {
				reading, err := r.Read(t.Context(), a, u)
				if err != nil || len(reading.Versions) != n || reading.Versions[n-1].Number != 1 {
					t.Errorf("%s by %v: %+v, %v", a.URI, u, reading, err)
				}
			}
		}
	}
}

func TestAReaderExplainsToEachInterest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.page("/", "tea and milk", "/deeper")
	w.page("/deeper", "tea")
	tea := about("tea")
	urds := these(
		w.asks("ann", "/", tea, id("told")), w.asks("ann", "/", about("coffee"), id("other")), w.asks("ann", "/", tea, selects("#price"), id("part")),
		w.asks("ann", "/", tea, id("paused"), func(u *xmlschema.URD) { u.Paused = true }), w.asks("ann", "/elsewhere/*", tea, id("prefix")),
	)
	w.run(urds)
	r := w.reader()
	all, err := r.Explain(t.Context(), "ann", w.URL+"/#fragment")
	if err != nil || len(all) != len(urds) {
		t.Fatalf("%+v, %v", all, err)
	}
	for i, want := range []struct {
		asked, meets  bool
		told          int
		why, line, of string
	}{
		{true, true, 1, "its crawl came to it on level 1", "told of version 1", ""},
		{true, false, 0, "its crawl came to it on level 1", "no alert", ""},
		{true, false, 0, "its crawl came to it on level 1", "no alert", "matches nothing"},
		{false, false, 0, "paused", "", ""},
		{false, false, 0, "does not lie under", "", ""},
	} {
		e := all[i]
		lines := strings.Join(e.Lines, "\n")
		page := e.Page
		if page == nil {
			page = new(portal.StoredPage)
		}
		if e.Asked != want.asked || page.Meets != want.meets || len(e.Told) != want.told || !strings.Contains(e.Why, want.why) || !strings.Contains(lines, want.line) || !strings.Contains(page.Fault, want.of) {
			t.Errorf("%s: %+v\n%+v\n%s", e.ID, e, page, lines)
		}
		if want.asked != (page.Number == 1 && page.Title == "Page" && page.Size > 0) || strings.Contains(e.Why, "webrace-store") {
			t.Errorf("%s: %+v, %q", e.ID, page, e.Why)
		}
	}
	if share := all[0].Page.Shares; len(share) != 1 || share[0].Keyword != "tea" || share[0].Body != 1 || all[0].Page.Relevance <= all[0].Page.Threshold {
		t.Errorf("%+v", all[0].Page)
	}
	if _, err := r.Explain(t.Context(), "ann", "no URL"); err == nil {
		t.Error("what is no URL is explained")
	}
	if all, err = r.Explain(t.Context(), "ann", w.URL+"/deeper"); err != nil || all[0].Asked || all[0].Page != nil || !strings.Contains(all[0].Why, "depth 1") {
		t.Errorf("%+v, %v", all, err)
	}
}
