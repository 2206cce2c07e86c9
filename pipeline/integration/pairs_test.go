package integration

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/config"
	"github.com/webrace/webrace/pipeline/finding"
	"github.com/webrace/webrace/xmlschema"
)

// leases is how many URLs a frontier hands out: as few as lint lets stand before the lists and windows of the tests.
const leases = 3

// options of stage types, as a table of TOML. What keeps items keeps them for an hour, so that a pair which waits for
// that does not come to its end, and has more of them than the frontier hands out.
func (w *world) options(typ string) string {
	const patient = `period = "1h"`
	switch typ {
	case "acis", "cache", "chunk", "detect", "drop", "feed-parse", "gc", "normalize", "objects", "outbox", "quad-index", "quad-links", "queue", "sitemap-parse", "source-watch", "sql",
		"transform", "urds", "xslt":
		return ""
	case "aci-emit", "index":
		return fmt.Sprintf("batch = { count = %d, %s }", leases, patient)
	case "ask":
		return fmt.Sprintf(`url = %q, model = "small", allow_networks = ["loopback"]`, w.hook)
	case "batch":
		return fmt.Sprintf("count = %d, %s", leases, patient)
	case "dedupe":
		return `key = "value"`
	case "exec":
		return fmt.Sprintf(`command = [%q], takes = ["any"], gives = [{ kind = "same" }], env = { WEBRACE_TEST_PROGRAM = "1" }, ready = "5m"`, os.Args[0])
	case "extract":
		return `fields = { title = "css:title" }`
	case "fetch", "imap", "nntp":
		return `allow_networks = ["loopback"]`
	case "frontier":
		return fmt.Sprintf(`leases = %d, fresh = "0s"`, leases)
	case "http-out":
		return fmt.Sprintf(`url = %q, format = "array", allow_networks = ["loopback"], batch = { count = 2, %s }`, w.hook, patient)
	case "keyword-filter":
		return `audience = "everyone"`
	case "lines":
		return fmt.Sprintf("urls = [%q, %q, %q, %q], depth = 2", w.site, w.site+"/6", w.site+"/7", w.site+"/8")
	case "mail-out":
		return fmt.Sprintf(`host = "127.0.0.1", port = %d, tls = "none", from = "webrace@site.example", default_to = "eleni@site.example"`, w.smtp)
	case "map":
		return `set = { "meta.kind" = "kind" }`
	case "print":
		return `format = "json"`
	case "read-file":
		return fmt.Sprintf(`paths = [%q], format = "csv"`, filepath.Join(w.dir, "rows.csv"))
	case "render":
		return `rules = ["deny all"], sandbox = false`
	case "route":
		return `ports = [{ name = "documents", when = "kind == 'document'" }]`
	case "sample":
		return "every = 2"
	case "score":
		return `keywords = { storm = 5 }`
	case "throttle":
		return "count = 500"
	case "warc-source":
		return fmt.Sprintf("paths = [%q]", filepath.Join(w.dir, "pages.warc"))
	case "window":
		return "count = 2, " + patient
	case "write-file":
		path := filepath.Join(w.dir, fmt.Sprint("out", w.files.Add(1)))
		return fmt.Sprintf("path = %q, batch = { count = 2, %s }", path, patient)
	}
	panic(fmt.Sprintf("say in options what stages of type %q need", typ))
}

// head leads to a pair whose first stage is no source.
type head struct {
	name, flow string
	back       string // what leads back to its frontier
	has        []string
}

var heads = []head{
	{"seeds", "lines", "", []string{"lines"}},
	{"requests", "lines > frontier", "", []string{"lines", "frontier"}},
	{"documents", "lines > frontier > fetch", "fetch.redirects, fetch.sitemaps > frontier", []string{"lines", "frontier", "fetch"}},
	{
		"annotations", "urds > frontier > fetch > normalize > cache > keyword-filter", "normalize.links, cache.links, fetch.redirects, fetch.sitemaps > frontier",
		[]string{"urds", "frontier", "fetch", "normalize", "cache", "keyword-filter"},
	},
}

// tells reports whether a pair tells something behind the head that it does not tell behind another: documents are for
// all, the others for those that take what they give, and requests for what may keep the turn of a host.
func (h head) tells(a, b string) bool {
	one := func(is func(string) bool) bool { return is(a) || is(b) }
	switch h.name {
	case "seeds":
		return one(func(typ string) bool { return typ == "frontier" })
	case "requests":
		return one(func(typ string) bool { return takes[webrace.Request](typ) || keeps(typ) })
	case "annotations":
		return one(takes[*xmlschema.ACI])
	}
	return true
}

func takes[T any](typ string) bool {
	spec, _ := pipeline.DefaultRegistry.Lookup(typ)
	return slices.Contains(spec.In, pipeline.KindOf[T]())
}

func keeps(typ string) bool {
	spec, _ := pipeline.DefaultRegistry.Lookup(typ)
	return spec.Batch != (pipeline.Batch{}) || slices.Contains([]string{"batch", "window", "throttle"}, typ)
}

// pair is a stage whose output leads to another, in a pipeline that feeds them.
type pair struct {
	name   string
	config string
}

// pairs returns all that may stand in a flow; those that cannot, lint reports.
func (w *world) pairs(types []string) (all []pair) {
	for _, a := range types {
		spec, _ := pipeline.DefaultRegistry.Lookup(a)
		for _, b := range types {
			if to, _ := pipeline.DefaultRegistry.Lookup(b); len(to.In) == 0 {
				continue
			}
			for _, port := range w.ports(a) {
				if len(spec.In) == 0 {
					all = append(all, w.pair(a, port, b, "", "", "", nil))
					continue
				}
				for _, h := range heads {
					if a == "frontier" && (b == a || slices.Contains(h.has, a)) || !h.tells(a, b) {
						continue // a pipeline has one queue of URLs
					}
					all = append(all, w.pair(a, port, b, h.name, h.flow, h.back, h.has))
				}
			}
		}
	}
	return all
}

// ports returns the outputs of a type with the options of the tests.
func (w *world) ports(typ string) (names []string) {
	g := pipeline.NewGraph("ports")
	g.Add(typ, nil)
	if typ == "route" {
		return []string{"documents", "other"}
	}
	if typ == "exec" {
		return []string{""}
	}
	for _, p := range g.Stages[0].Ports() {
		names = append(names, p.Name)
	}
	return names
}

// pair writes the configuration of a pair. A second frontier would be of the same queue: where the pair's second stage
// is one, and the head has one, the pair leads back to that.
func (w *world) pair(a, port, b, head, flow, back string, has []string) pair {
	first, second := "first", "second"
	tables := map[string]string{}
	table := func(name, typ string) {
		tables[name] = fmt.Sprintf("%s = { type = %q, %s }", name, typ, w.options(typ))
	}
	for _, typ := range has {
		table(typ, typ)
	}
	table(first, a)
	if b == "frontier" && slices.Contains(has, "frontier") {
		second = "frontier"
	} else {
		table(second, b)
	}
	flows := []string{first}
	if flow != "" {
		flows[0] = flow + " > " + first
	}
	from := first
	if port != "" {
		from += "." + port
	}
	flows = append(flows, from+" > "+second)
	if back != "" {
		flows = append(flows, back)
	}
	if port != "" && slices.Contains(w.ports(a), "") {
		flows = append(flows, first+" > drop")
	}
	if second != "frontier" && slices.Contains(w.ports(b), "") {
		flows = append(flows, w.tail(second, b, table)...)
	}
	if flows[0] == first {
		flows = flows[1:]
	}
	if a == "render" || b == "render" {
		flows = append(flows, loader(tables, table, slices.Contains(has, "fetch"), a == "fetch" || b == "fetch")...)
	}
	name := strings.TrimPrefix(strings.Join([]string{head, a + "." + port, b}, "/"), "/")
	quoted := make([]string, len(flows))
	for i, f := range flows {
		quoted[i] = fmt.Sprintf("%q", f)
	}
	id := strings.NewReplacer("/", "-", ".", "_").Replace(name)
	return pair{id, fmt.Sprintf("version = 1\n[pipeline.%s]\nflow = [%s]\nstage = { %s }\n",
		id, strings.Join(quoted, ", "), strings.Join(slices.Sorted(maps.Values(tables)), ", "))}
}

// loader sees to it that a render stage knows the fetch stage by which to load what pages ask for.
func loader(tables map[string]string, table func(name, typ string), inHead, inPair bool) []string {
	switch {
	case inHead && inPair:
		for name, options := range tables {
			tables[name] = strings.Replace(options, `type = "render",`, `type = "render", fetch = "fetch",`, 1)
		}
	case !inHead && !inPair:
		table("fetch", "fetch")
		table("lines", "lines")
		return []string{"lines > fetch > drop"}
	}
	return nil
}

// tail leads what the second stage gives to a stage that takes it: requests of a frontier are fetched.
func (w *world) tail(second, typ string, table func(name, typ string)) []string {
	if typ != "frontier" {
		return []string{second + " > drop"}
	}
	table("last", "fetch")
	return []string{second + " > last > drop"}
}

// TestPairs runs every pair of shipped stages that lint admits, with as few leases, and as much patience of what keeps
// items, as there may be: none stalls.
func TestPairs(t *testing.T) {
	if testing.Short() {
		t.Skip("a thousand pipelines: not in short mode")
	}
	t.Parallel()
	types := slices.DeleteFunc(pipeline.DefaultRegistry.Types(), func(typ string) bool {
		return strings.HasPrefix(typ, "test-") || typ == "http-in" || typ == "portal" || typ == "sparql" // which go on until the run is told to end
	})
	if _, err := exec.LookPath("chromium"); err != nil {
		types = slices.DeleteFunc(types, func(typ string) bool { return typ == "render" })
		t.Log("without render: there is no browser")
	}
	w := newWorld(t)
	w.fill(t)
	all := w.pairs(types)
	var tally struct {
		sync.Mutex
		ran, refused, idle int
	}
	turns, browsers := make(chan struct{}, 32), 0
	var running sync.WaitGroup
	for _, p := range all {
		g, err := w.lint(p)
		if err != nil {
			t.Errorf("%s: %v\n%s", p.name, err, p.config)
		}
		if g == nil {
			tally.refused++
			continue
		}
		if strings.Contains(p.config, `type = "render"`) {
			// A browser takes two seconds of a processor to start, and no page is rendered here.
			if browsers++; browsers%8 != 1 {
				continue
			}
		}
		turns <- struct{}{}
		running.Go(func() {
			defer func() { <-turns }()
			came, err := w.run(t.Context(), g)
			if err != nil {
				t.Errorf("%s: %v\n%s", p.name, err, p.config)
			}
			tally.Lock()
			defer tally.Unlock()
			if tally.ran++; !came {
				tally.idle++
			}
		})
	}
	running.Wait()
	t.Logf("%d pairs ran to their end, in %d of them nothing came to the second stage; lint refused %d", tally.ran, tally.idle, tally.refused)
	if tally.ran < 10*len(types) || tally.idle > tally.ran/3 {
		t.Errorf("too few pairs tell something")
	}
}

// fill crawls the site once, so that there is something to follow.
func (w *world) fill(t *testing.T) {
	t.Helper()
	p := w.pair("print", "passed", "aci-emit", heads[3].name, heads[3].flow, heads[3].back, heads[3].has)
	g, err := w.lint(p)
	if err == nil {
		_, err = w.run(t.Context(), g)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// lint returns the graph of a pair, or none if the two do not fit. Any other finding is an error.
func (w *world) lint(p pair) (*pipeline.Graph, error) {
	loaded, err := config.Parse(p.name+".toml", []byte(p.config), config.LoadOptions{})
	var found finding.List
	if errors.As(err, &found) {
		refuses := []finding.Code{finding.CodeKind, finding.CodePart, finding.CodeName, finding.CodeUnwired, finding.CodeCycle} // of two queues
		if slices.ContainsFunc(found, func(f finding.Finding) bool { return slices.Contains(refuses, f.Code) }) {
			return nil, nil
		}
	}
	if err != nil {
		return nil, err
	}
	return loaded.Graph(loaded.Pipelines[0].Name)
}

// letters forgets what stages fail on: what a pair makes of what it is given is not the point.
type letters struct{}

func (letters) Put(context.Context, pipeline.DeadLetterRecord) error { return nil }
func (letters) Replays(context.Context, string) ([]pipeline.DeadLetterRecord, error) {
	return nil, nil
}
func (letters) Replayed(context.Context, string) error { return nil }

// run runs a pair to its end, and reports whether something came to the second stage.
func (w *world) run(ctx context.Context, g *pipeline.Graph) (came bool, err error) {
	run, err := g.Start(ctx, pipeline.RunOptions{Resources: w.resources, DeadLetters: letters{}})
	if err != nil {
		return false, err
	}
	limit := time.NewTimer(stall)
	defer limit.Stop()
	select {
	case <-run.Done():
	case <-limit.C:
		holding := run.Holding()
		report := run.Snapshot()
		run.Cancel()
		return false, fmt.Errorf("it does not end; stages that hold items: %q; counters of the frontier: %v", holding, report.Stages["frontier"].Counters)
	}
	report, err := run.Wait()
	second := "second"
	if _, own := report.Stages[second]; !own {
		second = "frontier"
	}
	return report.Stages[second].In > 0, err
}
