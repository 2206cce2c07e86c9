package main

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace/xmlschema"
)

// A dry run asks the site, shows what would be stored, sent and written, and leaves every file as it is; so the next
// run does what it has shown.
func TestADryRunShowsWhatANextRunDoesAndChangesNoFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.page("/", "The harbour.", "/a", "/b", "/c", "/d", "/e", "/f")
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		w.page("/"+name, "Nothing yet of "+name+".")
	}
	work, temporary := t.TempDir(), t.TempDir()
	file := filepath.Join(work, "urds.xml")
	writeFile(t, file, string(xmlschema.URDs{w.asks("eleni", "/", depth(2), about("storm"))}.Canonical()))
	run := func(more ...string) string {
		p := newCommand(t, append([]string{"webrace", "search", "notify", "export", "--data", w.data, "--set", "fetch.allow_networks=loopback", "--set", "frontier.fresh=0s",
			"--set", "http-out.url=" + w.URL + "/hook", "--set", "http-out.allow_networks=loopback"}, more...)...)
		p.Dir, p.Env = work, append(os.Environ(), "TMPDIR="+temporary)
		p.begin()
		p.mustExit(0)
		return p.said()
	}
	w.status("/hook", 204)

	said := run("--urds", file, "--dry")
	mustSay(t, said, "This was a dry run", "webrace: 7 pages", "would be stored:", w.URL+"/  Page")
	if _, err := os.Stat(w.data); err == nil {
		t.Error("a dry run made the data directory")
	}
	run("--urds", file)
	w.requests()
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		w.page("/"+name, "A storm came over "+name+".")
	}

	before := filesBelow(t, w.data, work)
	said = run("--dry", "--items", "5")
	asked := w.requests()
	if len(asked) != 5 || slices.ContainsFunc(asked, func(r string) bool { return strings.HasSuffix(r, "/hook") }) {
		t.Errorf("the site was asked for %q, want 5 pages", asked)
	}
	mustSay(t, said, "This was a dry run: nothing was stored, sent or written.", "ended: a dry run of 5 items", "1 not modified", "would be stored:", "Page (version 2)",
		"eleni would be told of 4 pages:", "storm ×1", "search: 4 documents indexed")
	for would, times := range map[string]int{"notify: http-out would send it by HTTP: {": 4, "export: write-file would write it to a file: {": 4} {
		if strings.Count(said, would) != times {
			t.Errorf("%q is not said %d times:\n%s", would, times, said)
		}
	}
	if after := filesBelow(t, w.data, work); !maps.Equal(after, before) {
		t.Errorf("there were the files\n%v\nand are\n%v", before, after)
	}
	if left := filesBelow(t, temporary); len(left) > 0 {
		t.Errorf("the dry run left %v", left)
	}

	said = run()
	if asked := w.requests(); len(asked) != 7+6 {
		t.Errorf("the run behind it asked for %q", asked)
	}
	mustSay(t, said, "6 annotations", "search: 6 documents indexed")
	if written := readFile(t, filepath.Join(work, "acis.jsonl")); strings.Count(written, "\n") != 6 {
		t.Errorf("it wrote\n%s", written)
	}
}

// filesBelow returns the digests of the files in directories.
func filesBelow(t *testing.T, dirs ...string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			content, err := os.ReadFile(path)
			files[path] = fmt.Sprintf("%x", sha256.Sum256(content))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return files
}
