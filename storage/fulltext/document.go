package fulltext

import (
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/analyze"
	"github.com/webrace/webrace/internal/extract"
)

// FromDocument returns what is indexed of a document; false when it has no text, unless an earlier version may
// have had some, whose place it takes.
func FromDocument(d *webrace.Document) (Document, bool, error) {
	r, err := extract.Text(d.Body, d.Header, d.MediaType, d.URL)
	if err != nil {
		return Document{}, false, err
	}
	doc := Document{
		URL: d.URL, Version: d.Version, Language: languageOf(r), Type: r.MediaType, Date: d.At, Title: r.Title,
	}
	var headings, body, navigation strings.Builder
	body.Grow(len(r.Text.Bytes)) // which is most of it
	for _, block := range r.Text.Blocks {
		into := &body
		switch block.Field {
		case webrace.FieldTitle:
			continue // it has a field of its own
		case webrace.FieldHeading:
			into = &headings
		case webrace.FieldNavigation:
			into = &navigation
		}
		into.Write(r.Text.Slice(block))
		into.WriteString(BlockEnd)
	}
	doc.Headings, doc.Body, doc.Navigation = headings.String(), body.String(), navigation.String()
	return doc, len(r.Text.Blocks) > 0 || d.Version > 1, nil
}

// languageOf returns the language of a document: the one that it declares, unless its words are clearly another's.
// Keywords are matched with it in that one too.
func languageOf(r *extract.Result) string {
	declared := analyze.ParseLanguage(r.Language)
	if told := analyze.Detect(r.Text.Bytes, declared); told != declared && told != analyze.Unknown {
		return told.String()
	}
	return r.Language
}
