package storage_test

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/frontier"
	"github.com/webrace/webrace/storage/fsck"
	"github.com/webrace/webrace/storage/objects"
)

// partOf is by the first letter, so that a body is of two parts, and one part has nothing.
func partOf(host string) int { return int(host[0]) % 4 }

// What is divided is in the parts, each thing in one of them, as it was: versions with their numbers, places in the log
// and bodies, the numbers that are used up, and what is queued, failed, paused and known of URLs. All parts are sound,
// and what was divided stays as it is.
func TestWhatIsDividedIsInTheParts(t *testing.T) {
	t.Parallel()
	path := filled(t)
	addScreenshot(t, path)
	scratch := filepath.Join(t.TempDir(), "scratch")
	if err := os.Mkdir(scratch, 0o700); err != nil { // as one that was killed has left it
		t.Fatal(err)
	}
	whole, err := storage.Open(path, storage.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	division, err := whole.Divide(t.Context(), scratch, partOf)
	if err != nil {
		t.Fatal(err)
	}
	var stored, queued []string
	var stats frontier.Stats
	for part := range 4 {
		at := filepath.Join(t.TempDir(), fmt.Sprint(part))
		for range 2 { // the second finds the first
			if err := division.CopyPart(t.Context(), part, at); err != nil {
				t.Fatal(err)
			}
		}
		d := open(t, at)
		f := filler{t, d}
		f.ok(d.Check(t.Context(), false, func(found fsck.Finding) {
			if found.Store != "control" { // which parts have in common
				t.Errorf("part %d: %v", part, found)
			}
		}))
		stored = append(stored, f.stored(part)...)
		queued = append(queued, f.queued(part, &stats)...)
		f.mustGoOn(part)
		f.ok(d.Close())
	}
	occupied := t.TempDir()
	if err := division.CopyPart(t.Context(), 1, occupied); err == nil || !strings.Contains(err.Error(), "is there already") {
		t.Error("a part takes the place of something else:", err)
	}
	f, want := filler{t, whole}, frontier.Stats{}
	sort := func(s []string) []string { slices.Sort(s); return s }
	if diff := cmp.Diff(sort(f.stored(-1)), sort(stored)); diff != "" {
		t.Errorf("documents (- whole, + parts):\n%s", diff)
	}
	if diff := cmp.Diff(sort(f.queued(-1, &want)), sort(queued)); diff != "" {
		t.Errorf("URLs (- whole, + parts):\n%s", diff)
	}
	if diff := cmp.Diff(want, stats); diff != "" {
		t.Errorf("figures (- whole, + parts):\n%s", diff)
	}
	again, err := whole.Divide(t.Context(), scratch, partOf)
	if err != nil || again.ID() != division.ID() {
		t.Errorf("the directory is not known again: %s, and %s, %v", division.ID(), again.ID(), err)
	}
	f.ok(division.Close())
	f.ok(whole.Close())
	d := open(t, path)
	f = filler{t, d}
	f.ok(d.Check(t.Context(), false, func(found fsck.Finding) { t.Errorf("what was divided: %v", found) }))
	store, err := d.Objects()
	f.ok(err)
	f.put(store, page(9), 9)
	if later, err := d.Divide(t.Context(), scratch, partOf); err != nil || later.ID() == division.ID() {
		t.Error("a later state is taken for the same:", later.ID(), err)
	}
}

// addScreenshot stores, compressed otherwise than all before, a page with a screenshot, and one of another part with a
// body that is there.
func addScreenshot(t *testing.T, path string) {
	t.Helper()
	d := open(t, path)
	f := filler{t, d}
	store, err := d.Objects()
	f.ok(err)
	f.ok(store.Compress(objects.Zstd))
	f.put(store, "http://all.example/5", 5)
	durable := make(chan error, 1)
	_, err = store.Put(&webrace.Document{
		URL: "http://news.example/seen", Outcome: webrace.Fetched, Status: 200, At: filledAt, MediaType: "text/html", Body: []byte("<p>It is seen."),
		Screenshot: &webrace.Screenshot{PNG: tinyPNG(t), Whole: true},
	}, func(err error) { durable <- err })
	f.ok(err)
	f.ok(<-durable)
	f.ok(d.Close())
}

func tinyPNG(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := png.Encode(&out, image.NewGray(image.Rect(0, 0, 3, 2))); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// stored describes the versions of a part; of all for less than 0.
func (f filler) stored(part int) (all []string) {
	f.Helper()
	store, err := f.dir.Objects()
	f.ok(err)
	for after := uint64(0); after < store.Last(); {
		versions, err := store.Next(f.Context(), after, 100)
		f.ok(err)
		for _, v := range versions {
			body, header, err := store.Body(v)
			f.ok(err)
			links, err := store.Links(v)
			f.ok(err)
			host := strings.TrimPrefix(v.URL, "http://")
			if part >= 0 && partOf(host) != part {
				f.Errorf("part %d has %s", part, v.URL)
			}
			shot := &webrace.Screenshot{}
			if v.Screenshot {
				shot, err = store.Screenshot(v)
				f.ok(err)
			}
			all, after = append(all, fmt.Sprint(v, len(body), header, links, string(shot.PNG))), v.Seq
		}
	}
	cursor, err := store.Cursor("webrace/follower")
	f.ok(err)
	if cursor != 7 {
		f.Errorf("part %d: the follower is at %d", part, cursor)
	}
	return all
}

// queued describes what is known of URLs, and adds up how many there are.
func (f filler) queued(part int, sum *frontier.Stats) (all []string) {
	f.Helper()
	store, err := f.dir.Frontier()
	f.ok(err)
	pipelines, err := store.Pipelines()
	f.ok(err)
	for _, pipeline := range pipelines {
		q, err := store.Queue(pipeline, frontier.QueueOptions{})
		f.ok(err)
		s := q.Stats()
		sum.Known, sum.Queued, sum.Delayed, sum.Failed = sum.Known+s.Known, sum.Queued+s.Queued, sum.Delayed+s.Delayed, sum.Failed+s.Failed
		for _, host := range []string{"news", "slow", "other", "site"} {
			for n := -1; n < 12; n++ {
				url := fmt.Sprintf("http://%s.example/%d", host, n)
				if n < 0 {
					url = fmt.Sprintf("http://%s.example/", host)
				}
				if part >= 0 && partOf(host) != part {
					continue
				}
				found, err := q.Why(url)
				f.ok(err)
				for _, e := range found {
					if e.Visit != nil {
						e.Visit.Shown = nil
					}
					all = append(all, fmt.Sprintf("%s %s %v %+v %v %v", pipeline, e.URL, e.State, e.Reached, e.Visit, e.Paused))
				}
			}
		}
		f.ok(q.Close())
	}
	return all
}

// mustGoOn wants what comes next to be as it would be in the whole.
func (f filler) mustGoOn(part int) {
	f.Helper()
	store, err := f.dir.Objects()
	f.ok(err)
	url := "http://old.example/1" // which was removed
	if part == partOf("news") {
		url = page(2)
	}
	v := f.put(store, url, 2000)
	if want := map[int]int{partOf("old"): 2, partOf("news"): 4}[part]; want > 0 && v.Number != want {
		f.Errorf("part %d: what comes is version %d of %s, not %d", part, v.Number, url, want)
	}
	if before := store.Stats(); v.Seq < 10 || before.Versions == 0 {
		f.Errorf("part %d: what comes is at %d of the log, which followers have passed", part, v.Seq)
	}
}
