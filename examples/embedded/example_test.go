package embedded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/webrace/webrace"
)

func page(url, body string) *webrace.Document {
	return &webrace.Document{URL: url, Outcome: webrace.Fetched, Status: 200, MediaType: "text/html", Body: []byte(body)}
}

func TestAnErrorOfTheProgramEndsTheRun(t *testing.T) {
	pages := slices.Values([]*webrace.Document{page("https://example.org/", "<p>tea")})
	if err := Texts(t.Context(), pages, func(*webrace.Document) error { return io.ErrShortWrite }); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("%v, want the program's error", err)
	}
}

// A program reads pages that it has from elsewhere.
func Example_texts() {
	pages := []*webrace.Document{
		page("https://example.org/", "<title>Ferries</title><nav>Home</nav><p>The boat leaves at <b>nine</b>.<p><a href='/map'>Map</a>"),
		page("https://example.org/map", "<title>Map</title><p>The pier is here."),
	}
	err := Texts(context.Background(), slices.Values(pages), func(d *webrace.Document) error {
		fmt.Printf("%s: %q links to %v\n", d.URL, d.Title, d.Links)
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Unordered output:
	// https://example.org/: "Ferries" links to [https://example.org/map]
	// https://example.org/map: "Map" links to []
}
