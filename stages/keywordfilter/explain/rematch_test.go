package explain

import (
	"fmt"
	"slices"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/selection"
	"github.com/webrace/webrace/stages/keywordfilter/annotate"
	"github.com/webrace/webrace/xmlschema"
)

// TestVersionsAreMatchedAsTheURDSays goes through the versions of a page as a pipeline that fetched them all.
func TestVersionsAreMatchedAsTheURDSays(t *testing.T) {
	t.Parallel()
	versions := []string{"boats", "boats|clock", "boats|ferries", "ferries|boats", "ferries|boats|boats again", "", "boats"}
	for change, want := range map[string][]string{
		xmlschema.ChangeAdded: {"1 «boats»", "5 «boats» again"},
		xmlschema.ChangePage:  {"1 «boats»", "2 «boats» · «clock»", "3 «boats» · [−clock] «ferries»", "5 «boats» · «boats again»", "7 «boats» · [−ferries] · [−boats again]"},
		xmlschema.ChangeFirst: {"1 «boats»"},
	} {
		u := xmlschema.NewURD("eleni", "http://a.example/")
		u.ID, u.Change, u.Keywords = "u1", change, xmlschema.NewKeywords(xmlschema.Keyword{Key: "boat", Weight: 5})
		i, err := annotate.NewInterest(u)
		if err != nil {
			t.Fatal(err)
		}
		var state annotate.Seen
		var got []string
		for n, text := range versions {
			if _, alert := state.Show(i, &selection.Part{Text: blocks(text)}, annotate.Body{MediaType: "text/html"}); alert != nil {
				got = append(got, fmt.Sprint(n+1, " ", alert.Summary))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", change, got, want)
		}
	}
}

// blocks makes a text of blocks between bars.
func blocks(text string) *webrace.Text {
	t := &webrace.Text{Bytes: []byte(text)}
	start := 0
	for i := 0; i <= len(text); i++ {
		if i == len(text) || text[i] == '|' {
			if i > start {
				t.Blocks = append(t.Blocks, webrace.Block{Start: int32(start), End: int32(i)})
			}
			start = i + 1
		}
	}
	return t
}
