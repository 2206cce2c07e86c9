package storecmd

import (
	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/storage"
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
	Remember    int           `json:"remember,omitempty"`
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
	LastCheck   string        `json:"last_check,omitempty"`
	Outcome     string        `json:"outcome,omitempty"`
	Next        string        `json:"next,omitempty"` // or now
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

func viewURD(u urdChecked) any {
	v := urdView{
		ID: u.ID, Owner: u.Owner, URI: u.URI, Protocol: u.Protocol, ProcessType: u.ProcessType, Change: u.Change, Remember: u.Remember,
		Depth: u.Depth, Scope: u.Scope, Urgency: u.Urgency, Threshold: u.Keywords.Threshold, Match: u.Keywords.Match,
		Keywords: []keywordView{}, Crawl: u.Crawl.ID, Revision: u.Revision,
		Select: viewRules(u.Select), Ignore: viewRules(u.Ignore),
		LastCheck: moment(u.Last), Outcome: u.Outcome, Next: u.next(),
	}
	if u.Timing > 0 {
		v.Timing = u.Timing.String()
	}
	for k := range u.Keywords.All() {
		v.Keywords = append(v.Keywords, keywordView{k.Key, k.Weight})
	}
	return v
}

// urdChecked is a URD, and how its start was checked.
type urdChecked struct {
	control.URD
	checked
}

var urdListing = listing[urdChecked]{
	header: []string{"id", "owner", "uri", "depth", "threshold", "interest", "last check", "outcome", "next"},
	row: func(u urdChecked) []any {
		return []any{u.ID, u.Owner, u.URI, u.Depth, u.Keywords.Threshold, cli.Interest(u.URD.URD), u.Last, u.Outcome, u.next()}
	},
	view: viewURD,
}

func newURDList(place *cli.Place) *cobra.Command {
	var owner, selection string
	var asJSON bool
	c := &cobra.Command{
		Use:   "list",
		Short: "list URDs: id, owner, URI, depth, threshold, keywords with their weights; when its start was last checked, with what outcome, and when it is due",
		Example: `  webrace-store urd list --owner eleni
  webrace-store urd list --select "concat(/urd/@id, ' ', /urd/uri)"`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := checkSelection(selection); err != nil {
				return err
			}
			return lookIntoDir(place, func(dir *storage.Dir) error {
				store, err := dir.Control()
				if err != nil {
					return err
				}
				n, err := printURDs(c, place, dir, store, owner, selection, asJSON)
				if n == 0 && err == nil {
					note(c, noURDs)
				}
				return err
			})
		},
	}
	c.Flags().StringVar(&owner, "owner", "", "only those of this owner")
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON lines")
	selectFlag(c, &selection)
	return c
}

func printURDs(c *cobra.Command, place *cli.Place, dir *storage.Dir, store *control.Store, owner, selection string, asJSON bool) (int, error) {
	if selection != "" {
		return printValues(c, selection, asJSON, urdsOf(c, store, owner), func(u control.URD) (string, []byte) { return u.ID, u.Canonical() })
	}
	checks, err := readChecks(c, place, dir, store)
	if err != nil {
		return 0, err
	}
	return urdListing.print(c, asJSON, func(yield func(urdChecked, error) bool) {
		for urd, err := range urdsOf(c, store, owner) {
			var done checked
			if err == nil {
				done, err = checks.of(urd)
			}
			if !yield(urdChecked{urd, done}, err) {
				return
			}
		}
	})
}
