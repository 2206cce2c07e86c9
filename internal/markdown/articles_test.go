package markdown_test

import (
	"path/filepath"
	"testing"

	"github.com/webrace/webrace/internal/testutil"
)

func TestRoundTripOfArticles(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob(filepath.Join(testutil.Shared(t, "articles"), "html", "*.html.gz"))
	if err != nil {
		t.Fatal(err)
	}
	words, links, bad := 0, 0, 0
	for _, path := range pages {
		page := content(t, path)
		want, md := read(t, page, address), written(t, page)
		got := rendered(t, md)
		words, links = words+len(want.words), links+len(want.links)
		if d := difference(want, got); d != "" {
			if bad++; bad <= 20 {
				t.Errorf("%s: %s", filepath.Base(path)[:8], d)
			}
		}
	}
	t.Logf("%d pages, %d words, %d links and images; %d pages differ", len(pages), words, links, bad)
}
