package demosite

import (
	"bytes"
	"strings"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/internal/match"
	"github.com/webrace/webrace/xmlschema"
)

const served = "http://harbour.test"

func urdsOf(t *testing.T, document []byte) map[string]*xmlschema.URD {
	t.Helper()
	d := xmlschema.NewDecoder(bytes.NewReader(document))
	found := map[string]*xmlschema.URD{}
	for u := range d.URDs() {
		found[u.ID] = u
	}
	if err := d.Err(); err != nil || len(d.Warnings()) > 0 {
		t.Fatalf("%v, warnings %v", err, d.Warnings())
	}
	return found
}

func compiled(t *testing.T, u *xmlschema.URD) *match.Compiled {
	t.Helper()
	profile := match.Profile{ID: u.ID, Threshold: u.Keywords.Threshold}
	for _, k := range u.Keywords.Keywords {
		profile.Keywords = append(profile.Keywords, match.Keyword{Key: k.Key, Weight: k.Weight})
	}
	c, warnings, err := match.Compile(profile)
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	return c
}

func textOf(t *testing.T, site *Site, path string) *webrace.Text {
	t.Helper()
	r := ask(site, path)
	page, err := extract.Document([]byte(bodyOf(t, r)), r.Header.Get("Content-Type"), served+path, extract.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return page.Text
}

func TestURDsAreValid(t *testing.T) {
	t.Parallel()
	for _, base := range []string{"http://127.0.0.1:8080", "http://127.0.0.1:8080/", "http://[::1]:80/a&b'<"} {
		document := URDs(base)
		if bytes.Contains(document, []byte(Address)) {
			t.Errorf("%s: the invented address is left", base)
		}
		urds := urdsOf(t, document)
		owners := map[string]bool{}
		for _, u := range urds {
			owners[u.Owner] = true
			if !strings.HasPrefix(u.URI, strings.TrimSuffix(base, "/")+"/") || strings.Contains(u.URI[8:], "//") {
				t.Errorf("%s: %s starts at %s", base, u.ID, u.URI)
			}
		}
		if len(urds) != 4 || len(owners) != 3 {
			t.Errorf("%d URDs of %v", len(urds), owners)
		}
	}
}

// TestEveryOwnerIsToldOfSomePages holds the texts and the interests against each other: the site is there
// to show who is told of what.
func TestEveryOwnerIsToldOfSomePages(t *testing.T) {
	t.Parallel()
	site := New()
	urds := urdsOf(t, URDs(served))
	var index match.Index
	for _, u := range urds {
		if u.AnyChange() {
			continue
		}
		index.Add(compiled(t, u))
	}
	type told struct {
		least, most int // alerts
		yes, no     []string
		among       func(path string, distance int) bool
	}
	for id, want := range map[string]told{
		"eleni-crossing": {8, 16, []string{"/port/timetable.html", "/nature/storms.html", "/news/2025-01-18-storm-iris.html"},
			[]string{"/port/works.html", "/nature/cliff-walk.html", "/news/2024-11-09-regatta.html", "/council/", "/port/"},
			func(path string, distance int) bool {
				return distance < urds["eleni-crossing"].Depth && path != "/private/"
			}},
		"costas-software": {4, 6, []string{"/technology/java-notes.html", "/technology/halyard.html", "/technology/open-source.html"},
			[]string{"/technology/museum.html", "/technology/databases.html"},
			func(path string, _ int) bool { return strings.HasPrefix(path, "/technology/") }},
		"maria-library": {3, 4, []string{"/library/ellinika.html", "/library/reading-club.html", "/library/events.html"},
			[]string{"/library/local-history.html"},
			func(path string, _ int) bool { return strings.HasPrefix(path, "/library/") }},
	} {
		relevances := map[int]bool{}
		alerts := map[string]int{}
		for path, distance := range site.distances() {
			if !want.among(path, distance) {
				continue
			}
			for a := range index.Match(textOf(t, site, path), match.Options{Recipients: []match.Recipient{{ID: id}}}) {
				alerts[path] = a.Relevance
				relevances[a.Relevance] = true
			}
		}
		if len(alerts) < want.least || len(alerts) > want.most || len(relevances) < 3 {
			t.Errorf("%s: %d alerts, of %d relevances: %v", id, len(alerts), len(relevances), alerts)
		}
		for _, path := range want.yes {
			if alerts[path] == 0 {
				t.Errorf("%s is not told of %s", id, path)
			}
		}
		for _, path := range want.no {
			if alerts[path] != 0 {
				t.Errorf("%s is told of %s", id, path)
			}
		}
	}
}

func TestIBMAloneIsANearMiss(t *testing.T) {
	t.Parallel()
	costas := urdsOf(t, URDs(served))["costas-software"]
	e := match.Explain(compiled(t, costas), textOf(t, New(), "/technology/museum.html"), match.Options{})
	if e.Relevance < 10 || e.Relevance > costas.Keywords.Threshold {
		t.Errorf("not a near miss: %s", e)
	}
}
