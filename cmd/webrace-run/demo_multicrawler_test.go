package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/webrace-run/demosite"
	"github.com/webrace/webrace/internal/transform"
	"go.uber.org/goleak"
)

// dataFormats are what the open data is written in, by the paths below /data/.
var dataFormats = map[string]string{
	"berths.xml": "XML by XSLT", "catalog.ttl": "Turtle", "contacts.html": "HTML with microformats", "council.html": "HTML with RDFa",
	"events.html": "HTML with JSON-LD", "guide.html": "HTML with meta", "library.jsonld": "JSON-LD", "notices.trig": "TriG",
	"people.ttl": "Turtle", "places.nt": "N-Triples", "regatta.html": "HTML with JSON-LD", "seabirds.nq": "N-Quads", "staff.rdf": "RDF/XML",
	"timetable.html": "HTML with Microdata", "updates.atom": "Atom",
}

// berthQuads is how much the stylesheet makes of the list of berths: three of them, a type, a label and a holder each.
const berthQuads = 9

// visitData runs the demo of the open data over a site, and returns what it prints.
func visitData(t *testing.T, data, base string) string {
	t.Helper()
	var out bytes.Buffer
	c := &cobra.Command{}
	c.SetContext(context.Background())
	c.SetOut(&out)
	c.SetErr(&out)
	if err := runDataDemo(c, data, base, runFlags{}); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	return out.String()
}

// saidBehind returns the lines behind one, up to the next that is empty.
func saidBehind(t *testing.T, said, title string) string {
	t.Helper()
	_, rest, found := strings.Cut(said, "\n"+title+"\n")
	if !found {
		t.Fatalf("%q is not said:\n%s", title, said)
	}
	lines, _, _ := strings.Cut(rest, "\n\n")
	return lines + "\n"
}

// formatsServed computes the table of formats from what the site serves, without a crawl or a store.
func formatsServed(t *testing.T, base string) string {
	t.Helper()
	type sum struct{ documents, quads, problems int }
	sums := map[string]sum{}
	for path, format := range dataFormats {
		url := base + "/data/" + path
		answer, err := http.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		var body bytes.Buffer
		if _, err := body.ReadFrom(answer.Body); err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		says, err := transform.Document(t.Context(), body.Bytes(), answer.Header.Get("Content-Type"), url, transform.Options{})
		if err != nil || !says.Whole {
			t.Fatal(path, err, says)
		}
		quads := len(says.Triples)
		if format == "XML by XSLT" {
			quads = berthQuads
		}
		n := sums[format]
		sums[format] = sum{n.documents + 1, n.quads + quads, n.problems + len(says.Problems)}
	}
	var table strings.Builder
	for _, format := range slices.Sorted(maps.Keys(sums)) {
		fmt.Fprintf(&table, "%s\t%d\t%d\t%d\n", format, sums[format].documents, sums[format].quads, sums[format].problems)
	}
	return table.String()
}

func TestDataDemoShowsWhoSaysWhat(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	defer http.DefaultClient.CloseIdleConnections()
	site := demosite.New()
	server := httptest.NewServer(site)
	defer server.Close()
	data := t.TempDir()
	said := visitData(t, data, server.URL)
	at := server.URL + "/data/"

	for path := range dataFormats {
		if n := site.Requests()["/data/"+path]; n != 1 {
			t.Errorf("%s was asked for %d times", path, n)
		}
	}
	for path := range site.Requests() {
		if _, known := dataFormats[strings.TrimPrefix(path, "/data/")]; !known && path != "/robots.txt" && path != "/sitemap.xml" {
			t.Errorf("%s was asked for", path)
		}
	}
	formats := saidBehind(t, said, "Who says something, by format:")
	if want := formatsServed(t, server.URL); formats != want {
		t.Errorf("formats:\n%swant\n%s", formats, want)
	}
	if lines := strings.Split(strings.TrimSpace(formats), "\n"); len(lines) < 8 || strings.Count(formats, "\t0\n") != len(lines)-1 {
		t.Errorf("not eight formats, or not one with a problem:\n%s", formats)
	}
	place := "JSON-LD: line 14, column 3: loading document failed: this is no JSON: there is ']' where a value is expected (a comma behind the last value, which the option lenient allows)"
	if got := saidBehind(t, said, "What could not be read. The rest of that page counts:"); got != at+"regatta.html\t1\t"+place+"\n" {
		t.Errorf("problems:\n%s", got)
	}
	for i, want := range []string{
		"2025-04-24T19:00\tMeeting of the council\tOld salt store\n" +
			"2025-04-24T19:00\tThe reading club: The Salt Road\tLibrary\n" +
			"2025-05-02T20:00\tConcert under the skylight\tLibrary\n" +
			"2025-05-14T17:00\tHow old is your map?\tLibrary\n" +
			"2025-09-20T10:00\tLast regatta of the year\tMiddle quay\n",
		"Haris Dimou\tPort office\t" + at + "staff.rdf\n" +
			"Iason Mertis\tHalyard Software\t" + at + "people.ttl\n" +
			"Zoe Prenti\tSailing club of Levanda\t" + at + "people.ttl\n",
		"8041 2150\t" + at + "staff.rdf\t1\n8041 2510\t" + at + "timetable.html\t1\n",
	} {
		q := dataQueries[i]
		shown := q.question + "\n  " + strings.ReplaceAll(q.query, "\n", "\n  ") + "\n"
		if got := saidBehind(t, said, shown); got != want {
			t.Errorf("%s\n%swant\n%s", q.query, got, want)
		}
	}
	thing := saidBehind(t, said, "All that is said of one person, under both of his names, and by whom:")
	for _, want := range []string{
		"label\thttp://xmlns.com/foaf/0.1/name\tIason Mertis\t" + at + "people.ttl\t1\t20",
		"label\thttp://xmlns.com/foaf/0.1/name\tI. Mertis\t" + at + "council.html\t1\t20",
		"from\thttp://schema.org/attendee\t" + at + "events.html#meeting\t" + at + "events.html\t1\t20",
		"from\thttp://schema.org/underName\t" + at + "berths.xml#berth-2\t" + at + "berths.xml\t1\t20",
	} {
		if !strings.Contains(thing, want) {
			t.Errorf("%q is not said of him:\n%s", want, thing)
		}
	}
	mustRunWhatIsPrinted(t, said)
}

// mustRunWhatIsPrinted runs the commands below "Look around".
func mustRunWhatIsPrinted(t *testing.T, said string) {
	t.Helper()
	_, commands, _ := strings.Cut(said, "\nLook around:\n")
	commands, _, found := strings.Cut(commands, "\n(without installing")
	if !found || strings.Count(commands, "webrace-store") < 5 {
		t.Fatalf("where to look next is not said:\n%s", said)
	}
	if testing.Short() {
		return
	}
	printed, err := shell(t.TempDir(), commands)
	if err != nil {
		t.Errorf("%v\n%s", err, printed)
	}
	for _, want := range []string{"Concert under the skylight", "void:triples", "exported ", "Last regatta of the year"} {
		if !strings.Contains(printed, want) {
			t.Errorf("the commands that are printed do not say %q:\n%s", want, printed)
		}
	}
}

func TestASecondDataDemoReplacesOnlyWhatChanged(t *testing.T) {
	site := demosite.New()
	server := httptest.NewServer(site)
	defer server.Close()
	data := t.TempDir()
	first := visitData(t, data, server.URL)
	const shown = "Who says something, by format:"
	_, before, _ := strings.Cut(first, shown)
	second := visitData(t, data, server.URL)
	for _, want := range []string{"Nothing was replaced", " 0 quads were written", fmt.Sprintf(" %d not modified", len(dataFormats))} {
		if strings.Contains(first, want) || !strings.Contains(second, want) {
			t.Errorf("%q is said the first time, or not the second:\n%s", want, cmp.Or(second, first))
		}
	}
	if _, after, _ := strings.Cut(second, shown); after != before {
		t.Errorf("of a site that did not change, another thing is said:\n%s\nand before\n%s", after, before)
	}

	site.Edit("/data/people.ttl", func(old string) string { return strings.Replace(old, `"Zoe Prenti"`, `"Zoe Prenti-Galani"`, 1) })
	third := visitData(t, data, server.URL)
	for _, want := range []string{"\n1 quad was written, and 1 removed.\n", "\nZoe Prenti-Galani\tSailing club of Levanda\t"} {
		if !strings.Contains(third, want) {
			t.Errorf("after an edit, %q is not said:\n%s", want, third)
		}
	}
}

// TestTheOpenDataIsAllThatItsFolderHas keeps what the tests expect of the open data complete.
func TestTheOpenDataIsAllThatItsFolderHas(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("demosite/site/data/*")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, file := range files {
		names = append(names, filepath.Base(file))
	}
	if want := slices.Sorted(maps.Keys(dataFormats)); !slices.Equal(names, want) {
		t.Errorf("files %v, and formats of %v", names, want)
	}
}
