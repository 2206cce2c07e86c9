package normalize

import (
	"strings"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/pipeline/stagetest"
)

// A table of Markdown that means 16 million cells is cut, and marked so; what comes with it, and behind it, is whole.
func TestHostileMarkdownTableIsCutAndOthersAreNot(t *testing.T) {
	t.Parallel()
	const columns = 4000
	table := page("# Storm\n\n" + strings.Repeat("|a", columns) + "\n" + strings.Repeat("|-", columns) + "\n" + strings.Repeat("|a\n", columns))
	table.Header.Set("Content-Type", "text/markdown")
	whole := page("# Storm\n\n|a|b|\n|-|-|\n|c|d|\n")
	whole.Header.Set("Content-Type", "text/markdown")
	r := stagetest.Try(t, stagetest.Case{Type: "normalize", Inputs: []any{whole, table, page("<p>some words"), whole}})
	if len(r.Failures) > 0 || len(r.Out[""]) != 4 {
		t.Fatalf("%v, %d documents", r.Failures, len(r.Out[""]))
	}
	var texts []string
	for i, v := range r.Out[""] {
		d := v.(*webrace.Document)
		texts = append(texts, string(d.Text.Bytes))
		if wantCut := i == 1; d.Text.Cut != wantCut {
			t.Errorf("document %d: cut is %v", i, d.Text.Cut)
		}
	}
	if !strings.HasPrefix(texts[1], "Storm\na\na") || texts[0] != "Storm\na\nb\nc\nd" || texts[3] != texts[0] || texts[2] != "some words" {
		t.Errorf("%.100q", texts)
	}
}

// TestAmplification takes documents through the stage: the memory that one takes grows with its length alone.
func TestAmplification(t *testing.T) {
	for contentType, c := range map[string]testutil.Construct{
		"text/html":        testutil.Repeated("links of a page", "", `<a href="/%d">a</a>`, ""),
		"text/markdown":    testutil.Repeated("links of Markdown", "", "[a](/%d)\n\n", ""),
		"application/json": testutil.Repeated("leaves of JSON", "[", "1,", "1]"),
		"text/csv":         testutil.Repeated("rows of a table", "a,b\n", "1,2\n", ""),
		"text/plain":       testutil.Repeated("lines of text", "", "http://h/%d\n", ""),
	} {
		testutil.Amplify(t, c, func(body []byte) bool {
			d := page(string(body))
			d.Header.Set("Content-Type", contentType)
			return try(t, defaults, d).document.Text.Cut
		})
	}
}
