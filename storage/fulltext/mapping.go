package fulltext

import (
	"net/url"
	"strings"
	"time"

	"github.com/blevesearch/bleve/v2/document"
	index "github.com/blevesearch/bleve_index_api"
	zap "github.com/blevesearch/zapx/v17"

	"github.com/webrace/webrace/internal/analyze"
)

// BlockEnd stands between the blocks of a text; a phrase is never found across it.
const BlockEnd = "\f"

// blockGap is how many words the index takes to stand between two blocks.
const blockGap = 16

// The library makes room for a hundred documents more than there are, of the size of those before: 200 MB after one of
// 8 MB.
func init() { zap.NewSegmentBufferNumResultsBump = 0 }

// How fields are indexed. Texts are not stored. The positions of their words are kept, without which no
// phrase would ever be found.
const (
	asText   = index.IndexField | index.IncludeTermVectors
	asValue  = index.IndexField | index.SkipFreqNorm
	asCounts = asValue | index.DocValues // to sort by, or to be counted
)

// dateLayout makes dates in UTC sort as text.
const dateLayout = "2006-01-02T15:04:05.000000000Z"

// indexed returns a document as it is indexed. It has all fields, also those that are empty: segments with the same
// fields are merged by copying.
func (d *Document) indexed(superseded bool, counter *termCounter) *document.Document {
	id := idOf(d.URL, 0)
	if superseded {
		id = idOf(d.URL, d.Version)
	}
	doc := document.NewDocument(id)
	language := analyze.ParseLanguage(d.Language)
	words := func(field, text string, options index.FieldIndexingOptions) {
		f := &wordField{name: field, text: text, options: options}
		if !counter.count(f, language) {
			d.Shortened = true
		}
		doc.AddField(f)
	}
	value := func(field, value string, options index.FieldIndexingOptions) {
		f := &wordField{name: field, text: value, options: options}
		if value != "" { // or it has no term, and the same options: a merge keeps what all segments have
			counter.value(f)
		}
		doc.AddField(f)
	}
	words(fieldTitle, d.Title, asText|index.StoreField)
	words(fieldHeadings, d.Headings, asText)
	words(fieldAddress, addressOf(d.URL), asText)
	words(fieldBody, d.Body, asText)
	words(fieldNavigation, d.Navigation, asText)
	host, day, date, old := hostOf(d.URL), "", "", ""
	if !d.Date.IsZero() {
		day, date = d.Date.UTC().Format(time.DateOnly), d.Date.UTC().Format(dateLayout)
	}
	if superseded {
		old = isSuperseded
	}
	value(fieldURL, d.URL, asValue)
	value(fieldHost, host, asCounts)
	for domain := host; domain != ""; _, domain, _ = strings.Cut(domain, ".") {
		value(fieldDomain, domain, asValue)
	}
	value(fieldLanguage, strings.ToLower(d.Language), asCounts|index.StoreField)
	value(fieldType, strings.ToLower(d.Type), asCounts|index.StoreField)
	value(fieldDay, day, asCounts)
	value(fieldDate, date, asCounts|index.StoreField)
	value(fieldSuperseded, old, asValue)
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
