//go:build unix

package main

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/testutil"
)

// sparqlAddress is where the endpoint listens as it is shipped.
const sparqlAddress = "127.0.0.1:8482"

// TestTheCommandsOfTheEndpointRun does what docs/sparql.md describes, with the endpoint at another port. It is not
// among the pages whose commands run one after the other, since the endpoint goes on beside the others.
func TestTheCommandsOfTheEndpointRun(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not here: apt-get install curl")
	}
	text := strings.Join(fenced(readFile(t, "../../docs/sparql.md"), "sh"), "")
	before, after, found := strings.Cut(text, "webrace-run sparql # until Ctrl-C\n")
	if !found || strings.Contains(after, "webrace-run") {
		t.Fatal("the page does not start the endpoint once")
	}
	dir, address := t.TempDir(), testutil.FreeAddress(t)
	writeFile(t, filepath.Join(dir, "pipelines.toml"), readFile(t, "../../pipelines.toml"))
	if said, err := shell(dir, before); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	p := newCommand(t, "sparql", "--set", "sparql.listen="+address)
	p.Dir = dir
	p.begin()
	waitFor(t, func() bool { return answers(address) }, p.said)
	said, err := shell(dir, strings.ReplaceAll(after, sparqlAddress, address))
	for _, want := range []string{
		`"value":"Harbour festival"`, `"boolean":true`, "@prefix schema:", "sd:UnionDefaultGraph", "SPARQL_Results_JSON", "https://example.org/places",
		"thing,name\r\n", "<rdf:RDF", "line 1, column 18: ", "\n304\n",
	} {
		if err != nil || !strings.Contains(said, want) {
			t.Errorf("%v: they do not say %q, but\n%s", err, want, said)
			break
		}
	}
	p.signal(os.Interrupt)
	p.mustExit(0)
}

func answers(address string) bool {
	r, err := http.Get("http://" + address + "/sparql")
	if err != nil {
		return false
	}
	r.Body.Close()
	return r.StatusCode == http.StatusOK
}

// While a crawl goes on, each answer is of one state: a page never has a part of its statements alone, and its record
// is of the version that makes them. Ctrl-C ends both.
func TestTheEndpointAnswersWhileItCrawls(t *testing.T) {
	t.Parallel()
	const pages = 200
	s := newSite(t)
	s.handle("/", func(w http.ResponseWriter, r *http.Request) {
		var links strings.Builder
		for i := range pages {
			fmt.Fprintf(&links, "<> <http://www.w3.org/2000/01/rdf-schema#seeAlso> </page/%d.ttl> .\n", i)
		}
		serveTurtle(w, links.String())
	})
	for i := range pages {
		s.handle(fmt.Sprintf("/page/%d.ttl", i), func(w http.ResponseWriter, r *http.Request) {
			serveTurtle(w, fmt.Sprintf("<#a> <http://example.org/n> %[1]d . <#b> <http://example.org/n> %[1]d . <#c> <http://example.org/n> %[1]d .\n", i))
		})
	}
	address, dir := testutil.FreeAddress(t), t.TempDir()
	p := startCommand(t, "multicrawler", "sparql", "--continuous", "--config", "../../pipelines.toml", "--data", filepath.Join(dir, "data"),
		"--set", "sparql.listen="+address, "--set", "lines.urls="+s.URL+"/", "--set", "lines.depth=2", "--set", "fetch.delay=0s", "--set", "fetch.adaptive_delay=0",
		"--set", "fetch.allow_networks=loopback", "--set", "fetch.user_agent=test/1 (+https://example.org/contact)")
	waitFor(t, func() bool { return answers(address) }, p.said)
	query := func(text string) string {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/sparql?query="+url.QueryEscape(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", "text/csv")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatalf("%v\n%s", err, p.said())
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s, %v", answer.Status, body, err)
		}
		return string(body)
	}
	asked := 0
	waitFor(t, func() bool {
		asked++
		if torn := query("SELECT ?g (COUNT(*) AS ?n) { GRAPH ?g { ?s <http://example.org/n> ?v } } GROUP BY ?g HAVING(?n != 3)"); strings.Count(torn, "\n") != 1 {
			t.Fatalf("a part of what a page says: %s", torn)
		}
		rows := strings.Split(strings.TrimSpace(query(`SELECT ?all ?known {
			{ SELECT (COUNT(*) AS ?all) { GRAPH ?g { ?s <http://example.org/n> ?v } } }
			{ SELECT (SUM(?n) AS ?known) { GRAPH <urn:webrace:provenance> { ?page <http://rdfs.org/ns/void#triples> ?n } FILTER(CONTAINS(STR(?page), "/page/")) } } }`)), "\r\n")
		counts := strings.Split(rows[1], ",")
		if counts[0] != counts[1] {
			t.Fatalf("%s statements are there, and the records are of %s", counts[0], counts[1])
		}
		return counts[0] == strconv.Itoa(3*pages)
	}, p.said)
	t.Logf("asked %d times until all was there", asked)
	p.signal(os.Interrupt)
	p.mustExit(0)
}

func serveTurtle(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/turtle")
	fmt.Fprint(w, text)
}
