package frontier

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/testutil"
)

// What the repeats hold of a link is what was put last, however much of its fingerprint it shares with others; and the
// newest is there.
func TestRepeatsAreExact(t *testing.T) {
	t.Parallel()
	for seed := range testutil.Seeds(20) {
		rng := rand.New(rand.NewPCG(seed, 3))
		most := 1 + rng.IntN(3000)
		s := newRecent(most)
		oracle := map[fingerprint]uint32{}
		for range 20_000 {
			// Halves that are equal must not matter: make many.
			link := fingerprint{rng.Uint64N(64) << 58, rng.Uint64N(64) << 58}.of(rng.Uint32N(2), 1+rng.Uint32N(2))
			distance := rng.Uint32N(4)
			old, put := oracle[link]
			if e := s.find(link); e != nil {
				if !put || !e.reaches(old) || old > 0 && e.reaches(old-1) {
					t.Fatalf("%x is remembered as %x, want %v", link, *e, old)
				}
				distance = min(distance, old)
				s.put(link, distance+rng.Uint32N(2))
			}
			s.put(link, distance)
			oracle[link] = distance
			if e := s.find(link); e == nil || !e.reaches(distance) || distance > 0 && e.reaches(distance-1) {
				t.Fatalf("%x was put at %d, and is remembered as %x", link, distance, e)
			}
		}
		if n := len(s.sets) * repeatWays; n > max(most, repeatWays) {
			t.Errorf("there is room for %d entries, want at most %d", n, most)
		}
	}
}

// The repeats grow with what they remember, and forget hardly any before they are full: which crawl came to which URL
// in which round, and no other.
func TestRepeatsKeepWhatTheyHaveRoomFor(t *testing.T) {
	t.Parallel()
	const most, urls, crawls = 1 << 15, 1 << 13, 3
	if size := unsafe.Sizeof(repeat{}); size != repeatBytes {
		t.Errorf("an entry takes %d bytes, want %d", size, repeatBytes)
	}
	s := newRecent(most)
	url := func(i int) string { return fmt.Sprintf("http://host.example/%d.html", i) }
	for i := range urls {
		for crawl := range uint32(crawls) {
			s.put(s.hash(url(i)).of(crawl, crawl%2), crawl)
		}
		if room := len(s.sets) * repeatWays; room > max(3*crawls*(i+1), leastSets*repeatWays) {
			t.Fatalf("room for %d entries was made, of %d URLs", room, i+1)
		}
	}
	kept := 0
	for i := range urls {
		for crawl := range uint32(crawls) {
			if e := s.find(s.hash(url(i)).of(crawl, crawl%2)); e != nil {
				kept++
				if !e.reaches(crawl) || crawl > 0 && e.reaches(crawl-1) {
					t.Fatalf("crawl %d is taken for %x", crawl, *e)
				}
			}
			if s.find(s.hash(url(i)).of(crawl, 1+crawl%2)) != nil {
				t.Fatal("what was never put is remembered")
			}
		}
		if s.find(s.hash(url(i)).of(crawls, 0)) != nil || s.find(s.hash(url(urls+i)).of(0, 0)) != nil {
			t.Fatal("what was never put is remembered")
		}
	}
	if kept < urls*crawls*999/1000 {
		t.Errorf("%d of %d are remembered", kept, urls*crawls)
	}
}

// Of what memory answers the records tell the same: every crawl that is taken to have come to a URL has a mark there,
// of its round and from no further away. It stays so through new rounds, and rules by which URLs are taken off the
// queue.
func TestTheRepeatsAgreeWithTheRecords(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes: not in short mode")
	}
	t.Parallel()
	const urls, crawls = 60, 4
	for seed := range testutil.Seeds(10) {
		rng := rand.New(rand.NewPCG(seed, 9))
		f := newFixture(t, QueueOptions{Repeats: 1 + rng.IntN(2*urls*crawls), Fresh: -1})
		url := func(n int) string { return fmt.Sprintf("http://h%d/%d", n%5, n) }
		id := func(n int) string { return fmt.Sprint("c", n) }
		for c := range crawls {
			f.start(crawlOf(id(c)), true)
		}
		answered := 0
		for range 200 {
			switch n := rng.IntN(10); {
			case n == 0:
				f.start(crawlOf(id(rng.IntN(crawls))), true)
			case n == 1:
				f.addRule("deny host h1", false)
			case n == 2:
				if _, err := f.q.RemoveRule(context.Background(), "deny host h1"); err != nil {
					t.Fatal(err)
				}
			case n < 5:
				f.work(rng.IntN(2 * urls))
			default:
				links := webrace.Links{From: "http://from/", Via: webrace.ViaLink}
				for _, c := range rng.Perm(crawls)[:1+rng.IntN(crawls)] {
					links.Reach = append(links.Reach, webrace.Reach{Crawl: id(c), Distance: rng.IntN(4)})
				}
				for _, u := range rng.Perm(urls)[:1+rng.IntN(20)] {
					links.URLs = append(links.URLs, url(u))
				}
				f.offer(links)
			}
			for u := range urls {
				answered += f.heldAgainstItsRecord(url(u))
			}
		}
		if answered == 0 {
			t.Errorf("seed %d: nothing was answered from memory", seed)
		}
	}
}

// work works off so many URLs, or as many as there are.
func (f *fixture) work(most int) {
	f.t.Helper()
	for range most {
		f.q.mu.Lock()
		l, _, err := f.q.try(f.s.now())
		f.q.mu.Unlock()
		if err != nil {
			f.t.Fatal(err)
		}
		f.waitForCommit() // of what is taken off the queue
		if l == nil {
			return
		}
		f.done(l)
	}
}

// heldAgainstItsRecord returns how many crawls memory takes to have come to a URL in their round.
func (f *fixture) heldAgainstItsRecord(url string) (answered int) {
	f.t.Helper()
	rec, err := f.s.readRecord(f.q.keys, identify("", url))
	if err != nil {
		f.t.Fatal(err)
	}
	for _, cr := range f.q.crawls.all() {
		round := cr.pass().number
		e := f.q.seen.find(f.q.seen.hash(url).of(cr.number, round))
		if e == nil || !e.reaches(mostRemembered) {
			continue
		}
		answered++
		if rec == nil {
			f.t.Fatalf("%s: memory knows it, and it has no record", url)
		}
		if m := rec.mark(cr.number); m == nil || m.round != round || m.distance > uint32(e[1]&distanceMask-1) {
			f.t.Fatalf("%s, crawl %d, round %d: memory says %x, the record %+v", url, cr.number, round, *e, m)
		}
	}
	return answered
}

// What is too far away to be remembered, and what may come again, the disk is asked for.
func TestRepeatsThatAreNotRemembered(t *testing.T) {
	t.Parallel()
	s := newRecent(100)
	const url = "http://host.example/"
	for _, distance := range []uint32{mostRemembered + 1, math.MaxUint32, mostRemembered, 3, 0} {
		link := s.hash(url).of(distance, 1)
		s.put(link, distance)
		if e := s.find(link); (e != nil) != (distance <= mostRemembered) || e != nil && (!e.reaches(distance) || !e.reaches(math.MaxUint32)) {
			t.Errorf("from %d on: %x", distance, e)
		}
		if s.forget(url, distance, 1); s.find(link) != nil && s.find(link).reaches(math.MaxUint32) {
			t.Errorf("from %d on: it is not forgotten", distance)
		}
		if s.put(link, distance); distance <= mostRemembered && !s.find(link).reaches(distance) {
			t.Errorf("from %d on: it is forgotten for good", distance)
		}
	}
	if e := s.find(fingerprint{}); e != nil && e.reaches(math.MaxUint32) {
		t.Errorf("what is empty is taken for %x", e)
	}
}
