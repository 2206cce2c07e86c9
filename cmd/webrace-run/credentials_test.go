package main

import (
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/storage/objects"
	"github.com/webrace/webrace/xmlschema"
)

const hush = "hush-6f1d-hush"

// as makes a URD ask with the credentials of a name.
func as(secret string) func(*xmlschema.URD) { return func(u *xmlschema.URD) { u.Secret = secret } }

// secret stores the password of eleni, which may be sent by plain http, as test servers want it.
func (w *world) secret(name, password string) {
	w.t.Helper()
	secret, err := credentials.NewSecret(credentials.KindBasic, "eleni", password)
	if err != nil {
		w.t.Fatal(err)
	}
	store, closeDir := openControl(w.t, w.data)
	defer closeDir()
	if err := store.SetSecret(w.t.Context(), name, secret.Within(credentials.Bounds{Insecure: true})); err != nil {
		w.t.Fatal(err)
	}
}

// guarded answers for a path with one page to those who send the password, and with another, or a refusal
// if there is none, to all others. It sets a session, and repeats what it was told.
func (s *site) guarded(path string, inside, outside []string) {
	s.handle(path, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-You-Said", r.Header.Get("Authorization")+r.Header.Get("Cookie"))
		_, password, _ := r.BasicAuth()
		switch {
		case password == hush:
			http.SetCookie(w, &http.Cookie{Name: "session", Value: "s3ss10n-" + hush})
			serveDocument(w, r, document(inside...))
		case outside == nil:
			w.Header().Set("WWW-Authenticate", `Basic realm="vault"`)
			w.WriteHeader(http.StatusUnauthorized)
		default:
			serveDocument(w, r, document(outside...))
		}
	})
}

// mustHide fails if anything in the data directory holds a text, compressed or not.
func (w *world) mustHide(text string) {
	w.t.Helper()
	files := 0
	err := filepath.WalkDir(w.data, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if strings.HasSuffix(path, ".gz") {
			z, err := gzip.NewReader(strings.NewReader(string(content)))
			if err != nil {
				return err
			}
			if content, err = io.ReadAll(z); err != nil {
				return err
			}
			files++
		}
		if i := strings.Index(string(content), text); i >= 0 {
			w.t.Errorf("%s holds the secret: …%q…", path, content[max(0, i-100):i+len(text)])
		}
		return nil
	})
	if err != nil || files == 0 {
		w.t.Fatalf("%d archives: %v", files, err)
	}
}

func TestACrawlWithCredentialsReadsWhatTheyOpen(t *testing.T) {
	t.Parallel()
	w, other := newWorld(t), newSite(t)
	w.secret("bank", hush)
	w.guarded("/", []string{"tea within", "/deeper", "/forbidden", other.URL + "/"}, nil)
	w.guarded("/deeper", []string{"more tea within"}, nil)
	w.status("/forbidden", http.StatusForbidden)
	other.handle("/", func(rw http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization")+r.Header.Get("Cookie") != "" {
			t.Error("another host was shown the credentials")
		}
		fmt.Fprint(rw, "<p>tea elsewhere")
	})
	said := w.run(these(w.asks("ann", "/", depth(2), within(xmlschema.ScopeAny), as("bank"), about("tea"))))
	mustBe(t, "requests", w.requests(), "200 /", "200 /deeper", "403 /forbidden")
	mustBe(t, "requests elsewhere", other.requests(), "200 /")
	mustBe(t, "news", w.news(), "ann /", "ann /deeper", "ann "+other.URL+"/")
	mustSay(t, said, w.URL+"/forbidden: 403 Forbidden: with secret bank (basic) this may not be seen")
	if strings.Contains(said, hush) {
		t.Errorf("the run says the secret:\n%s", said)
	}
	w.mustHide(hush)
	w.mustHide("ZWxlbmk6") // eleni: in base 64
}

func TestWhoAsksWithCredentialsAndWhoAsksWithoutEachGetTheirOwnPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.secret("bank", hush)
	w.guarded("/", []string{"tea for members", "/members"}, []string{"tea for anybody", "/public"})
	w.guarded("/members", []string{"members' tea"}, nil)
	w.page("/public", "public tea")
	urds := these(w.asks("ann", "/", depth(2), as("bank"), about("tea")), w.asks("bob", "/", depth(2), about("tea")), w.asks("eve", "/*", about("tea")))
	for range 3 { // neither page is a change of the other
		w.run(urds, append(askAll, "--set", "keyword-filter.audience=everyone")...)
	}
	var told []string
	for _, aci := range w.acis() {
		told = append(told, aci.Owner+" "+strings.TrimPrefix(aci.URI, w.URL)+" "+strings.TrimSpace(aci.Summary))
	}
	slices.Sort(told)
	mustBe(t, "told", told, "ann / «tea» for anybody", "ann / «tea» for members", "ann /public public «tea»", "ann /members members' «tea»", "bob / «tea» for anybody", "bob /public public «tea»",
		"eve / «tea» for anybody", "eve /public public «tea»")
	if n := len(w.versions(objects.View("bank", "/"))); n != 1 {
		t.Errorf("the page has %d versions for members, want 1", n)
	}
	if n := len(w.versions("/")); n != 1 {
		t.Errorf("the page has %d versions for those who ask without credentials, want 1", n)
	}
	if out, complaints, err := webraceRun("search", "--data", w.data); err != nil {
		t.Fatalf("%v: %s%s", err, out, complaints)
	}
	w.mustLookApart()
	dir := w.open()
	defer dir.Close()
	index, err := dir.Fulltext()
	if err != nil {
		t.Fatal(err)
	}
	if v, err := index.Version(w.URL + "/members"); err != nil || v != 0 {
		t.Errorf("version %d of a page for members can be searched: %v", v, err)
	}
	if v, err := index.Version(w.URL + "/"); err != nil || v != 1 {
		t.Errorf("version %d of the page can be searched: %v", v, err)
	}
}

// mustLookApart fails if a command shows what credentials opened without being asked for it, or does not show it
// when it is.
func (w *world) mustLookApart() {
	w.t.Helper()
	const members, hint = "members", "--secret bank"
	for _, c := range []struct {
		args          []string
		shows, leaves string
	}{
		{[]string{"cache", "ls"}, w.URL + "/public\t1\t200", members},
		{[]string{"cache", "ls", "--secret", "bank", w.URL + "/"}, w.URL + "/members\t1\t200", "public"},
		{[]string{"cache", "ls", "--secret", "shop"}, "nothing is stored that was fetched with the credentials shop", "http"},
		{[]string{"search", "tea"}, "1 to 2 of 2", members},
		{[]string{"search", "tea", "--secret", "bank"}, "members' «tea»", "public"},
		{[]string{"search", "tea", "--secret", "bank"}, "1 to 2 of 2", "anybody"},
		{[]string{"search", "tea", "--secret", "shop"}, "nothing is stored that was fetched with the credentials shop", "http"},
		{[]string{"rematch", "ann"}, "URD ann: its crawl asks with the credentials bank, and sees what these show (--secret bank)", w.URL + "/members"},
		{[]string{"rematch", "ann", "--secret", "bank"}, "2 versions at 2 URLs looked at: 2 to tell, of which 2 were told of already", "anybody"},
		{[]string{"rematch", "bob", "--secret", "bank"}, "0 to tell", w.URL},
		{[]string{"explain", w.URL + "/members", "ann"}, "it was fetched with the credentials bank: --secret bank", "its crawl came to it"},
		{[]string{"explain", w.URL + "/members", "ann", "--secret", "bank"}, "its crawl came to it on level 2\n  alert: relevance", hint},
		{[]string{"explain", w.URL + "/members", "bob", "--secret", "bank"}, "its crawl asks without credentials", "came to it"},
		{[]string{"explain", w.URL + "/members", "eve", "--secret", "bank"}, "it was fetched with credentials, and is for those who gave them", "came to it"},
		{[]string{"explain", w.URL + "/", "eve"}, "it lies under what the URD watches\n  alert: relevance", "is for those who gave them"},
		{[]string{"why", w.URL + "/members"}, "version 1", "removed"},
	} {
		said, err := webraceStore(append(c.args, "--data", w.data)...)
		if err != nil || !strings.Contains(said, c.shows) || strings.Contains(said, c.leaves) {
			w.t.Errorf("%q: %v\n%s\nwant %q, and not %q", c.args, err, said, c.shows, c.leaves)
		}
	}
	if said, err := webraceStore("search", "--rebuild", "--secret", "bank", "--data", w.data); err == nil {
		w.t.Errorf("what credentials opened is indexed: %s", said)
	}
}

func TestAWrongPasswordIsTriedThreeTimesAndNoMore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.secret("bank", "wrong-password")
	var links []string
	for i := range 9 {
		links = append(links, fmt.Sprintf("/%d", i))
		w.guarded(links[i], []string{"within"}, nil)
	}
	w.page("/", links...)
	urds := these(w.asks("ann", "/", depth(2), as("bank")))
	report := w.reported(urds)
	if n := len(w.requests()); n != 4 {
		t.Errorf("%d requests, want the start and three", n)
	}
	counters := report.Stages["fetch"].Counters
	if counters["unauthorized"] != 3 || counters["secrets_paused"] != 1 || counters["secret_paused"] != 6 {
		t.Errorf("counters %v", counters)
	}
	w.secret("bank", hush)
	said := w.run(urds, askAll...)
	if n := len(w.requests()); n != 10 {
		t.Errorf("with the right password %d requests, want all ten:\n%s", n, said)
	}
}

// What is fetched in the name of a secret of kind none has versions of its own, and no server can tell.
func TestASecretOfKindNoneKeepsWhatIsFetchedApart(t *testing.T) {
	t.Parallel()
	w, other := newWorld(t), newSite(t)
	if out, complaints, err := webraceRun("store", "secret", "set", "private", "--kind", "none", "--data", w.data); err != nil {
		t.Fatalf("%v: %s%s", err, out, complaints)
	}
	shows := func(links ...string) http.HandlerFunc {
		return func(rw http.ResponseWriter, r *http.Request) {
			for _, field := range []string{"Authorization", "Cookie", "Proxy-Authorization", "Referer"} {
				if said := r.Header.Get(field); said != "" {
					t.Errorf("%s was shown %s: %s", r.URL, field, said)
				}
			}
			http.SetCookie(rw, &http.Cookie{Name: "session", Value: "s3ss10n"})
			serveDocument(rw, r, document(links...))
		}
	}
	w.handle("/", shows("tea of all", "/deeper", "/moved"))
	w.handle("/deeper", shows("more tea"))
	w.handle("/moved", http.RedirectHandler(other.URL+"/", http.StatusFound).ServeHTTP)
	other.handle("/", shows("tea elsewhere"))
	said := ""
	for range 2 {
		said += w.run(these(
			w.asks("ann", "/", depth(2), within(xmlschema.ScopeAny), as("private"), about("tea")),
			w.asks("bob", "/", depth(1), about("tea")), w.asks("eve", "/*", about("tea"))), append(askAll, "--set", "keyword-filter.audience=everyone")...)
	}
	mustBe(t, "requests elsewhere", other.requests(), "200 /", "304 /")
	mustBe(t, "news", w.news(), "ann /", "ann /", "ann /deeper", "ann "+other.URL+"/", "bob /", "eve /") // ann of both pages at /
	for path, want := range map[string]int{"/": 1, objects.View("private", "/"): 1, objects.View("private", "/deeper"): 1} {
		if n := len(w.versions(path)); n != want {
			t.Errorf("%q has %d versions, want %d", path, n, want)
		}
	}
	if strings.Contains(said, "withheld") || strings.Contains(said, "refused") {
		t.Errorf("the run says:\n%s", said)
	}
}

func TestASecretThatIsNotStoredIsSaidAndNothingIsAskedWithout(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.page("/", "tea")
	said := w.runInVain(these(w.asks("ann", "/", as("shop"))))
	mustBe(t, "requests", w.requests())
	mustSay(t, said, "no secret is named shop: webrace-store secret set stores it")
}
