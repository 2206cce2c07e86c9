package mediatype_test

import (
	"testing"

	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/internal/mediatype"
)

// What is said to have no text is not read by its name; a table is.
func TestNoReaderFindsTextInWhatHasNone(t *testing.T) {
	t.Parallel()
	hasText := func(extension string) bool {
		r, err := extract.Document([]byte("a,b\n1,2\n"), "application/octet-stream", "https://a.org/x."+extension, extract.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return len(r.Text.Blocks) > 0
	}
	if !hasText("csv") {
		t.Error("a table has no text")
	}
	for _, kind := range mediatype.Textless {
		for _, extension := range kind.Extensions {
			if hasText(extension) {
				t.Errorf("%s: .%s has text", kind.Name, extension)
			}
			if named, _ := mediatype.TextlessByName("/a/b." + extension); named != kind.Name {
				t.Errorf(".%s is of %q, want %q", extension, named, kind.Name)
			}
		}
	}
	for _, name := range []string{"", "zip", ".", "a.html", "a.zip/", "a.docx"} {
		if kind, _ := mediatype.TextlessByName(name); kind != "" {
			t.Errorf("%q is of %q", name, kind)
		}
	}
}
