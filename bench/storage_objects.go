package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nlnwa/gowarc"
	"github.com/webrace/webrace"
	"github.com/webrace/webrace/storage/objects"
)

// archiveLevel is the gzip level of all contestants: the default of the object cache.
const archiveLevel = 1

// benchArchive measures what it costs to keep documents: beside the best library that writes the same
// format, and beside syncing each of them alone.
func benchArchive(b *bench) error {
	pages, what := archivePages(b)
	rounds := 5
	if b.quick {
		pages, rounds = pages[:min(len(pages), 200)], 2
	}
	size := 0
	for _, p := range pages {
		size += len(p.Body)
	}
	b.note("storage: %d documents of %d KB on average (%s), gzip level %d", len(pages), size/len(pages)/1000, what, archiveLevel)
	dir, err := os.MkdirTemp("", "webrace-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	a := &archive{dir: dir, pages: pages}
	grouped, library := "object cache", "nlnwa/gowarc"
	costs, err := race(rounds, []contestant{{grouped, a.grouped}, {library, a.library}})
	if err != nil {
		return err
	}
	each := func(d time.Duration) float64 { return float64(d.Microseconds()) / float64(len(pages)) }
	b.table.against("WARC: a document written, digested and indexed, CPU", each(best(costs[grouped], cpuOf)), "µs",
		library+", which does not index", each(best(costs[library], cpuOf)), atMost(1/1.4))
	b.table.against("WARC: the same, wall", each(best(costs[grouped], wallOf)), "µs", library+", which does not sync", each(best(costs[library], wallOf)), nil)
	return a.commits(b, rounds)
}

// commits measures what waiting for the disk costs: with small documents, of which little else does.
func (a *archive) commits(b *bench, rounds int) error {
	small := &archive{dir: a.dir}
	for i, page := range a.pages {
		for part := range 4 {
			d := *page
			d.URL, d.Links = fmt.Sprintf("%s?part=%d", page.URL, part), d.Links[:2]
			d.Body = append(fmt.Appendf(nil, "%d %d ", i, part), page.Body[:min(len(page.Body), 1000)]...)
			small.pages = append(small.pages, &d)
		}
	}
	grouped, alone := "grouped", "a sync a document"
	costs, err := race(rounds, []contestant{{grouped, small.grouped}, {alone, small.alone}})
	if err != nil {
		return err
	}
	each := func(d time.Duration) float64 { return float64(d.Microseconds()) / float64(len(small.pages)) }
	b.table.against("WARC: a document of 1 KB durable by group commit, wall", each(middle(costs[grouped], wallOf)), "µs",
		alone, each(middle(costs[alone], wallOf)), atMost(1.0/5))
	return nil
}

// archivePages returns the documents to keep: real ones where there are any.
func archivePages(b *bench) (pages []*webrace.Document, what string) {
	root := filepath.Join("/", docSites[0].pages)
	if install(b.note); !hasPages(root) {
		what = "generated, because " + docSites[0].packaged + " is not installed"
		for path, body := range makePages() {
			pages = append(pages, archivePage(path, []byte(body)))
		}
		slices.SortFunc(pages, func(x, y *webrace.Document) int { return strings.Compare(x.URL, y.URL) })
		return pages, what
	}
	paths, _ := filepath.Glob(filepath.Join(root, "*", "*.html")) // the pattern is well-formed
	for _, path := range paths {
		if body, err := os.ReadFile(path); err == nil {
			pages = append(pages, archivePage(strings.TrimPrefix(path, root), body))
		}
	}
	return pages, "the Python documentation"
}

// archivePage is a document as the crawl hands it over, links and all.
func archivePage(path string, body []byte) *webrace.Document {
	d := &webrace.Document{
		URL: "http://docs.example.org" + path, Outcome: webrace.Fetched, Status: 200, At: time.Unix(1_790_000_000, 0),
		MediaType: "text/html", Charset: "utf-8", Body: body,
		Header: http.Header{"Content-Type": {"text/html; charset=utf-8"}, "Etag": {`"12345"`}, "Server": {"nginx"}},
	}
	random := rand.New(rand.NewPCG(1, uint64(len(body))))
	for range 88 {
		d.Links = append(d.Links, fmt.Sprintf("http://docs.example.org/library/module-%d.html", random.IntN(500)))
	}
	return d
}

type archive struct {
	dir    string
	rounds int
	pages  []*webrace.Document
}

func (a *archive) newDir() string {
	a.rounds++
	return filepath.Join(a.dir, fmt.Sprint(a.rounds))
}

// grouped stores all documents as a crawl does: Put does not wait, and all are durable at the end.
func (a *archive) grouped() error {
	return a.store(func(wait *sync.WaitGroup) { wait.Wait() }, func(*sync.WaitGroup) {})
}

// alone waits for each document to be durable before it stores the next.
func (a *archive) alone() error {
	return a.store(func(*sync.WaitGroup) {}, func(wait *sync.WaitGroup) { wait.Wait() })
}

func (a *archive) store(atEnd, afterEach func(*sync.WaitGroup)) error {
	dir := a.newDir()
	defer os.RemoveAll(dir)
	store, err := objects.Open(dir, objects.Options{Level: archiveLevel})
	if err != nil {
		return err
	}
	var wait sync.WaitGroup
	var failed error
	for _, page := range a.pages {
		wait.Add(1)
		if _, err := store.Put(page, func(err error) {
			failed = errors.Join(failed, err) // one goroutine calls back
			wait.Done()
		}); err != nil {
			return errors.Join(err, store.Close())
		}
		afterEach(&wait)
	}
	atEnd(&wait)
	count := 0
	for _, err := range store.List(context.Background(), "") {
		failed = errors.Join(failed, err)
		count++
	}
	if count != len(a.pages) {
		failed = errors.Join(failed, fmt.Errorf("%d documents are stored, want %d", count, len(a.pages)))
	}
	return errors.Join(failed, store.Close())
}

// library writes a response and a metadata record for each document.
func (a *archive) library() error {
	dir := a.newDir()
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	writer := gowarc.NewWarcFileWriter(
		gowarc.WithFileNameGenerator(&gowarc.PatternNameGenerator{Directory: dir, Prefix: "seg-"}),
		gowarc.WithCompression(true), gowarc.WithCompressionLevel(archiveLevel), gowarc.WithMaxConcurrentWriters(1),
		gowarc.WithMaxFileSize(1<<30), gowarc.WithAddWarcConcurrentToHeader(false),
	)
	for _, page := range a.pages {
		records, err := libraryRecords(page)
		if err != nil {
			return errors.Join(err, writer.Close())
		}
		for _, r := range writer.Write(records...) {
			if r.Err != nil {
				return errors.Join(r.Err, writer.Close())
			}
		}
	}
	return writer.Close()
}

func libraryRecords(d *webrace.Document) ([]gowarc.WarcRecord, error) {
	digest := sha256.Sum256(d.Body)
	response := gowarc.NewRecordBuilder(gowarc.Response, gowarc.WithNoValidation(), gowarc.WithDefaultDigestAlgorithm("sha256"))
	fmt.Fprintf(response, "HTTP/1.1 %d OK\r\n", d.Status)
	if err := d.Header.Write(response); err != nil {
		return nil, err
	}
	fmt.Fprintf(response, "Content-Length: %d\r\n\r\n", len(d.Body))
	if _, err := response.Write(d.Body); err != nil {
		return nil, err
	}
	response.AddWarcHeaderTime(gowarc.WarcDate, d.At)
	response.AddWarcHeader(gowarc.WarcTargetURI, d.URL)
	response.AddWarcHeader(gowarc.WarcPayloadDigest, fmt.Sprintf("sha256:%x", digest))
	response.AddWarcHeader(gowarc.ContentType, "application/http;msgtype=response")
	metadata := gowarc.NewRecordBuilder(gowarc.Metadata, gowarc.WithNoValidation(), gowarc.WithDefaultDigestAlgorithm("sha256"))
	fmt.Fprintf(metadata, "<meta xmlns=\"urn:webrace:1\"><uri>%s</uri>", d.URL)
	for _, link := range d.Links {
		fmt.Fprintf(metadata, "<link href=%q/>", link)
	}
	fmt.Fprint(metadata, "</meta>")
	metadata.AddWarcHeaderTime(gowarc.WarcDate, d.At)
	metadata.AddWarcHeader(gowarc.WarcTargetURI, d.URL)
	metadata.AddWarcHeader(gowarc.ContentType, "application/xml")
	var records []gowarc.WarcRecord
	for _, builder := range []gowarc.WarcRecordBuilder{response, metadata} {
		record, _, err := builder.Build()
		if err != nil {
			return nil, err
		}
		records = append(records, record)
	}
	return records, nil
}
