package keywordfilter

import (
	"context"
	"crypto/sha256"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/stagetest"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/objects"
	"github.com/webrace/webrace/xmlschema"
)

const (
	start = "https://example.org/"
	page  = "https://example.org/page"
)

// fixture is a data directory, and the frontier's and the cache's part of the work on one URL.
type fixture struct {
	*testing.T
	resources *pipeline.Resources
	control   *control.Store
	objects   *objects.Store
	options   Options

	at time.Time
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	dir, err := storage.Open(t.TempDir(), storage.Options{Objects: objects.Options{FS: vfs.NewMem(), Logger: quiet}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	f := &fixture{T: t, resources: new(pipeline.Resources), options: defaults, at: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	if f.control, err = dir.Control(); err != nil {
		t.Fatal(err)
	}
	if f.objects, err = dir.Objects(); err != nil {
		t.Fatal(err)
	}
	pipeline.Provide(f.resources, dir)
	return f
}

// urd stores a request for a keyword and returns it. Its id is the owner's name.
func (f *fixture) urd(owner, uri, keyword string, change ...func(*xmlschema.URD)) control.URD {
	f.Helper()
	u := xmlschema.NewURD(owner, uri)
	u.ID = owner
	if keyword != "" {
		u.Keywords = xmlschema.NewKeywords(xmlschema.Keyword{Key: keyword, Weight: 5})
	}
	for _, c := range change {
		c(u)
	}
	if _, err := f.control.Put(context.Background(), []*xmlschema.URD{u}); err != nil {
		f.Fatal(err)
	}
	stored, err := f.control.Get(context.Background(), u.ID)
	if err != nil {
		f.Fatal(err)
	}
	return stored
}

func levels(n int) func(*xmlschema.URD)        { return func(u *xmlschema.URD) { u.Depth = n } }
func scope(change string) func(*xmlschema.URD) { return func(u *xmlschema.URD) { u.Change = change } }
func secret(name string) func(*xmlschema.URD)  { return func(u *xmlschema.URD) { u.Secret = name } }
func remember(n int) func(*xmlschema.URD)      { return func(u *xmlschema.URD) { u.Remember = n } }
func threshold(n int) func(*xmlschema.URD) {
	return func(u *xmlschema.URD) { u.Keywords.Threshold = n }
}
func process(kind string) func(*xmlschema.URD) {
	return func(u *xmlschema.URD) { u.ProcessType = kind }
}
func reached(distance int, urds ...control.URD) []webrace.Reach {
	var reach []webrace.Reach
	for _, u := range urds {
		reach = append(reach, webrace.Reach{Crawl: u.Crawl.ID, Distance: distance})
	}
	slices.SortFunc(reach, func(a, b webrace.Reach) int { return strings.Compare(a.Crawl, b.Crawl) })
	return slices.Compact(reach)
}

// html is a page of paragraphs.
func html(paragraphs ...string) string {
	return "<title>T</title><p>" + strings.Join(paragraphs, "<p>")
}

// fetched is a page as it comes out of the cache, stored and normalized.
func (f *fixture) fetched(body string, visit *webrace.Visit, reach []webrace.Reach) *webrace.Document {
	f.Helper()
	return f.fetchedFrom(page, "", body, visit, reach)
}

// fetchedFrom is a page at another address, or asked for with credentials.
func (f *fixture) fetchedFrom(url, secret, body string, visit *webrace.Visit, reach []webrace.Reach) *webrace.Document {
	f.Helper()
	f.at = f.at.Add(time.Hour)
	mediaType := "text/html"
	if strings.HasPrefix(body, "<rss") {
		mediaType = "application/rss+xml"
	}
	d := &webrace.Document{
		URL: url, Secret: secret, Reach: reach, Visit: visit, Outcome: webrace.Fetched, Status: 200, At: f.at,
		Header: http.Header{"Content-Type": {mediaType}}, Body: []byte(body), Digest: sha256.Sum256([]byte(body)),
	}
	r, err := extract.Document(d.Body, mediaType, d.URL, extract.Options{})
	if err != nil {
		f.Fatal(err)
	}
	d.MediaType, d.Title, d.Text = r.MediaType, r.Title, r.Text
	durable := make(chan error, 1)
	version, err := f.objects.Put(d, func(err error) { durable <- err })
	if err == nil {
		err = <-durable
	}
	if err != nil {
		f.Fatal(err)
	}
	d.Version, d.Changed = version.Number, version.Changed
	return d
}

// unchanged is what the cache makes of a visit's page when the server has nothing new.
func unchanged(visit webrace.Visit, reach []webrace.Reach) *webrace.Document {
	return &webrace.Document{
		URL: page, Reach: reach, Visit: &visit, Outcome: webrace.NotModified, Status: 304, Digest: visit.Digest, Version: visit.Version,
	}
}

// result is what the stage made of a document, and the visit that is left behind when its request is done.
type result struct {
	*stagetest.Result
	acis  []*xmlschema.ACI
	visit webrace.Visit
}

// match runs the stage on a document.
func (f *fixture) match(d *webrace.Document) result {
	f.Helper()
	r := result{Result: stagetest.Try(f, stagetest.Case{Type: "keyword-filter", Options: f.options, Inputs: []any{d}, Resources: f.resources})}
	if len(r.Failures) > 0 {
		f.Fatal(r.Failures[0])
	}
	for _, v := range r.Out[""] {
		aci := v.(*xmlschema.ACI)
		if err := aci.Validate(); err != nil {
			f.Error(err)
		}
		r.acis = append(r.acis, aci)
	}
	if d.Visit != nil {
		r.visit = *d.Visit
	}
	r.visit.Digest, r.visit.Version = d.Digest, d.Version
	for _, what := range r.Outcomes[0].Learned {
		what.(webrace.Learned)(&r.visit)
	}
	r.visit.Shown = shown(r.visit, d.Reach)
	return r
}

// shown adds the crawls that came to a page to those of its visit, as the frontier does.
func shown(v webrace.Visit, now []webrace.Reach) []webrace.Shown {
	all := slices.Clone(v.Shown)
	for _, r := range now {
		i, ok := slices.BinarySearchFunc(all, r.Crawl, func(s webrace.Shown, id string) int { return strings.Compare(s.Crawl, id) })
		if !ok {
			all = slices.Insert(all, i, webrace.Shown{Crawl: r.Crawl, Distance: r.Distance})
		}
		if v.IsPlaceholder() {
			continue
		}
		all[i].Distance = min(all[i].Distance, r.Distance)
		all[i].Version, all[i].Revision = v.Version, v.Revision
	}
	return all
}

// told are the owners of the annotations, sorted.
func (r result) told() []string {
	owners := []string{}
	for _, aci := range r.acis {
		owners = append(owners, aci.Owner)
	}
	slices.Sort(owners)
	return owners
}

func (r result) ids() []string {
	ids := []string{}
	for _, aci := range r.acis {
		ids = append(ids, aci.ID)
	}
	slices.Sort(ids)
	return ids
}

// mustTell fails unless exactly these owners are told.
func (f *fixture) mustTell(r result, owners ...string) result {
	f.Helper()
	if told := r.told(); !slices.Equal(told, owners) {
		f.Errorf("told %q, want %q", told, owners)
	}
	return r
}
