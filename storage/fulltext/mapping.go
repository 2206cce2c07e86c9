package fulltext

import (
	"bytes"
	"net/url"
	"strings"
	"time"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis"
	"github.com/blevesearch/bleve/v2/document"
	"github.com/blevesearch/bleve/v2/mapping"
	"github.com/blevesearch/bleve/v2/registry"
	index "github.com/blevesearch/bleve_index_api"

	"github.com/webrace/webrace/internal/analyze"
)

// BlockEnd stands between the blocks of a text; a phrase is never found across it.
const BlockEnd = "\f"

// blockGap is how many words the index takes to stand between two blocks.
const blockGap = 16

// Indexes of format 1 name an analyzer of ours. Without it they would not open, and could not be told from
// damaged ones.
func init() {
	err := registry.RegisterAnalyzer("webrace", func(map[string]any, *registry.Cache) (analysis.Analyzer, error) {
		return analyzer{}, nil
	})
	if err != nil {
		panic(err) // the name is taken by another package of the program
	}
}

// newMapping leaves nothing to the library: documents come as they are indexed.
func newMapping() mapping.IndexMapping {
	m := bleve.NewIndexMapping()
	m.DefaultMapping = bleve.NewDocumentDisabledMapping()
	m.StoreDynamic, m.IndexDynamic, m.DocValuesDynamic = false, false, false
	return m
}

// How fields are indexed. Texts are not stored. The positions of their words are kept, without which no
// phrase would ever be found.
const (
	asText   = index.IndexField | index.IncludeTermVectors
	asValue  = index.IndexField | index.SkipFreqNorm
	asCounts = asValue | index.DocValues // to sort by, or to be counted
)

// dateLayout makes dates in UTC sort as text.
const dateLayout = "2006-01-02T15:04:05.000000000Z"

// indexed returns a document as it is indexed.
func (d *Document) indexed(superseded bool) *document.Document {
	id := idOf(d.URL, 0)
	if superseded {
		id = idOf(d.URL, d.Version)
	}
	doc := document.NewDocument(id)
	language := analyze.ParseLanguage(d.Language)
	words := func(field, value string, options index.FieldIndexingOptions) {
		if value != "" {
			doc.AddField(document.NewTextFieldCustom(field, nil, []byte(value), options, analyzer{language, hasCommon(field)}))
		}
	}
	value := func(field, value string, options index.FieldIndexingOptions) {
		if value != "" {
			doc.AddField(document.NewTextFieldWithIndexingOptions(field, nil, []byte(value), options))
		}
	}
	words(fieldTitle, d.Title, asText|index.StoreField)
	words(fieldHeadings, d.Headings, asText)
	words(fieldAddress, addressOf(d.URL), asText)
	words(fieldBody, d.Body, asText)
	words(fieldNavigation, d.Navigation, asText)
	host := hostOf(d.URL)
	value(fieldURL, d.URL, asValue)
	value(fieldHost, host, asCounts)
	for domain := host; domain != ""; _, domain, _ = strings.Cut(domain, ".") {
		value(fieldDomain, domain, asValue)
	}
	value(fieldLanguage, strings.ToLower(d.Language), asCounts|index.StoreField)
	value(fieldType, strings.ToLower(d.Type), asCounts|index.StoreField)
	if !d.Date.IsZero() {
		value(fieldDay, d.Date.UTC().Format(time.DateOnly), asCounts)
		value(fieldDate, d.Date.UTC().Format(dateLayout), asCounts|index.StoreField)
	}
	if superseded {
		value(fieldSuperseded, "1", asValue)
	}
	doc.AddField(document.NewNumericFieldWithIndexingOptions(fieldVersion, nil, float64(d.Version), index.StoreField))
	return doc
}

// addressOf returns what of a URL has words.
func addressOf(rawURL string) string {
	_, address, _ := strings.Cut(rawURL, "://")
	if plain, err := url.PathUnescape(address); err == nil {
		return plain
	}
	return address
}

func hostOf(rawURL string) string {
	u, err := url.Parse(rawURL)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}

// analyzer makes terms of a word at one position: as it stands, folded, so that beginnings and misspellings
// can be looked for and the exact form ranks first; and its stem, so that other forms are found. Stop words
// that are left out keep their place within phrases.
type analyzer struct {
	language analyze.Language
	common   bool // with the stop words
}

func (a analyzer) Analyze(text []byte) analysis.TokenStream {
	var tokens analysis.TokenStream
	position, end := 0, 0
	eachWord(text, a.language, func(start, stop int, w term) {
		if position++; start > end && bytes.Contains(text[end:start], []byte(BlockEnd)) {
			position += blockGap
		}
		end = stop
		if w.common && !a.common {
			return
		}
		add := func(term string) {
			tokens = append(tokens, &analysis.Token{Start: start, End: stop, Term: []byte(term), Position: position})
		}
		add(w.folded)
		for _, stem := range w.stems {
			if stem != w.folded {
				add(stem)
			}
		}
	})
	return tokens
}
