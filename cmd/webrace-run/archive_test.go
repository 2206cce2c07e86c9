package main

import (
	"path/filepath"
	"testing"

	"github.com/webrace/webrace/xmlschema"
)

// An archive that one data directory exports is annotated in another, where nothing is crawled.
func TestAnArchiveIsAnnotatedWithoutANetwork(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.page("/", "water", "/tea", "/sitemap.xml")
	w.page("/tea", "a page about tea")
	w.sitemap("/sitemap.xml", "/tea")
	ann := w.asks("ann", "/", depth(2), about("tea"))
	w.run(these(ann))
	archive := t.TempDir()
	if said, status := w.store("cache", "export", "--warc", filepath.Join(archive, "site.warc.gz")); status != 0 {
		t.Fatal(said)
	}
	mustBe(t, "told by the crawl", w.news(), "ann /tea")
	w.requests()

	w.data, w.last = t.TempDir(), 0
	file := filepath.Join(t.TempDir(), "urds.xml")
	writeFile(t, file, string(xmlschema.URDs(these(ann, w.asks("bob", "/elsewhere", about("water")))).Canonical()))
	if said, status := w.store("urd", "import", file); status != 0 {
		t.Fatal(said)
	}
	annotate := func(more ...string) string {
		t.Helper()
		args := append([]string{"archive", "--data", w.data, "--set", "warc-source.paths=" + archive}, more...)
		out, complaints, err := webraceRun(args...)
		if err != nil {
			t.Fatalf("%v: %v\n%s%s", args, err, out, complaints)
		}
		return out + complaints
	}
	mustSay(t, annotate(), "2 documents read, 2 annotations, 0 errors")
	mustBe(t, "told", w.news(), "ann /tea", "bob /")
	mustSay(t, annotate(), "nothing new")
	annotate("--set", "warc-source.restart=true")
	mustBe(t, "told again", w.news())
	mustBe(t, "requests", w.requests())
}
