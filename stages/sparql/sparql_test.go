package sparql

import (
	"net/http"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/config"
	"github.com/webrace/webrace/pipeline/stagetest"
	"github.com/webrace/webrace/storage"
)

const names = "PREFIX schema: <http://schema.org/> SELECT ?name { ?thing schema:name ?name } ORDER BY ?name"

func TestConformance(t *testing.T) {
	dir, err := storage.Open(t.TempDir(), storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	resources := new(pipeline.Resources)
	pipeline.Provide(resources, dir)
	stagetest.Run(t, stagetest.Case{Type: "sparql", Options: with(func(o *Options) { o.Listen = "127.0.0.1:0" }), Resources: resources})
}

func TestTheThreeWaysToAsk(t *testing.T) {
	t.Parallel()
	e := serving(t, defaults, said)
	form := strings.TrimPrefix(e.of(names, "format", "whatever"), e.url+"?")
	const want = "name\r\nHarbour festival\r\nPort of Piraeus\r\n"
	for way, r := range map[string]reply{
		"GET":           get(t, e.of(names, "format", "whatever"), "Accept", "text/csv"),
		"form":          send(t, "POST", e.url, form, "Content-Type", formType, "Accept", "text/csv"),
		"form, charset": send(t, "POST", e.url, form, "Content-Type", formType+"; charset=UTF-8", "Accept", "text/csv"),
		"direct":        send(t, "POST", e.url, names, "Content-Type", queryType, "Accept", "text/csv"),
	} {
		if r.status != 200 || r.body != want || r.err != nil || r.header.Get("Content-Type") != "text/csv; charset=utf-8; header=present" {
			t.Errorf("%s: %+v", way, r)
		}
	}
}

func TestFormats(t *testing.T) {
	t.Parallel()
	e := serving(t, defaults, said)
	const (
		ask      = "ASK { ?s ?p ?o }"
		describe = "DESCRIBE <https://example.org/#port>"
		browser  = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
		json     = "application/sparql-results+json"
	)
	for _, c := range []struct {
		query, accept string
		status        int
		media, begins string
	}{
		{names, "", 200, json, `{"head":{"vars":["name"]}`},
		{names, "*/*", 200, json, `{`},
		{names, "application/*;q=0.1, text/*", 200, "text/xml; charset=utf-8", "<?xml"},
		{names, "application/json", 200, "application/json", `{`},
		{names, "application/sparql-results+xml", 200, "application/sparql-results+xml", "<?xml"},
		{names, "text/tab-separated-values", 200, "text/tab-separated-values; charset=utf-8", "?name\n"},
		{names, browser, 200, "application/xml", "<?xml"},
		{names, "application/sparql-results+json;q=0, */*", 200, "application/json", "{"},
		{names, "text/turtle", 406, "text/plain; charset=utf-8", "the answer to this query can have no media type"},
		{names, "text/csv;q=x, ???", 200, json, "{"}, // nothing that is well formed
		{ask, "", 200, json, `{"head":{},"boolean":true}`},
		{ask, "application/sparql-results+xml", 200, "application/sparql-results+xml", "<?xml"},
		{ask, "text/csv, text/tab-separated-values;q=0.1", 200, "text/tab-separated-values; charset=utf-8", "true"},
		{ask, "text/csv", 406, "text/plain; charset=utf-8", "the answer to this query"},
		{describe, "", 200, "text/turtle; charset=utf-8", "@prefix"},
		{describe, "application/n-triples", 200, "application/n-triples", "<https://example.org/#port> <http://schema.org/name>"},
		{describe, "application/rdf+xml", 200, "application/rdf+xml", "<?xml"},
		{describe, "application/sparql-results+json, application/rdf+xml;q=0.9", 200, "application/rdf+xml", "<?xml"},
		{"CONSTRUCT { ?s <http://example.org/1> ?o } { ?s ?p ?o }", "application/rdf+xml", 406, "text/plain; charset=utf-8", "the graph cannot be written as application/rdf+xml"},
	} {
		var headers []string
		if c.accept != "" {
			headers = []string{"Accept", c.accept}
		}
		r := get(t, e.of(c.query), headers...)
		if r.status != c.status || r.header.Get("Content-Type") != c.media || !strings.HasPrefix(r.body, c.begins) {
			t.Errorf("%s as %q: %+v", c.query, c.accept, r)
		}
	}
}

func TestGraphsOfTheProtocol(t *testing.T) {
	t.Parallel()
	e := serving(t, defaults, said)
	const events, places = "https://example.org/events", "https://example.org/places"
	const inGraphs = "SELECT ?g ?name { GRAPH ?g { ?s <http://schema.org/name> ?name } } ORDER BY ?name"
	for _, c := range []struct {
		query      string
		parameters []string
		want       string
	}{
		{names, []string{"default-graph-uri", places}, "name\r\nPort of Piraeus\r\n"},
		{names, []string{"default-graph-uri", places, "default-graph-uri", events, "default-graph-uri", events}, "name\r\nHarbour festival\r\nPort of Piraeus\r\n"},
		{names, []string{"default-graph-uri", "https://example.org/none"}, "name\r\n"},
		{inGraphs, nil, "g,name\r\n" + events + ",Harbour festival\r\n" + places + ",Port of Piraeus\r\n"},
		{inGraphs, []string{"named-graph-uri", events}, "g,name\r\n" + events + ",Harbour festival\r\n"},
		{"SELECT ?name FROM <" + events + "> { ?s <http://schema.org/name> ?name }", []string{"default-graph-uri", places}, "name\r\nPort of Piraeus\r\n"},
	} {
		if r := get(t, e.of(c.query, c.parameters...), "Accept", "text/csv"); r.status != 200 || r.body != c.want {
			t.Errorf("%s of %q: %+v", c.query, c.parameters, r)
		}
	}
	r := send(t, "POST", e.url+"?default-graph-uri="+places, names, "Content-Type", queryType, "Accept", "text/csv")
	if r.body != "name\r\nPort of Piraeus\r\n" {
		t.Errorf("beside a direct POST: %+v", r)
	}
}

func TestWhatIsWrongIsSaid(t *testing.T) {
	t.Parallel()
	e := serving(t, defaults, said)
	for name, c := range map[string]struct {
		reply  reply
		status int
		says   string
	}{
		"no query":          {get(t, e.of("SELECT ?x\n{ ?x a }")), 400, "line 2, column 8: "},
		"SERVICE":           {get(t, e.of("SELECT * { SERVICE <http://a/> { ?s ?p ?o } }")), 400, "SERVICE is refused"},
		"an update":         {get(t, e.of("DELETE WHERE { ?s ?p ?o }")), 400, "DELETE is refused"},
		"by update":         {get(t, e.url+"?update=CLEAR+ALL"), 400, "updates are refused"},
		"by POST":           {send(t, "POST", e.url, "CLEAR ALL", "Content-Type", updateType), 400, "updates are refused"},
		"two queries":       {get(t, e.of("ASK {}", "query", "ASK {}")), 400, "2 queries"},
		"in both parts":     {send(t, "POST", e.of("ASK {}"), "ASK {}", "Content-Type", queryType), 400, "2 queries"},
		"an empty form":     {send(t, "POST", e.url, "", "Content-Type", formType), 400, "no query"},
		"an empty query":    {get(t, e.url+"?query="), 400, "line 1, column 1"},
		"a broken URL":      {get(t, e.url+"?query=%zz"), 400, "not well formed"},
		"a broken form":     {send(t, "POST", e.url, "query=%zz", "Content-Type", formType), 400, "not well formed"},
		"another type":      {send(t, "POST", e.url, "ASK {}", "Content-Type", "text/plain"), 415, queryType},
		"no type":           {send(t, "POST", e.url, "ASK {}"), 415, "no Content-Type"},
		"a broken type":     {send(t, "POST", e.url, "ASK {}", "Content-Type", "a/b/c"), 415, "not well formed"},
		"another charset":   {send(t, "POST", e.url, "ASK {}", "Content-Type", queryType+"; charset=utf-16"), 415, "UTF-8"},
		"no UTF-8":          {get(t, e.url+"?query=ASK+%7B%7D%FF"), 400, "UTF-8"},
		"a graph":           {get(t, e.of("ASK {}", "default-graph-uri", "places")), 400, `default-graph-uri: "places" is no absolute IRI`},
		"a graph, broken":   {get(t, e.of("ASK {}", "named-graph-uri", "http://a/> {")), 400, "named-graph-uri"},
		"a method":          {send(t, "PUT", e.of("ASK {}"), ""), 405, "GET or POST"},
		"a path":            {get(t, strings.Replace(e.of("ASK {}"), "/sparql", "/", 1)), 404, "/sparql"},
		"a long query":      {send(t, "POST", e.url, "ASK {"+strings.Repeat(" ", 1<<20)+"}", "Content-Type", queryType), 413, "1048576"},
		"a long form":       {send(t, "POST", e.url, "query="+strings.Repeat("%20", 2<<20), "Content-Type", formType), 413, "bytes"},
		"a long one within": {send(t, "POST", e.url, "query="+strings.Repeat("+", 2<<20), "Content-Type", formType), 400, "and may have 1048576"},
	} {
		if r := c.reply; r.status != c.status || !strings.Contains(r.body, c.says) || r.header.Get("ETag") != "" || c.status == 405 && r.header.Get("Allow") == "" {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

func TestMethodsBesideQueries(t *testing.T) {
	t.Parallel()
	e := serving(t, defaults, said)
	if r := send(t, "OPTIONS", e.url, ""); r.status != 204 || r.header.Get("Allow") != allowed || r.header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("OPTIONS: %+v", r)
	}
	whole, head := get(t, e.of(names)), send(t, "HEAD", e.of(names), "")
	if head.status != 200 || head.body != "" {
		t.Errorf("HEAD: %+v", head)
	}
	for _, name := range []string{"Content-Type", "Content-Length", "ETag", "Vary"} {
		if head.header.Get(name) != whole.header.Get(name) || head.header.Get(name) == "" {
			t.Errorf("%s is %q by HEAD and %q by GET", name, head.header.Get(name), whole.header.Get(name))
		}
	}
	if r := send(t, "HEAD", e.of("ASK {"), ""); r.status != 400 {
		t.Errorf("HEAD of what is no query: %+v", r)
	}
}

func TestWhoMayAsk(t *testing.T) {
	t.Parallel()
	const token = "0123456789abcdef"
	open := serving(t, defaults, said)
	closed := serving(t, with(func(o *Options) { o.Token = pipeline.NewSecret(token) }), said)
	for name, c := range map[string]struct {
		e       *endpoint
		headers []string
		status  int
	}{
		"from this machine":       {open, nil, 200},
		"a page of another site":  {open, []string{"Origin", "https://a.org", "Sec-Fetch-Site", "cross-site"}, 403},
		"a link of another site":  {open, []string{"Sec-Fetch-Site", "cross-site"}, 403},
		"typed in a browser":      {open, []string{"Sec-Fetch-Site", "none", "User-Agent", "Mozilla/5.0"}, 200},
		"by another name":         {open, []string{"Host", "a.org"}, 421},
		"with the token":          {closed, []string{"Authorization", "Bearer " + token}, 200},
		"with another":            {closed, []string{"Authorization", "Bearer " + token + "0"}, 401},
		"without":                 {closed, nil, 401},
		"without, from a browser": {closed, []string{"Accept", "text/html", "User-Agent", "Mozilla/5.0"}, 401},
		"token, foreign page":     {closed, []string{"Authorization", "Bearer " + token, "Sec-Fetch-Site", "cross-site"}, 403},
	} {
		if r := get(t, c.e.of("ASK {}"), c.headers...); r.status != c.status {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// Who pages through an answer gets it from one state, or is told that it is another.
func TestPaging(t *testing.T) {
	t.Parallel()
	e := serving(t, defaults, said)
	const all = "SELECT ?s ?p ?o { ?s ?p ?o }"
	whole := get(t, e.of(all), "Accept", "text/csv")
	tag := whole.header.Get("ETag")
	paged := ""
	for _, offset := range []string{"0", "1", "2", "3"} {
		r := get(t, e.of(all+" LIMIT 1 OFFSET "+offset), "Accept", "text/csv", "If-Match", `"other", `+tag)
		if r.status != 200 || r.header.Get("ETag") != tag {
			t.Fatalf("%s: %+v", offset, r)
		}
		paged += strings.TrimPrefix(r.body, "s,p,o\r\n")
	}
	if "s,p,o\r\n"+paged != whole.body {
		t.Errorf("the pages are\n%s, the whole is\n%s", paged, whole.body)
	}
	if r := get(t, e.of(all), "If-Match", tag); r.status != 200 || r.header.Get("ETag") == tag {
		t.Errorf("as JSON: %+v", r)
	}
	if r := get(t, e.of(all), "Accept", "text/csv", "If-None-Match", "W/"+tag); r.status != 304 || r.body != "" || r.header.Get("ETag") != tag {
		t.Errorf("unchanged: %+v", r)
	}
	if r := get(t, e.of(all), "If-None-Match", tag); r.status != 200 {
		t.Errorf("unchanged, but JSON: %+v", r)
	}
	if r := send(t, "POST", e.url, all, "Content-Type", queryType, "Accept", "text/csv", "If-None-Match", tag); r.status != 412 {
		t.Errorf("unchanged, by POST: %+v", r)
	}
	if r := get(t, e.of("SELECT (NOW() AS ?now) {}"), "Accept", "text/csv", "If-None-Match", "*"); r.status != 200 || r.header.Get("ETag") != "" {
		t.Errorf("what differs each time: %+v", r)
	}
	e.say(t, "<https://example.org/#x> <http://schema.org/name> \"x\" <https://example.org/x> .\n")
	if r := get(t, e.of(all), "Accept", "text/csv", "If-Match", tag); r.status != 412 || !strings.Contains(r.body, "has changed") {
		t.Errorf("changed: %+v", r)
	}
	if r := get(t, e.of(all), "Accept", "text/csv", "If-None-Match", tag); r.status != 200 || strings.Count(r.body, "\n") != 6 {
		t.Errorf("changed: %+v", r)
	}
}

func TestTheEndpointDescribesItself(t *testing.T) {
	t.Parallel()
	e := serving(t, defaults, said)
	r := get(t, e.url, "Accept", "application/n-triples")
	for _, want := range []string{
		"<" + e.url + "> <" + sd + "endpoint> <" + e.url + "> .\n",
		"_:dataset <http://rdfs.org/ns/void#triples> \"4\"^^<" + rdf.XSDInteger + "> .\n",
		"_:dataset <http://rdfs.org/ns/void#documents> \"2\"",
		"<http://rdfs.org/ns/void#class> <http://schema.org/Event> .\n",
	} {
		if r.status != 200 || !strings.Contains(r.body, want) {
			t.Errorf("%q is not there: %+v", want, r)
		}
	}
	if again := get(t, e.url, "Accept", "application/n-triples", "If-None-Match", r.header.Get("ETag")); again.status != http.StatusNotModified {
		t.Errorf("%+v", again)
	}
	for _, media := range []string{"text/turtle", "application/rdf+xml"} {
		if r := get(t, e.url, "Accept", media); r.status != 200 || !strings.HasPrefix(r.header.Get("Content-Type"), media) {
			t.Errorf("%s: %+v", media, r)
		}
	}
	// What takes too long to count is left out, and the rest is said.
	slow := serving(t, with(func(o *Options) { o.Timeout = 1 }), numbers(1000))
	if r := get(t, slow.url, "Accept", "application/n-triples"); r.status != 200 || strings.Contains(r.body, "void#") || !strings.Contains(r.body, "endpoint") {
		t.Errorf("without time: %+v", r)
	}
}

func TestARecordOfEachQuery(t *testing.T) {
	t.Parallel()
	e := serving(t, defaults, said)
	get(t, e.of(names))
	get(t, e.of("ASK {"))
	get(t, e.of("SELECT * { ?s ?p ?o } ORDER BY ?o"), "Accept", "text/csv")
	get(t, e.url)
	e.end()
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.records) != 3 {
		t.Fatalf("%d records: %v", len(e.records), e.records)
	}
	first, second, third := e.records[0], e.records[1], e.records[2]
	if first["query"] != names || first["form"] != "select" || first["status"] != 200.0 || first["rows"] != 2.0 || first["bytes"].(float64) < 50 || first["error"] != nil {
		t.Errorf("%v", first)
	}
	if second["status"] != 400.0 || second["form"] != nil || !strings.Contains(second["error"].(string), "line 1") {
		t.Errorf("%v", second)
	}
	if third["kept"].(float64) < 100 || third["format"] != "text/csv" || third["rows"] != 4.0 {
		t.Errorf("%v", third)
	}
	counters := e.Snapshot().Stages["sparql"].Counters
	if counters["answered"] != 3 || counters["wrong"] != 1 || counters["running"] != 0 || counters["waiting"] != 0 {
		t.Errorf("%v", counters)
	}
}

func TestOptionsAreValidated(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`listen = "0.0.0.0:80"`: "needs a token", `listen = ":80"`: "needs a token", `listen = "192.0.2.1:80"`: "needs a token",
		`listen = "127.0.0.1"`: "HOST:PORT", `token = "short"`: "16 are the least", `path = "x"`: "begin with /", `queries = 0`: "queries",
		`waiting = -1`: "negative", `timeout = "0s"`: "timeout", `memory = "1KiB"`: "1MiB", `tokn = "x"`: "did you mean token",
	} {
		_, err := config.Parse("p.toml", []byte("version = 1\n[pipeline.p]\nflow = [\"sparql > drop\"]\n[pipeline.p.stage]\nsparql = { "+text+" }\n"), config.LoadOptions{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	o := with(func(o *Options) { o.Listen, o.Token = ":80", pipeline.NewSecret("0123456789abcdef") })
	if err := o.Validate(); err != nil {
		t.Error(err)
	}
}
