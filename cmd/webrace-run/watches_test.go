//go:build unix

package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/webrace/webrace/internal/testutil"
)

// watchCase is what an owner asks for, in plain XML, of pages that a test edits, and what they must be told.
type watchCase struct {
	name  string // the owner, and the first part of every path
	urd   string // inside <urd>, beside the uri
	start string // below the first part; empty for its index
	attrs string // of <urd>
	pages func(edition int) map[string]content
	want  func(told []toldOf) string // returns what is wrong with what was told
}

// content is what a path is answered with: HTML unless it names another type.
type content struct{ mediaType, body string }

const editions = 4

// words are so many words that follow from a seed, no text of two seeds being like another.
func words(seed, n int) string {
	var b strings.Builder
	for i := range n {
		sum := sha256.Sum256(fmt.Appendf(nil, "%d %d", seed, i))
		for _, c := range sum[:3+sum[31]%6] {
			b.WriteByte('a' + c%26)
		}
		b.WriteByte(' ')
	}
	return b.String()
}

// site makes a page of links to all others, and those.
func linked(n int, page func(i int) string) map[string]content {
	pages, index := make(map[string]content), ""
	for i := range n {
		path := fmt.Sprintf("%d.html", i)
		pages[path] = content{body: page(i)}
		index += fmt.Sprintf("<li><a href=%s>page</a>", path)
	}
	pages[""] = content{body: "<title>Index</title><ul>" + index}
	return pages
}

func htmlOf(title string, all ...string) string {
	return "<title>" + title + "</title><p>" + strings.Join(all, "<p>")
}

func one(page func(edition int) string) func(int) map[string]content {
	return func(edition int) map[string]content { return map[string]content{"": {body: page(edition)}} }
}

func still(pages map[string]content) func(int) map[string]content {
	return func(int) map[string]content { return pages }
}

const (
	keyword = `<keywords threshold="0"><keyword key="%s" weight="5"/></keywords>`
	deeper  = `<depth level="2" scope="prefix"/>`
)

func watches() []watchCase {
	price := one(func(edition int) string {
		return fmt.Sprintf("<title>Boat</title><p>A fine boat.<p>It costs <b id=price>%d euro</b>.", 5+edition%2)
	})
	comesBack := one(func(edition int) string {
		if edition == 0 || edition == 3 {
			return htmlOf("Tea", "the kettle is on", "tea is served")
		}
		return htmlOf("Tea", "the kettle is off", fmt.Sprint("edition ", edition))
	})
	notice := func(text string) func(int) map[string]content {
		return func(edition int) map[string]content {
			return linked(60, func(i int) string {
				page := htmlOf(fmt.Sprint("Page ", i), words(i, 40))
				if edition > 0 {
					page += "<p>" + text
				}
				return page
			})
		}
	}
	mirror := htmlOf("Storm", "The storm is here. "+words(1, 120))
	binary := func(mediaType string, body func(edition int) string) func(int) map[string]content {
		return func(edition int) map[string]content {
			return map[string]content{"file": {mediaType, body(edition)}}
		}
	}
	return []watchCase{
		{name: "status", urd: fmt.Sprintf(keyword, "bankrupt") + deeper, pages: still(linked(3, func(i int) string {
			return htmlOf(fmt.Sprint("Company ", i), "Status: bankrupt", words(100+i, 40))
		})), want: pagesAndVersions("0.html 1", "1.html 1", "2.html 1")},

		{name: "select", urd: `<selection><select css="#price"/></selection>`, pages: price, want: versions(1, 2, 3, 4)},
		{name: "any", pages: price, want: versions(1, 2, 3, 4)},
		{name: "page", urd: `<type change="page"/>` + fmt.Sprintf(keyword, "euro"), pages: price, want: versions(1, 2, 3, 4)},
		{name: "page-any", urd: `<type change="page"/>`, pages: price, want: versions(1, 2, 3, 4)},
		{name: "page-remember", attrs: `remember="5"`, urd: `<type change="page"/>` + fmt.Sprintf(keyword, "euro"), pages: price, want: versions(1, 2)},
		{name: "select-remember", attrs: `remember="5"`, urd: `<selection><select css="#price"/></selection>`, pages: price, want: versions(1, 2)},
		{name: "select-page-remember", attrs: `remember="5"`, urd: `<type change="page"/><selection><select css="#price"/></selection>`, pages: price, want: versions(1, 2)},
		{name: "first", urd: `<type change="first"/>`, pages: price, want: versions(1)},

		{name: "comes-back", urd: fmt.Sprintf(keyword, "tea is served"), pages: comesBack, want: versions(1, 4)},
		{name: "comes-back-one", attrs: `remember="1"`, urd: fmt.Sprintf(keyword, "tea is served"), pages: comesBack, want: versions(1, 4)},
		{name: "comes-back-two", attrs: `remember="2"`, urd: fmt.Sprintf(keyword, "tea is served"), pages: comesBack, want: versions(1, 4)},
		{name: "comes-back-three", attrs: `remember="3"`, urd: fmt.Sprintf(keyword, "tea is served"), pages: comesBack, want: versions(1)},

		{name: "picture", start: "file", pages: binary("image/png", func(e int) string { return "\x89PNG\r\n\x1a\n" + strings.Repeat("x", e) }),
			want: all(versions(1, 2, 3, 4), saysLast("[−image/png, 10 bytes, ", "«image/png, 11 bytes, "))},
		{name: "empty", start: "file", pages: binary("text/html", func(e int) string { return strings.Repeat(" ", e) }), want: versions(1, 2, 3, 4)},
		{name: "archive", start: "file", pages: binary("application/zip", func(e int) string { return "PK\x03\x04" + strings.Repeat("\x00", e) }), want: versions(1, 2, 3, 4)},

		{name: "pdf", start: "file", pages: binary("application/pdf", harbourReport), want: all(versions(1, 2, 3, 4), saysLast("[−2] «3» ferries"))},
		{name: "pdf-keyword", start: "file", urd: fmt.Sprintf(keyword, "ferries"), pages: binary("application/pdf", harbourReport),
			want: all(versions(1, 2, 3, 4), saysLast("3 «ferries» sail to the islands"))},
		{name: "pdf-heading", start: "file", urd: fmt.Sprintf(keyword, "heading:harbour"), pages: binary("application/pdf", harbourReport),
			want: all(versions(1), saysLast("The «harbour»"))},
		{name: "scan", start: "file", pages: binary("application/pdf", func(e int) string {
			return string(testutil.WritePDF(fmt.Sprint("Scan ", e), testutil.PDFPage{}))
		}), want: versions(1, 2, 3, 4)},

		{name: "mirrors", urd: fmt.Sprintf(keyword, "storm") + deeper, pages: still(linked(2, func(int) string { return mirror })), want: mirrored(1, 1)},
		{name: "long-notice", urd: fmt.Sprintf(keyword, "closed") + deeper, pages: notice("From Monday on the harbour is closed, " + words(7, 13)), want: mirrored(2, 59)},
		{name: "short-notice", urd: fmt.Sprintf(keyword, "closed") + deeper, pages: notice("The harbour is closed today"), want: eachOf(60, 2)},
		{name: "products", urd: fmt.Sprintf(keyword, "sale") + deeper, pages: still(linked(20, func(i int) string {
			return htmlOf("Shop", fmt.Sprintf("The %s is for sale", words(i, 1)), words(8, 300))
		})), want: eachOf(20, 1)},
	}
}

// harbourReport is a PDF of one heading and a paragraph in which a number changes.
func harbourReport(edition int) string {
	return string(testutil.WritePDF("Report", testutil.PDFText("# The harbour", "", fmt.Sprintf("In summer %d ferries sail to the islands every day", edition))))
}

// pagesAndVersions wants these and no others.
func pagesAndVersions(want ...string) func([]toldOf) string {
	return func(told []toldOf) string {
		var got []string
		for _, t := range told {
			_, page, _ := strings.Cut(strings.TrimPrefix(t.URI, "http://"), "/")
			_, page, _ = strings.Cut(page, "/")
			got = append(got, strings.TrimSpace(fmt.Sprint(page, " ", t.Docbase.Version)))
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			return fmt.Sprintf("told %q, want %q", got, want)
		}
		return ""
	}
}

// versions wants one annotation for each of these versions of the start.
func versions(want ...int) func([]toldOf) string {
	return func(told []toldOf) string {
		var got []int
		for _, t := range told {
			got = append(got, t.Docbase.Version)
			if t.Also.Count > 0 {
				return fmt.Sprintf("%s is told as of %d documents", t.URI, 1+t.Also.Count)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			return fmt.Sprintf("told of versions %d, want %d", got, want)
		}
		return ""
	}
}

// mirrored wants one annotation, of a version, that counts so many other documents.
func mirrored(version, also int) func([]toldOf) string {
	return func(told []toldOf) string {
		if len(told) != 1 || told[0].Docbase.Version != version || told[0].Also.Count != also || len(told[0].Also.Documents) != min(also, 20) {
			return fmt.Sprintf("told %+v, want one of version %d with %d others", told, version, also)
		}
		named := map[string]bool{told[0].URI: true}
		for _, d := range told[0].Also.Documents {
			if named[d.URI] || d.Version != version {
				return fmt.Sprintf("%+v is named", d)
			}
			named[d.URI] = true
		}
		return ""
	}
}

// eachOf wants an annotation of a version for each of so many pages.
func eachOf(n, version int) func([]toldOf) string {
	return func(told []toldOf) string {
		named := make(map[string]bool)
		for _, t := range told {
			if t.Docbase.Version != version || t.Also.Count > 0 {
				return fmt.Sprintf("told %+v", t)
			}
			named[t.URI] = true
		}
		if len(told) != n || len(named) != n {
			return fmt.Sprintf("told %d times of %d pages, want once of each of %d", len(told), len(named), n)
		}
		return ""
	}
}

// saysLast wants the summary of the last to have these parts.
func saysLast(parts ...string) func([]toldOf) string {
	return func(told []toldOf) string {
		for _, part := range parts {
			if len(told) == 0 || !strings.Contains(told[len(told)-1].Summary, part) {
				return fmt.Sprintf("told %+v, want %q at last", told, part)
			}
		}
		return ""
	}
}

func all(wants ...func([]toldOf) string) func([]toldOf) string {
	return func(told []toldOf) string {
		for _, want := range wants {
			if wrong := want(told); wrong != "" {
				return wrong
			}
		}
		return ""
	}
}

// watched is a site that serves one edition of the pages of all watches, and what was told of it.
type watched struct {
	*site
	t       *testing.T
	watches []watchCase
	edition atomic.Int32
	urds    string
}

func newWatched(t *testing.T) *watched {
	w := &watched{site: newSite(t), t: t, watches: watches()}
	var urds strings.Builder
	urds.WriteString(`<urds xmlns="urn:webrace:1">`)
	for _, watch := range w.watches {
		fmt.Fprintf(&urds, `<urd id="%[1]s" owner="%[1]s" %[2]s><uri>%[3]s/%[1]s/%[4]s</uri>%[5]s</urd>`, watch.name, watch.attrs, w.URL, watch.start, watch.urd)
		for path := range watch.pages(0) {
			w.handle("/"+watch.name+"/"+path, func(out http.ResponseWriter, r *http.Request) {
				c := watch.pages(int(w.edition.Load()))[path]
				w := out.Header()
				w.Set("ETag", fmt.Sprintf(`"%x"`, sha256.Sum256([]byte(c.body))))
				w.Set("Content-Type", cmp.Or(c.mediaType, "text/html; charset=utf-8"))
				if r.Header.Get("If-None-Match") == w.Get("ETag") {
					out.WriteHeader(http.StatusNotModified)
					return
				}
				out.Write([]byte(c.body))
			})
		}
	}
	urds.WriteString("</urds>")
	w.urds = filepath.Join(t.TempDir(), "urds.xml")
	writeFile(t, w.urds, urds.String())
	return w
}

// run runs the shipped pipeline as a person would, again and again while it is killed.
func (w *watched) run(data string) {
	w.t.Helper()
	mustSucceed(w.t, exec.Command("webrace-run", "webrace", "--config", "../../pipelines.toml", "--data", data, "--urds", w.urds,
		"--set", "fetch.allow_networks=loopback", "--set", "frontier.fresh=0s"))
}

// told returns what each owner was told, in the order in which they were.
func (w *watched) told(data string) (all map[string][]toldOf, ids []string) {
	w.t.Helper()
	out, err := exec.Command("webrace-store", "aci", "list", "--json", "--data", data).Output()
	if err != nil {
		w.t.Fatalf("aci list: %v", err)
	}
	all = make(map[string][]toldOf)
	for line := range bytes.Lines(out) {
		var told toldOf
		if err := json.Unmarshal(line, &told); err != nil {
			w.t.Fatalf("%s: %v", line, err)
		}
		all[told.Owner] = append(all[told.Owner], told)
		if told.Also.Count == 0 { // which of several mirrors is told of depends on the order in which they come
			ids = append(ids, told.ID)
		}
	}
	slices.Sort(ids)
	return all, ids
}

// phases are the stages that an annotation comes from, one after the other.
var phases = []string{"fetch", "normalize", "cache", "keyword-filter", "aci-emit"}

// isKilled runs the pipeline in a process that kills itself while a stage is at work, and reports whether it came to
// that before the end.
func (w *watched) isKilled(data string, seed int, stage string) bool {
	w.t.Helper()
	out, err := exec.Command("webrace-run-mortal", fmt.Sprint(seed), "40", data, w.urds, stage).CombinedOutput()
	killed := strings.Contains(string(out), killedAt)
	if err != nil && !killed {
		w.t.Fatalf("%v\n%s", err, out)
	}
	return killed
}

func (w *watched) mustTell(data string) {
	w.t.Helper()
	told, _ := w.told(data)
	for _, watch := range w.watches {
		if wrong := watch.want(told[watch.name]); wrong != "" {
			w.t.Errorf("%s: %s", watch.name, wrong)
		}
	}
}

// TestWatches edits pages three times, and holds what their owners are told against what a person would expect.
func TestWatches(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("dozens of processes: not in short mode")
	}
	w := newWatched(t)
	whole := t.TempDir()
	for e := range editions {
		w.edition.Store(int32(e))
		w.run(whole)
	}
	w.mustTell(whole)
	_, want := w.told(whole)
	w.run(whole)
	if _, again := w.told(whole); !slices.Equal(again, want) {
		t.Errorf("after a run over unchanged pages %d were told, want %d", len(again), len(want))
	}

	// The same with a process that is killed while each of the stages is at work: the ids are the same in the end.
	killed, kills := t.TempDir(), make(map[string]int)
	for e := range editions {
		w.edition.Store(int32(e))
		for i, stage := range phases {
			if w.isKilled(killed, 10*e+i, stage) {
				kills[stage]++
			}
		}
		w.run(killed)
	}
	for _, stage := range phases {
		if kills[stage] == 0 {
			t.Errorf("the process was never killed while %s was at work", stage)
		}
	}
	w.mustTell(killed)
	if _, got := w.told(killed); !slices.Equal(got, want) {
		t.Errorf("after the kills %v %d were told, or others, want the same %d", kills, len(got), len(want))
	}
}
