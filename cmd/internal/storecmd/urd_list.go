package storecmd

import (
	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// urdView is a URD as a JSON line; urd export writes all there is to know of it.
type urdView struct {
	ID          string        `json:"id"`
	Owner       string        `json:"owner"`
	URI         string        `json:"uri"`
	Protocol    string        `json:"protocol"`
	ProcessType string        `json:"processtype"`
	Change      string        `json:"change"`
	Depth       int           `json:"depth"`
	Scope       string        `json:"scope"`
	Urgency     int           `json:"urgency"`
	Timing      string        `json:"timing,omitempty"`
	Threshold   int           `json:"threshold"`
	Match       string        `json:"match,omitempty"`
	Keywords    []keywordView `json:"keywords"`
	Crawl       string        `json:"crawl,omitempty"`
	Revision    int64         `json:"revision"`
	Select      []ruleView    `json:"select,omitempty"`
	Ignore      []ruleView    `json:"ignore,omitempty"`
}

type ruleView struct {
	Language string `json:"language"`
	Rule     string `json:"rule"`
}

func viewRules(rules []xmlschema.Rule) (views []ruleView) {
	for _, r := range rules {
		views = append(views, ruleView{r.Language, r.Text})
	}
	return views
}

type keywordView struct {
	Key    string `json:"key"`
	Weight int    `json:"weight"`
}

func viewURD(u control.URD) any {
	v := urdView{
		ID: u.ID, Owner: u.Owner, URI: u.URI, Protocol: u.Protocol, ProcessType: u.ProcessType, Change: u.Change,
		Depth: u.Depth, Scope: u.Scope, Urgency: u.Urgency, Threshold: u.Keywords.Threshold, Match: u.Keywords.Match,
		Keywords: []keywordView{}, Crawl: u.Crawl.ID, Revision: u.Revision,
		Select: viewRules(u.Select), Ignore: viewRules(u.Ignore),
	}
	if u.Timing > 0 {
		v.Timing = u.Timing.String()
	}
	for k := range u.Keywords.All() {
		v.Keywords = append(v.Keywords, keywordView{k.Key, k.Weight})
	}
	return v
}

var urdListing = listing[control.URD]{
	header: []string{"id", "owner", "uri", "depth", "threshold", "interest"},
	row: func(u control.URD) []any {
		return []any{u.ID, u.Owner, u.URI, u.Depth, u.Keywords.Threshold, cli.Interest(u.URD)}
	},
	view: viewURD,
}

func newURDList(place *cli.Place) *cobra.Command {
	var owner string
	var asJSON bool
	c := &cobra.Command{
		Use:     "list",
		Short:   "list URDs: id, owner, URI, depth, threshold, keywords with their weights",
		Example: "  webrace-store urd list --owner eleni",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return withControl(place, func(store *control.Store) error {
				n, err := urdListing.print(c, asJSON, urdsOf(c, store, owner))
				if n == 0 && err == nil {
					note(c, noURDs)
				}
				return err
			})
		},
	}
	c.Flags().StringVar(&owner, "owner", "", "only those of this owner")
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON lines")
	return c
}
