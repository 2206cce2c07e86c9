// Package articletest has pages of news and blogs with the text of their articles, as a person marked it, and tells how
// far what was found is what was meant. The pages are half of Zyte's article extraction benchmark (once Scrapinghub's).
package articletest

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// Page is a page as received, and the text of its article.
type Page struct {
	ID, URL, Body string
	HTML          []byte
}

// Load reads a folder of such pages: ground-truth.json and html/ID.html.gz. They are sorted by ID.
func Load(dir string) (pages []Page, err error) {
	list, err := os.ReadFile(filepath.Join(dir, "ground-truth.json"))
	if err != nil {
		return nil, err
	}
	var truth map[string]struct{ URL, ArticleBody string }
	if err := json.Unmarshal(list, &truth); err != nil {
		return nil, fmt.Errorf("read ground-truth.json of %s: %w", dir, err)
	}
	for _, id := range slices.Sorted(maps.Keys(truth)) {
		page, err := unpack(filepath.Join(dir, "html", id+".html.gz"))
		if err != nil {
			return nil, err
		}
		pages = append(pages, Page{ID: id, URL: truth[id].URL, Body: truth[id].ArticleBody, HTML: page})
	}
	return pages, nil
}

func unpack(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("unpack %s: %w", file, err)
	}
	page, err := io.ReadAll(z)
	if err != nil {
		return nil, fmt.Errorf("unpack %s: %w", file, err)
	}
	return page, nil
}

// Agreement is which share of what was found was meant, and which share of what was meant was found.
type Agreement struct{ Precision, Recall float64 }

// F1 is the harmonic mean of the two.
func (a Agreement) F1() float64 {
	if a.Precision+a.Recall == 0 {
		return 0
	}
	return 2 * a.Precision * a.Recall / (a.Precision + a.Recall)
}

// Mean returns the means of precision and recall.
func Mean(all []Agreement) (m Agreement) {
	for _, a := range all {
		m.Precision += a.Precision / float64(len(all))
		m.Recall += a.Recall / float64(len(all))
	}
	return m
}

// Compare counts the runs of four words that two texts have in common, as the benchmark does.
func Compare(found, meant string) Agreement {
	f, m := runs(found), runs(meant)
	both := 0
	for run, n := range f {
		both += min(n, m[run])
	}
	return Agreement{float64(both) / float64(count(f)), float64(both) / float64(count(m))}
}

var word = regexp.MustCompile(`[\pL\pN_]+`)

// runs returns how often a text has each run of four words. There is one of fewer words in a shorter text.
func runs(text string) map[string]int {
	const length = 4
	words, all := word.FindAllString(text, -1), make(map[string]int)
	for i := range max(1, len(words)-length+1) {
		all[strings.Join(words[i:min(i+length, len(words))], " ")]++
	}
	return all
}

func count(runs map[string]int) (sum int) {
	for _, n := range runs {
		sum += n
	}
	return sum
}

// Text returns the text of elements, without some within them. Elements that are no part of a line end one.
func Text(nodes []*html.Node, without func(*html.Node) bool) string {
	var text strings.Builder
	for _, n := range nodes {
		appendText(&text, n, without)
	}
	return text.String()
}

var (
	unshown = names("script style noscript template iframe svg math object audio video canvas head")
	inLine  = names("a abbr b bdi bdo big cite code data del dfn em font i img ins kbd label mark nobr q s samp small span " +
		"strike strong sub sup time tt u var wbr")
)

func names(list string) map[string]bool {
	all := make(map[string]bool)
	for name := range strings.FieldsSeq(list) {
		all[name] = true
	}
	return all
}

func appendText(text *strings.Builder, n *html.Node, without func(*html.Node) bool) {
	switch {
	case n.Type == html.TextNode:
		text.WriteString(n.Data)
		return
	case n.Type == html.ElementNode && (unshown[n.Data] || without != nil && without(n)):
		return
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		appendText(text, c, without)
	}
	if !inLine[n.Data] {
		text.WriteByte('\n')
	}
}
