package portal

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// fakeReader is a reader of one page, for tests of what is shown.
type fakeReader struct {
	gone   bool
	fail   error        // of fetching
	wait   bool         // a rematch ends when its context does
	change func(*Trial) // what is tried; nil: nothing
}

var _ Reader = (*fakeReader)(nil)

var hostilePieces = []Piece{{Text: "A <b>"}, {Text: "boat</mark><script>", Keyword: "boat"}, {Text: " sails"}}

func (f *fakeReader) Try(_ context.Context, _ string, u *xmlschema.URD) (*Trial, error) {
	if f.fail != nil {
		return nil, f.fail
	}
	trial := &Trial{
		URL: u.URI, Status: 200, Title: "The <page>", Worth: Worth{Relevance: 73, Threshold: 20, Shares: []Share{{Keyword: "boat", Weight: 5, Title: 1, Share: 0.73}}},
		Alerts: true, Reason: "because of boats", Summary: "A «boat»", Text: Excerpt{Blocks: []Block{{Field: "body", Pieces: hostilePieces}}}, Selects: true,
	}
	if f.change != nil {
		f.change(trial)
	}
	return trial, nil
}

func (f *fakeReader) Rematch(ctx context.Context, _ string, _ *xmlschema.URD, _ int, _ func(Found)) (Rematched, error) {
	if f.wait {
		<-ctx.Done()
	}
	return Rematched{Found: []Found{{URL: "https://found.example/", Title: "Found <i>", Relevance: 50, At: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)}}, Looked: 640, Ended: f.wait}, nil
}

func (f *fakeReader) Read(_ context.Context, a control.ACI, _ *xmlschema.URD) (*Reading, error) {
	if f.gone {
		return nil, &GoneError{a.URI, 1}
	}
	return &Reading{
		URL: a.URI, Title: a.Title, Version: Version{Number: 2}, Text: Excerpt{Blocks: []Block{{Field: "body", Pieces: hostilePieces}}, Left: 3}, Selects: true,
		Change:   &Change{Pieces: []ChangedPiece{{PieceSame, "as before\n"}, {PieceAdded, "new <i>\n"}, {PieceRemoved, "old\n"}, {PieceGap, ""}}, Left: true},
		Versions: []Version{{Number: 2}, {Number: 1}}, Left: 1,
	}, nil
}

func (f *fakeReader) Raw(_ context.Context, a control.ACI) (string, io.ReadCloser, error) {
	if f.gone {
		return "", nil, &GoneError{a.URI, 1}
	}
	return "text/html", io.NopCloser(strings.NewReader("<script>alert(1)</script>")), nil
}

func (f *fakeReader) Explain(_ context.Context, _, url string) ([]Explained, error) {
	if strings.Contains(url, "fail") {
		return nil, errors.New("it failed")
	}
	return []Explained{{URD: control.URD{URD: xmlschema.NewURD("anna", url)}, Asked: true, Why: "because it is there", Lines: []string{"it was told of <b>"}}}, nil
}
