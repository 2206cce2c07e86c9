package objects

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace/storage/fsck"
	"github.com/webrace/webrace/storage/internal/damage"
	"github.com/webrace/webrace/storage/internal/setaside"
)

// kept is what a store held: a version, and where its bytes lie.
type kept struct {
	version Version
	body    string
	own     location // of its record
	whole   location // of the record with its body
	shot    location // of its screenshot; of no length without one
}

// grown makes a store in dir, and copies it halfway to older. It returns what it holds in the end.
func grown(t *testing.T, dir, older string) (all []kept) {
	t.Helper()
	s := openAt(t, dir, Options{SegmentSize: 4000})
	step := func(from, to int) {
		for i := from; i < to; i++ {
			put(t, s, page(fmt.Sprint(home, i), fmt.Sprint("body ", i)))
			v := page(fmt.Sprint(home, i%3, "/versions"), fmt.Sprint("version ", i))
			if i%2 == 0 {
				withShot(v, pictureOf(v.URL, 50))
			}
			put(t, s, v)
		}
		put(t, s, page(fmt.Sprint(home, "again/", from), fmt.Sprint("body ", from))) // a revisit
	}
	step(0, 8)
	if err := s.SetCursor("a/follower", 3, true); err != nil {
		t.Fatal(err)
	}
	closeStore(t, s)
	if err := os.CopyFS(older, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	s = openAt(t, dir, Options{SegmentSize: 4000, Compression: Zstd})
	step(8, 16)
	touch(t, s, home+"9", noon.Add(time.Hour))
	collectURL(t, s, home+"10")
	step(16, 20)
	all = holdings(t, s)
	closeStore(t, s)
	return all
}

func openAt(t *testing.T, dir string, o Options) *Store {
	t.Helper()
	o.Logger = quiet()
	s, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func closeStore(t *testing.T, s *Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// collectURL removes all versions of a URL, and rewrites what is sparse then.
func collectURL(t *testing.T, s *Store, url string) {
	t.Helper()
	verdict := func(_ context.Context, versions []Version) ([]Verdict, error) {
		verdicts := make([]Verdict, len(versions))
		for i, v := range versions {
			if v.URL == url {
				verdicts[i] = Remove
			}
		}
		return verdicts, nil
	}
	if c, err := s.Collect(t.Context(), CollectOptions{Verdict: verdict, MinAlive: 0.95}); err != nil || c.Versions != 1 || c.Segments == 0 {
		t.Fatalf("collected %+v, %v", c, err)
	}
}

func holdings(t *testing.T, s *Store) (all []kept) {
	t.Helper()
	err := s.walk(t.Context(), func(k *known) error {
		for _, e := range k.all() {
			body, _, err := s.body(e.Version)
			if err != nil {
				return err
			}
			p, _, err := get(s, payloadKey(e.Digest), decodePayload)
			if err != nil {
				return err
			}
			all = append(all, kept{e.Version, string(body), e.record, p.record, e.shot()})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// segmentBytes reads every file of a segment, and what was set aside of it.
func segmentBytes(t *testing.T, dir string) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "seg-*"))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(path)] = string(content)
	}
	return files
}

// mustStillHave wants every byte of every segment to be there, or set aside.
func mustStillHave(t *testing.T, dir string, before map[string]string) {
	t.Helper()
	after := segmentBytes(t, dir)
	for name, content := range before {
		now := after[name]
		if strings.HasPrefix(now, content) || after[name+setaside.Suffix] == content {
			continue
		}
		beside := after[fmt.Sprintf("%s.at-%d%s", name, len(now), setaside.Suffix)]
		for other, bytes := range after { // a segment that was cut, and then written to again
			var at int
			if n, _ := fmt.Sscanf(strings.TrimPrefix(other, name), ".at-%d.set-aside", &at); n == 1 && at <= len(content) && content[at:] == bytes {
				now, beside = now[:min(at, len(now))], bytes
			}
		}
		if now+beside != content {
			t.Errorf("%s had %d bytes, and has %d, with %d set aside: %v", name, len(content), len(now), len(beside), slices.Sorted(maps.Keys(after)))
		}
	}
}

// indexDamages happen to the index as a whole.
var indexDamages = map[string]func(dir, older string) error{
	"lost": func(dir, _ string) error { return os.RemoveAll(filepath.Join(dir, indexName)) },
	"emptied": func(dir, _ string) error {
		return errors.Join(os.RemoveAll(filepath.Join(dir, indexName)), os.Mkdir(filepath.Join(dir, indexName), 0o700))
	},
	"made anew": func(dir, _ string) error {
		other := dir + "-other"
		s, err := Open(other, Options{Logger: quiet()})
		if err == nil {
			err = s.Close()
		}
		return errors.Join(err, os.RemoveAll(filepath.Join(dir, indexName)), os.Rename(filepath.Join(other, indexName), filepath.Join(dir, indexName)))
	},
	"older": func(dir, older string) error {
		return errors.Join(os.RemoveAll(filepath.Join(dir, indexName)),
			os.CopyFS(filepath.Join(dir, indexName), os.DirFS(filepath.Join(older, indexName))))
	},
	"older, and the generation lost": func(dir, older string) error {
		return errors.Join(os.RemoveAll(filepath.Join(dir, indexName)), os.Remove(filepath.Join(dir, "generation")),
			os.CopyFS(filepath.Join(dir, indexName), os.DirFS(filepath.Join(older, indexName))))
	},
	"lost, and the generation": func(dir, older string) error {
		return errors.Join(os.RemoveAll(filepath.Join(dir, indexName)), os.Remove(filepath.Join(dir, "generation")))
	},
}

// TestNothingIsRemoved damages each file of a store in each way, and wants every byte of every segment to be there
// after it was opened, checked and mended; the damage to be named; and every document back whose record is whole.
func TestNothingIsRemoved(t *testing.T) {
	if testing.Short() {
		t.Skip("damages each file in each way: not in short mode")
	}
	sound, older := filepath.Join(t.TempDir(), "objects"), filepath.Join(t.TempDir(), "older")
	all := grown(t, sound, older)
	var files []string
	err := filepath.WalkDir(sound, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			rest, _ := filepath.Rel(sound, path)
			files = append(files, rest)
		}
		return err
	})
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	original := segmentBytes(t, sound)
	for _, file := range files {
		for name, harm := range damage.Files {
			t.Run(filepath.ToSlash(file)+"/"+name, func(t *testing.T) {
				t.Parallel()
				dir := copied(t, sound)
				if changed, err := harm(filepath.Join(dir, file), filepath.Join(older, file)); err != nil {
					t.Fatal(err)
				} else if changed {
					mustSurvive(t, dir, all, original)
				}
			})
		}
	}
	for name, damage := range indexDamages {
		t.Run("index/"+name, func(t *testing.T) {
			t.Parallel()
			dir := copied(t, sound)
			if err := damage(dir, older); err != nil {
				t.Fatal(err)
			}
			mustSurvive(t, dir, all, original)
		})
	}
}

func copied(t *testing.T, from string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "objects")
	if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	return dir
}

func mustSurvive(t *testing.T, dir string, all []kept, original map[string]string) {
	t.Helper()
	damaged := segmentBytes(t, dir)
	named := lookedAt(t, dir)
	if now := segmentBytes(t, dir); !maps.Equal(now, damaged) {
		t.Error("who only looked has changed a segment")
	}
	opened, err := Open(dir, Options{Logger: quiet(), SegmentSize: 4000})
	var refused *fsck.Error
	switch {
	case err == nil:
		closeStore(t, opened)
	case !errors.As(err, &refused) || !strings.Contains(err.Error(), "webrace-store fsck --repair"):
		t.Errorf("what opening says names no command: %v", err)
	default:
		named++
		if now := segmentBytes(t, dir); !maps.Equal(now, damaged) {
			t.Error("a store that was refused has changed")
		}
	}
	mustStillHave(t, dir, damaged)
	if harmless := err == nil && holdsAll(t, dir, all); !harmless && named == 0 {
		t.Error("nothing says that it is damaged")
	}
	repair(t, dir)
	mustStillHave(t, dir, damaged)
	mustBringBack(t, dir, all, original, damaged)
	s := openAt(t, dir, Options{SegmentSize: 4000})
	defer s.Close()
	soundly(t, s)
	wantBody(t, s, put(t, s, page(home+"new", "new")), "new")
	soundly(t, s)
}

// lookedAt counts what a check reports that only reads.
func lookedAt(t *testing.T, dir string) (named int) {
	t.Helper()
	s, err := Open(dir, Options{Logger: quiet(), ReadOnly: true})
	if err == nil {
		asSlowly(t, s)
		err = errors.Join(s.CheckDeep(t.Context(), false, func(fsck.Finding) { named++ }), s.Close())
	}
	if err != nil {
		named++
	}
	return named
}

// repair does what webrace-store fsck --repair does.
func repair(t *testing.T, dir string) {
	t.Helper()
	nothing := func(f fsck.Finding) { t.Log(f) }
	s, err := Open(dir, Options{Logger: quiet(), SegmentSize: 4000})
	if err == nil {
		err = errors.Join(s.CheckDeep(t.Context(), true, nothing), s.Close())
	}
	var refused *fsck.Error
	if errors.As(err, &refused) {
		if err = Mend(t.Context(), dir, Options{Logger: quiet(), SegmentSize: 4000}, nothing); err == nil {
			s = openAt(t, dir, Options{SegmentSize: 4000})
			err = errors.Join(s.CheckDeep(t.Context(), true, nothing), s.Close())
		}
	}
	if err != nil {
		t.Fatalf("repair: %v", err)
	}
}

func holdsAll(t *testing.T, dir string, all []kept) bool {
	t.Helper()
	s := openAt(t, dir, Options{SegmentSize: 4000})
	defer s.Close()
	for _, k := range all {
		if body, _, err := s.Body(k.version); err != nil || string(body) != k.body {
			return false
		}
	}
	return true
}

// mustBringBack wants every version whose record, and that of its body, is as it was.
func mustBringBack(t *testing.T, dir string, all []kept, original, damaged map[string]string) {
	t.Helper()
	s := openAt(t, dir, Options{SegmentSize: 4000})
	defer s.Close()
	back := 0
	for _, k := range all {
		if !asItWas(k.own, original, damaged) || !asItWas(k.whole, original, damaged) {
			continue
		}
		back++
		v, err := s.Get(k.version.View(), k.version.Number)
		if err != nil {
			t.Errorf("version %d of %s: %v", k.version.Number, k.version.URL, err)
			continue
		}
		if body, _, err := s.Body(v); err != nil || string(body) != k.body {
			t.Errorf("version %d of %s has another body: %v", v.Number, v.URL, err)
		}
		if v.Screenshot {
			wantScreenshot(t, s, v, pictureOf(v.URL, 50))
		} else if !asItWas(k.shot, original, damaged) {
			v.Screenshot = k.version.Screenshot // it is lost
		}
		v.Seq, v.ValidatedAt = k.version.Seq, k.version.ValidatedAt
		if v != k.version {
			t.Errorf("version is %+v, and was %+v", v, k.version)
		}
		if _, err := s.Meta(v); err != nil {
			t.Errorf("version %d of %s: %v", v.Number, v.URL, err)
		}
	}
	if back < len(all)/2 {
		t.Errorf("%d records of %d are whole: the damage is too large to tell anything", back, len(all))
	}
}

func asItWas(l location, original, damaged map[string]string) bool {
	for _, c := range compressions {
		name := segmentName(l.segment, c)
		now, end := damaged[name], int(l.offset+l.length)
		if len(now) >= end && now[l.offset:end] == original[name][l.offset:end] {
			return true
		}
	}
	return false
}

func soundly(t *testing.T, s *Store) {
	t.Helper()
	if err := s.CheckDeep(t.Context(), false, func(f fsck.Finding) { t.Errorf("after the repair: %v", f) }); err != nil {
		t.Error(err)
	}
}
