package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/webrace/webrace/internal/testutil/postgres"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// benchCluster measures what several processes have of one control store on PostgreSQL.
func benchCluster(b *bench) error {
	return onServer(func(s *sharedStore) error {
		b.note("cluster: PostgreSQL on loopback, fsync on; each writer and follower has the store open for itself")
		if b.wants("annotations") {
			if err := b.annotationsOfWriters(s); err != nil {
				return err
			}
		}
		if b.wants("changes") {
			if err := b.changeInMatchers(s); err != nil {
				return err
			}
		}
		return b.crawlsOfClusters(s)
	})
}

// crawlsOfClusters has the program crawl as nodes of clusters.
func (b *bench) crawlsOfClusters(s *sharedStore) error {
	dir, err := os.MkdirTemp("", "webrace-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	c := &clusterCrawl{crawlBench: &crawlBench{dir: dir}, server: s.server, h: s.h}
	if err := c.build(); err != nil {
		return err
	}
	for _, of := range []struct {
		part    string
		measure func(*bench) error
	}{{"cpu", c.cpu}, {"scale", c.scale}, {"kills", c.kills}, {"rest", c.atRest}, {"search", c.searches}} {
		if !b.wants(of.part) {
			continue
		}
		if err := of.measure(b); err != nil {
			return fmt.Errorf("%s: %w", of.part, err)
		}
	}
	return nil
}

// sharedStore is a control store in a database of a server, that several may open.
type sharedStore struct {
	server        *postgres.Server
	h             *harness
	database, key string
	opened        []*control.Store
}

func (s *sharedStore) open(ctx context.Context) (*control.Store, error) {
	store, err := control.OpenPostgres(ctx, s.database, s.key, control.Options{})
	if err == nil {
		s.opened = append(s.opened, store)
	}
	return store, err
}

// onServer calls f with a store on a server that ends afterwards.
func onServer(f func(s *sharedStore) error) (err error) {
	dir, err := os.MkdirTemp("", "webrace-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var h harness
	defer func() { err = errors.Join(err, h.end(recover())) }()
	server := postgres.New(&h, postgres.Options{Fsync: true})
	s := &sharedStore{server: server, h: &h, database: server.Database(&h), key: filepath.Join(dir, control.KeyFile)}
	err = f(s)
	for _, store := range s.opened {
		err = errors.Join(err, store.Close())
	}
	return err
}

// harness lets what runs servers for tests run one for a benchmark.
type harness struct {
	testing.TB
	ends   []func()
	failed error
}

func (h *harness) Helper()                   {}
func (h *harness) Cleanup(end func())        { h.ends = append(h.ends, end) }
func (h *harness) Error(a ...any)            { h.failed = errors.Join(h.failed, errors.New(fmt.Sprint(a...))) }
func (h *harness) Fatal(a ...any)            { h.Error(a...); panic(h) }
func (h *harness) Fatalf(f string, a ...any) { h.Fatal(fmt.Sprintf(f, a...)) }
func (h *harness) Skip(a ...any)             { h.Fatal(a...) }
func (h *harness) end(panicked any) (err error) {
	if panicked != nil && panicked != h {
		panic(panicked)
	}
	for _, end := range slices.Backward(h.ends) {
		end()
	}
	return h.failed
}

const (
	writersAtOnce = 8
	writtenAtOnce = 50
)

// annotationsOfWriters has writers store annotations, while one follows them.
func (b *bench) annotationsOfWriters(s *sharedStore) error {
	batches := 200
	if b.quick {
		batches = 20
	}
	total := writersAtOnce * batches * writtenAtOnce
	ctx, stop := context.WithTimeout(context.Background(), 10*time.Minute)
	defer stop()
	follower, err := s.open(ctx)
	if err != nil {
		return err
	}
	seen := make(chan int, 1)
	failed := make(chan error, writersAtOnce+1)
	go func() {
		n, err := followAnnotations(ctx, follower, total)
		failed <- err
		seen <- n
	}()
	var work []func() error
	for writer := range writersAtOnce {
		store, err := s.open(ctx)
		if err != nil {
			return err
		}
		made := annotationBatches(writer, batches)
		work = append(work, func() error { return storeBatches(ctx, store, made) })
	}
	began := time.Now()
	for _, do := range work {
		go func() { failed <- do() }()
	}
	for range writersAtOnce { // the follower ends after them
		if err := <-failed; err != nil {
			return err
		}
	}
	took := time.Since(began)
	if err := <-failed; err != nil {
		return err
	}
	const name = "annotations, 8 writers, batches of 50"
	each := micros(took) / float64(total)
	b.table.value(name+": one, wall", each, "µs", atMost(1e6/5000))
	b.table.value(name+", a second", 1e6/each, "", nil)
	b.table.value(name+": a follower misses", float64(total-<-seen), "", atMost(0))
	return nil
}

func annotationBatches(writer, batches int) (made [][]*xmlschema.ACI) {
	for n := range batches {
		var batch []*xmlschema.ACI
		for i := range writtenAtOnce {
			print := rand.Uint64()
			batch = append(batch, &xmlschema.ACI{
				ID: fmt.Sprintf("%064x", print), URD: fmt.Sprint("urd", i), Owner: fmt.Sprint("owner", i%10), URI: fmt.Sprintf("https://host%d.example/news/%d.html", writer, n),
				Title: "The regatta begins on the river", Extension: "html", Format: xmlschema.FormatHTML, Urgency: 1, Relevance: 50, UpdateTime: time.Unix(1e9, 0).UTC(), FileSize: 71_234,
				Summary: "The «regatta» begins at nine on the river. «Boats» of four follow one another from the bridge to the mill",
				Docbase: xmlschema.Docbase{Version: 1, Shown: print, Matched: print, Likeness: print},
			})
		}
		made = append(made, batch)
	}
	return made
}

func storeBatches(ctx context.Context, s *control.Store, batches [][]*xmlschema.ACI) error {
	for _, batch := range batches {
		stored, err := s.PutACIs(ctx, batch)
		if err != nil {
			return err
		}
		if stored.Added != len(batch) {
			return fmt.Errorf("%d of %d annotations are new", stored.Added, len(batch))
		}
	}
	return nil
}

// followAnnotations returns how many different annotations a follower by number sees until the last of so many.
func followAnnotations(ctx context.Context, s *control.Store, total int) (int, error) {
	seen := make(map[string]bool)
	for after := int64(0); after < int64(total); {
		next, err := s.NextACIs(ctx, after, 1000)
		if err != nil {
			return 0, err
		}
		for _, a := range next {
			seen[a.ID], after = true, a.Seq
		}
	}
	return len(seen), nil
}

const matchersAtOnce = 8

// changeInMatchers measures how long after a URD was stored those see it that match by what is stored.
func (b *bench) changeInMatchers(s *sharedStore) error {
	changes := 200
	if b.quick {
		changes = 40
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	writer, err := s.open(ctx)
	if err != nil {
		return err
	}
	saw := make(chan error, matchersAtOnce)
	var times []time.Duration
	var mu sync.Mutex
	var committed time.Time
	for range matchersAtOnce {
		store, err := s.open(ctx)
		if err != nil {
			return err
		}
		go followChanges(ctx, store, func(err error) {
			mu.Lock()
			times = append(times, time.Since(committed))
			mu.Unlock()
			saw <- err
		})
	}
	u := xmlschema.NewURD("eleni", "http://a.example/")
	u.ID = "changed"
	for n := range changes {
		u.Depth = 1 + n%2
		time.Sleep(rand.N(200 * time.Millisecond)) // at any time between two looks
		mu.Lock()
		_, err := writer.Put(ctx, []*xmlschema.URD{u})
		committed = time.Now()
		mu.Unlock()
		if err != nil {
			return err
		}
		for range matchersAtOnce {
			if err := <-saw; err != nil {
				return err
			}
		}
	}
	slices.Sort(times)
	const name = "a changed URD in the matchers of 8 stores"
	b.table.value(name+", median, wall", float64(percentile(times, 50).Milliseconds()), "ms", nil)
	b.table.value(name+", p99, wall", float64(percentile(times, 99).Milliseconds()), "ms", atMost(1000))
	return nil
}

// followChanges tells of each revision when the URD of it was read, until the context ends.
func followChanges(ctx context.Context, s *control.Store, tell func(error)) {
	at, err := s.Now(ctx)
	for err == nil {
		before := at.Revision
		if at, err = s.NextChange(ctx, at); err != nil {
			break
		}
		for _, failed := range s.Revised(ctx, before) {
			err = errors.Join(err, failed)
		}
		for range at.Revision - before {
			tell(err)
		}
	}
	if ctx.Err() == nil {
		tell(err)
	}
}
