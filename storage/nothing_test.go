package storage_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/fsck"
	"github.com/webrace/webrace/storage/fulltext"
	"github.com/webrace/webrace/storage/internal/damage"
	"github.com/webrace/webrace/storage/objects"
	"github.com/webrace/webrace/xmlschema"
)

// grown makes a data directory in which everything has changed since it was copied to older.
func grown(t *testing.T) (dir, older string) {
	t.Helper()
	dir, older = filled(t), filepath.Join(t.TempDir(), "older")
	in(t, dir, func(d *storage.Dir) error { return d.RebuildFulltext(t.Context(), nil) })
	if err := os.CopyFS(older, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	in(t, dir, func(d *storage.Dir) error {
		f := filler{t, d}
		documents, err := d.Objects()
		f.ok(err)
		f.ok(documents.Compress(objects.Zstd))
		for n := range 4 {
			f.put(documents, fmt.Sprint("http://late.example/", n), 900+n)
		}
		requests, err := d.Control()
		f.ok(err)
		u := xmlschema.NewURD("eleni", page(1))
		u.ID = "late"
		_, err = requests.Put(t.Context(), []*xmlschema.URD{u})
		f.ok(err)
		r := f.run("late")
		r.start("late", "http://late.example/", "http://late.example/1", "http://late.example/2")
		f.ok(r.queue.Close())
		return d.RebuildFulltext(t.Context(), nil)
	})
	return dir, older
}

// told is all that the stores of a directory answer, errors included.
func told(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	d, err := storage.Open(dir, storage.Options{ReadOnly: true})
	if err != nil {
		return err.Error()
	}
	defer d.Close()
	say := func(args ...any) { fmt.Fprintln(&out, args...) }
	if documents, err := d.Objects(); err != nil {
		say(err)
	} else {
		for v, err := range documents.Views(t.Context(), "") {
			body, _, err2 := documents.Body(v)
			say(v, string(body), err, err2)
		}
	}
	if requests, err := d.Control(); err != nil {
		say(err)
	} else {
		for u, err := range requests.All(t.Context()) {
			say(u.ID, u.Owner, u.URI, err)
		}
		for a, err := range requests.ACIs(t.Context(), control.Filter{}) {
			say(a, err)
		}
		_, err := requests.Secret(t.Context(), "news")
		say(err)
	}
	if visits, err := d.Frontier(); err != nil {
		say(err)
	} else {
		for _, pipeline := range []string{"webrace", "crawl", "late"} {
			all, err := visits.CrawlStatuses(pipeline)
			say(all, err)
		}
	}
	if index, err := d.Fulltext(); err != nil {
		say(err)
	} else {
		for doc, err := range index.Each(t.Context()) {
			say(doc, err)
		}
		for _, words := range []string{"host:late.example", "host:news.example", "host:mirror.example"} {
			found, err := index.Search(t.Context(), fulltext.Query{Text: words, Size: 50})
			say(found.Total, err)
		}
	}
	return out.String()
}

// wholeStores are the damages that happen to a store as a whole.
var wholeStores = map[string]func(path, older string) error{
	"lost":    func(path, _ string) error { return os.RemoveAll(path) },
	"emptied": func(path, _ string) error { return errors.Join(os.RemoveAll(path), os.Mkdir(path, 0o700)) },
}

// TestNothingIsRemoved damages each file of each store in each way, and the stores as a whole, and wants every byte of
// every segment to be there, or set aside, after the directory was looked at, opened, checked and repaired; the damage
// to be named; and the documents to be there after the repair.
func TestNothingIsRemoved(t *testing.T) {
	if testing.Short() {
		t.Skip("damages each file in each way: not in short mode")
	}
	t.Parallel()
	sound, older := grown(t)
	want := told(t, sound)
	cases := map[string]func(t *testing.T, dir string) (changed bool){}
	err := filepath.WalkDir(sound, func(path string, e fs.DirEntry, err error) error {
		rest, _ := filepath.Rel(sound, path)
		last := strings.HasSuffix(rest, "seg-00000007.warc.gz") || strings.HasSuffix(rest, "seg-00000008.warc.zst")
		documents := strings.HasPrefix(rest, "objects") && !last // they have a test of their own
		if err != nil || !e.Type().IsRegular() || documents || rest == "lock" {
			return err
		}
		for name, harm := range damage.Files {
			cases[filepath.ToSlash(rest)+" "+name] = func(t *testing.T, dir string) bool {
				changed, err := harm(filepath.Join(dir, rest), filepath.Join(older, rest))
				if err != nil {
					t.Fatal(err)
				}
				return changed
			}
		}
		return nil
	})
	if err != nil || len(cases) < 50 {
		t.Fatalf("%d cases: %v", len(cases), err)
	}
	for _, store := range []string{"frontier", "objects", "objects/index", "fulltext"} {
		for name, damage := range wholeStores {
			cases[store+" as a whole "+name] = func(t *testing.T, dir string) bool {
				if err := damage(filepath.Join(dir, store), filepath.Join(older, store)); err != nil {
					t.Fatal(err)
				}
				return true
			}
		}
	}
	for name, damage := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "data")
			if err := os.CopyFS(dir, os.DirFS(sound)); err != nil {
				t.Fatal(err)
			}
			if damage(t, dir) {
				mustSurvive(t, dir, want)
			}
		})
	}
}

func mustSurvive(t *testing.T, dir, want string) {
	t.Helper()
	damaged := segmentsOf(t, dir)
	named := checked(t, dir, storage.Options{ReadOnly: true}, false)
	harmless := told(t, dir) == want
	if now := segmentsOf(t, dir); !maps.Equal(now, damaged) {
		t.Error("who only looked has changed a segment")
	}
	if len(named) == 0 && !harmless {
		t.Errorf("nothing says that it is damaged; it told\n%s", firstDifference(told(t, dir), want))
	}
	useAll(t, dir)
	mustStillHave(t, dir, damaged)
	checked(t, dir, storage.Options{}, true)
	mustStillHave(t, dir, damaged)
	for _, f := range checked(t, dir, storage.Options{}, false) {
		switch f.Kind {
		case "damaged database", "does not open", "missing store": // of control.db: only a backup has what is lost
			if f.Store != "control" {
				t.Errorf("after the repair: %v", f)
			}
		case "annotation of a lost version", control.UnreadableSecret, "not indexed":
		default:
			t.Errorf("after the repair: %v", f)
		}
	}
}

// firstDifference is the first line that differs.
func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return fmt.Sprintf("%.300s\nwant %.300s", g[i], w[i])
		}
	}
	return "nothing less, but lines at its end"
}

// checked does what webrace-store fsck does, and returns its findings, that it cannot do it included.
func checked(t *testing.T, dir string, o storage.Options, repair bool) (all []fsck.Finding) {
	t.Helper()
	err := storage.CheckFormat(dir, repair, func(f fsck.Finding) { all = append(all, f) })
	if err != nil {
		t.Error(err)
	}
	d, err := storage.Open(dir, o)
	if err != nil {
		if repair {
			t.Errorf("it cannot be repaired: %v", err)
		}
		return append(all, fsck.Finding{Kind: "does not open", Detail: err.Error()})
	}
	err = d.CheckDeep(t.Context(), repair, func(f fsck.Finding) { all = append(all, f) })
	if err := errors.Join(err, d.Close()); err != nil {
		if repair {
			t.Errorf("the repair failed: %v", err)
		}
		all = append(all, fsck.Finding{Kind: "check fails", Detail: err.Error()})
	}
	return all
}

// useAll opens every store, as a run would.
func useAll(t *testing.T, dir string) {
	t.Helper()
	d, err := storage.Open(dir, storage.Options{})
	if err != nil {
		return
	}
	_, err1 := d.Frontier()
	_, err2 := d.Objects()
	_, err3 := d.Control()
	_, err4 := d.Fulltext()
	t.Log(err1, err2, err3, err4)
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

func segmentsOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, pattern := range []string{"objects/seg-*", "objects.set-aside/seg-*"} {
		paths, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			files[filepath.Base(path)] = string(content)
		}
	}
	return files
}

func mustStillHave(t *testing.T, dir string, before map[string]string) {
	t.Helper()
	after := segmentsOf(t, dir)
	for name, content := range before {
		kept := strings.HasPrefix(after[name], content) || after[name+".set-aside"] == content
		for other, rest := range after {
			var at int
			if n, _ := fmt.Sscanf(strings.TrimPrefix(other, name), ".at-%d.set-aside", &at); n == 1 && at <= len(content) {
				kept = kept || content[at:] == rest && strings.HasPrefix(after[name], content[:at])
			}
		}
		if !kept {
			t.Errorf("bytes of %s are gone", name)
		}
	}
}
