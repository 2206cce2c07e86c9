package main

import (
	"encoding/json"
	"fmt"
	"html"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/internal/testutil/npm"
)

// TestOutputTreeOfAHostileSite: whatever a site calls its pages, and whatever these consist of, each has a file of its
// own in the folder, whose front matter is what the page declares, and whose Markdown does nothing when it is rendered.
func TestOutputTreeOfAHostileSite(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it installs packages, and reads pages of 10 MB: not in short mode")
	}
	python, modules := testutil.Python(t, "html.parser", "python3"), npm.Install(t, npmMarkdown, npmYAML)
	s := newHostileTree(t)
	outside := t.TempDir()
	dir := filepath.Join(outside, "a", "b", "pages")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	args := []string{"crawl", "http://start.test:" + s.port + "/", "--data", filepath.Join(t.TempDir(), "data"), "--depth", "0", "--scope", "any", "--all", "--output", dir + "/"}
	for _, option := range []string{"fetch.allow_networks=127.0.0.1", "fetch.dns_servers=" + s.names, "fetch.delay=0s", "fetch.max_body=16MB", `frontier.rules=["deny regexp evil[.]example"]`} {
		args = append(args, "--set", option)
	}
	out, err := exec.CommandContext(t.Context(), "webrace-run", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	inside := treeOf(t, dir)
	if all := treeOf(t, outside); len(all) != len(inside) {
		t.Errorf("files beside the folder: %v", all)
	}
	served := filepath.Join(t.TempDir(), "served.json")
	s.writeServed(t, served)
	var wrong []string
	readByOthers(t, modules, dir, &wrong, python, "testdata/reading/harmless.py", served)
	if len(wrong) > 0 {
		t.Errorf("%d are wrong:\n%.20000s\nthe crawl:\n%s", len(wrong), strings.Join(wrong, "\n"), out)
	}
}

// hostilePage is a page as it was served.
type hostilePage struct {
	URL    string // as it was asked for
	Title  string // what it declares, if it is about titles
	Text   string // all that it shows, if it is about texts
	Marked string // a word that it alone has
}

// hostileTree serves hostile pages by all names that end in .test, and keeps what it has served.
type hostileTree struct {
	*httptest.Server
	port, names string
	links       []string
	pages       map[string]func(*hostilePage) string // by path: those about titles and bodies

	mu     sync.Mutex
	served map[string]hostilePage // by URL
}

// hostileHosts are names that are the same as others, or mean something as a file.
var hostileHosts = []string{"bücher.test", "xn--bcher-kva.test", "BÜCHER.test", "日本.test", "a_b.test", "start.test.", "con.test", "a.md.test", "user:secret@start.test"}

func newHostileTree(t *testing.T) *hostileTree {
	t.Helper()
	s := &hostileTree{pages: make(map[string]func(*hostilePage) string), served: make(map[string]hostilePage)}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	_, s.port, _ = net.SplitHostPort(s.Listener.Addr().String())
	s.names = serveNames(t, func(string) netip.Addr { return netip.MustParseAddr("127.0.0.1") })
	s.links = slices.Clone(hostilePaths)
	for _, host := range hostileHosts {
		for _, path := range []string{"/", "/a", "/ü"} {
			s.links = append(s.links, "http://"+host+":"+s.port+path)
		}
	}
	for _, title := range hostileTitles {
		s.add("title", func(p *hostilePage) string {
			p.Title = title
			return strings.ReplaceAll(`<title>TITLE</title><meta name=author content="TITLE"><meta property=og:site_name content="TITLE">`+
				`<meta property=og:image content="/TITLE"><meta name=date content="TITLE"><p>`+p.Marked, "TITLE", html.EscapeString(title))
		})
	}
	for _, text := range hostileTexts {
		s.add("text", func(p *hostilePage) string {
			body := "<title>Texts</title><p>" + p.Marked + "</p>"
			p.Text = p.Marked
			for _, c := range textPlaces {
				body += strings.ReplaceAll(c.page, "TEXT", html.EscapeString(text)) + "\n"
				p.Text += " " + strings.ReplaceAll(c.read, "TEXT", text)
			}
			return body
		})
	}
	for _, body := range slices.Concat(hostileMarkup, nested()) {
		s.add("markup", func(p *hostilePage) string { return "<title>Markup</title><p>" + p.Marked + "</p>" + body })
	}
	s.Start() // whose port this was may still call
	t.Cleanup(s.Close)
	return s
}

// add adds a page about titles or bodies.
func (s *hostileTree) add(kind string, page func(*hostilePage) string) {
	path := fmt.Sprintf("/%s/%d", kind, len(s.pages))
	s.links, s.pages[path] = append(s.links, path), page
}

func (s *hostileTree) serve(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/robots.txt" {
		http.NotFound(w, r)
		return
	}
	body := s.page(r)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprint(w, body)
}

// page returns the page that a request is for, and takes it down.
func (s *hostileTree) page(r *http.Request) (body string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := hostilePage{URL: "http://" + r.Host + r.RequestURI, Marked: fmt.Sprintf("marked%dpage", len(s.served))}
	if known, is := s.served[p.URL]; is {
		p.Marked = known.Marked
	}
	body = "<title>Page</title><p>" + p.Marked
	if page := s.pages[r.URL.Path]; page != nil {
		body = page(&p)
	} else if p.URL == "http://start.test:"+s.port+"/" {
		for _, link := range s.links {
			body += `<p><a href="` + html.EscapeString(link) + `">` + html.EscapeString(link) + "</a>"
		}
	}
	s.served[p.URL] = p
	return body
}

// writeServed writes what was served, and the links that led to it, to a file.
func (s *hostileTree) writeServed(t *testing.T, path string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.served) < len(s.links)-12 { // some are one page by two names
		t.Errorf("%d pages were asked for, of %d", len(s.served), len(s.links))
	}
	served, err := json.Marshal(map[string]any{"base": "http://start.test:" + s.port + "/", "links": s.links, "pages": s.served})
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, path, string(served))
}
