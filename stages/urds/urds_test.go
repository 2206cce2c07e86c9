package urds

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/stagetest"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/frontier"
	"github.com/webrace/webrace/xmlschema"
)

type fixture struct {
	resources *pipeline.Resources
	control   *control.Store
}

func newFixture(t *testing.T) fixture {
	t.Helper()
	dir, err := storage.Open(t.TempDir(), storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	store, err := dir.Control()
	if err != nil {
		t.Fatal(err)
	}
	f := fixture{new(pipeline.Resources), store}
	pipeline.Provide(f.resources, dir)
	return f
}

// put stores a request with the owner's name for its id.
func (f fixture) put(t *testing.T, owner, uri string, change ...func(*xmlschema.URD)) control.URD {
	t.Helper()
	u := xmlschema.NewURD(owner, uri)
	u.ID = owner
	for _, c := range change {
		c(u)
	}
	if _, err := f.control.Put(context.Background(), []*xmlschema.URD{u}); err != nil {
		t.Fatal(err)
	}
	stored, err := f.control.Get(context.Background(), u.ID)
	if err != nil {
		t.Fatal(err)
	}
	return stored
}

// crawls runs the stage, and returns what it starts by the URL of the start.
func (f fixture) crawls(t *testing.T, o Options) (map[string]webrace.Crawl, map[string]int64) {
	t.Helper()
	got := stagetest.Try(t, stagetest.Case{Type: "urds", Options: o, Resources: f.resources})
	crawls := make(map[string]webrace.Crawl)
	for _, v := range got.Out[""] {
		seed := v.(webrace.Request)
		if _, twice := crawls[seed.URL]; twice || seed.Crawl == nil || seed.Crawl.Start != seed.URL || seed.Reach != nil {
			t.Errorf("seed %+v", seed)
			continue
		}
		crawls[seed.URL] = *seed.Crawl
	}
	return crawls, got.Counters
}

func TestConformance(t *testing.T) {
	f := newFixture(t)
	f.put(t, "eleni", "https://a.org/")
	f.put(t, "nikos", "https://b.org/")
	stagetest.Run(t, stagetest.Case{Type: "urds", Resources: f.resources})
}

func TestAPausedRequestStartsNothing(t *testing.T) {
	f := newFixture(t)
	paused := func(u *xmlschema.URD) { u.Paused, u.Depth = true, 9 }
	f.put(t, "one", "https://a.org/")
	f.put(t, "two", "https://a.org/", paused)
	f.put(t, "other", "https://b.org/", paused)
	crawls, counters := f.crawls(t, defaults)
	if len(crawls) != 1 || crawls["https://a.org/"].Levels != 1 || counters["urds"] != 1 {
		t.Errorf("started %+v, for %d URDs", crawls, counters["urds"])
	}
}

func TestOneCrawlIsStartedForAllWhoShareIt(t *testing.T) {
	f := newFixture(t)
	one := f.put(t, "one", "https://A.org", func(u *xmlschema.URD) { u.Depth, u.Urgency, u.Timing = 1, 3, time.Hour })
	f.put(t, "two", "https://a.org/", func(u *xmlschema.URD) { u.Depth, u.Urgency, u.Timing = 4, 1, 2*time.Hour })
	other := f.put(t, "other", "https://b.org/x")
	crawls, counters := f.crawls(t, defaults)
	want := map[string]webrace.Crawl{
		"https://a.org/":  {ID: one.Crawl.ID, Start: "https://a.org/", Scope: webrace.ScopeHost, Levels: 4, Urgency: 3, Timing: time.Hour},
		"https://b.org/x": other.Crawl,
	}
	if !reflect.DeepEqual(crawls, want) {
		t.Errorf("got %+v, want %+v", crawls, want)
	}
	if counters["urds"] != 3 || counters["crawls"] != 2 {
		t.Errorf("counters %v", counters)
	}
}

// Of a cluster, each partition starts the crawls whose start is its own, also in a continuous run.
func TestAPartitionStartsItsOwnCrawls(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.put(t, "eleni", "http://a.example/x")
	f.put(t, "maria", "https://b.example:8080/")
	var asked []string
	pipeline.Provide[frontier.Here](f.resources, func(host string) bool {
		asked = append(asked, host)
		return host == "a.example"
	})
	started, counted := f.crawls(t, Defaults())
	if len(started) != 1 || started["http://a.example/x"].Start == "" || counted["urds"] != 1 || counted["crawls"] != 1 {
		t.Errorf("it starts %v, and counts %v", started, counted)
	}
	if slices.Sort(asked); !slices.Equal(asked, []string{"a.example", "b.example:8080"}) {
		t.Errorf("it asks for the partitions of %q", asked)
	}
	r, out := newTestRounds(t, f, Defaults())
	r.openDue(t, time.Now())
	if again := out.take(); len(again) != 1 || again[0].URL != "http://a.example/x" {
		t.Errorf("a continuous run starts %v", again)
	}
}

func TestScopeAndCredentialsMakeCrawlsApart(t *testing.T) {
	f := newFixture(t)
	f.put(t, "host", "https://a.org/")
	f.put(t, "any", "https://a.org/", func(u *xmlschema.URD) { u.Scope = xmlschema.ScopeAny })
	f.put(t, "secret", "https://a.org/", func(u *xmlschema.URD) { u.Secret = "s" })
	got := stagetest.Try(t, stagetest.Case{Type: "urds", Resources: f.resources})
	seen := make(map[webrace.Crawl]bool)
	for _, v := range got.Out[""] {
		crawl := *v.(webrace.Request).Crawl
		crawl.ID = ""
		seen[crawl] = true
	}
	plain := webrace.Crawl{Start: "https://a.org/", Scope: webrace.ScopeHost, Levels: 1, Urgency: 1}
	anywhere, private := plain, plain
	anywhere.Scope, private.Secret = webrace.ScopeAny, "s"
	if len(got.Out[""]) != 3 || !seen[plain] || !seen[anywhere] || !seen[private] {
		t.Errorf("got %+v", seen)
	}
}

func TestSomeStartNoCrawl(t *testing.T) {
	f := newFixture(t)
	f.put(t, "prefix", "https://a.org/*")
	f.put(t, "web", "*")
	f.put(t, "push", "https://b.org/", func(u *xmlschema.URD) { u.Method = xmlschema.MethodPush })
	f.put(t, "mail", "mail.example.org", func(u *xmlschema.URD) { u.Protocol = xmlschema.ProtocolIMAP })
	if crawls, _ := f.crawls(t, defaults); len(crawls) != 0 {
		t.Errorf("got %+v", crawls)
	}
}

func TestOptionsChoose(t *testing.T) {
	f := newFixture(t)
	f.put(t, "eleni", "https://a.org/")
	f.put(t, "nikos", "https://b.org/", func(u *xmlschema.URD) { u.Urgency = 2 })
	f.put(t, "maria", "https://c.org/", func(u *xmlschema.URD) { u.Urgency = 2 })
	for name, c := range map[string]struct {
		options Options
		want    string
	}{
		"all":          {defaults, "a b c"},
		"ids":          {Options{Query: defaults.Query, IDs: []string{"maria", "eleni", "nobody"}}, "a c"},
		"xpath":        {Options{Query: "/urd[urgency/@urgent > 1]"}, "b c"},
		"both":         {Options{Query: "/urd[urgency/@urgent > 1]", IDs: []string{"eleni", "nikos"}}, "b"},
		"owner":        {Options{Query: "/urds/urd[@owner='eleni']"}, "a"},
		"none of them": {Options{Query: "/urd[@owner='nobody']"}, ""},
	} {
		crawls, _ := f.crawls(t, c.options)
		var got []string
		for _, host := range []string{"a", "b", "c"} {
			if _, ok := crawls["https://"+host+".org/"]; ok {
				got = append(got, host)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestNothingToDoIsSaid(t *testing.T) {
	var log bytes.Buffer
	env := pipeline.NewEnv("p", "urds", newFixture(t).resources)
	env.Logger = slog.New(slog.NewTextHandler(&log, nil))
	s, err := newStage(defaults, env)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.(pipeline.Source).Run(t.Context(), nil); err != nil || !strings.Contains(log.String(), "no URD to crawl for") {
		t.Errorf("%v, log %q", err, &log)
	}
}

func TestTheExpressionIsValidated(t *testing.T) {
	var fault *pipeline.OptionError
	if err := (Options{Query: "/urd["}).Validate(); !errors.As(err, &fault) || fault.Option != "xpath" {
		t.Errorf("got %v", err)
	}
	if err := defaults.Validate(); err != nil {
		t.Error(err)
	}
}
