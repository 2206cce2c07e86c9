package portal

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// What an interest would bring is shown as it is typed, of its page and of what is stored; nothing is stored by it, and
// nothing lost of what was typed.
func TestPreview(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	reader := new(fakeReader)
	w.site.tools.open = func() (Reader, error) { return reader, nil }
	anna, berta := w.account("anna"), w.account("berta")
	var typed []string
	for name, values := range interestValues(xmlschema.NewURD("anna", "https://a.example/news")) {
		typed = append(typed, name, values[0])
	}
	typed = append([]string{"title", "Kept <title>", "keywords", "boat: 5"}, typed...)
	before := everything(w, "anna")
	page := anna.post("/interests/preview", typed...).wants(t, http.StatusOK, "You would be told: relevance 73", "Found &lt;i&gt;", "Of all 640 stored pages", "Kept &lt;title&gt;", "<mark>boat").body
	if strings.Contains(page, "<script>") || everything(w, "anna") != before {
		t.Error(page)
	}
	nothing := text("preview.selects_nothing")
	if strings.Contains(page, "because of boats") || strings.Contains(page, nothing) {
		t.Errorf("why not, of what alerts: %s", page)
	}
	reader.change = func(t *Trial) { t.Alerts, t.Selects = false, false }
	if page := anna.post("/interests/preview", typed...).wants(t, http.StatusOK, "because of boats").body; strings.Contains(page, nothing) {
		t.Errorf("without rules, these leave nothing: %s", page)
	}
	reader.change = func(t *Trial) { t.Text = Excerpt{} }
	anna.post("/interests/preview", typed...).wants(t, http.StatusOK, nothing)
	anna.header.Set("HX-Request", "true")
	for path, part := range map[string]struct{ has, not string }{
		"/interests/preview": {"Of all 640", "You would be told:"}, "/interests/preview?part=page": {"You would be told:", "Of all 640"},
	} {
		if got := anna.post(path, typed...).wants(t, http.StatusOK, part.has).body; strings.Contains(got, "<html") || strings.Contains(got, part.not) {
			t.Errorf("%s gives more than its part: %s", path, got)
		}
	}
	anna.header.Del("HX-Request")
	reader.fail = &FetchError{URL: "https://a.example/news", Status: 404, Err: errors.New("404 Not Found <b>")}
	anna.post("/interests/preview", typed...).wants(t, http.StatusOK, "404 Not Found &lt;b&gt;", "Of all 640")
	reader.fail = &control.ForbiddenSecretError{Names: []string{"x"}}
	anna.post("/interests/preview", typed...).wants(t, http.StatusOK, "may not use")
	anna.post("/interests/preview", "url", "nonsense", "title", "Kept").wants(t, http.StatusUnprocessableEntity, "put right", "Kept")
	id := w.urd("anna", "https://b.example/")
	anna.post("/interests/preview", append(typed, "id", id)...).wants(t, http.StatusOK, "/interests/"+id)
	berta.post("/interests/preview", append(typed, "id", id)...).wants(t, http.StatusNotFound)
	for range previewsOf.burst {
		berta.post("/interests/preview", typed...)
	}
	berta.post("/interests/preview", typed...).wants(t, http.StatusTooManyRequests, "too often", "Kept &lt;title&gt;")
	berta.header.Set("HX-Request", "true")
	reader.fail = nil
	for range pagesOf.burst {
		berta.post("/interests/preview?part=page", typed...).wants(t, http.StatusOK, "You would be told")
	}
	berta.post("/interests/preview?part=page", typed...).wants(t, http.StatusOK, "too often")
}

// Of any page it is said what one's interests have to do with it.
func TestWhy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.site.tools.open = func() (Reader, error) { return new(fakeReader), nil }
	anna := w.account("anna")
	anna.get("/why").wants(t, http.StatusOK, "Why nothing?")
	anna.get("/why?url=nonsense").wants(t, http.StatusUnprocessableEntity, "no address", "nonsense")
	anna.get("/why?url=https://a.example/").wants(t, http.StatusOK, "because it is there", "told of &lt;b&gt;")
}

// A file is shown entry by entry before anything is stored, and then each entry is stored by itself, as its reader's.
func TestImport(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	anna := w.account("anna")
	w.account("berta")
	w.urd("berta", "https://a.example/")
	before := everything(w, "berta")
	list := "https://a.example/\n\nnonsense\nhttps://b.example/\n"
	anna.post("/import").wants(t, http.StatusUnprocessableEntity, "Choose a file")
	anna.post("/import", "content", list).wants(t, http.StatusOK, "2 interests would be taken over", "left out", "line 3", "https://b.example/")
	mustHave(w, "anna", 0)
	anna.post("/import/take", "content", list).wants(t, http.StatusOK, "2 interests were taken over")
	mustHave(w, "anna", 2)
	anna.post("/import/take", "content", list).wants(t, http.StatusOK, "0 interests were taken over", "already")
	xml := `<urds xmlns="urn:webrace:1"><urd id="x" owner="berta"><uri>https://c.example/*</uri></urd></urds>`
	anna.post("/import", "content", xml).wants(t, http.StatusOK, "0 interests would be")
	anna.post("/import", "content", strings.Repeat("https://a.example/\n", 250_000)).wants(t, http.StatusUnprocessableEntity, "more than 4 MiB")
	if everything(w, "berta") != before {
		t.Error("another's interests changed")
	}
}

// mustHave fails unless an owner has so many interests, which it returns.
func mustHave(w *world, owner string, n int) (ids []string) {
	w.t.Helper()
	for u, err := range w.store.Of(owner).URDs(w.t.Context()) {
		w.ok(err)
		ids = append(ids, u.ID)
	}
	if len(ids) != n {
		w.t.Fatalf("%s has %d interests, want %d", owner, len(ids), n)
	}
	return ids
}
