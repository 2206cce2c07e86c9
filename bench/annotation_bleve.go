package main

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
	"unicode"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis"
	"github.com/blevesearch/bleve/v2/analysis/analyzer/custom"
	"github.com/blevesearch/bleve/v2/analysis/token/lowercase"
	"github.com/blevesearch/bleve/v2/analysis/tokenizer/character"
	"github.com/blevesearch/bleve/v2/mapping"
	"github.com/blevesearch/bleve/v2/registry"
	"github.com/blevesearch/bleve/v2/search/query"
	"golang.org/x/net/html"

	"github.com/webrace/webrace/internal/match"
)

// bleveWords is the name of the tokenizer that splits as we do.
const bleveWords = "bench_words"

var bleveTokenizer = func() error {
	return registry.RegisterTokenizer(bleveWords, func(map[string]any, *registry.Cache) (analysis.Tokenizer, error) {
		return character.NewCharacterTokenizer(func(r rune) bool {
			return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
		}), nil
	})
}()

// bleve parses the page, makes an index of it in memory and asks that for every profile, as one would who
// takes bleve as it comes.
func (d *duel) bleve() (*rival, error) {
	return d.bleveRival(&bleveWay{name: "x/net Parse, bleve in memory, a query a profile", field: "_all"}, atMost(1.0/300))
}

// bleveTuned spares all that such an index does not need: stored text, positions, columns, analysis of queries.
func (d *duel) bleveTuned() (*rival, error) {
	return d.bleveRival(&bleveWay{name: "the same, bleve tuned", field: "text", tuned: true}, nil)
}

// bleveWay is one way to use bleve.
type bleveWay struct {
	name    string
	field   string // that is asked
	tuned   bool
	mapping *mapping.IndexMappingImpl
	queries []query.Query
}

func (d *duel) bleveRival(way *bleveWay, g *goal) (*rival, error) {
	if err := way.prepare(d.interests); err != nil {
		return nil, fmt.Errorf("prepare bleve: %w", err)
	}
	concerned := make([]bool, len(way.queries))
	err := way.round(d.page, concerned)
	if err == nil {
		err = d.sameConcerned(concerned)
	}
	if err != nil {
		return nil, fmt.Errorf("check of bleve: %w", err)
	}
	var failed error
	rounds := calls(d.scale.round, func() { failed = cmp.Or(failed, way.round(d.page, concerned)) })
	return &rival{name: way.name, does: readsPages, goal: g, call: func() (taken, error) {
		t, err := rounds()
		return t, cmp.Or(err, failed)
	}}, nil
}

// sameConcerned compares with the profiles whose conditions our index finds to hold, whatever the relevance.
func (d *duel) sameConcerned(concerned []bool) error {
	as := profileOptions{literal: true, any: true}
	profiles := make([]*match.Compiled, len(d.interests))
	for i := range d.interests {
		var err error
		if profiles[i], err = as.compiled(i, &d.interests[i]); err != nil {
			return err
		}
	}
	var x built
	x.Add(profiles...)
	ours := x.relevances(d.text)
	for i, is := range concerned {
		if _, want := ours[idOf(i)]; is != want {
			return fmt.Errorf("it says %v for %+v, and we %v", is, d.interests[i], want)
		}
	}
	return nil
}

func (w *bleveWay) prepare(interests []interest) error {
	if bleveTokenizer != nil {
		return bleveTokenizer
	}
	w.mapping = bleve.NewIndexMapping()
	err := w.mapping.AddCustomAnalyzer(bleveWords, map[string]any{
		"type": custom.Name, "tokenizer": bleveWords, "token_filters": []string{lowercase.Name},
	})
	if err != nil {
		return err
	}
	w.mapping.DefaultAnalyzer = bleveWords
	if w.tuned {
		text := bleve.NewTextFieldMapping()
		text.Store, text.IncludeTermVectors, text.IncludeInAll, text.DocValues = false, false, false, false
		w.mapping.DefaultMapping = bleve.NewDocumentStaticMapping()
		w.mapping.DefaultMapping.AddFieldMappingsAt("text", text)
	}
	for i := range interests {
		w.queries = append(w.queries, w.query(&interests[i]))
	}
	return nil
}

func (w *bleveWay) query(i *interest) query.Query {
	keywords := make([]query.Query, len(i.keywords))
	for k, wish := range i.keywords {
		if w.tuned {
			term := query.NewTermQuery(wish.key)
			term.SetField(w.field)
			term.SetBoost(float64(wish.weight))
			keywords[k] = term
		} else {
			match := query.NewMatchQuery(wish.key)
			match.SetField(w.field)
			match.SetBoost(float64(wish.weight))
			keywords[k] = match
		}
	}
	if i.all {
		return query.NewConjunctionQuery(keywords)
	}
	return query.NewDisjunctionQuery(keywords)
}

func (w *bleveWay) round(page []byte, concerned []bool) error {
	tree, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		return err
	}
	var text strings.Builder
	writeText(&text, tree)
	index, err := bleve.NewMemOnly(w.mapping)
	if err != nil {
		return err
	}
	defer index.Close()
	if err := index.Index("page", map[string]string{"text": text.String()}); err != nil {
		return err
	}
	for i, q := range w.queries {
		result, err := index.Search(bleve.NewSearchRequest(q))
		if err != nil {
			return err
		}
		concerned[i] = result.Total > 0
	}
	return nil
}

// unseenElements have no text that a reader sees, and runningElements do not end a word.
var (
	unseenElements  = setOf("script style noscript template svg math iframe noembed noframes")
	runningElements = setOf(`a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark meter output
		q s samp small span strong strike sub sup time tt u var wbr`)
)

func setOf(names string) map[string]bool {
	set := make(map[string]bool)
	for name := range strings.FieldsSeq(names) {
		set[name] = true
	}
	return set
}

func writeText(text *strings.Builder, n *html.Node) {
	if n.Type == html.TextNode {
		text.WriteString(n.Data)
		return
	}
	if n.Type == html.ElementNode && unseenElements[n.Data] {
		return
	}
	apart := n.Type == html.ElementNode && !runningElements[n.Data]
	if apart {
		text.WriteByte('\n')
	}
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		writeText(text, child)
	}
	if apart {
		text.WriteByte('\n')
	}
}
