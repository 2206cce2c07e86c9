package extract

import (
	"context"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/pdftext"
)

// isPDF reports whether a document is read as PDF: by its type, also one that is not registered, or by its first
// bytes where the type tells nothing.
func isPDF(mediaType string, body []byte) bool {
	switch mediaType {
	case pdftext.MediaType, "application/x-pdf":
		return true
	case "application/octet-stream", "binary/octet-stream", "application/download", "application/force-download":
		return pdftext.Is(body)
	}
	return false
}

// pdf reads a PDF file. The title that it declares is text, as that of a page is.
func (x *extraction) pdf(ctx context.Context, body []byte) {
	d := pdftext.Read(ctx, body, x.opts.Reserve)
	x.MediaType, x.Title, x.Unread = pdftext.MediaType, d.Title, d.Unread
	if d.Named {
		x.block([]byte(d.Title), webrace.FieldTitle)
	}
	for _, b := range d.Blocks {
		x.block([]byte(b.Text), b.Field)
	}
	for _, ref := range d.Links {
		x.link([]byte(ref))
	}
	x.take(&x.text)
}
