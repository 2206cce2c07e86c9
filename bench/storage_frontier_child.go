package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/storage/frontier"
)

// groupOf is how many documents are in work at once: their links share an fsync.
const groupOf = 256

// runFrontierChild does what the parent asks for, and prints in JSON what it took.
func runFrontierChild(args []string) error {
	if path := os.Getenv("BENCH_PROFILE"); path != "" {
		file, err := os.Create(path)
		if err != nil {
			return err
		}
		defer file.Close()
		if err := pprof.StartCPUProfile(file); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	switch {
	case len(args) == 4 && args[0] == "race":
		return raceFrontier(args[1], args[2], args[3])
	case len(args) == 2 && args[0] == "repeats":
		return repeatFrontier(args[1])
	case len(args) == 3 && args[0] == "large":
		return largeFrontier(args[1], args[2])
	case len(args) == 2 && args[0] == "recover":
		return recoverFrontier(args[1])
	}
	return fmt.Errorf("no part of the frontier's benchmark is called %q", args)
}

// racer is a frontier that is measured.
type racer interface {
	offer(s *linkSource, until int) (offered int, err error) // makes URLs until there are so many, and waits until all are durable
	drain() (urls int, err error)
	io.Closer
}

func raceFrontier(name, dir, size string) error {
	n, err := strconv.Atoi(size)
	if err != nil {
		return err
	}
	var f racer
	switch name {
	case ours:
		f, err = openOurs(dir)
	case boltName:
		f, err = openRival(dir, openBolt)
	case sqliteName:
		f, err = openRival(dir, openSQLite)
	default:
		err = fmt.Errorf("nobody is called %q", name)
	}
	if err != nil {
		return err
	}
	var r raceCosts
	r.Offer, err = timed(func() (err error) {
		s := newLinkSource(10_000)
		r.Offered, err = f.offer(s, n)
		r.Made = int(s.next)
		return err
	})
	if err != nil {
		return err
	}
	if r.Drain, err = timed(func() (err error) { r.Drained, err = f.drain(); return err }); err != nil {
		return err
	}
	if r.Disk, err = diskUse(dir); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(r)
}

func timed(work func() error) (cost, error) {
	cpu, began := ownCPU(), time.Now()
	err := work()
	return cost{CPU: ownCPU() - cpu, Wall: time.Since(began)}, err
}

// per divides a cost by a number of things.
func (c cost) per(n int) cost {
	return cost{CPU: c.CPU / time.Duration(n), Wall: c.Wall / time.Duration(n)}
}

func diskUse(dir string) (bytes int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			info, e := d.Info()
			if e == nil {
				bytes += info.Size()
			}
		}
		return err
	})
	return bytes, err
}

// rss is what this process has in memory now.
func rss() (int64, error) {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(text))
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize()), err
}

// ourFrontier drives webrace's.
type ourFrontier struct {
	store *frontier.Store
	queue *frontier.Queue
}

var benchCrawlOf = webrace.Crawl{ID: "c", Start: "https://h0.example.org/", Scope: webrace.ScopeAny}

func openOurs(dir string) (*ourFrontier, error) {
	store, err := frontier.Open(dir, frontier.Options{})
	if err != nil {
		return nil, err
	}
	q, err := store.Queue("bench", frontier.QueueOptions{})
	if err != nil {
		return nil, err
	}
	_, err = q.Start(context.Background(), benchCrawlOf, true)
	return &ourFrontier{store, q}, err
}

func (f *ourFrontier) offer(s *linkSource, until int) (offered int, err error) {
	room := make(chan struct{}, groupOf)
	var mu sync.Mutex
	want, got := 0, 0
	var under sync.WaitGroup
	for s.next < uint64(until) {
		urls, fresh := s.set()
		want += fresh
		offered += len(urls)
		room <- struct{}{}
		under.Add(1)
		f.queue.Offer(&webrace.Links{
			From: "https://h0.example.org/index.html", Reach: []webrace.Reach{{Crawl: benchCrawlOf.ID}}, Via: webrace.ViaLink, URLs: urls,
		}, func(o frontier.Offered, e error) {
			mu.Lock()
			got += o.Accepted
			err = errors.Join(err, e)
			mu.Unlock()
			<-room
			under.Done()
		})
	}
	under.Wait()
	if err == nil && got != want {
		err = fmt.Errorf("%d of %d new URLs were accepted", got, want)
	}
	return offered, err
}

// benchVisit is what a visit leaves behind.
func benchVisit(v *webrace.Visit) {
	v.At, v.Status, v.Version = time.Now(), 200, 1
	v.ETag, v.LastModified = `"5f8a-62b1c9d3e4f80"`, "Sat, 21 Nov 2026 05:36:21 GMT"
	v.Digest[0] = 1
}

// drain takes everything but the start, which was no link.
func (f *ourFrontier) drain() (urls int, err error) {
	f.queue.Seal()
	var mu sync.Mutex
	var under sync.WaitGroup
	for {
		l, e := f.queue.Take(context.Background())
		if errors.Is(e, io.EOF) {
			break
		}
		if e != nil {
			return urls, e
		}
		urls++
		l.Release(webrace.HostReport{})
		under.Add(1)
		l.Done(frontier.Outcome{Learned: []webrace.Learned{benchVisit}}, func(e error) {
			mu.Lock()
			err = errors.Join(err, e)
			mu.Unlock()
			under.Done()
		})
	}
	under.Wait()
	return urls - 1, err
}

func (f *ourFrontier) Close() error { return f.store.Close() }

// ourRivals drives a rival, which does the same with as many steps in a group.
type ourRivals struct{ *rivalFrontier }

func openRival(dir string, open func(path string) (kvStore, error)) (racer, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	kv, err := open(filepath.Join(dir, "db"))
	return ourRivals{newRivalFrontier(kv)}, err
}

func (f ourRivals) offer(s *linkSource, until int) (offered int, err error) {
	for s.next < uint64(until) {
		var sets [][]string
		want := 0
		for len(sets) < groupOf && s.next < uint64(until) {
			urls, fresh := s.set()
			sets = append(sets, urls)
			want += fresh
			offered += len(urls)
		}
		got, err := f.rivalFrontier.offer("https://h0.example.org/index.html", sets)
		if err != nil {
			return offered, err
		}
		if got != want {
			return offered, fmt.Errorf("%d of %d new URLs were accepted", got, want)
		}
	}
	return offered, nil
}

func (f ourRivals) drain() (urls int, err error) {
	visit := make([]byte, 100)
	for {
		items, err := f.take(groupOf)
		if err != nil || len(items) == 0 {
			return urls, err
		}
		urls += len(items)
		if err := f.done(items, visit); err != nil {
			return urls, err
		}
	}
}

func (f ourRivals) Close() error { return f.kv.Close() }

// repeatFrontier offers the links of the same documents over and over.
func repeatFrontier(dir string) error {
	f, err := openOurs(dir)
	if err != nil {
		return err
	}
	s := newLinkSource(10_000)
	s.repeats = 0
	var sets [][]string
	for range 500 {
		urls, _ := s.set()
		sets = append(sets, urls)
	}
	const times = 100
	refused := 0
	offer := func() error {
		var under sync.WaitGroup
		for _, urls := range sets {
			under.Add(1)
			f.queue.Offer(&webrace.Links{
				From: "https://h0.example.org/index.html", Reach: []webrace.Reach{{Crawl: benchCrawlOf.ID}}, Via: webrace.ViaLink, URLs: urls,
			}, func(o frontier.Offered, e error) {
				refused += o.Refused[frontier.Repeat]
				err = errors.Join(err, e)
				under.Done()
			})
			under.Wait()
		}
		return err
	}
	if err := offer(); err != nil {
		return err
	}
	took, err := timed(func() error {
		for range times {
			if err := offer(); err != nil {
				return err
			}
		}
		return nil
	})
	n := times * len(sets) * setSize
	if err == nil && refused != n {
		err = fmt.Errorf("%d of %d repeats were refused", refused, n)
	}
	if err != nil {
		return err
	}
	each := took.per(1)
	return errors.Join(f.Close(), json.NewEncoder(os.Stdout).Encode(map[string]float64{
		"CPU": float64(each.CPU.Nanoseconds()) / 1e3 / float64(n), "Wall": float64(each.Wall.Nanoseconds()) / 1e3 / float64(n),
	}))
}

// largeFrontier fills a frontier, and is killed with a URL out.
func largeFrontier(dir, size string) error {
	n, err := strconv.Atoi(size)
	if err != nil {
		return err
	}
	f, err := openOurs(dir)
	if err != nil {
		return err
	}
	s := newLinkSource(50_000)
	var r largeCosts
	offered, late := 0, 0
	fill := func(until int) (cost, int, error) {
		offered := 0
		c, err := timed(func() (err error) { offered, err = f.offer(s, until); return err })
		return c, offered, err
	}
	first, offered, err := fill(n / 2)
	if err != nil {
		return err
	}
	if r.RSSHalf, err = rss(); err != nil {
		return err
	}
	second, more, err := fill(n - n/10)
	if err != nil {
		return err
	}
	third, late, err := fill(n)
	if err != nil {
		return err
	}
	if r.RSSFull, err = rss(); err != nil {
		return err
	}
	r.Late = third.per(late)
	r.HalfNew = cost{first.CPU + second.CPU + third.CPU, first.Wall + second.Wall + third.Wall}.per(offered + more + late)
	s.repeats, s.recent = 0.99, 50_000
	repeats, more, err := fill(n + n/100)
	if err != nil {
		return err
	}
	r.MostlyRepeats = repeats.per(more)
	if r.RSSRepeats, err = rss(); err != nil {
		return err
	}
	if _, err := f.queue.Take(context.Background()); err != nil {
		return err
	}
	if err := json.NewEncoder(os.Stdout).Encode(r); err != nil {
		return err
	}
	pprof.StopCPUProfile()
	return syscall.Kill(os.Getpid(), syscall.SIGKILL)
}

// recoverFrontier opens what a killed process left behind, and takes the first URL.
func recoverFrontier(dir string) error {
	took, err := timed(func() error {
		f, err := openOurs(dir)
		if err != nil {
			return err
		}
		_, err = f.queue.Take(context.Background())
		return err
	})
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(took)
}
