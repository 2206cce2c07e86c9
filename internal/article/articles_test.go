package article

import (
	"cmp"
	"hash/fnv"
	"slices"
	"testing"

	"golang.org/x/net/html"

	"github.com/webrace/webrace/internal/article/articletest"
	"github.com/webrace/webrace/internal/htmltree"
	"github.com/webrace/webrace/internal/testutil"
)

const (
	leastF1        = 0.965
	leastPrecision = 0.95
)

// TestArticles finds the main part of news and of entries of blogs in which a person has marked it. While the rules
// were made, what was wrong in pages of the first half alone was looked at; of the second, the sums were known.
func TestArticles(t *testing.T) {
	t.Parallel()
	pages, err := articletest.Load(testutil.Shared(t, "articles"))
	if err != nil {
		t.Fatal(err)
	}
	type result struct {
		url string
		articletest.Agreement
	}
	var results []result
	var all []articletest.Agreement
	var halves [2][]articletest.Agreement
	for _, page := range pages {
		root, err := htmltree.Parse(page.HTML)
		if err != nil {
			t.Fatal(err)
		}
		found := articletest.Compare(mainText(Find(root, page.URL), root), page.Body)
		results, all = append(results, result{page.URL, found}), append(all, found)
		half := halfOf(page.ID)
		halves[half] = append(halves[half], found)
	}
	slices.SortStableFunc(results, func(a, b result) int { return cmp.Compare(a.F1(), b.F1()) })
	for _, r := range results[:min(10, len(results))] {
		t.Logf("F1 %.3f, precision %.3f, recall %.3f: %s", r.F1(), r.Precision, r.Recall, r.url)
	}
	for i, half := range halves {
		m := articletest.Mean(half)
		t.Logf("half %d, %d pages: F1 %.4f, precision %.4f, recall %.4f", i+1, len(half), m.F1(), m.Precision, m.Recall)
	}
	m := articletest.Mean(all)
	t.Logf("%d pages: F1 %.4f, precision %.4f, recall %.4f", len(all), m.F1(), m.Precision, m.Recall)
	if m.F1() < leastF1 || m.Precision < leastPrecision {
		t.Errorf("F1 %.4f and precision %.4f, want %v and %v", m.F1(), m.Precision, leastF1, leastPrecision)
	}
}

// halfOf divides the pages by a hash of their IDs.
func halfOf(id string) int {
	h := fnv.New32a()
	h.Write([]byte(id))
	return int(h.Sum32() >> 7 & 1)
}

// mainText returns the text of the main part; of all of the page, if it has none.
func mainText(a *Article, root *html.Node) string {
	if a.Main == nil {
		return articletest.Text([]*html.Node{root}, nil)
	}
	return articletest.Text(a.Main, a.Without)
}
