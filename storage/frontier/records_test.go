package frontier

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/pointer"
)

// Whatever is read without an error is written as it was meant: a second reading gives the same.
func FuzzRecords(f *testing.F) {
	rec := record{place: place{delayed, 1, 300, 5}, tries: 2, failed: true, redirect: "x", marks: []mark{{crawl: 1, round: 2, distance: 3, best: 4, version: 5, revision: 6, queued: true}, {crawl: 9, round: 8, distance: 7}}}
	f.Add(rec.encode())
	f.Add((&record{marks: []mark{{crawl: 1, round: 2, best: 1, version: 5, revision: 6, since: 2, sinceRevision: 4}}}).encode())
	f.Add((&record{marks: []mark{{crawl: 1, round: 2, best: 1, version: 5, revision: 6, since: 2, sinceRevision: 4, later: 4, laterRevision: 5}}}).encode())
	f.Add((&record{
		marks:  []mark{{crawl: 1, round: 2, best: 4, version: 5, revision: 6}, {crawl: 2, round: 2, best: 2, version: 5, revision: 6}},
		nearer: []sight{{1, 1, 2, 3}, {1, 3, 4, 6}, {2, 1, 5, 5}},
	}).encode())
	f.Add((&item{id: urlID{1}, url: "http://a/", from: "http://b/", redirects: 3}).encode())
	f.Add((&item{id: urlID{1}, url: "http://a/", alone: coming{1, 2, 3}}).encode())
	f.Add((&hostRecord{parallel: 2, notBefore: time.Unix(3, 4), items: [levels]uint64{1, 0, 2}}).encode())
	f.Add(encodeVisit(&webrace.Visit{At: time.Unix(1, 2), Status: 200, ETag: "e", Baseline: []uint64{1, 2}, Error: "x"}))
	f.Add(encodeVisit(&webrace.Visit{At: time.Unix(1, 2), Status: 200, Interval: 3, Canonical: "http://a/", Refresh: "http://b/", Expires: time.Unix(2, 0), Listed: time.Unix(1, 0)}))
	f.Add(encodeVisit(&webrace.Visit{Links: []string{"http://a/b", "http://a/c"}, Likeness: 1, Titled: 2}))
	f.Add(encodeVisit(&webrace.Visit{Links: []string{}}))
	f.Add(encodeVisit(&webrace.Visit{Version: 2, Former: webrace.Former{URL: "http://a/", Version: 1}}))
	f.Add(encodeVisit(&webrace.Visit{Version: 2, Origins: []string{"http://a/", "http://b/"}}))
	f.Add(encodeVisit(&webrace.Visit{Version: 2, Placeholder: webrace.Placeholder{Rounds: 1, Whole: 1}}))
	f.Add(encodeVisit(&webrace.Visit{Version: 2, Matched: webrace.Matched{Version: 2, Kind: 3, Series: []string{"http://a/?page=2"}}}))
	f.Add(encodeVisit(&webrace.Visit{Version: 2, Instead: webrace.Instead{Of: "http://a/?b=1", Before: "http://a/"}}))
	f.Add((&item{id: urlID{1}, url: "http://a/?b=2", sitemaps: 1, instead: webrace.Instead{Of: "http://a/?b=1", Before: "http://a/"}}).encode())
	f.Add((&item{id: urlID{1}, url: "http://a/", changed: 5}).encode())
	f.Add((&item{id: urlID{1}, url: "http://a/", changed: 5, alone: coming{1, 2, 3}}).encode())
	f.Add((&hostRecord{parallel: 1, listings: listings{1, 2, 3}, why: "dead"}).encode())
	f.Add((&counters{order: 1, known: 3, written: 9}).encode())
	f.Add((&item{id: urlID{1}, url: "http://a/", changed: 5, aside: 7}).encode())
	f.Add((&hostRecord{parallel: 1, notBefore: time.Unix(3, 4), reported: 5}).encode())
	for _, c := range crawlsOfEachSchema(f) {
		f.Add(encodeCrawl(c))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		check := func(what string, encode func([]byte) ([]byte, error)) {
			once, err := encode(value)
			if err != nil {
				return
			}
			twice, err := encode(once)
			if err != nil || !bytes.Equal(once, twice) {
				t.Errorf("%s %x is written as %x, and read again as %x (%v)", what, value, once, twice, err)
			}
		}
		check("record", func(b []byte) ([]byte, error) {
			r, err := decodeRecord(b)
			if err != nil {
				return nil, err
			}
			return r.encode(), nil
		})
		check("item", func(b []byte) ([]byte, error) {
			it, err := decodeItem(b)
			return it.encode(), err
		})
		check("host", func(b []byte) ([]byte, error) {
			h, err := decodeHost(b)
			if err != nil {
				return nil, err
			}
			return h.encode(), nil
		})
		check("visit", func(b []byte) ([]byte, error) {
			v, err := decodeVisit(b)
			if err != nil {
				return nil, err
			}
			return encodeVisit(v), nil
		})
		check("counters", func(b []byte) ([]byte, error) {
			c, err := decodeCounters(b)
			return c.encode(), err
		})
		check("crawl", func(b []byte) ([]byte, error) {
			c, err := decodeCrawl(b)
			if err != nil {
				return nil, err
			}
			return encodeCrawl(c), nil
		})
	})
}

func TestAVisitOfEachSchemaIsRead(t *testing.T) {
	t.Parallel()
	want := webrace.Visit{At: time.Unix(1, 2).UTC(), Status: 200, ETag: "e", Version: 3, Baseline: []uint64{1, 2}, Interval: 5}
	fifth := encodeVisit(&want)
	if fifth[0] != 5 {
		t.Errorf("a visit that needs no later schema is written in schema %d", fifth[0])
	}
	sixth := append(append([]byte{6}, fifth[1:]...), 0, 0) // with an empty text, and no numbers
	latest := append(append([]byte{7}, sixth[1:]...), 0)   // and read as of old
	fourth := append([]byte{4}, fifth[1:len(fifth)-2]...)  // without two flags
	third := append([]byte{3}, fourth[1:len(fourth)-2]...) // nor two times
	second := append([]byte{2}, third[1:len(third)-2]...)  // nor two empty texts
	interval := len(second) - 1
	first := append([]byte{1}, second[1:interval]...)
	for i, value := range [][]byte{first, second, third, fourth, fifth, sixth, latest} {
		want := want
		if i == 0 {
			want.Interval = 0
		}
		if got, err := decodeVisit(value); err != nil || !reflect.DeepEqual(*got, want) {
			t.Errorf("schema %d: %+v, %v, want %+v", i+1, got, err, want)
		}
	}
	want.Canonical, want.Refresh, want.Expires, want.Listed = "http://a/", "http://b/", time.Unix(7, 0).UTC(), time.Unix(8, 0).UTC()
	want.Numbers = []webrace.Told{{URD: 1 << 63, Number: -12.5, Met: true}, {URD: 1}}
	want.Links, want.Likeness, want.Titled, want.Lister = []string{"http://a/1", "http://a/2"}, 1<<63, 7, "http://a/sitemap.xml"
	want.Reading = 1
	if value := encodeVisit(&want); value[0] != 7 {
		t.Errorf("a visit that was not refused is written in schema %d", value[0])
	}
	want.Refused = true
	if value := encodeVisit(&want); value[0] != 8 {
		t.Errorf("a visit without absent parts is written in schema %d", value[0])
	}
	want.Absent = []webrace.Absent{{Rules: 1 << 63, Version: 3}, {Rules: 2}}
	if value := encodeVisit(&want); value[0] != 9 {
		t.Errorf("a visit of a document that has not moved is written in schema %d", value[0])
	}
	want.Former = webrace.Former{URL: "http://a/", Version: 3}
	want.Origins = []string{"http://b/"}
	if value := encodeVisit(&want); value[0] != 11 {
		t.Errorf("a visit of a document in whose place nothing came is written in schema %d", value[0])
	}
	want.Placeholder = webrace.Placeholder{Rounds: 1, Whole: 2, Accepted: 3}
	if value := encodeVisit(&want); value[0] != 12 {
		t.Errorf("a visit that does not know who came while a part was absent is written in schema %d", value[0])
	}
	want.Absent[0].Revision = 9
	if value := encodeVisit(&want); value[0] != 13 {
		t.Errorf("a visit that does not know of what kind the last version is is written in schema %d", value[0])
	}
	want.Matched = webrace.Matched{Version: 3, Kind: 2, Series: []string{"http://a/?page=2"}}
	if value := encodeVisit(&want); value[0] != 14 {
		t.Errorf("a visit of a document that stands in no other's place is written in schema %d", value[0])
	}
	want.Instead = webrace.Instead{Of: "http://a/?after=4", Before: "http://a/"}
	if value := encodeVisit(&want); value[0] != 15 {
		t.Errorf("a visit without a state is written in schema %d", value[0])
	}
	want.State = bytes.Repeat([]byte{0, 255}, webrace.MostState/2)
	if got, err := decodeVisit(encodeVisit(&want)); err != nil || !reflect.DeepEqual(*got, want) {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	if got, err := decodeVisit(append([]byte{visitSchema + 1}, latest[1:]...)); err == nil {
		t.Errorf("a later schema is read as %+v", got)
	}
}

// crawlsOfEachSchema returns a crawl that is written in schema 4, one in 5 and one in 6.
func crawlsOfEachSchema(t testing.TB) (all []*crawl) {
	for i, how := range []func(*pass){
		func(*pass) {},
		func(p *pass) { p.moves = []string{"http://b.org/"} },
		func(p *pass) { p.spread = spread{left: true, opened: 2, hops: 3, led: "http://c.org/"} },
	} {
		c, p := &crawl{number: 1}, &pass{Crawl: crawlOf("a.org"), number: 2, started: time.Unix(1, 0).UTC()}
		how(p)
		pointer.Store(&c.now, p)
		if got := encodeCrawl(c)[0]; int(got) != 4+i {
			t.Errorf("crawl %d is written in schema %d", i, got)
		}
		all = append(all, c)
	}
	return all
}

func TestACrawlIsReadAsItWasWrittenInEachSchema(t *testing.T) {
	t.Parallel()
	for _, c := range crawlsOfEachSchema(t) {
		got, err := decodeCrawl(encodeCrawl(c))
		if err != nil {
			t.Fatal(err)
		}
		p, want := got.pass(), c.pass()
		if p.Crawl != want.Crawl || p.number != want.number || !p.started.Equal(want.started) || !slices.Equal(p.moves, want.moves) || p.spread != want.spread {
			t.Errorf("%+v is read as %+v", want, p)
		}
	}
}

func TestAnItemIsReadAsItWasWrittenInEachSchema(t *testing.T) {
	t.Parallel()
	want := item{id: urlID{1}, url: "http://a/", from: "http://b/", redirects: 3}
	for schema, add := range []func(){
		func() {},
		func() { want.alone = coming{1, 2, 3} },
		func() { want.changed = 5 },
		func() { want.aside = 7 },
		func() { want.sitemaps = 1 },
		func() { want.instead = webrace.Instead{Of: "http://a/?after=4", Before: "http://a/"} },
	} {
		add()
		value := want.encode()
		if got, err := decodeItem(value); int(value[0]) != schema+1 || err != nil || got != want {
			t.Errorf("%+v is written in schema %d, and read as %+v, %v", want, value[0], got, err)
		}
	}
}

func TestADamagedOrUnknownValueIsAnError(t *testing.T) {
	t.Parallel()
	good := (&item{id: urlID{1}, url: "http://a/", from: "http://b/", redirects: 3}).encode()
	later := append([]byte{itemSchema + 1}, good[1:]...)
	for _, bad := range [][]byte{nil, good[:5], good[:len(good)-1], append(good[:len(good):len(good)], 0), later} {
		if _, err := decodeItem(bad); err == nil {
			t.Errorf("%x is read without an error", bad)
		}
	}
}

func TestTheCacheIsBoundedAndKeepsWhatIsNew(t *testing.T) {
	t.Parallel()
	c := newCache[int, int](10)
	for i := range 1000 {
		c.put(i, i)
		for j := max(0, i-9); j <= i; j++ {
			if v, ok := c.get(j); !ok || v != j {
				t.Fatalf("after %d, %d is gone", i, j)
			}
		}
	}
	if n := len(c.young) + len(c.old); n > 20 {
		t.Errorf("%d entries are kept", n)
	}
}

// What a crawl was shown is told of for those who were there, whoever joins, and for those who joined since.
func TestAMarkKnowsSinceWhenThoseWhoJoinHaveBeenShownAll(t *testing.T) {
	t.Parallel()
	var m mark
	from := func(interest int64) int {
		s := webrace.Shown{
			Version: int(m.version), Revision: m.revision,
			Since: int(m.since), SinceRevision: m.sinceRevision, Later: int(m.later), LaterRevision: m.laterRevision,
		}
		return s.From(interest)
	}
	for version := uint32(1); version <= 40; version++ {
		m.show(version, int64(10*version)) // somebody joins before each
		for joined := uint32(1); joined <= version; joined++ {
			if got, most := from(int64(10*joined)), int(max(joined, version-1)); got < int(joined) || got > most {
				t.Fatalf("version %d: who joined at %d was shown all from %d on, want %d at most", version, joined, got, most)
			}
		}
		if got := from(int64(10*version + 1)); got != 0 {
			t.Fatalf("version %d: who joined after it was shown all from %d on", version, got)
		}
		if version <= 9 && from(10) != 1 || version > 3 && int(version)-from(10) < 2 {
			t.Fatalf("version %d: who was there first was shown all from %d on", version, from(10))
		}
	}
	m.show(1, 500) // the cache was begun anew
	if got := from(10); got != 1 {
		t.Errorf("a cache that was begun anew: %d", got)
	}
}

// Who reaches so many levels has seen the last version that was shown within them, however near or far the URL lay
// before and since.
func TestARecordKnowsWhatWasShownWithinHowManyLevels(t *testing.T) {
	t.Parallel()
	const crawls, levels = 3, 8
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 5))
		rec := &record{}
		var want [crawls + 1][levels]sight // by crawl, and how many levels are reached
		version, revision := uint32(1), int64(1)
		for range 60 {
			switch r.IntN(4) {
			case 0:
				version++
			case 1:
				revision++
			}
			crawl, distance := uint32(1+r.IntN(crawls)), uint32(r.IntN(levels))
			rec.show(rec.addMark(crawl), distance, version, revision)
			for reached := distance; reached < levels; reached++ {
				want[crawl][reached] = sight{crawl: crawl, version: version, revision: revision}
			}
			read, err := decodeRecord(rec.encode())
			if err != nil || !slices.Equal(rec.nearer, read.nearer) {
				t.Fatalf("seed %d: %+v is read as %+v, %v", seed, rec.nearer, read.nearer, err)
			}
			for crawl := range uint32(crawls) {
				m := rec.mark(crawl + 1)
				for reached := range uint32(levels) {
					var got sight
					if m != nil {
						for _, s := range append(slices.Clone(rec.nearerOf(crawl+1)), sight{crawl + 1, m.best, m.version, m.revision}) {
							if s.best <= reached+1 {
								got = sight{crawl: s.crawl, version: s.version, revision: s.revision}
							}
						}
					}
					if got != want[crawl+1][reached] {
						t.Fatalf("seed %d: who reaches a distance of %d was shown %+v, want %+v; %+v and %+v", seed, reached, got, want[crawl+1][reached], rec.nearer, m)
					}
				}
			}
		}
	}
}

// A record of the release before is read, and written as it was until it has more to say.
func TestARecordOfTheReleaseBeforeIsRead(t *testing.T) {
	t.Parallel()
	before := []byte{2, 0, 0, 0, 1, 1, 2, 3, 4, 5, 12, 1, 2, 8}
	rec, err := decodeRecord(before)
	want := mark{crawl: 1, round: 2, distance: 3, best: 4, version: 5, revision: 6, queued: true, since: 2, sinceRevision: 4}
	if err != nil || rec.marks[0] != want {
		t.Fatalf("read as %+v, %v", rec, err)
	}
	if again := rec.encode(); !bytes.Equal(again, before) {
		t.Errorf("written as %v", again)
	}
	want.later, want.laterRevision = 4, 5
	rec.marks[0] = want
	if again, err := decodeRecord(rec.encode()); err != nil || again.marks[0] != want {
		t.Errorf("with those who joined it is read as %+v, %v", again, err)
	}
}
