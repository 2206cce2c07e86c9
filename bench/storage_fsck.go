package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/fsck"
)

// fsckLimit is what a check of a store of fsckDocuments may take.
const (
	fsckDocuments = 500_000
	fsckLimit     = 40 * time.Second
)

// benchFsck checks a large store in which nothing is wrong, beside reading and inflating its segments, which is the
// least that a check has to do.
func benchFsck(b *bench) error {
	n, rounds := b.documents, 2
	if b.quick {
		n, rounds = min(n, 20_000), 1
	}
	dir, err := os.MkdirTemp("", "webrace-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := fillStore(dir, n); err != nil {
		return fmt.Errorf("fill a store of %d documents: %w", n, err)
	}
	b.note("fsck: %d documents, %.2f GB of segments", n, float64(segmentBytes(dir))/1e9)
	check, deep, inflate := "fsck", "fsck --deep", "reading and inflating the segments"
	costs, err := race(rounds, []contestant{
		{check, func() error { return checkStore(dir, (*storage.Dir).Check) }},
		{deep, func() error { return checkStore(dir, (*storage.Dir).CheckDeep) }},
		{inflate, func() error { return inflateSegments(dir) }},
	})
	if err != nil {
		return err
	}
	limit := atMost(fsckLimit.Seconds() * float64(n) / fsckDocuments)
	for _, name := range []string{check, deep} {
		b.table.against(fmt.Sprintf("%s of %d documents, CPU", name, n), best(costs[name], cpuOf).Seconds(), "s",
			inflate, best(costs[inflate], cpuOf).Seconds(), nil)
	}
	b.table.value(fmt.Sprintf("fsck of %d documents, wall", n), best(costs[check], wallOf).Seconds(), "s", limit)
	return nil
}

// fillStore makes a store of so many documents with some 2 KB of records each.
func fillStore(dir string, n int) (err error) {
	d, err := storage.Open(dir, storage.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	store, err := d.Objects()
	if err == nil {
		_, err = d.Control()
	}
	if err != nil {
		return err
	}
	for i := range n {
		if _, err := store.Put(storedPage(i), nil); err != nil {
			return err
		}
	}
	return store.AwaitDurable(context.Background())
}

// storedPage is a page of words that differ from page to page.
func storedPage(i int) *webrace.Document {
	random := rand.New(rand.NewPCG(7, uint64(i)))
	var body strings.Builder
	fmt.Fprintf(&body, "<html><head><title>Page %d</title></head><body>", i)
	for range 230 {
		fmt.Fprintf(&body, "<p>%s ", pageWords[random.IntN(len(pageWords))])
	}
	d := &webrace.Document{
		URL: fmt.Sprintf("http://site-%d.example.org/section/%d/page-%d.html", i%97, i%1009, i), Outcome: webrace.Fetched, Status: 200,
		At: time.Unix(1_790_000_000+int64(i), 0), MediaType: "text/html", Charset: "utf-8", Body: []byte(body.String()),
		Header: http.Header{"Content-Type": {"text/html; charset=utf-8"}, "Etag": {fmt.Sprintf("%q", fmt.Sprint(i))}, "Server": {"nginx"}},
	}
	for range 20 {
		d.Links = append(d.Links, fmt.Sprintf("http://site-%d.example.org/section/%d/page-%d.html", i%97, i%1009, random.IntN(1_000_000)))
	}
	return d
}

var pageWords = func() (words []string) {
	random := rand.New(rand.NewPCG(7, 7))
	for range 4000 {
		word := make([]byte, 3+random.IntN(9))
		for i := range word {
			word[i] = byte('a' + random.IntN(26))
		}
		words = append(words, string(word))
	}
	return words
}()

func segmentBytes(dir string) (n int64) {
	paths, _ := filepath.Glob(filepath.Join(dir, "objects", "seg-*")) // the pattern is well-formed
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil {
			n += info.Size()
		}
	}
	return n
}

func checkStore(dir string, check func(*storage.Dir, context.Context, bool, fsck.Report) error) (err error) {
	d, err := storage.Open(dir, storage.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	var found []fsck.Finding
	err = check(d, context.Background(), false, func(f fsck.Finding) { found = append(found, f) })
	if err == nil && len(found) > 0 {
		err = fmt.Errorf("%d findings, the first: %v", len(found), found[0])
	}
	return err
}

func inflateSegments(dir string) error {
	paths, _ := filepath.Glob(filepath.Join(dir, "objects", "seg-*")) // the pattern is well-formed
	for _, path := range paths {
		if err := inflateFile(path); err != nil {
			return err
		}
	}
	return nil
}

func inflateFile(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	z, err := gzip.NewReader(bufio.NewReaderSize(file, 1<<20))
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, z)
	return err
}
