package storage_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/frontier"
	"github.com/webrace/webrace/storage/objects"
	"github.com/webrace/webrace/xmlschema"
)

// testKey is a key file that is worth nothing.
const testKey = "webrace-key-1 0102030405060708 AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n"

var (
	filledAt = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	farOff   = time.Date(2190, 1, 1, 0, 0, 0, 0, time.UTC)
)

// filler fills a data directory through its stores.
type filler struct {
	*testing.T
	dir *storage.Dir
}

func (f filler) ok(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// fill makes a data directory with some of everything that stores hold.
func fill(t *testing.T, path string) {
	t.Helper()
	d, err := storage.Open(path, storage.Options{Objects: objects.Options{SegmentSize: 4000, Now: func() time.Time { return filledAt }}})
	if err != nil {
		t.Fatal(err)
	}
	f := filler{t, d}
	f.documents()
	f.requests()
	f.annotations()
	f.news()
	f.crawl()
	f.ok(d.Close())
}

// put stores a document with a body of words that hardly compress, made of a seed.
func (f filler) put(store *objects.Store, url string, seed int) objects.Version {
	f.Helper()
	body := documentText(seed)
	durable := make(chan error, 1)
	v, err := store.Put(&webrace.Document{
		URL: url, Outcome: webrace.Fetched, Status: 200, At: filledAt, MediaType: "text/html", Charset: "utf-8",
		Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte(body), Links: []string{"http://news.example/", url + "?next"},
	}, func(err error) { durable <- err })
	f.ok(err)
	f.ok(<-durable)
	return v
}

func documentText(seed int) string {
	rng := rand.New(rand.NewPCG(uint64(seed), 1))
	var text strings.Builder
	fmt.Fprintf(&text, "<p>Document %d", seed)
	for range 60 {
		fmt.Fprintf(&text, " %x", rng.Uint64())
	}
	return text.String()
}

// documents stores six URLs of up to three versions, a copy under another URL, and ten documents that are
// collected again, which leaves a segment to be rewritten.
func (f filler) documents() {
	f.Helper()
	store, err := f.dir.Objects()
	f.ok(err)
	for n := range 6 {
		f.put(store, page(n), n)
		f.put(store, fmt.Sprintf("http://old.example/%d", n), 1000+n)
	}
	for version := 1; version <= 2; version++ {
		for n := range 3 {
			f.put(store, page(n), n+100*version)
		}
	}
	f.put(store, "http://mirror.example/5", 5)
	collected, err := store.Collect(context.Background(), objects.CollectOptions{
		Verdict: func(_ context.Context, versions []objects.Version) ([]objects.Verdict, error) {
			verdicts := make([]objects.Verdict, len(versions))
			for i, v := range versions {
				if strings.HasPrefix(v.URL, "http://old.example/") {
					verdicts[i] = objects.Remove
				}
			}
			return verdicts, nil
		},
		MinAlive: 0.9,
	})
	f.ok(err)
	if collected.Versions != 6 || collected.Segments == 0 {
		f.Fatalf("collected %+v", collected)
	}
	f.ok(store.SetCursor("webrace/follower", 7, true))
}

func page(n int) string { return fmt.Sprintf("http://news.example/%d", n) }

// requests stores URDs of three owners, quotas, and a secret under the key of tests.
func (f filler) requests() {
	f.Helper()
	f.ok(os.WriteFile(f.dir.Path(control.KeyFile), []byte(testKey), 0o600))
	store, err := f.dir.Control()
	f.ok(err)
	ctx := context.Background()
	secret, err := credentials.NewSecret(credentials.KindBasic, "eleni", "not-a-real-one")
	f.ok(err)
	f.ok(store.SetSecret(ctx, "news", secret))
	var urds []*xmlschema.URD
	for n := range 12 {
		u := xmlschema.NewURD([]string{"eleni", "andreas", "zoe"}[n%3], page(n/2))
		u.ID, u.Timing, u.Urgency = fmt.Sprintf("u%d", n), time.Duration(n)*time.Hour, 1+n%3
		u.Keywords = xmlschema.NewKeywords(xmlschema.Keyword{Key: "ferry"}, xmlschema.Keyword{Key: fmt.Sprintf("word%d", n)})
		if n == 3 {
			u.Secret = "news"
		}
		urds = append(urds, u)
	}
	_, err = store.Put(ctx, urds)
	f.ok(err)
	f.ok(store.Delete(ctx, "u11"))
	f.ok(store.CheckNow(ctx, "u2"))
	f.ok(store.SetQuota(ctx, "eleni", 1000))
	f.ok(store.SetQuota(ctx, "costas", 5))
	f.ok(store.AddUsage(ctx, "2026-11-01", map[string]float64{"eleni": 2.5}, map[string]int64{"usage/eleni": 9}))
	_, err = store.PutDeadLetter(ctx, control.DeadLetter{ID: "d1", Time: filledAt, Pipeline: "webrace", Stage: "match", Error: "match: no", Attempts: 3, Kind: "document", Item: []byte("{}")})
	f.ok(err)
}

// annotations are six that wait, two that expired, one that was taken, and four that were taken and trimmed.
func (f filler) annotations() {
	f.Helper()
	store, err := f.dir.Control()
	f.ok(err)
	ctx := context.Background()
	put := func(n int, owner string) {
		_, err := store.PutACIs(ctx, []*xmlschema.ACI{{
			ID: fmt.Sprintf("a%d", n), URD: fmt.Sprintf("u%d", n%3), Owner: owner, URI: page(n % 3), Title: fmt.Sprint("Annotation ", n),
			Format: xmlschema.FormatHTML, Urgency: 1, Relevance: 50, UpdateTime: filledAt.Add(time.Duration(n) * time.Hour),
			Summary: "a «word» & more", Docbase: xmlschema.Docbase{Version: 1 + n%3},
		}})
		f.ok(err)
	}
	take := func() {
		_, err := store.Take(ctx, "andreas")
		f.ok(err)
	}
	for n := range 4 {
		put(n, "andreas")
	}
	take()
	_, err = store.Trim(ctx, farOff)
	f.ok(err)
	put(4, "andreas")
	take()
	for n := 5; n < 13; n++ {
		put(n, "eleni")
	}
	_, err = store.Expire(ctx, filledAt.Add(7*time.Hour))
	f.ok(err)
}

// run is a queue that is filled.
type run struct {
	filler
	queue *frontier.Queue
}

func (f filler) run(pipeline string) run {
	f.Helper()
	store, err := f.dir.Frontier()
	f.ok(err)
	q, err := store.Queue(pipeline, frontier.QueueOptions{})
	f.ok(err)
	return run{f, q}
}

func (r run) start(id, start string, urls ...string) {
	r.Helper()
	_, err := r.queue.Start(context.Background(), webrace.Crawl{ID: id, Start: start, Scope: webrace.ScopeAny, Urgency: 1}, true)
	r.ok(err)
	durable := make(chan error, 1)
	r.queue.Offer(&webrace.Links{From: start, Reach: []webrace.Reach{{Crawl: id}}, Via: webrace.ViaLink, URLs: urls},
		func(_ frontier.Offered, err error) { durable <- err })
	r.ok(<-durable)
}

// end ends the next lease, and returns its URL.
func (r run) end(o frontier.Outcome) string {
	r.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	l, err := r.queue.Take(ctx)
	r.ok(err)
	l.Release(webrace.HostReport{})
	durable := make(chan error, 1)
	l.Done(o, func(err error) { durable <- err })
	r.ok(<-durable)
	return l.Request().URL
}

func visited(status, version int) frontier.Outcome {
	return frontier.Outcome{Learned: []webrace.Learned{func(v *webrace.Visit) { v.At, v.Status, v.Version = filledAt, status, version }}}
}

// news leaves, in the pipeline webrace, pages that are done, one that failed, one that is tried again in a
// distant future, twelve that are queued, and four of a host that is paused.
func (f filler) news() {
	f.Helper()
	store, err := f.dir.Frontier()
	f.ok(err)
	r := f.run("webrace")
	var urls []string
	for n := range 12 {
		urls = append(urls, page(n))
	}
	r.start("news", "http://news.example/", urls...)
	for _, o := range []frontier.Outcome{visited(200, 1), visited(200, 3), {Err: errors.New("gone")}, {RetryAt: farOff}} {
		r.end(o)
	}
	f.ok(store.Pause(context.Background(), "webrace", "slow.example"))
	r.start("slow", "http://slow.example/", "http://slow.example/1", "http://slow.example/2", "http://slow.example/3")
	r.start("other", "http://other.example/", "http://other.example/1", "http://other.example/2")
	f.ok(r.queue.Close())
}

// crawl leaves, in a pipeline of its own, five that are queued.
func (f filler) crawl() {
	f.Helper()
	r := f.run("crawl")
	r.start("site", "http://site.example/", "http://site.example/1", "http://site.example/2", "http://site.example/3", "http://site.example/4")
	f.ok(r.queue.Close())
}

// filled returns a data directory as fill leaves it.
func filled(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	fill(t, dir)
	return dir
}
