package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/portal"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/objects"
	"github.com/webrace/webrace/xmlschema"
	"github.com/webrace/webrace/xmlschema/httprequest"
)

// reader opens the reader of the world's data directory as a run of the pipeline webrace lends it to its stages.
func (w *world) reader() *portalReader {
	w.t.Helper()
	return w.readerBy(cli.Globals{Config: "../../pipelines.toml", Data: w.data, Set: []string{"fetch.allow_networks=loopback", "portal.listen=:0"}}, "webrace")
}

func (w *world) readerBy(globals cli.Globals, running ...string) *portalReader {
	w.t.Helper()
	s := &session{dir: w.open(), configured: asConfigured{globals, running}}
	w.t.Cleanup(func() { s.dir.Close() })
	open, err := pipeline.Resource[portal.OpenReader](pipeline.NewEnv("portal", "portal", s.resources()))
	if err != nil {
		w.t.Fatal(err)
	}
	r, err := open()
	if err != nil {
		w.t.Fatal(err)
	}
	return r.(*portalReader)
}

// owns gives an owner a secret of their own, and returns its name.
func (w *world) owns(owner, name string) string {
	w.t.Helper()
	store, closeDir := openControl(w.t, w.data)
	defer closeDir()
	secret, err := credentials.NewSecret(credentials.KindBasic, owner, hush)
	if err == nil {
		err = store.Of(owner).SetSecret(w.t.Context(), name, secret.Within(credentials.Bounds{Insecure: true}))
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return control.SecretName(owner, name)
}

// selects looks at part of pages.
func selects(css string) func(*xmlschema.URD) {
	return func(u *xmlschema.URD) { u.Select = []xmlschema.Rule{{Language: xmlschema.RuleCSS, Text: css}} }
}

// excerptText is an excerpt as a text, in which what was found is in brackets.
func excerptText(e portal.Excerpt) string {
	var b strings.Builder
	for _, block := range e.Blocks {
		fmt.Fprint(&b, strings.Repeat("…", min(block.Left, 1)), block.Field, ": ")
		for _, p := range block.Pieces {
			if p.Keyword != "" {
				fmt.Fprint(&b, "[", p.Text, "]")
			} else {
				fmt.Fprint(&b, p.Text)
			}
		}
		b.WriteString("|")
	}
	return b.String()
}

func TestAReaderTriesTheStartOfADraft(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bank := w.owns("ann", "bank")
	w.handle("/", func(rw http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(rw, "<!DOCTYPE html><title>Tea house</title><h1>Green tea</h1><p>We sell tea.<p id=price>12 euro")
	})
	w.guarded("/vault", []string{"tea within"}, nil)
	w.redirect("/moved", w.URL+"/")
	w.handle("/search", (&searches{price: 10}).serve)
	api := w.owns("ann", "api")
	post := func(u *xmlschema.URD) {
		posting(`{"green"}`)(u)
		u.Request.Header[0].Value = "key ${secret:" + api + "}"
	}
	paused := func(u *xmlschema.URD) { u.Paused = true }
	r := w.reader()
	for name, c := range map[string]struct {
		urd    *xmlschema.URD
		alerts bool
		text   string
		says   string // among all that is said
	}{
		"words":             {w.asks("ann", "/", about("tea", "coffee")), true, "title: [Tea] house|heading: Green [tea]|body: We sell [tea].|body: 12 euro|", "{tea 5 1 1 1 0 "},
		"too few":           {w.asks("ann", "/", about("coffee")), false, "title: Tea house|heading: Green tea|body: We sell tea.|", "do not hold"},
		"a part":            {w.asks("ann", "/", selects("#price")), true, "body: 12 euro|", ""},
		"no such part":      {w.asks("ann", "/", selects("#cost"), about("tea")), false, "", `select css "#cost" matches nothing`},
		"never":             {w.asks("ann", "/", about("tea"), func(u *xmlschema.URD) { u.Keywords.Threshold = 100 }), false, "title: [Tea] house|heading: Green [tea]|body: We sell [tea].|body: 12 euro|", "can never alert"},
		"where it leads":    {w.asks("ann", "/moved", about("tea")), true, "title: [Tea] house|heading: Green [tea]|body: We sell [tea].|body: 12 euro|", w.URL + "/ 200"},
		"a secret":          {w.asks("ann", "/vault", about("tea"), as(bank)), true, "title: Page|body: [tea] within|", ""},
		"a request":         {w.asks("ann", "/search", about("tea"), post), true, "…body: answer to green|body: [tea] at 10 euro|", w.URL + "/search 200"},
		"a paused one":      {w.asks("ann", "/", about("tea"), paused), true, "title: [Tea] house|heading: Green [tea]|body: We sell [tea].|body: 12 euro|", ""},
		"of another's name": {w.asks("bob", "/vault", about("tea"), as(bank)), true, "title: Page|body: [tea] within|", ""},
	} {
		trial, err := r.Try(t.Context(), "ann", c.urd)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		said := fmt.Sprint(trial.URL, " ", trial.Status, trial.Reason, trial.Remarks, trial.Warnings, trial.Shares)
		if trial.Alerts != c.alerts || excerptText(trial.Text) != c.text || !strings.Contains(said, c.says) || strings.Contains(said+trial.Astray, hush) || trial.Astray != "" || trial.Selects != (len(c.urd.Select) > 0) {
			t.Errorf("%s: %+v\nshows %q, want %q", name, trial, excerptText(trial.Text), c.text)
		}
		if c.alerts && (trial.Relevance <= trial.Threshold || trial.Title == "" || trial.Size == 0 || trial.MediaType != "text/html") {
			t.Errorf("%s: %+v", name, trial)
		}
	}
	if c := w.asks("ann", "/", about("tea")); c.Owner != "ann" || c.Paused {
		t.Errorf("%+v", c)
	}
}

func TestAReaderSaysWhyADocumentCouldNotBeHad(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bank := w.owns("ann", "bank")
	w.secret("operators", hush)
	w.handle("/robots.txt", func(rw http.ResponseWriter, _ *http.Request) { fmt.Fprint(rw, "User-agent: *\nDisallow: /private") })
	w.status("/busy", http.StatusServiceUnavailable)
	w.status("/forbidden", http.StatusForbidden)
	w.redirect("/away", w.URL+"/forbidden")
	w.page("/", "tea")
	r := w.reader()
	for path, want := range map[string]portal.FetchError{
		"/gone":      {URL: "/gone", Status: http.StatusNotFound, Err: errors.New("404 Not Found")},
		"/busy":      {URL: "/busy", Status: http.StatusServiceUnavailable, Err: errors.New("503 Service Unavailable")},
		"/away":      {URL: "/forbidden", Status: http.StatusForbidden, Err: errors.New("403 Forbidden")},
		"/private/1": {URL: "/private/1", Err: errors.New("refused by robots.txt")},
	} {
		_, err := r.Try(t.Context(), "ann", w.asks("ann", path, about("tea")))
		var got *portal.FetchError
		if !errors.As(err, &got) || got.URL != w.URL+want.URL || got.Status != want.Status || !strings.Contains(got.Error(), want.Err.Error()) {
			t.Errorf("%s: %+v, %v", path, got, err)
		}
	}
	w.requests()
	forbidden := new(control.ForbiddenSecretError)
	for _, secret := range []string{bank, "operators", "none"} {
		if _, err := r.Try(t.Context(), "bob", w.asks("ann", "/", as(secret))); !errors.As(err, &forbidden) {
			t.Errorf("bob asks with %s: %v", secret, err)
		}
		if _, err := r.Rematch(t.Context(), "bob", w.asks("ann", "/", as(secret)), 0, nil); !errors.As(err, &forbidden) {
			t.Errorf("bob matches with %s: %v", secret, err)
		}
	}
	inBody := w.asks("bob", "/", func(u *xmlschema.URD) {
		u.Request = &httprequest.Request{Method: http.MethodPost, Body: "${secret:" + bank + "}"}
	})
	if _, err := r.Try(t.Context(), "bob", inBody); !errors.As(err, &forbidden) {
		t.Errorf("bob asks with the secret in a body: %v", err)
	}
	if _, err := r.Try(t.Context(), "ann", w.asks("ann", "/*", about("tea"))); !errors.Is(err, portal.ErrNoStart) {
		t.Errorf("a prefix: %v", err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := r.Try(ended, "ann", w.asks("ann", "/", about("tea"))); !errors.Is(err, context.Canceled) {
		t.Errorf("when the context has ended: %v", err)
	}
	mustBe(t, "requests", w.requests())
}

// What may be connected to is what the configuration says of all that fetches.
func TestAReaderConnectsToWhatTheConfigurationAllows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.page("/", "tea")
	for defaults, allowed := range map[string]bool{"[defaults.fetch]\nallow_networks = [\"loopback\"]\n": true, "": false} {
		file := filepath.Join(t.TempDir(), "pipelines.toml")
		writeFile(t, file, "version = 1\n"+defaults+"[pipeline.mine]\nflow = [\"urds > frontier > fetch > normalize > drop\", \"fetch.redirects, fetch.sitemaps, normalize.links > frontier\"]\n")
		for _, running := range [][]string{{"mine"}, nil} {
			r := w.readerBy(cli.Globals{Config: file, Data: w.data}, running...)
			_, err := r.Try(t.Context(), "ann", w.asks("ann", "/", about("tea")))
			if (err == nil) != allowed || !allowed && !errors.As(err, new(*portal.FetchError)) {
				t.Errorf("%q, running %q: %v", defaults, running, err)
			}
			r.dir.Close()
		}
	}
	mustBe(t, "requests", w.requests(), "200 /", "200 /")
}

func TestAReaderShowsNoMoreOfATextThanThereIsRoomFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.handle("/many", func(rw http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(rw, "<!DOCTYPE html>", strings.Repeat("<p>"+strings.Repeat("tea and é ", 30), 5000))
	})
	w.handle("/long", func(rw http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(rw, "<!DOCTYPE html><p>tea ", strings.Repeat("é", 3<<20))
	})
	urds := these(w.asks("many", "/many", about("tea")), w.asks("long", "/long", about("tea")), w.asks("all", "/long", selects("p")))
	w.run(urds)
	told := w.acis()
	r := w.reader()
	for i, u := range urds {
		trial, err := r.Try(t.Context(), u.Owner, u)
		if err != nil {
			t.Fatal(err)
		}
		reading, err := r.Read(t.Context(), told[i], urdOf(urds, told[i].URD))
		if err != nil {
			t.Fatal(err)
		}
		for e, size := range map[*portal.Excerpt]extent{&trial.Text: extentOfTrial, &reading.Text: extentOfReading} {
			pieces, bytes := 0, 0
			for _, block := range e.Blocks {
				for _, p := range block.Pieces {
					pieces++
					bytes += len(p.Text)
					if p.Text != strings.ToValidUTF8(p.Text, "") {
						t.Error("a character is cut")
					}
				}
			}
			if pieces == 0 || pieces > size.pieces+1 || bytes > size.bytes+16 {
				t.Errorf("%s: %d pieces, %d bytes", u.ID, pieces, bytes)
			}
		}
		if u.ID == "many" && trial.Text.Left < 4000 {
			t.Errorf("%d are left", trial.Text.Left)
		}
	}
}

func urdOf(urds []*xmlschema.URD, id string) *xmlschema.URD {
	for _, u := range urds {
		if u.ID == id {
			return u
		}
	}
	return nil
}

func TestAReaderGoesBackThroughWhatIsStored(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.page("/", "tea first", "/1")
	w.page("/1", "tea and milk then", "/2")
	w.page("/2", "tea last, with milk", "/3")
	w.page("/3", "coffee")
	ann := w.asks("ann", "/", depth(0), about("tea"))
	w.run(these(ann))
	told := make(map[string]int64)
	for _, a := range w.acis() {
		told[a.URI] = a.Seq
	}
	r := w.reader()
	stored, err := r.cache.Previous(t.Context(), r.cache.Last()+1, 4) // the last first, which need not be the last of the chain
	if err != nil || len(stored) != 4 {
		t.Fatalf("stored are %+v, %v", stored, err)
	}
	dull := slices.IndexFunc(stored, func(v objects.Version) bool { return v.URL != w.URL+"/3" }) // how many without tea come first
	newest := stored[dull].URL
	paths := func(all []portal.Found) (paths []string) {
		for _, f := range all {
			paths = append(paths, strings.TrimPrefix(f.URL, w.URL)+" "+string(f.Known))
		}
		slices.Sort(paths)
		return paths
	}
	draft := w.asks("ann", "/", depth(0), about("tea", "milk"))
	var first []portal.Found
	result, err := r.Rematch(t.Context(), "ann", draft, 0, func(f portal.Found) { first = append(first, f) })
	if err != nil || result.Looked != 4 || result.Ended || result.Oldest.IsZero() || len(first) != 3 {
		t.Errorf("%+v, %v", result, err)
	}
	mustBe(t, "found", paths(result.Found), "/ page", "/1 page", "/2 page")
	if f := result.Found[0]; f.URL != newest || f.Summary == "" || f.Relevance == 0 || f.Version != 1 || f.At.IsZero() || f.Seq == 0 || f.Seq != told[newest] {
		t.Errorf("%+v, want %s, told as %d", f, newest, told[newest])
	}
	result, err = r.Rematch(t.Context(), "ann", ann, 1, nil)
	mustBe(t, "found as stored", paths(result.Found), strings.TrimPrefix(newest, w.URL)+" same")
	if err != nil || result.Ended {
		t.Errorf("%+v, %v", result, err)
	}
	result, err = r.Rematch(t.Context(), "bob", w.asks("eve", "/", depth(0), about("milk")), 0, nil) // to bob all is new
	mustBe(t, "found for bob", paths(result.Found), "/1 ", "/2 ")
	if err != nil || len(result.Found) != 2 || result.Found[0].Seq != 0 {
		t.Errorf("%+v, %v", result, err)
	}

	ctx, end := context.WithCancel(t.Context())
	result, err = r.Rematch(ctx, "ann", draft, 0, func(portal.Found) { end() })
	if err != nil || !result.Ended || len(result.Found) != 1 || result.Looked != dull || result.Oldest.IsZero() != (dull == 0) {
		t.Errorf("when the context ends: %+v, %v", result, err)
	}
	late, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	if result, err = r.Rematch(late, "ann", draft, 0, nil); err != nil || !result.Ended || result.Looked != 0 || !result.Oldest.IsZero() {
		t.Errorf("after the deadline: %+v, %v", result, err)
	}
}

func TestAReaderShowsTheVersionThatAnAnnotationSpeaksOf(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	about := about("tea")
	urds := these(w.asks("ann", "/", about), w.asks("bob", "/", about, selects("p:first-of-type")))
	first := []string{"tea is green", "far", "away", "there", "is", "water"}
	w.page("/", first...)
	w.run(urds)
	w.page("/", append([]string{"tea is black today"}, first[1:]...)...)
	w.run(urds, askAll...)
	w.page("/", "coffee")
	w.run(urds, askAll...)
	told := w.acis()
	r := w.reader()
	byOwner := make(map[string][]control.ACI)
	for _, a := range told {
		byOwner[a.Owner] = append(byOwner[a.Owner], a)
	}
	for owner, want := range map[string][2]string{
		"ann": {"title: Page|body: [tea] is black today|body: far|body: away|body: there|body: is|body: water|", `="Page\ntea is " -"green" +"black today" ="\nfar\naway\n" …"" `},
		"bob": {"body: [tea] is black today|", `="tea is " -"green" +"black today" ="\n" `},
	} {
		if len(byOwner[owner]) != 2 {
			t.Fatalf("%s was told %d times", owner, len(byOwner[owner]))
		}
		one, err := r.Read(t.Context(), byOwner[owner][0], urdOf(urds, owner))
		if err != nil || one.Change != nil || one.Since != 0 || one.Number != 1 {
			t.Errorf("%s: %+v, %v", owner, one, err)
		}
		two, err := r.Read(t.Context(), byOwner[owner][1], urdOf(urds, owner))
		if err != nil || excerptText(two.Text) != want[0] || two.Since != 1 || two.Number != 2 || two.URL != w.URL+"/" || two.Title != "Page" || two.Selects != (owner == "bob") {
			t.Errorf("%s: %+v, %v, shows\n%q, want\n%q", owner, two, err, excerptText(two.Text), want[0])
			continue
		}
		if got := changed(two.Change); got != want[1] {
			t.Errorf("%s: %q, want %q", owner, got, want[1])
		}
		if len(two.Versions) != 3 || two.Versions[0].Number != 3 || two.Versions[2].Number != 1 || two.Versions[0].Size == 0 || two.Versions[0].At.IsZero() || two.Left != 0 {
			t.Errorf("%s: versions %+v", owner, two.Versions)
		}
	}
	a := byOwner["ann"][1]
	if gone, err := r.Read(t.Context(), a, nil); err != nil || excerptText(gone.Text) != "title: Page|body: [tea] is black today|body: far|body: away|body: there|body: is|body: water|" {
		t.Errorf("without its URD: %+v, %v", gone, err)
	}
	contentType, body, err := r.Raw(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(body)
	if err := errors.Join(err, body.Close()); err != nil || contentType != "text/html; charset=utf-8" || !strings.Contains(string(content), "<p>tea is black today</p>") {
		t.Errorf("%s, %q, %v", contentType, content, err)
	}

	mustBeGone := func(what string, a control.ACI) {
		t.Helper()
		_, err := r.Read(t.Context(), a, nil)
		_, _, rawErr := r.Raw(t.Context(), a)
		for _, err := range []error{err, rawErr} {
			var gone *portal.GoneError
			if !errors.As(err, &gone) || gone.URL != unmarked(a.URI) || gone.Version != a.Docbase.Version {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
	for what, change := range map[string]func(*xmlschema.ACI){
		"no version":    func(a *xmlschema.ACI) { a.Docbase.Version = 0 },
		"a later one":   func(a *xmlschema.ACI) { a.Docbase.Version = 9 },
		"another body":  func(a *xmlschema.ACI) { a.Docbase.Digest = byOwner["ann"][0].Docbase.Digest },
		"another page":  func(a *xmlschema.ACI) { a.URI += "other" },
		"another view":  func(a *xmlschema.ACI) { a.Docbase.Secret = "bank" },
		"another's way": func(a *xmlschema.ACI) { a.URI += "#POST-0123456789abcdef0123" },
	} {
		other := *a.ACI
		change(&other)
		mustBeGone(what, control.ACI{ACI: &other, Seq: a.Seq})
	}
	if _, err := r.Read(t.Context(), a, urdOf(urds, "bob")); err == nil {
		t.Error("an annotation is read by the URD of another owner")
	}
	w.collect(r, 1)
	if two, err := r.Read(t.Context(), a, urds[0]); err != nil || two.Change != nil || two.Since != 1 || len(two.Versions) != 2 {
		t.Errorf("without the version before: %+v, %v", two, err)
	}
	w.collect(r, 2)
	mustBeGone("what was removed", a)
}

// collect removes a version of the page at /.
func (w *world) collect(r *portalReader, number int) {
	w.t.Helper()
	_, err := r.cache.Collect(w.t.Context(), objects.CollectOptions{Verdict: func(_ context.Context, all []objects.Version) ([]objects.Verdict, error) {
		verdicts := make([]objects.Verdict, len(all))
		for i, v := range all {
			if v.Number == number {
				verdicts[i] = objects.Remove
			}
		}
		return verdicts, nil
	}})
	if err != nil {
		w.t.Fatal(err)
	}
}

// changed writes a change as its pieces, each behind its sign.
func changed(c *portal.Change) string {
	if c == nil {
		return ""
	}
	var b strings.Builder
	for _, p := range c.Pieces {
		fmt.Fprintf(&b, "%s%q ", map[string]string{portal.PieceSame: "=", portal.PieceAdded: "+", portal.PieceRemoved: "-", portal.PieceGap: "…"}[p.Kind], p.Text)
	}
	return b.String()
}
