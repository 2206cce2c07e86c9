package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/internal/match"
	"github.com/webrace/webrace/stages/keywordfilter/annotate"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/frontier"
	"github.com/webrace/webrace/storage/fulltext"
	"github.com/webrace/webrace/xmlschema"
)

const site = "http://site.example/"

// pages is the site that was crawled: each page links to the next one, and the first to all that lie on
// the second level.
var pages = []struct{ path, body string }{
	{"", `<title>Start</title><h1>Welcome</h1><p>Nothing of note.`},
	{"news", news},
	{"mirror", news},
	{"dull", `<title>Dull</title><p>A page on gardens and machines.</p><nav>To IBM</nav>`},
}

const news = `<title>IBM news</title><h1>IBM presents Java</h1><p>The new Java machine of IBM is here & now.<p>It was shown to the press in Athens on Monday.`

var fetchedAt = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// filler makes a data directory as a crawl would.
type filler struct {
	ctx      context.Context
	control  *control.Store
	dir      *storage.Dir // of the site's partition, in a cluster
	urd      control.URD  // the one whose crawl was run
	queue    *frontier.Queue
	indexing []fulltext.Document
}

// fill fills a data directory with four URDs, of which the first was crawled for: its site has a page that its
// owner was told of and a mirror of that, a dull one, one that is not there, one that is broken, and one that still
// waits.
func fill(dir *storage.Dir) (err error) {
	f := &filler{ctx: context.Background(), dir: dir}
	if f.control, err = dir.Control(); err != nil {
		return err
	}
	for _, step := range []func() error{f.ask, f.crawl, f.index, f.bury} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (f *filler) ask() error {
	wanted := xmlschema.NewURD("eleni", site)
	wanted.ID, wanted.Depth = "u1", 2
	wanted.Keywords = xmlschema.NewKeywords(xmlschema.Keyword{Key: "ibm", Weight: 3}, xmlschema.Keyword{Key: "java", Weight: 4}, xmlschema.Keyword{Key: "cobol", Weight: 2})
	elsewhere := xmlschema.NewURD("eleni", "http://elsewhere.example/")
	elsewhere.ID = "u2"
	both := xmlschema.NewURD("eleni", site+"*")
	both.ID = "u3"
	both.Keywords = xmlschema.NewKeywords(xmlschema.Keyword{Key: "java", Weight: 5}, xmlschema.Keyword{Key: "gardens", Weight: 5})
	both.Keywords.Match = xmlschema.MatchAll
	start := xmlschema.NewURD("markos", site)
	start.ID = "u4"
	_, err := f.control.Put(f.ctx, []*xmlschema.URD{wanted, elsewhere, both, start})
	if err == nil {
		f.urd, err = f.control.Get(f.ctx, "u1")
	}
	return err
}

func (f *filler) crawl() error {
	store, err := f.dir.Frontier()
	if err == nil {
		f.queue, err = store.Queue("webrace", frontier.QueueOptions{})
	}
	if err != nil {
		return err
	}
	if _, err := f.queue.Start(f.ctx, f.urd.Crawl, true); err != nil {
		return err
	}
	for range pages {
		if err := f.visit(); err != nil {
			return err
		}
	}
	for _, end := range []frontier.Outcome{
		{Learned: []webrace.Learned{func(v *webrace.Visit) { v.At, v.Status, v.Error = fetchedAt, 404, "404 Not Found" }}},
		{Err: errors.New("connection reset\n\tby peer")},
	} {
		lease, err := f.queue.Take(f.ctx)
		if err != nil {
			return err
		}
		if err := done(lease, end); err != nil {
			return err
		}
	}
	return f.queue.Close()
}

// visit does all that is done to one page.
func (f *filler) visit() error {
	lease, err := f.queue.Take(f.ctx)
	if err != nil {
		return err
	}
	request := lease.Request()
	d, err := f.document(request)
	if err != nil {
		return err
	}
	if err := f.tell(d); err != nil {
		return err
	}
	if request.URL == site {
		links := &webrace.Links{From: site, Reach: request.Reach, Via: webrace.ViaLink}
		for _, path := range []string{"news", "mirror", "dull", "gone", "broken", "later"} {
			links.URLs = append(links.URLs, site+path)
		}
		if err := wait(func(done func(error)) { f.queue.Offer(links, func(_ frontier.Offered, err error) { done(err) }) }); err != nil {
			return err
		}
	}
	return done(lease, frontier.Outcome{Learned: []webrace.Learned{func(v *webrace.Visit) {
		v.At, v.Status, v.Digest, v.Version, v.Revision = fetchedAt, 200, d.Digest, d.Version, f.urd.Revision+3
	}}})
}

// document stores a page; the first has two versions.
func (f *filler) document(request webrace.Request) (*webrace.Document, error) {
	store, err := f.dir.Objects()
	if err != nil {
		return nil, err
	}
	for _, p := range pages {
		if request.URL != site+p.path {
			continue
		}
		d := &webrace.Document{
			URL: request.URL, Status: 200, Header: http.Header{"Content-Type": {"text/html; charset=utf-8"}, "Etag": {`"1"`}},
			At: fetchedAt, MediaType: "text/html", Body: []byte(p.body),
		}
		if p.path == "" {
			older := *d
			older.Body, older.At = []byte("<title>Start</title>"), fetchedAt.Add(-time.Hour)
			if err := wait(func(done func(error)) { _, err = store.Put(&older, done) }); err != nil {
				return nil, err
			}
		}
		err := wait(func(done func(error)) {
			version, putErr := store.Put(d, done)
			d.Digest, d.Version, err = version.Digest, version.Number, putErr
		})
		if err != nil {
			return nil, err
		}
		r, err := extract.Document(d.Body, "text/html; charset=utf-8", d.URL, extract.Options{})
		if err != nil {
			return nil, err
		}
		d.Text, d.Title = r.Text, r.Title
		doc, _, err := fulltext.FromDocument(d)
		if err != nil {
			return nil, err
		}
		f.indexing = append(f.indexing, doc)
		return d, nil
	}
	return nil, fmt.Errorf("took %s, which is no page", request.URL)
}

// tell stores the annotations of a page.
func (f *filler) tell(d *webrace.Document) error {
	profile, _, err := match.Compile(annotate.Profile(f.urd.URD))
	if err != nil {
		return err
	}
	var index match.Index
	index.Add(profile)
	for alert := range index.Match(d.Text, match.Options{Everyone: true, Summary: annotate.SummaryBytes}) {
		if _, err := f.control.PutACIs(f.ctx, []*xmlschema.ACI{annotate.ACI(f.urd.URD, alert, d, 0)}); err != nil {
			return err
		}
	}
	return nil
}

func (f *filler) index() error {
	store, err := f.dir.Fulltext()
	if err != nil {
		return err
	}
	return store.Index(f.ctx, f.indexing)
}

func (f *filler) bury() error {
	for i, stage := range []string{"normalize", "cache"} {
		_, err := f.control.PutDeadLetter(f.ctx, control.DeadLetter{
			ID: fmt.Sprintf("d%d", i+1), Time: fetchedAt, Pipeline: "webrace", Stage: stage, Attempts: 3,
			Error: "outer\ninner", Kind: "*webrace.Document", Item: []byte(`{"value":{"URL":"http://site.example/","Outcome":"fetched","Body":"dGVhCg=="},"meta":{"why":"asked"}}`),
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func done(lease *frontier.Lease, o frontier.Outcome) error {
	return wait(func(done func(error)) { lease.Done(o, done) })
}

// wait waits until what f starts has called back.
func wait(f func(done func(error))) error {
	ended := make(chan error, 1)
	f(func(err error) { ended <- err })
	return <-ended
}
