package markdown_test

import (
	"compress/gzip"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/webrace/webrace/internal/htmltree"
	"github.com/webrace/webrace/internal/markdown"
)

const address = "https://example.org/dir/page.html?q"

// written returns the Markdown of a page.
func written(tb testing.TB, page []byte) []byte {
	tb.Helper()
	root, err := htmltree.Parse(page)
	if err != nil {
		tb.Skip(err)
	}
	return markdown.Append(nil, []*html.Node{root}, markdown.Options{Base: address})
}

// difference returns where two readings part, with what is around; "" if they do not.
func difference(want, got reading) string {
	if d := differ("words", want.words, got.words); d != "" {
		return d
	}
	return differ("links", want.links, got.links)
}

func differ(what string, want, got []string) string {
	i := 0
	for i < len(want) && i < len(got) && want[i] == got[i] {
		i++
	}
	if i == len(want) && i == len(got) {
		return ""
	}
	around := func(all []string) string {
		return strings.Join(all[min(len(all), max(0, i-5)):min(len(all), i+5)], " ")
	}
	return what + " of the page: … " + around(want) + " …; of the Markdown: … " + around(got) + " …"
}

func TestRoundTripOfRealPages(t *testing.T) {
	t.Parallel()
	const atLeast = 1000
	pages := realPages(t)
	if len(pages) < atLeast {
		t.Skipf("%d real pages are here, of %d: install the Debian packages python3.11-doc and postgresql-doc-15", len(pages), atLeast)
	}
	words, links, bad, looked := 0, 0, 0, 0
	for i, path := range pages {
		if i%2 > 0 { // half of them are as good as all, and take half the time
			continue
		}
		looked++
		page := content(t, path)
		want, md := read(t, page, address), written(t, page)
		got := rendered(t, md)
		words, links = words+len(want.words), links+len(want.links)
		if d := difference(want, got); d != "" {
			if bad++; bad <= 20 {
				t.Errorf("%s: %s", path, d)
			}
		}
	}
	t.Logf("%d pages, %d words, %d links and images; %d pages differ", looked, words, links, bad)
}

// realPages returns the pages of the documentation that is installed, of that of some large programs every third.
func realPages(tb testing.TB) (pages []string) {
	tb.Helper()
	seen := make(map[string]int)
	err := filepath.WalkDir("/usr/share/doc", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return fs.SkipDir
		}
		name := strings.TrimSuffix(path, ".gz")
		if d.Type().IsRegular() && (strings.HasSuffix(name, ".html") || strings.HasSuffix(name, ".htm")) {
			of := strings.Split(path, "/")[4]
			if seen[of]++; seen[of] < 50 || seen[of]%3 == 0 {
				pages = append(pages, path)
			}
		}
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return pages
}

func content(tb testing.TB, path string) []byte {
	tb.Helper()
	f, err := os.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			tb.Fatal(err)
		}
	}
	page, err := io.ReadAll(r)
	if err != nil {
		tb.Fatal(err)
	}
	return page
}
