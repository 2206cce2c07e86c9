package all

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/config"
	"github.com/webrace/webrace/pipeline/finding"
	"github.com/webrace/webrace/stages/print"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/xmlschema"
)

// The places at which a stage, x, is tried in a crawl; x* are its ports of documents.
const (
	beforeCache = "fetch > normalize > x; x* > cache > end"
	besideCache = "fetch > normalize > x, cache; cache > end" // for stages that pass no documents on
	behindCache = "fetch > normalize > cache > x; x* > end"
	behindFetch = "fetch > x; x* > normalize > cache > end"
	noNormalize = "fetch > x; x* > cache > end"
	behindBody  = "fetch > cache > x; x* > end"
	cacheFirst  = "fetch > cache > x; x* > normalize > end"
)

// unmodifiedCase is a stage, with options that look at all that documents may come without, and what lint reports of it
// at each place: a code, or nothing, and then the stage does the same in all cases.
type unmodifiedCase struct {
	options string
	page    string
	ports   []string // of documents; the others are collected, too
	others  []string
	places  map[string]finding.Code
	gives   int // the least that is collected in each run
}

const (
	htmlPage = `<html lang="en"><title>Storm over Kos</title><h1>Storm</h1><p>The storm came at night, and stayed. <a href="/more">More</a>`
	rssPage  = `<rss version="2.0"><channel><title>News</title><link>/home</link><item><title>Storm</title><link>/storm</link></item></channel></rss>`
	mapPage  = `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>http://HOST/a</loc></url></urlset>`
)

// only returns what lint reports before the cache and behind it.
func only(before, behind finding.Code) map[string]finding.Code {
	return map[string]finding.Code{beforeCache: before, behindCache: behind}
}

func passes(options string, extra ...string) unmodifiedCase {
	return unmodifiedCase{options: options, ports: append([]string{""}, extra...), places: only(finding.CodePart, ""), gives: 1}
}

func ends(options string, others ...string) unmodifiedCase {
	return unmodifiedCase{
		options: options, others: others, gives: 1,
		places: map[string]finding.Code{besideCache: finding.CodePart, behindCache: ""},
	}
}

var unmodifiedCases = map[string]unmodifiedCase{
	"map":        passes(`where = "text contains 'storm'"` + "\n" + `set = { "meta.title" = "upper(title)" }`),
	"route":      {options: `ports = [{ name = "hit", when = "text contains 'storm' and len(links) == 1" }]`, ports: []string{"hit", "other"}, places: only(finding.CodePart, ""), gives: 1},
	"dedupe":     passes(`key = "title"`, "duplicates"),
	"sample":     passes("share = 1.0\n"+`key = "canonical + string(version)"`, "rest"),
	"throttle":   passes("count = 1000\nperiod = \"1s\"\nburst = 1000\n" + `key = "body"`),
	"ask":        passes(`url = "SINK"` + "\n" + `model = "small"` + "\nallow_networks = [\"loopback\"]"),
	"batch":      ends("count = 1\n"+`key = "language"`, ""),
	"window":     ends("count = 1\n"+`aggregate = { longest = "max len(text)", language = "max language" }`, ""),
	"extract":    ends(`fields = { head = "css:h1", more = "css:a@href | url" }`, ""),
	"chunk":      ends(``, "", "same"),
	"write-file": ends(`path = "OUT"`),
	"http-out":   ends(`url = "SINK"` + "\n" + `allow_networks = ["loopback"]`),
	"print":      ends(`format = "json"`, "passed"),
	"index":      ends(``),
	"keyword-filter": {
		options: `audience = "everyone"`, others: []string{""}, gives: 1,
		places: map[string]finding.Code{besideCache: finding.CodePart, behindCache: "", behindBody: finding.CodePart},
	},
	"queue": {ports: []string{""}, places: map[string]finding.Code{behindCache: ""}, gives: 1}, // before it, what cache learns would be lost
	"drop":  {places: map[string]finding.Code{besideCache: "", behindCache: ""}},
	"normalize": {
		ports: []string{""}, others: []string{"links"}, gives: 2,
		places: map[string]finding.Code{noNormalize: "", behindBody: ""},
	},
	"feed-parse": {
		page: rssPage, ports: []string{""}, others: []string{"links"}, gives: 2,
		places: map[string]finding.Code{behindFetch: "", beforeCache: "", behindCache: "", cacheFirst: ""},
	},
	"sitemap-parse": {
		page: mapPage, ports: []string{""}, others: []string{"links"}, gives: 1,
		places: map[string]finding.Code{behindFetch: "", beforeCache: "", behindCache: "", cacheFirst: ""},
	},
	"transform":  {ports: []string{""}, places: map[string]finding.Code{behindCache: ""}, gives: 1}, // in front of cache, documents that were not fetched anew have no graph
	"quad-index": {ports: []string{""}, places: only(finding.CodePart, finding.CodePart)},
	"quad-links": {ports: []string{""}, others: []string{"links"}, places: only("", ""), gives: 1},
	"detect":     {ports: []string{""}, places: only("", ""), gives: 1},
	"xslt":       {ports: []string{""}, places: only("", ""), gives: 1},
	"cache":      {ports: []string{""}, others: []string{"links"}, places: only("", ""), gives: 2},
}

// elsewhere are the stages that another test of this name is about, because they need a program.
var elsewhere = []string{"exec", "render"}

// TestFreshAndUnmodified crawls a page three times with each shipped stage at each place: it is sent, then the server
// answers 304, then it is fresh and not asked for. Either lint finds that the stage cannot stand there, or what comes
// of it is the same each time.
func TestFreshAndUnmodified(t *testing.T) {
	for _, typ := range pipeline.DefaultRegistry.Types() {
		spec, _ := pipeline.DefaultRegistry.Lookup(typ)
		c, known := unmodifiedCases[typ]
		switch {
		case slices.Contains(elsewhere, typ), len(spec.In) == 0:
			continue
		case !slices.ContainsFunc(spec.In, func(k pipeline.Kind) bool { return k.IsAny() || k.Name() == "document" }):
			if known {
				t.Errorf("%s takes no documents", typ)
			}
			continue
		case !known:
			t.Errorf("%s takes documents, and nothing is known of it here", typ)
			continue
		}
		if spec.Needs == nil && !needsByOptions(typ) {
			t.Errorf("%s does not say what it needs of a document", typ)
		}
		for place, code := range c.places {
			for _, bare := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/bare=%t", typ, place, bare), func(t *testing.T) {
					t.Parallel()
					newUnmodifiedTrial(t, typ, c, place).run(code, bare)
				})
			}
		}
	}
}

func needsByOptions(typ string) bool {
	g := pipeline.NewGraph("p")
	_, ok := g.AddType("x", typ, nil).Options.(pipeline.NeededPartsProvider)
	return ok
}

// unmodifiedTrial is a stage at a place, and a site that has one page.
type unmodifiedTrial struct {
	*testing.T
	unmodifiedCase
	typ, place string
	site, sink *httptest.Server
	out        string
	dir        *storage.Dir
	resources  *pipeline.Resources

	mu   sync.Mutex
	sent []int // statuses of the page
	got  []string
}

func newUnmodifiedTrial(t *testing.T, typ string, c unmodifiedCase, place string) *unmodifiedTrial {
	u := &unmodifiedTrial{T: t, unmodifiedCase: c, typ: typ, place: place, out: filepath.Join(t.TempDir(), "out.jsonl")}
	u.site = httptest.NewServer(http.HandlerFunc(u.answer))
	t.Cleanup(u.site.Close)
	u.sink = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		u.collectJSON(body)
	}))
	t.Cleanup(u.sink.Close)
	var err error
	if u.dir, err = storage.Open(filepath.Join(t.TempDir(), "data"), storage.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { u.dir.Close() })
	u.resources = new(pipeline.Resources)
	pipeline.Provide(u.resources, u.dir)
	pipeline.Provide[pipeline.OpenStates](u.resources, func() (pipeline.States, error) { return u.dir.States() })
	pipeline.Provide(u.resources, print.Output{Writer: lineWriter{u}})
	return u
}

// lineWriter collects what the stage print shows.
type lineWriter struct{ u *unmodifiedTrial }

func (w lineWriter) Write(line []byte) (int, error) {
	w.u.collectJSON(line)
	return len(line), nil
}

// answer is the site: a page, which is as it was.
func (u *unmodifiedTrial) answer(w http.ResponseWriter, q *http.Request) {
	if q.URL.Path != "/" {
		http.NotFound(w, q)
		return
	}
	status := http.StatusOK
	w.Header().Set("ETag", `"1"`)
	if q.Header.Get("If-None-Match") == `"1"` {
		status = http.StatusNotModified
	} else if u.page == "" {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
	} else {
		w.Header().Set("Content-Type", "application/xml")
	}
	u.mu.Lock()
	u.sent = append(u.sent, status)
	u.mu.Unlock()
	w.WriteHeader(status)
	if page := u.page; status == http.StatusOK {
		if page == "" {
			page = htmlPage
		}
		_, _ = io.WriteString(w, strings.ReplaceAll(page, "HOST", q.Host))
	}
}

// config writes the pipeline: what leaves it goes to the stages end and rest.
func (u *unmodifiedTrial) config() string {
	flows := []string{"lines > frontier > fetch", "fetch.redirects, fetch.sitemaps > frontier"}
	for flow := range strings.SplitSeq(u.place, "; ") {
		if passed, ok := strings.CutPrefix(flow, "x*"); !ok {
			flows = append(flows, flow)
		} else if len(u.ports) > 0 {
			flows = append(flows, strings.Join(named("x", u.ports), ", ")+passed)
		}
	}
	rest := named("x", u.others)
	for _, stage := range []string{"cache", "normalize"} {
		if strings.Contains(u.place, stage) {
			rest = append(rest, stage+".links")
		}
	}
	flows = append(flows, strings.Join(rest, ", ")+" > rest")
	var b strings.Builder
	fmt.Fprintf(&b, "version = 1\n[pipeline.p]\nflow = %s\n", quoted(flows))
	table := func(stage, options string) { fmt.Fprintf(&b, "[pipeline.p.stage.%s]\n%s\n", stage, options) }
	table("lines", fmt.Sprintf("urls = [%q]\ndepth = 1", u.site.URL+"/"))
	table("fetch", "allow_networks = [\"loopback\"]\ndelay = \"0s\"")
	table("x", fmt.Sprintf("type = %q\n%s", u.typ, strings.NewReplacer("OUT", u.out, "SINK", u.sink.URL).Replace(u.options)))
	table("rest", `type = "drop"`)
	if len(u.ports) > 0 || u.place == besideCache {
		table("end", `type = "drop"`)
	}
	return b.String()
}

func named(stage string, ports []string) []string {
	var names []string
	for _, port := range ports {
		names = append(names, strings.TrimSuffix(stage+"."+port, "."))
	}
	return names
}

func quoted(list []string) string {
	text, _ := json.Marshal(list)
	return string(text)
}

// run crawls three times if lint finds nothing, as it should or should not.
func (u *unmodifiedTrial) run(code finding.Code, bare bool) {
	if graph, err := u.graph("0s", bare); err != nil || code != "" {
		u.judge(graph, err, code)
		return
	}
	var first []string
	for i, fresh := range []string{"0s", "0s", "1h"} {
		graph, err := u.graph(fresh, bare)
		if err != nil {
			u.Fatal(err)
		}
		got := u.crawl(graph, i)
		if i == 0 {
			first = got
		}
		if len(got) < u.gives {
			u.Fatalf("run %d gives only %q", i+1, got)
		}
		if !slices.Equal(got, first) {
			u.Errorf("run %d gives\n%s\nand the first gave\n%s", i+1, strings.Join(got, "\n"), strings.Join(first, "\n"))
		}
	}
	want := []int{200, 304}
	if u.page == mapPage { // which is not kept, and so asked for each time
		want = []int{200, 200, 200}
	}
	if !slices.Equal(u.sent, want) {
		u.Errorf("the server answered %v, want %v", u.sent, want)
	}
}

// judge holds what lint reports against what it should report.
func (u *unmodifiedTrial) judge(_ *pipeline.Graph, err error, code finding.Code) {
	var found finding.List
	errors.As(err, &found)
	if code == "" || len(found) != 1 || found[0].Code != code || found[0].Pos.Line != 3 {
		u.Fatalf("lint says %v, want a finding of the code %q in the flow", err, code)
	}
	u.Log(found[0].Message)
}

// graph loads the pipeline with collectors. A bare one asks for no parts: what it is given shows what the stage alone
// makes the cache recall.
func (u *unmodifiedTrial) graph(fresh string, bare bool) (*pipeline.Graph, error) {
	config, err := config.Parse("p.toml", []byte(u.config()), config.LoadOptions{Set: []string{"frontier.fresh=" + fresh}})
	if err != nil {
		return nil, err
	}
	graph, err := config.Graph("p")
	if err != nil {
		return nil, err
	}
	for _, s := range graph.Stages {
		if s.Name != "end" && s.Name != "rest" {
			continue
		}
		if !bare {
			s.Spec.Needs = nil
		}
		s.Make = func(*pipeline.Env) (any, error) {
			return pipeline.Map(func(_ context.Context, v any) (any, error) {
				u.collect(v, bare)
				return v, nil
			}), nil
		}
	}
	return graph, graph.Check()
}

// crawl runs the pipeline for a new owner, and returns what came of it.
func (u *unmodifiedTrial) crawl(graph *pipeline.Graph, run int) []string {
	u.subscribe(fmt.Sprintf("owner-%d", run))
	u.got = nil
	report, err := graph.Run(u.Context(), pipeline.RunOptions{Resources: u.resources})
	if err != nil {
		u.Fatalf("run %d: %v", run+1, err)
	}
	if u.typ == "write-file" {
		u.written()
	}
	for i, line := range u.got {
		u.got[i] = strings.Replace(line, `"change":"same"`, `"change":"new"`, 1) // which chunk knows from one run to the next
	}
	if u.typ == "index" {
		u.note("indexed", report.Stages["x"].Counters["indexed"])
	}
	slices.Sort(u.got)
	return slices.Compact(u.got)
}

// subscribe adds a URD: those who were told before are not told again.
func (u *unmodifiedTrial) subscribe(owner string) {
	if u.typ != "keyword-filter" {
		return
	}
	store, err := u.dir.Control()
	if err != nil {
		u.Fatal(err)
	}
	text := fmt.Sprintf(`<urd xmlns="urn:webrace:1" owner=%q><uri>%s/</uri><keywords threshold="1"><keyword key="storm" weight="5"/></keywords></urd>`, owner, u.site.URL)
	decoder := xmlschema.NewDecoder(strings.NewReader(text))
	urds := slices.Collect(decoder.URDs())
	if err := decoder.Err(); err != nil {
		u.Fatal(err)
	}
	if _, err := store.Put(u.Context(), urds); err != nil {
		u.Fatal(err)
	}
}

// written collects the lines of the file, which it then removes.
func (u *unmodifiedTrial) written() {
	text, err := os.ReadFile(u.out)
	if err != nil {
		u.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		u.collectJSON([]byte(line))
	}
	if err := os.Remove(u.out); err != nil {
		u.Fatal(err)
	}
}

// collect notes a value by what does not depend on when and how it was obtained.
func (u *unmodifiedTrial) collect(v any, bare bool) {
	switch v := v.(type) {
	case *webrace.Document:
		if bare {
			u.note("document", v.URL, v.Version)
			return
		}
		u.note("document", v.URL, string(v.Body), v.MediaType, v.Charset, v.Language, v.Title, v.Text, v.Links, v.Canonical, v.Digest, v.Version)
	case *webrace.Links:
		for _, url := range v.URLs {
			u.note("link", url)
		}
	case *xmlschema.ACI:
		u.note("annotation", v.URI, v.Title, v.Summary, v.Relevance, v.Docbase.Version)
	case pipeline.List:
		for _, one := range v {
			u.collect(one, bare)
		}
	case pipeline.Record:
		delete(v, "from")
		delete(v, "to")
		u.note("record", v)
	default:
		u.note(fmt.Sprintf("%T", v), v)
	}
}

// collectJSON notes a document that was written as JSON.
func (u *unmodifiedTrial) collectJSON(line []byte) {
	var all map[string]any
	if err := json.Unmarshal(line, &all); err != nil {
		u.Error(err)
	}
	same := make(map[string]any)
	for name, v := range all {
		switch strings.ToLower(name) {
		case "url", "body", "text", "title", "language", "charset", "links", "version", "digest", "mediatype", "media_type":
			same[name] = v
		}
	}
	if len(same) < 5 {
		u.Errorf("this is no document: %s", line)
	}
	u.note("JSON", same)
}

func (u *unmodifiedTrial) note(what string, values ...any) {
	text, err := json.Marshal(values)
	if err != nil {
		u.Error(err)
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.got = append(u.got, what+" "+string(text))
}
