package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// A start that gave no answer hides nothing that its owner was told, only that there is nothing new.
func TestNewsOfAStartThatGaveNoAnswerAreShown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		told, unanswered bool
		want             string // "": nothing at all
	}{
		"told":                      {true, false, "A storm"},
		"told, start unanswered":    {true, true, "A storm"},
		"nothing":                   {false, false, "nothing new for eleni"},
		"nothing, start unanswered": {false, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store, err := control.Open(filepath.Join(t.TempDir(), "control.db"), control.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close()
			urd := &xmlschema.URD{ID: "u", Owner: "eleni", URI: "http://a.example/"}
			if c.told {
				aci := &xmlschema.ACI{ID: "1", URD: urd.ID, Owner: urd.Owner, URI: urd.URI, Title: "A storm", Relevance: 50}
				if _, err := store.PutACIs(t.Context(), []*xmlschema.ACI{aci}); err != nil {
					t.Fatal(err)
				}
			}
			var out strings.Builder
			unanswered := func(*xmlschema.URD) bool { return c.unanswered }
			if err := PrintNews(t.Context(), &out, store, []*xmlschema.URD{urd}, 0, unanswered); err != nil {
				t.Fatal(err)
			}
			if got := out.String(); !strings.Contains(got, c.want) || c.want == "" && got != "" {
				t.Errorf("it shows %q, want %q", got, c.want)
			}
		})
	}
}
