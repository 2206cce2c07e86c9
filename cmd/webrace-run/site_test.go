package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/objects"
	"github.com/webrace/webrace/xmlschema"
)

// site is a web server that a test scripts, and that notes what it is asked for.
type site struct {
	*httptest.Server

	mu    sync.Mutex
	pages map[string]http.HandlerFunc
	asked []asked
}

// asked is a request that the site has answered. Those for robots.txt are not noted.
type asked struct {
	path        string
	conditional bool
	status      int
	at          time.Time
	cut         bool // whoever asked was gone before it was answered
}

// String is the status and the path.
func (a asked) String() string { return fmt.Sprintf("%d %s", a.status, a.path) }

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{pages: make(map[string]http.HandlerFunc)}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

// statusWriter remembers the status that was answered.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (s *site) serve(w http.ResponseWriter, r *http.Request) {
	at := time.Now()
	s.mu.Lock()
	page, known := s.pages[r.URL.Path]
	s.mu.Unlock()
	if !known {
		page = http.NotFound
	}
	out := &statusWriter{w, http.StatusOK}
	if r.URL.Path != "/robots.txt" {
		defer func() { // also when the handler breaks the connection off
			s.mu.Lock()
			defer s.mu.Unlock()
			conditional := r.Header.Get("If-None-Match") != "" || r.Header.Get("If-Modified-Since") != ""
			s.asked = append(s.asked, asked{r.URL.RequestURI(), conditional, out.status, at, r.Context().Err() != nil})
		}()
	}
	page(out, r)
}

// handle answers for a path as a function does.
func (s *site) handle(path string, h http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pages[path] = h
}

// page puts a page of some paragraphs at a path. Paragraphs that begin with / or http: are links.
func (s *site) page(path string, paragraphs ...string) {
	body := document(paragraphs...)
	s.handle(path, func(w http.ResponseWriter, r *http.Request) { serveDocument(w, r, body) })
}

// redirect answers for a path by sending its reader elsewhere.
func (s *site) redirect(path, to string) {
	s.handle(path, http.RedirectHandler(to, http.StatusFound).ServeHTTP)
}

// status answers for a path with nothing but a status.
func (s *site) status(path string, status int) {
	s.handle(path, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
}

func document(paragraphs ...string) []byte {
	var b bytes.Buffer
	b.WriteString("<!DOCTYPE html><title>Page</title>\n")
	for _, p := range paragraphs {
		if strings.HasPrefix(p, "/") || strings.HasPrefix(p, "http:") {
			fmt.Fprintf(&b, "<p><a href=%q>next</a>\n", p)
		} else {
			fmt.Fprintf(&b, "<p>%s</p>\n", p)
		}
	}
	return b.Bytes()
}

// serveDocument confirms what the client has, or sends the document.
func serveDocument(w http.ResponseWriter, r *http.Request, body []byte) {
	tag := fmt.Sprintf(`"%x"`, sha256.Sum256(body))
	w.Header().Set("ETag", tag)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Write(body)
}

// requests returns what was asked for since the last call, sorted, as statuses and paths.
func (s *site) requests() []string {
	var all []string
	for _, a := range s.requestsInOrder() {
		all = append(all, a.String())
	}
	slices.Sort(all)
	return all
}

// requestsInOrder returns what was asked for since the last call.
func (s *site) requestsInOrder() []asked {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.asked
	s.asked = nil
	return all
}

// world is a site, and the data directory of the crawler that visits it.
type world struct {
	*site
	t    *testing.T
	data string
	last int64 // the last annotation that news returned
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return &world{site: newSite(t), t: t, data: filepath.Join(t.TempDir(), "data")}
}

// webraceRun is the command, in this process. What libraries log goes to the command that began last, so a
// command that runs beside it may be told of in its errors.
func webraceRun(args ...string) (stdout, stderr string, err error) {
	var out, complaints testutil.Buffer
	root := newRoot()
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetArgs(args)
	root.SetOut(&out)
	root.SetErr(&complaints)
	err = root.Execute()
	return out.String(), complaints.String(), err
}

// asks is a request of an owner for what lies under the path of a site, at the default depth; each of the
// changes is made to it. Its id is the owner's name.
func (s *site) asks(owner, path string, changes ...func(*xmlschema.URD)) *xmlschema.URD {
	u := xmlschema.NewURD(owner, s.URL+path)
	u.ID = owner
	for _, change := range changes {
		change(u)
	}
	return u
}

func depth(levels int) func(*xmlschema.URD)      { return func(u *xmlschema.URD) { u.Depth = levels } }
func within(scope string) func(*xmlschema.URD)   { return func(u *xmlschema.URD) { u.Scope = scope } }
func urgency(n int) func(*xmlschema.URD)         { return func(u *xmlschema.URD) { u.Urgency = n } }
func every(d time.Duration) func(*xmlschema.URD) { return func(u *xmlschema.URD) { u.Timing = d } }
func id(id string) func(*xmlschema.URD)          { return func(u *xmlschema.URD) { u.ID = id } }

// about makes any of these words matter, a little being enough.
func about(words ...string) func(*xmlschema.URD) {
	return func(u *xmlschema.URD) {
		var keywords []xmlschema.Keyword
		for _, w := range words {
			keywords = append(keywords, xmlschema.Keyword{Key: w, Weight: 5})
		}
		u.Keywords = xmlschema.NewKeywords(keywords...)
	}
}

// askAll lets a run ask for every document again, however lately it was validated.
var askAll = []string{"--set", "frontier.fresh=0s"}

// run runs the pipeline webrace for these URDs, and returns what it prints.
func (w *world) run(urds []*xmlschema.URD, more ...string) string {
	w.t.Helper()
	file := filepath.Join(w.t.TempDir(), "urds.xml")
	writeFile(w.t, file, string(xmlschema.URDs(urds).Canonical()))
	args := append([]string{"webrace", "--urds", file, "--data", w.data, "--set", "fetch.allow_networks=loopback"}, more...)
	out, complaints, err := webraceRun(args...)
	if err != nil {
		w.t.Fatalf("%v: %v\n%s%s", args, err, out, complaints)
	}
	return out + complaints
}

// runInVain is run for URDs of which no start can be asked, so that it fails.
func (w *world) runInVain(urds []*xmlschema.URD, more ...string) string {
	w.t.Helper()
	p := w.start(urds, more...)
	p.mustExit(1)
	mustSay(w.t, p.said(), "could not be asked")
	return p.said()
}

// reported is run, and returns the report instead.
func (w *world) reported(urds []*xmlschema.URD, more ...string) runReport {
	w.t.Helper()
	file := filepath.Join(w.t.TempDir(), "report.json")
	w.run(urds, append(more, "--report", file)...)
	var report runReport
	readJSON(w.t, file, &report)
	return report
}

// these is a list of URDs.
func these(urds ...*xmlschema.URD) []*xmlschema.URD { return urds }

// acis returns the annotations that were stored since the last call.
func (w *world) acis() []control.ACI {
	w.t.Helper()
	store, closeDir := openControl(w.t, w.data)
	defer closeDir()
	var fresh []control.ACI
	for aci, err := range store.ACIs(w.t.Context(), control.Filter{After: w.last}) {
		if err != nil {
			w.t.Fatal(err)
		}
		fresh = append(fresh, aci)
	}
	if len(fresh) > 0 {
		w.last = fresh[len(fresh)-1].Seq
	}
	return fresh
}

// news returns who was told of which paths since the last call, sorted.
func (w *world) news() []string {
	w.t.Helper()
	var all []string
	for _, aci := range w.acis() {
		all = append(all, aci.Owner+" "+strings.TrimPrefix(aci.URI, w.URL))
	}
	slices.Sort(all)
	return all
}

// mustTellOf wants owners told of so many pages since the last call.
func (w *world) mustTellOf(what string, pages int) {
	w.t.Helper()
	if told := w.news(); len(told) != pages {
		w.t.Errorf("%s: told of %d pages, want %d", what, len(told), pages)
	}
}

// versions returns the stored versions of the page at a path.
func (w *world) versions(path string) []objects.Version {
	w.t.Helper()
	dir := w.open()
	defer dir.Close()
	store, err := dir.Objects()
	if err != nil {
		w.t.Fatal(err)
	}
	versions, err := store.Versions(w.URL + path)
	if err != nil {
		w.t.Fatal(err)
	}
	return versions
}

func (w *world) open() *storage.Dir {
	w.t.Helper()
	return openData(w.t, w.data)
}

// openData opens a data directory.
func openData(t *testing.T, path string) *storage.Dir {
	t.Helper()
	dir, err := storage.Open(path, storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// openControl opens the control store of a data directory, which is closed by the function that it returns.
func openControl(t *testing.T, path string) (store *control.Store, closeDir func() error) {
	t.Helper()
	dir := openData(t, path)
	store, err := dir.Control()
	if err != nil {
		t.Fatal(errors.Join(err, dir.Close()))
	}
	return store, dir.Close
}
