package score

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/match"
	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/pipeline"
)

// interest is the keywords, and how much the places count in which they stand.
type interest struct {
	profile *match.Compiled
	weights map[string]float64 // of the keywords, 0 to 1, by what a mark calls them

	anchor, url, page float64
}

// newInterest returns nil if there are no keywords.
func newInterest(o Options) (*interest, []match.Warning, error) {
	if len(o.Keywords) == 0 {
		return nil, nil, nil
	}
	p := match.Profile{ID: "score", Threshold: match.AnyRelevance}
	for _, key := range slices.Sorted(maps.Keys(o.Keywords)) {
		p.Keywords = append(p.Keywords, match.Keyword{Key: key, Weight: o.Keywords[key]})
	}
	profile, warnings, err := match.Compile(p)
	if err != nil {
		return nil, nil, &pipeline.OptionError{Option: "keywords", Err: err}
	}
	i := &interest{profile: profile, weights: make(map[string]float64), anchor: float64(o.Anchor), url: float64(o.URL), page: float64(o.Page)}
	for _, k := range match.Explain(profile, nil, match.Options{Everyone: true}).Keywords {
		i.weights[k.Key] = float64(k.Weight) / 5
	}
	return i, warnings, nil
}

// promises returns how promising each link is, 0 to 1: the mean of what the keywords are worth in its text, in its URL
// and in the page, each counting as much as the options set. What is not known of a link does not count.
func (i *interest) promises(l *webrace.Links) []float64 {
	page, pageCounts := 0.0, 0.0
	if l.Text != nil && i.page > 0 {
		page, pageCounts = float64(match.Explain(i.profile, l.Text, match.Options{Everyone: true}).Relevance)/100, i.page
	}
	words := i.words(l)
	values := i.values(words.text)
	promises := make([]float64, len(l.URLs))
	for n := range promises {
		sum, counts := pageCounts*page, pageCounts
		if b := words.anchors[n]; b >= 0 && i.anchor > 0 {
			sum, counts = sum+i.anchor*values[b], counts+i.anchor
		}
		if b := words.urls[n]; b >= 0 {
			sum += i.url * values[b]
		}
		if counts += i.url; counts > 0 {
			promises[n] = sum / counts
		}
	}
	return promises
}

// words are the texts and URLs of links as one text: so they are split, and their language is told, in one go.
type words struct {
	text          *webrace.Text
	anchors, urls []int32 // the blocks of each link; -1 where it has no words
}

func (i *interest) words(l *webrace.Links) words {
	w := words{new(webrace.Text), make([]int32, len(l.URLs)), make([]int32, len(l.URLs))}
	for n, u := range l.URLs {
		anchor := ""
		if n < len(l.Anchors) {
			anchor = l.Anchors[n]
		}
		w.anchors[n], w.urls[n] = w.add(anchor), w.add(wordsOf(u, l.From))
	}
	return w
}

// mostBytes is how much is looked at of the text and of the URL of a link.
const mostBytes = 512

// add adds a block, and returns its number; -1 if it would be empty.
func (w *words) add(text string) int32 {
	if text == "" {
		return -1
	}
	t := w.text
	text = strings.ToValidUTF8(text[:min(len(text), mostBytes)], "")
	start := len(t.Bytes)
	t.Bytes = append(append(t.Bytes, text...), '\n')
	t.Blocks = append(t.Blocks, webrace.Block{Start: int32(start), End: int32(len(t.Bytes) - 1)})
	return int32(len(t.Blocks) - 1)
}

// wordsOf returns the words of a URL: of its path and query, and of its host if that is another than the page's.
func wordsOf(u, from string) string {
	_, rest, _ := urlnorm.CutScheme(u)
	host, tail := urlnorm.CutHost(rest)
	if plain, err := url.PathUnescape(tail); err == nil {
		tail = strings.ToValidUTF8(plain, " ")
	}
	if host != urlnorm.Host(from) {
		tail = host + tail
	}
	return strings.TrimSpace(joints.Replace(tail))
}

// joints stand between the words of URLs, and are parts of words in texts.
var joints = strings.NewReplacer("_", " ", "\n", " ")

// certainty is how much of its weight a keyword is worth in a few words, however often it stands there: as much as
// one is in the title of a page.
const certainty = 0.8

// values returns what the keywords in each block are worth together, 0 to 1: of what is missing to 1, each adds its
// share, as in the relevance of a page.
func (i *interest) values(t *webrace.Text) []float64 {
	values := make([]float64, len(t.Blocks))
	var there []string // in the block
	block := 0
	for _, m := range match.Marks(i.profile, t) {
		for int(t.Blocks[block].End) <= m.Start {
			block, there = block+1, there[:0]
		}
		if slices.Contains(there, m.Keyword) {
			continue
		}
		there = append(there, m.Keyword)
		values[block] += (1 - values[block]) * i.weights[m.Keyword] * certainty
	}
	return values
}
