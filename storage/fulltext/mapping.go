package fulltext

import (
	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis"
	"github.com/blevesearch/bleve/v2/analysis/analyzer/keyword"
	"github.com/blevesearch/bleve/v2/mapping"
	"github.com/blevesearch/bleve/v2/registry"

	"github.com/webrace/webrace/internal/analyze"
)

// Names of the analyzers are kept in an index: what they stand for must not change while format does not.
const analyzerName = "webrace"

func init() {
	err := registry.RegisterAnalyzer(analyzerName, func(map[string]any, *registry.Cache) (analysis.Analyzer, error) {
		return analyzer{}, nil
	})
	if err != nil {
		panic(err) // the name is taken by another package of the program
	}
}

// textFields are where a word without a field is looked for, and what it weighs there.
var textFields = []struct {
	name  string
	boost float64
}{{"title", 3}, {"headings", 1.5}, {"body", 1}}

// facetFields can be counted; their values are single terms in lower case.
var facetFields = []string{"host", "language", "type"}

// newMapping says how documents are indexed. Texts are not stored; their terms' positions are, without
// which no phrase would ever be found.
func newMapping() mapping.IndexMapping {
	doc := bleve.NewDocumentStaticMapping()
	for _, f := range textFields {
		doc.AddFieldMappingsAt(f.name, &mapping.FieldMapping{
			Type: "text", Analyzer: analyzerName, Index: true, IncludeTermVectors: true,
			Store: f.name == "title", // small, and every list of hits shows it
		})
	}
	for _, name := range facetFields {
		doc.AddFieldMappingsAt(name, &mapping.FieldMapping{Type: "text", Analyzer: keyword.Name, Index: true, DocValues: true})
	}
	doc.AddFieldMappingsAt("url", &mapping.FieldMapping{Type: "text", Analyzer: keyword.Name, Index: true})
	doc.AddFieldMappingsAt("date", &mapping.FieldMapping{Type: "datetime", Index: true, DocValues: true})
	doc.AddFieldMappingsAt("version", &mapping.FieldMapping{Type: "number", Index: true, Store: true})
	m := bleve.NewIndexMapping()
	m.DefaultMapping = doc
	m.DefaultAnalyzer = analyzerName
	m.DefaultField = "body"
	m.StoreDynamic, m.IndexDynamic, m.DocValuesDynamic = false, false, false
	return m
}

// analyzer makes two terms of a word at one position: as it stands, folded, so that beginnings and
// misspellings can be looked for and the exact form ranks first; and its stem, so that other forms are
// found. Stop words are left out, but keep their place within phrases.
type analyzer struct{}

func (analyzer) Analyze(text []byte) analysis.TokenStream {
	var tokens analysis.TokenStream
	position := 0
	analyze.Words(text, func(start, end int, folded []byte) bool {
		position++
		word := string(folded)
		if analyze.IsStopWord(word) {
			return true
		}
		tokens = append(tokens, &analysis.Token{Start: start, End: end, Term: []byte(word), Position: position})
		if stem := analyze.Stem(word); stem != word {
			tokens = append(tokens, &analysis.Token{Start: start, End: end, Term: []byte(stem), Position: position})
		}
		return true
	})
	return tokens
}
