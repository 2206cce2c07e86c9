package score

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	_ "github.com/webrace/webrace/stages/drop"
	"github.com/webrace/webrace/stages/frontier"
	_ "github.com/webrace/webrace/stages/normalize"
	"github.com/webrace/webrace/storage"
	store "github.com/webrace/webrace/storage/frontier"
)

// crawl crawls pages of HTML, one after the other, and returns the paths in the order in which they were asked for.
func crawl(t *testing.T, order store.Order, score *Options, pages map[string]string) (asked []string) {
	t.Helper()
	dir, err := storage.Open(t.TempDir(), storage.Options{Frontier: store.Options{FS: vfs.NewMem()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	resources := new(pipeline.Resources)
	pipeline.Provide(resources, dir)

	g := pipeline.NewGraph("crawl")
	requests, documents := pipeline.KindOf[webrace.Request](), pipeline.KindOf[*webrace.Document]()
	g.AddStage("starts", pipeline.Spec{Type: "starts", Out: []pipeline.Port{{Kind: requests}}}, func(*pipeline.Env) (any, error) {
		return source(func(ctx context.Context, out pipeline.Emitter) error {
			start := &webrace.Crawl{ID: "c", Start: site, Scope: webrace.ScopeHost, Urgency: 1}
			return out.Emit(ctx, &pipeline.Item{Value: webrace.Request{URL: site, Crawl: start}})
		}), nil
	})
	o := pipeline.DefaultRegistry.Defaults("frontier").(frontier.Options)
	o.Order, o.Leases = string(order), 1
	g.Add("frontier", o)
	g.AddStage("site", pipeline.Spec{Type: "site", In: pipeline.Kinds(requests), Out: []pipeline.Port{{Kind: documents}}}, func(*pipeline.Env) (any, error) {
		return processor(func(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
			r := it.Value.(webrace.Request)
			path := strings.TrimPrefix(r.URL, site)
			asked = append(asked, path)
			return out.Emit(ctx, it.With(&webrace.Document{
				URL: r.URL, Reach: r.Reach, Outcome: webrace.Fetched, Status: 200, Header: http.Header{"Content-Type": {"text/html; charset=utf-8"}},
				Body: []byte(pages[path]), At: time.Now(),
			}))
		}), nil
	})
	g.Add("normalize", nil)
	g.Add("drop", nil)
	g.Wire("starts > frontier > site > normalize > drop")
	if score == nil {
		g.Wire("normalize.links > frontier")
	} else {
		g.Add("score", *score)
		g.Wire("normalize.links > score > frontier")
	}
	if err := g.Check(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	run, err := g.Start(ctx, pipeline.RunOptions{Resources: resources})
	if err == nil {
		_, err = run.Wait()
	}
	if err != nil || len(asked) != len(pages) {
		t.Fatalf("%d of %d pages were asked for, %v", len(asked), len(pages), err)
	}
	return asked
}

type source func(context.Context, pipeline.Emitter) error

func (f source) Run(ctx context.Context, out pipeline.Emitter) error { return f(ctx, out) }

type processor func(context.Context, *pipeline.Item, pipeline.Emitter) error

func (f processor) Process(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
	return f(ctx, it, out)
}

// archive is a site of ten sections with ten pages each, and three more under each of these. Links, URLs and texts tell
// of storms as sites do: now here, now there.
func archive() (pages map[string]string, storms int) {
	const start, sections, perSection, perPage = "", 10, 10, 3
	pages = make(map[string]string)
	link := func(from, to, anchor string) { pages[from] += fmt.Sprintf("<p><a href='/%s'>%s</a></p>", to, anchor) }
	for s := range sections {
		section, anchor := fmt.Sprint("section-", s), fmt.Sprint("Section ", s)
		if s == 7 {
			anchor = "Storms and floods"
		}
		link(start, section, anchor)
		pages[section] += "<h1>" + anchor + "</h1>"
		for p := range perSection {
			path, anchor := fmt.Sprintf("%s/%d.html", section, p), fmt.Sprint("Page ", p)
			if s == 7 {
				path = fmt.Sprintf("%s/storm-%d.html", section, p)
			}
			link(section, path, anchor)
			pages[path] += "<h1>" + anchor + "</h1>"
			if s == 7 {
				pages[path] += "<p>The storm of this year, and what the storm broke.</p>"
			}
			for i := range perPage {
				more := fmt.Sprintf("%s-%d", path, i)
				link(path, more, "Read more")
				pages[more] = "<p>The end.</p>"
			}
		}
	}
	return pages, 1 + perSection + perSection*perPage
}

// TestTheRelevantPagesComeInFewerFetches compares at how many fetches the last of the pages of a topic has come.
func TestTheRelevantPagesComeInFewerFetches(t *testing.T) {
	t.Parallel()
	pages, storms := archive()
	last := func(asked []string) (at int) {
		for i, path := range asked {
			if strings.HasPrefix(path, "section-7") {
				at = i + 1
			}
		}
		return at
	}
	keywords := with(func(o *Options) { o.Keywords = map[string]int{"storm": 5} })
	both := keywords
	both.OPIC = true
	bfs := last(crawl(t, store.BreadthFirst, nil, pages))
	unscored := last(crawl(t, store.BestFirst, nil, pages))
	for name, o := range map[string]Options{"keywords": keywords, "keywords and opic": both} {
		best := last(crawl(t, store.BestFirst, &o, pages))
		t.Logf("%d pages of %d are of the topic. The last has come after %d fetches by bfs, %d by best-first without scores, %d with %s", storms, len(pages), bfs, unscored, best, name)
		if best > storms+5 || best*3 > bfs || best*3 > unscored {
			t.Errorf("%s: all %d pages have come after %d fetches, by bfs after %d, by best-first without scores after %d", name, storms, best, bfs, unscored)
		}
	}
}

// TestAnImportantPageComesEarly has a page that is linked to last on the start page, and then on every other: it rises
// while it waits.
func TestAnImportantPageComesEarly(t *testing.T) {
	t.Parallel()
	pages := map[string]string{"hub": "<p>hub"}
	for i := range 30 {
		path := fmt.Sprint("page-", i)
		pages[""] += fmt.Sprintf("<a href='/%s'>page</a>", path)
		pages[path] = fmt.Sprintf("<a href='/%s-a'>more</a> <a href='/hub'>the hub</a>", path)
		pages[path+"-a"] = "<p>more"
	}
	pages[""] += "<a href='/hub'>the hub</a>"
	at := func(asked []string) int {
		for i, path := range asked {
			if path == "hub" {
				return i + 1
			}
		}
		return 0
	}
	opic := with(func(o *Options) { o.OPIC = true })
	bfs, best := at(crawl(t, store.BreadthFirst, nil, pages)), at(crawl(t, store.BestFirst, &opic, pages))
	if bfs != 32 || best > 4 {
		t.Errorf("the page that all link to is the %dth by bfs, want the 32nd, and the %dth by opic, want the 4th at most", bfs, best)
	}
}
