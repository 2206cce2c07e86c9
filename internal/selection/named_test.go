package selection

import (
	"slices"
	"strings"
	"testing"
)

func TestTheMainPartIsSelected(t *testing.T) {
	t.Parallel()
	const prose = "The ferry to the island did not sail on Tuesday, for the wind was too strong, and nobody was told before noon. "
	page := `<title>T</title><nav>NAV</nav><article><h2>HEADING</h2><p>` + strings.Repeat(prose, 3) + `<div class="share">SHARE</div><p>` + prose + `</p></article><p class=more>MORE</p><div id="comments">REPLY</div>`
	main := Rule{Language: Named, Text: "main"}
	for _, c := range []struct {
		name, mediaType, body string
		rules                 []Rule
		with, without         string
	}{
		{"a page", "text/html", page, []Rule{main}, "HEADING ferry", "NAV SHARE REPLY MORE"},
		{"what others select as well", "text/html", page, []Rule{main, {Language: CSS, Text: ".more"}}, "ferry MORE", "NAV SHARE REPLY"},
		{"less what is ignored", "text/html", page, []Rule{main, {Ignore: true, Language: CSS, Text: "h2"}}, "ferry", "HEADING NAV"},
		{"what matches in it", "text/html", page, []Rule{main, {Language: Regex, Text: "island|NAV"}}, "island", "ferry NAV"},
		{"a page without one", "text/html", `<ul><li>ONE<li>TWO</ul>`, []Rule{main}, "ONE TWO", ""},
		{"plain text", "text/plain", "ONE\n\nTWO", []Rule{main}, "ONE TWO", ""},
		{"JSON", "application/json", `{"a":"ONE","b":"TWO"}`, []Rule{main}, "ONE TWO", ""},
		{"JSON, less what is ignored", "application/json", `{"a":"ONE","b":"TWO"}`, []Rule{main, {Ignore: true, Language: JQ, Text: ".b"}}, "ONE", "TWO"},
		{"XML", "application/xml", `<a><b>ONE</b>TWO</a>`, []Rule{main}, "ONE TWO", ""},
	} {
		d := open(t, c.body, c.mediaType)
		selection, err := Compile(c.rules)
		if err != nil {
			t.Fatal(err)
		}
		part, err := selection.Apply(t.Context(), d, NewBudget())
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		text := string(part.Text.Bytes)
		for word := range strings.FieldsSeq(c.with) {
			if !strings.Contains(text, word) {
				t.Errorf("%s: %s is not in %q", c.name, word, text)
			}
		}
		for word := range strings.FieldsSeq(c.without) {
			if strings.Contains(text, word) {
				t.Errorf("%s: %s is in %q", c.name, word, text)
			}
		}
		if lacks := c.name == "a page without one"; d.LacksMain() != lacks {
			t.Errorf("%s: that it lacks a main part is %v", c.name, !lacks)
		}
		if len(part.Unmatched) > 0 {
			t.Errorf("%s: %v matches nothing", c.name, part.Unmatched)
		}
		var remarks []string
		if c.name == "a page without one" || c.name == "XML" {
			remarks = []string{`select part "main" takes all of the page, which has no main part`}
		}
		if got := part.Remarks(); !slices.Equal(got, remarks) {
			t.Errorf("%s: remarks %q, want %q", c.name, got, remarks)
		}
	}
	for _, wrong := range []Rule{{Language: Named, Text: "head"}, {Language: Named, Text: "main", Ignore: true}, {Language: Named}} {
		if err := wrong.Check(); err == nil {
			t.Errorf("%s is taken for a rule", wrong)
		}
	}
}
