package objects

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/webrace/webrace"
)

// pictureOf is a screenshot as far as the store looks into it; it does not get smaller by being compressed.
func pictureOf(what string, size int) *webrace.Screenshot {
	rng := rand.New(rand.NewPCG(uint64(len(what)), 1))
	png := append(bytes.Clone(signaturePNG), what...)
	for range size {
		png = append(png, byte(rng.Uint32()))
	}
	return &webrace.Screenshot{PNG: png, Whole: size%2 == 1}
}

// withShot gives a document a screenshot.
func withShot(d *webrace.Document, s *webrace.Screenshot) *webrace.Document {
	d.Screenshot = s
	return d
}

// wantScreenshot wants a version to have that screenshot; nil for none.
func wantScreenshot(t testing.TB, s *Store, v Version, want *webrace.Screenshot) {
	t.Helper()
	got, err := s.Screenshot(v)
	if want == nil {
		if !errors.Is(err, ErrNoScreenshot) || v.Screenshot {
			t.Errorf("version %d of %s has a screenshot: %v, %v", v.Number, v.URL, v.Screenshot, err)
		}
		return
	}
	if err != nil || !v.Screenshot || !bytes.Equal(got.PNG, want.PNG) || got.Whole != want.Whole {
		t.Fatalf("screenshot of version %d of %s: %v, %+v, %v", v.Number, v.URL, v.Screenshot, got, err)
	}
}

func TestAScreenshotIsStoredWithItsVersion(t *testing.T) {
	dir := t.TempDir()
	s := openAt(t, dir, Options{})
	one, two, other := pictureOf("one", 900), pictureOf("two", 901), pictureOf("other", 20)
	put(t, s, page(home+"bare", "one"))
	if n, _, err := get(s, formatKey, decodeNumber); err != nil || n != formatGzip {
		t.Errorf("without a screenshot, the format is %d, %v", n, err)
	}
	v := put(t, s, withShot(page(home, "one"), one)) // a revisit
	if !v.Screenshot || !v.Changed {
		t.Errorf("put: %+v", v)
	}
	if n, _, err := get(s, formatKey, decodeNumber); err != nil || n != formatScreenshots {
		t.Errorf("with a screenshot, the format is %d, %v", n, err)
	}
	if again := put(t, s, withShot(page(home, "one"), other)); again.Changed || again.Number != 1 || !again.Screenshot {
		t.Errorf("the same body makes another version: %+v", again)
	}
	put(t, s, withShot(page(home, "two"), two))
	private := page(home, "mine")
	private.Secret = "bank"
	put(t, s, withShot(private, other))
	put(t, s, page(home, "three"))
	if _, err := s.Put(withShot(page(home, "four"), &webrace.Screenshot{PNG: []byte("GIF89a")}), nil); err == nil || !strings.Contains(err.Error(), "no PNG") {
		t.Errorf("a screenshot that is no PNG: %v", err)
	}
	if err := s.Compress(Zstd); err != nil {
		t.Fatal(err)
	}
	if n, _, err := get(s, formatKey, decodeNumber); err != nil || n != formatScreenshots {
		t.Errorf("with zstd after that, the format is %d, %v", n, err)
	}
	for range 2 {
		for number, want := range []*webrace.Screenshot{one, two, nil} {
			v, err := s.Get(home, number+1)
			if err != nil {
				t.Fatal(err)
			}
			wantBody(t, s, v, []string{"one", "two", "three"}[number])
			wantScreenshot(t, s, v, want)
			if m, err := s.Meta(v); err != nil || len(m.Links) != 3 {
				t.Errorf("meta-info %+v, %v", m, err)
			}
		}
		wantScreenshot(t, s, mustLatest(t, s, View("bank", home)), other)
		sound(t, s)
		closeStore(t, s)
		s = openAt(t, dir, Options{})
	}
	closeStore(t, s)
	wantValidScreenshots(t, dir, home, ofView+home, ofWhole+home, ofView+home)
}

// wantValidScreenshots wants another reader to find records of these URIs, each beside the record before it.
func wantValidScreenshots(t *testing.T, dir, page string, uris ...string) {
	t.Helper()
	var before strictRecord
	for _, r := range readStrictly(t, dir) {
		if r.kind == typeResource {
			if len(uris) == 0 || r.url != uris[0] || r.concurrentTo != before.id || before.url != page || !bytes.HasPrefix(r.block, signaturePNG) {
				t.Errorf("%+v follows %+v", r, before)
			}
			uris = uris[min(1, len(uris)):]
		}
		before = r
	}
	if len(uris) > 0 {
		t.Errorf("there are no %q", uris)
	}
}

// What a collection removes of a version is removed of its screenshot, and what it moves comes along.
func TestScreenshotsAreCollectedAndMovedWithTheirVersions(t *testing.T) {
	for from, to := range map[Compression]Compression{Gzip: Zstd, Zstd: Gzip} {
		dir := t.TempDir()
		s := openAt(t, dir, Options{Compression: from})
		for i := range 12 {
			d := page(fmt.Sprint(home, i%6), fmt.Sprint("body ", i%9))
			if i%3 > 0 {
				withShot(d, pictureOf(d.URL, 2000+i))
			}
			put(t, s, d)
		}
		before := s.Stats()
		gone := func(v Version) bool { return v.Number == 1 && v.URL != home+"5" }
		if c := collect(t, s, CollectOptions{Verdict: only(Remove, gone)}); c.Versions != 5 || c.Bytes < 3*2000 {
			t.Errorf("collected %+v", c)
		}
		if now := s.Stats(); int64(now.DeadBytes) < 3*2000 && int64(now.SegmentBytes) > int64(before.SegmentBytes)-3*2000 {
			t.Errorf("the space of screenshots is not given back: %+v, before %+v", now, before)
		}
		sound(t, s)
		if err := s.Compress(to); err != nil {
			t.Fatal(err)
		}
		collect(t, s, CollectOptions{MinAlive: 1})
		sound(t, s)
		closeStore(t, s)
		if err := os.RemoveAll(filepath.Join(dir, indexName)); err != nil {
			t.Fatal(err)
		}
		repair(t, dir)
		s = openAt(t, dir, Options{})
		if n, _, err := get(s, formatKey, decodeNumber); err != nil || n != formatScreenshots {
			t.Errorf("built again, the format is %d, %v", n, err)
		}
		for i := range 12 {
			v, err := s.Get(fmt.Sprint(home, i%6), 1+i/6)
			if i < 5 {
				if !errors.Is(err, ErrNotFound) {
					t.Errorf("%d: %v", i, err)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			wantBody(t, s, v, fmt.Sprint("body ", i%9))
			want := pictureOf(v.URL, 2000+i)
			if i%3 == 0 {
				want = nil
			}
			wantScreenshot(t, s, v, want)
		}
		sound(t, s)
		closeStore(t, s)
	}
}

// A screenshot that is damaged costs nothing else, and other damage does not cost the screenshot.
func TestDamageCostsAScreenshotAloneOrNot(t *testing.T) {
	eachCompression(t, func(t *testing.T, c Compression) {
		for name, damage := range map[string]struct {
			kind  string
			place func(*entry) location
			index bool // is lost as well
			want  *webrace.Screenshot
			links int
		}{
			"screenshot":            {damageScreenshot, (*entry).shot, false, nil, 3},
			"screenshot, and index": {damageScreenshot, (*entry).shot, true, nil, 3},
			"meta-info":             {damageMeta, (*entry).meta, false, pictureOf("it", 700), 3},
			"meta-info, and index":  {damageMeta, (*entry).meta, true, pictureOf("it", 700), 0},
		} {
			t.Run(name, func(t *testing.T) {
				dir := t.TempDir()
				s := openAt(t, dir, Options{Compression: c})
				put(t, s, page(home, "first"))
				put(t, s, withShot(page(home, "body"), pictureOf("it", 700)))
				put(t, s, withShot(page(home+"next", "body"), pictureOf("next", 70)))
				e := mustEntry(t, s, home)
				at := damage.place(&e)
				rot(t, s, location{at.segment, at.offset + at.length/2, 20})
				if damage.index {
					closeStore(t, s)
					if err := os.RemoveAll(filepath.Join(dir, indexName)); err != nil {
						t.Fatal(err)
					}
					repair(t, dir)
					s = openAt(t, dir, Options{})
				} else {
					asSlowly(t, s)
					if found := kinds(t, s, false); found[damage.kind] != 1 || len(found) > 1 {
						t.Errorf("found %v", found)
					}
					if found := kinds(t, s, true); found[damage.kind+" (repaired)"] != 1 || len(found) > 1 {
						t.Errorf("repaired %v", found)
					}
				}
				defer s.Close()
				sound(t, s)
				v := mustLatest(t, s, home)
				wantBody(t, s, v, "body")
				wantScreenshot(t, s, v, damage.want)
				if m, err := s.Meta(v); err != nil || len(m.Links) != damage.links || v.Number != 2 {
					t.Errorf("version %d has meta-info %+v, %v", v.Number, m, err)
				}
				next := mustLatest(t, s, home+"next")
				wantBody(t, s, next, "body")
				wantScreenshot(t, s, next, pictureOf("next", 70))
			})
		}
	})
}

// rot writes over a part of a segment.
func rot(t *testing.T, s *Store, at location) {
	t.Helper()
	file, err := s.options.FS.OpenReadWrite(s.segments.path(at.segment), writeCategory)
	if err == nil {
		_, err = file.WriteAt(bytes.Repeat([]byte{'r'}, int(at.length)), at.offset)
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A version with a screenshot that a crash has torn, wherever that is, comes back as a whole or not at all: then the
// next visit stores it with its screenshot.
func TestATornVersionIsThereWithItsScreenshotOrNot(t *testing.T) {
	fsys := vfs.NewMem()
	s := open(t, fsys, Options{})
	put(t, s, page(home, "one"))
	begin := s.segments.state.size
	s.Close()
	before := vfs.NewMem()
	if _, err := vfs.Clone(fsys, before, "/data/objects", "/data/objects"); err != nil {
		t.Fatal(err)
	}
	s = open(t, fsys, Options{})
	shot := pictureOf("two", 300)
	put(t, s, withShot(page(home, "two"), shot))
	e := mustEntry(t, s, home)
	tail, err := s.segments.read(e.whole())
	if err != nil || e.record.offset != begin || begin+int64(len(tail)) != s.segments.state.size {
		t.Fatalf("%+v, %d, %v", e, len(tail), err)
	}
	s.Close()
	cuts := []int64{1, e.record.length, e.record.length + 1, e.record.length + e.shotLength/2, e.record.length + e.shotLength,
		e.record.length + e.shotLength + 1, e.record.length + e.shotLength + e.metaLength/2, int64(len(tail)) - 1, int64(len(tail))}
	for _, cut := range cuts {
		torn := vfs.NewMem()
		if _, err := vfs.Clone(before, torn, "/data/objects", "/data/objects"); err != nil {
			t.Fatal(err)
		}
		file, err := torn.OpenReadWrite("/data/objects/"+segmentName(1, Gzip), writeCategory)
		if err == nil {
			_, err = file.WriteAt(tail[:cut], begin)
			err = errors.Join(err, file.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
		s := open(t, torn, Options{})
		if v, whole := mustLatest(t, s, home), cut == int64(len(tail)); whole != (v.Number == 2) {
			t.Errorf("cut at %d of %d: version %d", cut, len(tail), v.Number)
		}
		v := put(t, s, withShot(page(home, "two"), shot))
		wantScreenshot(t, s, v, shot)
		wantBody(t, s, v, "two")
		sound(t, s)
		s.Close()
	}
}
