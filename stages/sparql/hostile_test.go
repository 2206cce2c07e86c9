package sparql

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace/pipeline"
)

// What is sent to make the endpoint work without end is answered within the limits, and others are answered meanwhile.
func TestHostileRequests(t *testing.T) {
	t.Parallel()
	o := with(func(o *Options) { o.Timeout, o.Memory = pipeline.Duration(500*time.Millisecond), 16<<20 })
	e := serving(t, o, numbers(500))
	const kib60 = 60 << 10
	form := func(query string, more ...string) []string {
		v := url.Values{"query": {query}}
		for _, graph := range more {
			v.Add("default-graph-uri", graph)
		}
		return []string{v.Encode(), "Content-Type", formType}
	}
	var graphs []string
	for i := range 20_000 {
		graphs = append(graphs, fmt.Sprintf("http://a/%d", i))
	}
	bomb := `SELECT ?x { BIND("0123456789abcdef" AS ?x0)`
	for i := range 40 {
		bomb += fmt.Sprintf(" BIND(CONCAT(?x%d, ?x%d) AS ?x%d)", i, i, i+1)
	}
	bomb += " BIND(STRLEN(?x40) AS ?x) }"
	for name, c := range map[string]struct {
		method string
		body   []string // and headers
		status []int
	}{
		"nested groups":        {"POST", form("ASK " + strings.Repeat("{", 100_000)), []int{400}},
		"nested parentheses":   {"POST", form("ASK { FILTER(" + strings.Repeat("(", 100_000)), []int{400}},
		"patterns":             {"POST", form("ASK {" + strings.Repeat(" ?s ?p ?o .", 50_000) + "}"), []int{400}},
		"a product":            {"POST", form(endless), []int{500}},
		"a sorted product":     {"POST", form(pairs + " ORDER BY ?a ?b"), []int{500}},
		"a path without end":   {"POST", form("ASK { ?a (<http://example.org/number>|!<a:b>|^!<a:b>)* ?b . ?b (!<a:b>|^!<a:b>)* ?c FILTER(?c = 1) }"), []int{200, 500}},
		"doubled strings":      {"POST", form(bomb), []int{200, 500}},
		"a regular expression": {"POST", form(`ASK { ?s ?p ?o FILTER(REGEX(STR(?s), "(((((a*)*)*)*)*)*!")) }`), []int{200, 500}},
		"an unending one":      {"POST", form(`ASK { ?s ?p ?o FILTER(REGEX(STR(?s), "((a{1,100}){1,100}){1,100}")) }`), []int{200, 400, 500}},
		"graphs":               {"POST", form("ASK { ?s ?p ?o }", graphs...), []int{400}},
		"as many as may be":    {"POST", form("SELECT * { ?s ?p ?o . ?o ?q ?r }", graphs[:mostGraphs]...), []int{200, 500}},
		"a long Accept":        {"GET", []string{"", "Accept", strings.Repeat("a/b;q=0.1,", kib60/10)}, []int{406}},
		"a broken Accept":      {"GET", []string{"", "Accept", strings.Repeat(`"`, kib60)}, []int{200}},
		"a long If-Match":      {"GET", []string{"", "If-Match", strings.Repeat(`"a",`, kib60/4)}, []int{412}},
		"a long header":        {"GET", []string{"", "X", strings.Repeat("a", 1<<20)}, []int{431}},
		"nothing but percent":  {"POST", []string{strings.Repeat("%", maxForm), "Content-Type", formType}, []int{400}},
		"parameters":           {"POST", []string{strings.Repeat("a&", maxForm/2), "Content-Type", formType}, []int{400}},
		"control characters":   {"POST", []string{"ASK { \x00\x01\x02 }", "Content-Type", queryType}, []int{400}},
		"nothing but a BOM":    {"POST", []string{"\uFEFF", "Content-Type", queryType}, []int{400}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := send(t, c.method, e.url, c.body[0], c.body[1:]...)
			for r.status == 503 { // the others have all places
				r = send(t, c.method, e.url, c.body[0], c.body[1:]...)
			}
			for _, may := range c.status {
				if r.status == may {
					return
				}
			}
			t.Errorf("answered %d, %.300q; want one of %d", r.status, r.body, c.status)
		})
	}
}

// Clients that send their query slowly have places of those that wait, and none of those that run.
func TestHostileSlowSenders(t *testing.T) {
	t.Parallel()
	e := serving(t, with(func(o *Options) { o.Queries, o.Waiting = 1, 3 }), said)
	at, err := url.Parse(e.url)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		conn, err := net.Dial("tcp", at.Host)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "POST /sparql HTTP/1.1\r\nHost: %s\r\nContent-Type: %s\r\nContent-Length: 100\r\n\r\nASK", at.Host, queryType)
	}
	if r := get(t, e.of(names)); r.status != 200 {
		t.Errorf("another is answered by %+v", r)
	}
}

// FuzzRequest holds that a request is a question, or refused as the error of its client, and that Accept chooses a
// format or none.
func FuzzRequest(f *testing.F) {
	f.Add("query=ASK+%7B%7D", "", "", "")
	f.Add("default-graph-uri=http://a/", formType, "query=SELECT+*+%7B?s+?p+?o%7D", "text/csv;q=0.5,*/*")
	f.Add("", queryType+"; charset=utf-8", names, "application/sparql-results+xml")
	f.Add("update=x", updateType, "CLEAR ALL", "a/b;q=2,,;")
	f.Fuzz(func(t *testing.T, parameters, media, body, accept string) {
		r := httptest.NewRequest(http.MethodPost, "/sparql", strings.NewReader(body))
		r.URL.RawQuery = parameters
		r.Header.Set("Content-Type", media)
		q, err := read(r)
		var refused *refusal
		if (q == nil) == (err == nil) || err != nil && (!errors.As(err, &refused) || refused.status < 400 || refused.status > 499) {
			t.Fatalf("%+v and %v", q, err)
		}
		for _, offers := range [][]format{solutionFormats, booleanFormats, graphFormats} {
			chosen, err := negotiate([]string{accept}, offers)
			if (err == nil) != slices.Contains(offers, chosen) {
				t.Fatalf("%q gives %v and %v", accept, chosen, err)
			}
		}
	})
}
