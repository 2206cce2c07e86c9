package extract_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/internal/pdftext"
	"github.com/webrace/webrace/internal/testutil"
)

func TestPDF(t *testing.T) {
	if testing.Short() {
		t.Skip("reads PDF files, which takes long where everything is raced: not in short mode")
	}
	t.Parallel()
	p := testutil.PDFText("# Results", "Revenue grew.", "", "It will grow.")
	p.Links = []string{"next.pdf", "http://other.example/#x", "mailto:x@y", "next.pdf#page=2"}
	body := string(testutil.WritePDF("Annual report", p))
	for _, contentType := range []string{"application/pdf", "Application/PDF; charset=binary", "application/x-pdf", "application/octet-stream", ""} {
		r := document(t, body, contentType, extract.Options{})
		check(t, r, extract.DefaultMaxLinks)
		if got := render(r.Text); got != "title:Annual report|heading:Results|Revenue grew.|It will grow." || r.Title != "Annual report" || r.MediaType != pdftext.MediaType {
			t.Errorf("%q: %q, title %q, %s", contentType, got, r.Title, r.MediaType)
		}
		if !slices.Equal(r.Links, []string{"http://example.org/a/next.pdf", "http://other.example/"}) || r.Repeated != 1 || r.Refused.Scheme != 1 || r.Unread != (pdftext.Unread{}) {
			t.Errorf("%q: %+v", contentType, r)
		}
	}
	for _, contentType := range []string{"text/plain", "image/png", "application/zip"} {
		if r := document(t, body, contentType, extract.Options{}); r.Title != "" || r.MediaType != contentType {
			t.Errorf("%s is read as PDF", contentType)
		}
	}
}

func TestPDFThatCannotBeReadSaysWhy(t *testing.T) {
	if testing.Short() {
		t.Skip("reads PDF files, which takes long where everything is raced: not in short mode")
	}
	t.Parallel()
	for _, c := range []struct {
		body  string
		cause pdftext.Cause
	}{
		{"<html>No such file</html>", pdftext.Broken},
		{"%PDF-1.7 that is all", pdftext.Broken},
		{string(testutil.WritePDF("Scanned", testutil.PDFPage{})), pdftext.Textless},
	} {
		r := document(t, c.body, "application/pdf", extract.Options{})
		check(t, r, extract.DefaultMaxLinks)
		if r.Unread.Cause != c.cause || r.Unread.Reason == "" || len(r.Links) > 0 {
			t.Errorf("%q: %+v", c.body, r)
		}
	}
}

func TestReadingAPDFEndsWithTheContext(t *testing.T) {
	if testing.Short() {
		t.Skip("reads PDF files, which takes long where everything is raced: not in short mode")
	}
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	body := testutil.WritePDF("A report", testutil.PDFText("that nobody waits for"))
	if _, err := extract.DocumentContext(ctx, body, "application/pdf", at, extract.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("it ends with %v", err)
	}
	if r, err := extract.DocumentContext(t.Context(), body, "application/pdf", at, extract.Options{}); err != nil || render(r.Text) != "title:A report|that nobody waits for" {
		t.Errorf("%+v, %v", r, err)
	}
}
