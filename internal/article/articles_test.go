package article

import (
	"cmp"
	"compress/gzip"
	"encoding/json"
	"hash/fnv"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/webrace/webrace/internal/htmltree"
	"github.com/webrace/webrace/internal/testutil"
)

const (
	leastF1        = 0.965
	leastPrecision = 0.95
)

// realArticle is a page with the text of its article, as a person marked it.
type realArticle struct {
	id, url, body string
	page          []byte
}

// realArticles returns the pages of ../shared/articles.
func realArticles(t testing.TB) (all []realArticle) {
	dir := testutil.Shared(t, "articles")
	list, err := os.ReadFile(filepath.Join(dir, "ground-truth.json"))
	if err != nil {
		t.Fatal(err)
	}
	var truth map[string]struct{ URL, ArticleBody string }
	if err := json.Unmarshal(list, &truth); err != nil {
		t.Fatal(err)
	}
	for _, id := range slices.Sorted(maps.Keys(truth)) {
		f, err := os.Open(filepath.Join(dir, "html", id+".html.gz"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		page, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, realArticle{id, truth[id].URL, truth[id].ArticleBody, page})
	}
	return all
}

// agreement is how far what was found is what was meant.
type agreement struct{ precision, recall float64 }

func (a agreement) f1() float64 {
	if a.precision+a.recall == 0 {
		return 0
	}
	return 2 * a.precision * a.recall / (a.precision + a.recall)
}

func mean(all []agreement) (m agreement) {
	for _, a := range all {
		m.precision += a.precision / float64(len(all))
		m.recall += a.recall / float64(len(all))
	}
	return m
}

// compare counts the runs of four words that are in both texts.
func compare(found, meant string) agreement {
	f, m := runs(found), runs(meant)
	both := 0
	for run, n := range f {
		both += min(n, m[run])
	}
	count := func(of map[string]int) (sum int) {
		for _, n := range of {
			sum += n
		}
		return sum
	}
	return agreement{float64(both) / float64(max(1, count(f))), float64(both) / float64(max(1, count(m)))}
}

var word = regexp.MustCompile(`[\pL\pN_]+`)

func runs(text string) map[string]int {
	const length = 4
	words, all := word.FindAllString(text, -1), make(map[string]int)
	for i := range max(1, len(words)-length+1) {
		all[strings.Join(words[i:min(i+length, len(words))], " ")]++
	}
	return all
}

// mainText returns the words of the main part.
func mainText(a *Article, root *html.Node) string {
	var text strings.Builder
	nodes := a.Main
	if nodes == nil {
		nodes = []*html.Node{root}
	}
	for _, n := range nodes {
		appendText(&text, a, n)
	}
	return text.String()
}

func appendText(text *strings.Builder, a *Article, n *html.Node) {
	switch {
	case n.Type == html.TextNode:
		text.WriteString(n.Data)
		return
	case n.Type == html.ElementNode && (traits[n.Data]&skipped != 0 || a.Without(n)):
		return
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		appendText(text, a, c)
	}
	if n.Data == "br" || traits[n.Data]&inline == 0 {
		text.WriteByte('\n')
	}
}

// TestArticles finds the main part of news and of entries of blogs that a person has marked.
func TestArticles(t *testing.T) {
	t.Parallel()
	type result struct {
		realArticle
		agreement
	}
	var results []result
	var all []agreement
	halves := make([][]agreement, 2)
	for _, real := range realArticles(t) {
		root, err := htmltree.Parse(real.page)
		if err != nil {
			t.Fatal(err)
		}
		found := compare(mainText(Find(root, real.url), root), real.body)
		results = append(results, result{real, found})
		all = append(all, found)
		h := fnv.New32a()
		h.Write([]byte(real.id))
		half := h.Sum32() >> 7 & 1
		halves[half] = append(halves[half], found)
	}
	slices.SortStableFunc(results, func(a, b result) int { return cmp.Compare(a.f1(), b.f1()) })
	for _, r := range results[:10] {
		t.Logf("F1 %.3f, precision %.3f, recall %.3f: %s", r.f1(), r.precision, r.recall, r.url)
	}
	for i, half := range halves {
		m := mean(half)
		t.Logf("half %d, %d pages: F1 %.4f, precision %.4f, recall %.4f", i+1, len(half), m.f1(), m.precision, m.recall)
	}
	m := mean(all)
	t.Logf("%d pages: F1 %.4f, precision %.4f, recall %.4f", len(all), m.f1(), m.precision, m.recall)
	if m.f1() < leastF1 || m.precision < leastPrecision {
		t.Errorf("F1 %.4f and precision %.4f, want %v and %v", m.f1(), m.precision, leastF1, leastPrecision)
	}
}
