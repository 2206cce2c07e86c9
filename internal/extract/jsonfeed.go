package extract

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/htmltext"
)

// IsJSONFeed reports, by how a document in JSON begins, whether it is a JSON Feed (jsonfeed.org).
func IsJSONFeed(body []byte) bool {
	const head = 4 << 10
	return bytes.Contains(body[:min(len(body), head)], []byte("jsonfeed.org/version/"))
}

// entryJSON is an entry of a JSON Feed.
type entryJSON struct {
	ID          any    `json:"id"` // a string, or by mistake a number
	URL         string `json:"url"`
	ExternalURL string `json:"external_url"`
	Title       string `json:"title"`
	ContentHTML string `json:"content_html"`
	ContentText string `json:"content_text"`
	Summary     string `json:"summary"`
}

// jsonFeed reads a JSON Feed, entry by entry, up to where it breaks.
func (x *extraction) jsonFeed(body []byte) {
	defer func() { x.take(&x.text) }()
	x.list.isList = true
	defer x.endList()
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if opens(d) != json.Delim('{') {
		return
	}
	for d.More() {
		key, _ := d.Token()
		if key == "items" {
			if opens(d) != json.Delim('[') {
				return
			}
			for d.More() {
				var e entryJSON
				if !decoded(d, &e) {
					return
				}
				x.jsonEntry(e)
			}
			if _, err := d.Token(); err != nil {
				return
			}
			continue
		}
		var value any
		if !decoded(d, &value) {
			return
		}
		if text, ok := value.(string); ok {
			x.jsonField(key, text)
		}
	}
}

// jsonField handles what is said of the feed as a whole.
func (x *extraction) jsonField(key json.Token, text string) {
	switch key {
	case "title":
		x.Title = string(bytes.Join(bytes.Fields([]byte(text)), []byte(" ")))
		x.block([]byte(text), webrace.FieldTitle)
	case "description":
		x.block([]byte(text), webrace.FieldBody)
	case "language":
		x.Language = language([]byte(text))
	case "home_page_url", "next_url":
		x.jsonLink(text)
	}
}

func (x *extraction) jsonEntry(e entryJSON) {
	x.begin()
	if e.ID != nil {
		x.named(byID, fmt.Sprint(e.ID))
	}
	x.named(byLink, e.URL)
	x.block([]byte(e.Title), webrace.FieldHeading)
	x.block([]byte(e.Summary), webrace.FieldBody)
	if e.ContentHTML != "" { // else the same in another form
		x.markup([]byte(e.ContentHTML), webrace.FieldBody)
	} else {
		x.paragraphs([]byte(e.ContentText))
	}
	x.jsonLink(e.URL)
	x.jsonLink(e.ExternalURL)
}

func (x *extraction) jsonLink(url string) {
	if url = strings.TrimSpace(url); url != "" {
		x.link([]byte(url))
	}
}

// markup adds the text of HTML that stands in another document.
func (x *extraction) markup(text []byte, field webrace.Field) {
	found := x.scanMarkup(text)
	for _, b := range found.Blocks {
		x.block(found.Slice(b), field)
	}
}

// scanMarkup returns that text. Links within are not those of the document.
func (x *extraction) scanMarkup(text []byte) *webrace.Text {
	x.scanner.Options = htmltext.Options{MaxLinks: 1}
	x.scanner.Scan(text)
	return &x.scanner.Text
}

// opens reads what should open an object or a list.
func opens(d *json.Decoder) json.Token {
	token, err := d.Token()
	if err != nil {
		return nil
	}
	return token
}

// decoded reads a value, and reports whether reading can go on: a field of a wrong type is left out.
func decoded(d *json.Decoder, into any) bool {
	err := d.Decode(into)
	var wrongType *json.UnmarshalTypeError
	return err == nil || errors.As(err, &wrongType)
}
