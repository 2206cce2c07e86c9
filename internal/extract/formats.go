package extract

import (
	"context"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/charsets"
	"github.com/webrace/webrace/internal/formats"
)

// document reads a document that is neither HTML nor XML, and ends early with the context. The error is that of its
// encoding.
func (x *extraction) document(ctx context.Context, f formats.Format, body []byte, contentType string) error {
	if f != formats.JSON || !formats.IsJSON(x.MediaType) { // which may be a type for JSON of one kind
		x.MediaType = f.MediaType()
	}
	if f < formats.DOCX {
		d, err := charsets.Decode(body, contentType)
		if err != nil {
			return err
		}
		x.Charset, x.CharsetGuessed, x.CharsetWrong = d.Name, d.Guessed, d.Wrong
		body = d.Text
	}
	switch {
	case f == formats.Markdown:
		x.markdown(body)
		return nil
	case f == formats.JSON && IsJSONFeed(body):
		x.jsonFeed(body)
		return nil
	}
	d := formats.Read(ctx, f, body, x.opts.Reserve)
	x.Title, x.Language, x.Text, x.Unread = d.Title, language([]byte(d.Language)), &d.Text, d.Unread
	for _, url := range d.Links {
		x.link([]byte(url))
	}
	return nil
}

// markdown reads Markdown as the page that it means. Its first heading is the title of one that declares none.
func (x *extraction) markdown(body []byte) {
	page, unread := formats.HTML(body, x.opts.Reserve)
	x.html(page)
	x.Unread = unread
	if x.Title != "" {
		return
	}
	for _, b := range x.Text.Blocks {
		if b.Field == webrace.FieldHeading {
			x.Title = string(x.Text.Slice(b))
			return
		}
	}
}
