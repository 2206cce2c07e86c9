package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/xmlschema"
	"github.com/webrace/webrace/xmlschema/httprequest"
)

// searches answers at a path by POST with what was asked for and how dear it is, and by GET with a form.
type searches struct {
	mu    sync.Mutex
	price int
	posts []string // the bodies
}

func (s *searches) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case r.Method == http.MethodGet:
		serveDocument(w, r, document("a form to look for tea"))
		return
	case r.Header.Get("X-Key") != "key "+hush || r.Header.Get("Content-Type") != "application/json":
		w.WriteHeader(http.StatusForbidden)
		return
	}
	body, _ := io.ReadAll(r.Body)
	s.posts = append(s.posts, string(body))
	w.Header().Set("Link", fmt.Sprintf(`<http://%s/search>; rel="canonical"`, r.Host)) // as if all answers were one
	serveDocument(w, r, document("answer to "+strings.Trim(string(body), `{}"`), fmt.Sprintf("tea at %d euro", s.price)))
}

func (s *searches) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.posts
	s.posts = nil
	return all
}

// posting makes a URD ask by POST, with a field that holds a secret.
func posting(body string) func(*xmlschema.URD) {
	return func(u *xmlschema.URD) {
		u.Request = &httprequest.Request{
			Method: http.MethodPost, Type: "application/json", Header: []httprequest.Field{{Name: "X-Key", Value: "key ${secret:api}"}}, Body: body,
		}
	}
}

// A document that is asked for by POST is watched and diffed like any, beside that of the GET.
func TestWhatIsAskedForByPOSTIsADocumentOfItsOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.secret("api", hush)
	s := &searches{price: 10}
	w.handle("/search", s.serve)
	ann, bob, eve := w.asks("ann", "/search", posting(`{"green"}`), about("tea")), w.asks("bob", "/search", posting(`{"green"}`)), w.asks("eve", "/search", about("form"))
	cal := w.asks("cal", "/search", posting(`{"black"}`), about("euro"))
	start := func() string {
		p := w.start(these(ann, bob, cal, eve), askAll...)
		p.mustExit(cli.OK)
		return p.said()
	}
	said := start()
	green, black := "/search#"+ann.Request.Mark(), "/search#"+cal.Request.Mark()
	mustBe(t, "requests", w.requests(), "200 /search", "200 /search", "200 /search")
	mustBe(t, "news", w.news(), "ann "+green, "bob "+green, "cal "+black, "eve /search")
	if posts := s.take(); len(posts) != 2 {
		t.Errorf("posted %q", posts)
	}
	s.mu.Lock()
	s.price = 12
	s.mu.Unlock()
	said += start()
	if posts := s.take(); len(posts) != 2 {
		t.Errorf("posted %q", posts)
	}
	mustBe(t, "news", w.news(), "ann "+green, "bob "+green, "cal "+black)

	for _, c := range []struct {
		args   []string
		says   string
		status int
	}{
		{[]string{"cache", "diff", w.URL + green, "--secret", "api"}, "+tea at 12 euro", cli.Failed}, // as diff ends where there is a difference
		{[]string{"cache", "ls", "--secret", "api"}, w.URL + green + "\t2\t200", cli.OK},
		{[]string{"cache", "ls"}, w.URL + "/search\t1\t200", cli.OK},
		{[]string{"why", w.URL + green}, "version 2", cli.OK},
		{[]string{"urd", "export"}, `<header name="X-Key">key ${secret:api}</header><body>{"green"}</body></request>`, cli.OK},
		{[]string{"explain", w.URL + green, "ann", "--secret", "api"}, "its crawl came to it", cli.OK},
		{[]string{"fsck"}, "", cli.OK},
	} {
		out, status := w.store(c.args...)
		if said += out; status != c.status || !strings.Contains(out, c.says) {
			t.Errorf("%v ends with %d and says\n%s\nwant %d and %q", c.args, status, out, c.status, c.says)
		}
	}
	if strings.Contains(said, hush) {
		t.Error("the secret is said")
	}
	w.mustHide(hush)
	if out, status := w.store("secret", "rm", "api"); status == cli.OK || !strings.Contains(out, "ann") {
		t.Errorf("a secret that requests name is removed: %d, %s", status, out)
	}
}

// What a request of one's own shows is for those who make it, whoever watches what lies there.
func TestWhatIsAskedForByPOSTIsForThoseWhoAsk(t *testing.T) {
	t.Parallel()
	for _, audience := range []string{"requesters", "everyone"} {
		w := newWorld(t)
		w.handle("/open", func(rw http.ResponseWriter, r *http.Request) {
			serveDocument(rw, r, document(r.Method+" gives tea", "/linked"))
		})
		w.page("/linked", "more tea")
		dan, pat := w.asks("dan", "/open", depth(2), about("tea")), w.asks("pat", "/*", about("tea"))
		dan.Request = &httprequest.Request{Method: http.MethodPost, Body: "x"}
		eve := w.asks("eve", "/nothing", about("tea"))
		w.run(these(dan, pat, eve), "--set", "keyword-filter.audience="+audience)
		want := []string{"dan /linked", "dan /open#" + dan.Request.Mark(), "pat /linked"}
		if audience == "everyone" {
			want = append(want[:2:2], "eve /linked", "pat /linked")
		}
		mustBe(t, "news to "+audience, w.news(), want...)
	}
}

// What is tried is asked for as the URD that starts there asks for it, and with its secrets.
func TestTryAsksAsTheURDSays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.secret("api", hush)
	s := &searches{price: 10}
	w.handle("/search", s.serve)
	green, black := w.asks("ann", "/search", posting(`{"green"}`), about("tea")), w.asks("cal", "/search", posting(`{"black"}`))
	form := w.asks("eve", "/search", about("form"))
	try := func(data string, urds ...*xmlschema.URD) string {
		path := filepath.Join(t.TempDir(), "urds.xml")
		var file bytes.Buffer
		if _, err := xmlschema.WriteURDs(&file, slices.Values(urds)); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		out, said, err := webraceRun("try", w.URL+"/search", "--data", data, "--set", "fetch.allow_networks=loopback", "--urds", path)
		return fmt.Sprint(out, said, err)
	}
	nowhere := filepath.Join(t.TempDir(), "none")
	for _, c := range []struct {
		said, want string
	}{
		{try(w.data, green), "«tea» at 10 euro"},
		{try(w.data, green), "it was asked for by POST, as URD ann says"},
		{try(w.data, form), "a «form»"},
		{try(w.data, green, black), "URDs ann and cal ask for " + w.URL + "/search in different ways"},
		{try(w.data, form, black), "in different ways"},
		{try(nowhere, green), "URD ann asks with the secret api: there is no data directory"},
	} {
		if !strings.Contains(c.said, c.want) || strings.Contains(c.said, hush) {
			t.Errorf("it says\n%s\nwant %q", c.said, c.want)
		}
	}
	if posts := s.take(); !slices.Equal(posts, []string{`{"green"}`, `{"green"}`}) {
		t.Errorf("posted %q", posts)
	}
}
