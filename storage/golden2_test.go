package storage_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/frontier"
	"github.com/webrace/webrace/storage/objects"
)

// pack writes a data directory, without what tells where and by whom it was made, as a golden one.
func pack(t *testing.T, dir, file string) {
	t.Helper()
	var packed bytes.Buffer
	zipped, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	archive := tar.NewWriter(zipped)
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Name() == "lock" {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err == nil {
			err = archive.WriteHeader(&tar.Header{Name: filepath.ToSlash(name), Size: int64(len(content)), Mode: 0o600, ModTime: filledAt})
		}
		if err == nil {
			_, err = archive.Write(content)
		}
		return err
	})
	if err := errors.Join(err, archive.Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}
	write(t, file, packed.String())
}

// mustHoldWhatWasFilled wants everything that fill stores, as it stored it.
func mustHoldWhatWasFilled(t *testing.T, d *storage.Dir) {
	t.Helper()
	f := filler{t, d}
	f.mustHoldDocuments()
	f.mustHoldRequests()
	f.mustHoldAnnotations()
	f.mustHoldQueues()
}

func (f filler) mustHoldDocuments() {
	f.Helper()
	store, err := f.dir.Objects()
	f.ok(err)
	if s := store.Stats(); s.URLs != 7 || s.Versions != 13 || s.Payloads != 12 {
		f.Errorf("objects: %+v", s)
	}
	for n := range 6 {
		versions, err := store.Versions(page(n))
		f.ok(err)
		if want := map[bool]int{true: 3, false: 1}[n < 3]; len(versions) != want {
			f.Errorf("%s has %d versions, want %d", page(n), len(versions), want)
		}
		for i, v := range versions {
			f.mustBe(store, v, n+100*i)
		}
	}
	mirror, err := store.Latest("http://mirror.example/5")
	f.ok(err)
	f.mustBe(store, mirror, 5)
	if _, err := store.Latest("http://old.example/1"); !errors.Is(err, objects.ErrNotFound) {
		f.Errorf("what was collected: %v", err)
	}
	if cursor, err := store.Cursor("webrace/follower"); cursor != 7 || err != nil {
		f.Errorf("follower at %d: %v", cursor, err)
	}
	if after, err := store.Next(f.Context(), 7, 100); err != nil || len(after) == 0 || after[0].Seq <= 7 {
		f.Errorf("a follower at 7 goes on with %v: %v", after, err)
	}
}

func (f filler) mustBe(store *objects.Store, v objects.Version, seed int) {
	f.Helper()
	if body, _, err := store.Body(v); err != nil || string(body) != documentText(seed) {
		f.Errorf("version %d of %s has another body than %d: %v", v.Number, v.URL, seed, err)
	}
	if links, err := store.Links(v); err != nil || len(links) != 2 {
		f.Errorf("version %d of %s has links %v: %v", v.Number, v.URL, links, err)
	}
}

func (f filler) mustHoldRequests() {
	f.Helper()
	store, err := f.dir.Control()
	f.ok(err)
	owners := map[string][2]int{} // how many URDs, and the quota
	for o, err := range store.Owners(f.Context()) {
		f.ok(err)
		owners[o.Name] = [2]int{o.URDs, o.Quota}
	}
	want := map[string][2]int{"eleni": {4, 1000}, "andreas": {4, 0}, "zoe": {3, 0}, "costas": {0, 5}}
	if !maps.Equal(owners, want) {
		f.Errorf("owners %v, want %v", owners, want)
	}
	u, err := store.Get(f.Context(), "u3")
	f.ok(err)
	if u.URI != page(1) || u.Owner != "eleni" || u.Secret != "news" || u.Timing.Hours() != 3 || len(u.Keywords.Keywords) != 2 {
		f.Errorf("u3 is %+v", u.URD)
	}
	secret, err := store.Secret(f.Context(), "news")
	f.ok(err)
	if name, value := secret.Reveal(); name != "eleni" || value != "not-a-real-one" {
		f.Errorf("the secret of %s is another one", name)
	}
	if usage, err := store.Usage(f.Context(), "2026-11-01"); err != nil || usage["eleni"] != 2.5 {
		f.Errorf("usage %v: %v", usage, err)
	}
	if l, err := store.DeadLetter(f.Context(), "d1"); err != nil || l.Stage != "match" {
		f.Errorf("dead letter %+v: %v", l, err)
	}
	if now, err := store.Now(f.Context()); err != nil || now != (control.Point{Revision: 13, Checks: 1, Quotas: 2}) {
		f.Errorf("the history is at %+v: %v", now, err)
	}
}

func (f filler) mustHoldAnnotations() {
	f.Helper()
	store, err := f.dir.Control()
	f.ok(err)
	var waiting, retrieved []string
	for a, err := range store.ACIs(f.Context(), control.Filter{}) {
		f.ok(err)
		if a.Retrieved.IsZero() {
			waiting = append(waiting, a.ID)
		} else {
			retrieved = append(retrieved, a.ID)
		}
	}
	if want := []string{"a7", "a8", "a9", "a10", "a11", "a12"}; !slices.Equal(waiting, want) {
		f.Errorf("%v wait, want %v", waiting, want)
	}
	if want := []string{"a4", "a5", "a6"}; !slices.Equal(retrieved, want) {
		f.Errorf("%v were taken or expired, want %v", retrieved, want)
	}
}

func (f filler) mustHoldQueues() {
	f.Helper()
	store, err := f.dir.Frontier()
	f.ok(err)
	for pipeline, want := range map[string][4]int{"crawl": {5, 5, 0, 0}, "webrace": {20, 17, 1, 1}} {
		f.ok(store.View(pipeline, frontier.QueueOptions{}, func(q *frontier.Queue) error {
			s := q.Stats()
			if got := [4]int{s.Known, s.Queued, s.Delayed, s.Failed}; got != want {
				f.Errorf("frontier of %s: known, queued, delayed, failed %v, want %v", pipeline, got, want)
			}
			return nil
		}))
	}
	if paused, err := store.Paused("webrace"); err != nil || !slices.Equal(paused, []string{"slow.example"}) {
		f.Errorf("%v are paused: %v", paused, err)
	}
}

// mustGoOn wants every queued URL to be handed out once, but for those of a host that is paused and the one
// that is delayed; and that every store takes more.
func mustGoOn(t *testing.T, d *storage.Dir) {
	t.Helper()
	f := filler{t, d}
	for pipeline, want := range map[string]int{"crawl": 5, "webrace": 12} {
		r := f.run(pipeline)
		for _, c := range crawlsOf(pipeline) {
			r.start(c, "http://"+c+".example/")
		}
		taken := map[string]bool{}
		for range want {
			taken[r.end(visited(200, 1))] = true
		}
		if s := r.queue.Stats(); len(taken) != want || s.Queued-s.Delayed != map[string]int{"webrace": 4}[pipeline] {
			t.Errorf("%s: %d URLs were taken, want %d; then %+v", pipeline, len(taken), want, s)
		}
		f.ok(r.queue.Close())
	}
	documents, err := d.Objects()
	f.ok(err)
	v := f.put(documents, page(0), 777)
	f.mustBe(documents, v, 777)
	requests, err := d.Control()
	f.ok(err)
	taken, err := requests.Take(t.Context(), "eleni")
	f.ok(err)
	if len(taken) != 6 {
		t.Errorf("%d annotations were taken, want 6", len(taken))
	}
	f.ok(requests.CheckNow(t.Context(), "u1"))
}

func crawlsOf(pipeline string) []string {
	if pipeline == "crawl" {
		return []string{"site"}
	}
	return []string{"news", "slow", "other"}
}

func TestADirectoryOfTheCurrentFormatIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	golden := fmt.Sprintf("testdata/golden/format-%d.tar.gz", storage.Format)
	if testutil.Update() {
		pack(t, filled(t), golden)
	}
	if info, err := os.Stat(golden); err != nil || info.Size() > 300_000 {
		t.Fatalf("%v: %v", info, err)
	}
	for name, dir := range map[string]string{"golden": unpackGolden(t, storage.Format), "filled now": filled(t)} {
		d := open(t, dir)
		mustHoldWhatWasFilled(t, d)
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		if found := findings(t, dir, false); len(found) > 0 {
			t.Errorf("%s: found %v", name, found)
		}
		mustGoOn(t, open(t, dir))
		if t.Failed() {
			t.Fatalf("%s is not as it should be", name)
		}
	}
}
