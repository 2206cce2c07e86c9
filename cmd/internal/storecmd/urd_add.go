package storecmd

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
	"github.com/webrace/webrace/xmlschema/cron"
)

// urdFlags say what a URD is to be.
type urdFlags struct {
	id, url, owner string
	keywords       []string
	match          string
	threshold      int
	selects        []string
	ignores        []string
	when           string
	nonfilter      bool
	change         string
	remember       int
	depth          int
	secret         string
	scope          string
	urgency        int
	timing         time.Duration
	at             string
}

func newURDAdd(globals *cli.Globals) *cobra.Command {
	var flags urdFlags
	c := &cobra.Command{
		Use:   "add --url URL --owner OWNER [--keyword WORD:WEIGHT]…",
		Short: "add a URD, or change the one that says the same of the same start",
		Long: `add stores a standing request: crawl from a URL, and tell its owner of pages with
certain keywords, or of any change. It prints the id, and whether the request was
added, changed or known already. A URL that ends in * starts no crawl: its owner is
told of whatever others' crawls bring from under it.`,
		Example: `  webrace-store urd add --url https://example.org/ --owner eleni --keyword ibm:3 --keyword "annual report:5" --depth 3
  webrace-store urd add --url https://example.org/jobs --owner eleni --nonfilter --timing 1h
  webrace-store urd add --url https://example.org/rates --owner eleni --nonfilter --at "0 8 * * 1-5 Europe/Athens"
  webrace-store urd add --url https://example.org/boat --owner eleni --nonfilter --select '#price' --ignore 'regex:\d+ readers'`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			urd, err := flags.urd()
			if err != nil {
				return cli.Wrong(err)
			}
			warnings, err := cli.CheckInterest(urd)
			if err != nil {
				return cli.Wrong(err)
			}
			for _, warning := range append(urd.Advice(), warnings...) {
				note(c, "warning: %s", warning)
			}
			return fillControl(globals, func(store *control.Store) error { return putURDs(c, store, []*xmlschema.URD{urd}) })
		},
	}
	f := c.Flags()
	f.StringVar(&flags.url, "url", "", "where to start")
	f.StringVar(&flags.owner, "owner", "", "who is told")
	f.StringVar(&flags.id, "id", "", "its name (default: derived from owner, URL and interest)")
	f.StringArrayVarP(&flags.keywords, "keyword", "k", nil, "tell of pages with this `WORD[:WEIGHT]`, 1 to 5, as often as needed")
	f.StringVar(&flags.match, "match", xmlschema.MatchAny, "how many of the keywords a page must have: any or all")
	f.IntVar(&flags.threshold, "threshold", xmlschema.DefaultThreshold, "how relevant a page must be to be told of, 0 to 100")
	f.StringArrayVar(&flags.selects, "select", nil, "look at this part of a page alone, by `[css:|xpath:|jq:|sparql:|regex:]RULE`, as often as needed")
	f.StringArrayVar(&flags.ignores, "ignore", nil, "leave this part of a page out, by `[css:|xpath:|jq:|regex:]RULE`, as often as needed")
	f.StringVar(&flags.when, "when", "", "tell only if the number in the first --select meets this condition, as 'number < 100 or change < -0.05'")
	f.BoolVar(&flags.nonfilter, "nonfilter", false, "tell of any change")
	f.StringVar(&flags.change, "change", xmlschema.ChangeAdded, "what is matched when a page changes: what was added, the whole page, or pages when first seen (added, page, first)")
	f.IntVar(&flags.remember, "remember", 0, "of how many versions of a page the text counts as known, 1 to 8 (default: 1 without keywords, with --select, or with --change page; otherwise 5)")
	f.IntVar(&flags.depth, "depth", xmlschema.DefaultDepth, "levels of pages: 1 is the start alone, 0 has no limit")
	f.StringVar(&flags.scope, "scope", xmlschema.ScopeHost, "how far from the start: host, domain, prefix or any")
	f.StringVar(&flags.secret, "secret", "", "ask with the credentials of this name (webrace-store secret)")
	f.IntVar(&flags.urgency, "urgency", xmlschema.DefaultUrgency, "1 to 3, 3 the most urgent")
	f.DurationVar(&flags.timing, "timing", 0, "the longest time between visits of the start, as 10m (default: left to the schedule)")
	atFlag(f, &flags.at, "ask for the start at these times, and no others")
	return c
}

func (f *urdFlags) urd() (*xmlschema.URD, error) {
	if f.url == "" || f.owner == "" {
		return nil, fmt.Errorf("a URD needs --url, where to start, and --owner, who is told")
	}
	if f.match != xmlschema.MatchAny && f.match != xmlschema.MatchAll {
		return nil, fmt.Errorf("--match %s: it is any or all", f.match)
	}
	if f.depth < 0 {
		return nil, fmt.Errorf("--depth %d: it is 0, for no limit, or more", f.depth)
	}
	if f.remember < 0 || f.remember > xmlschema.MostRemembered {
		return nil, fmt.Errorf("--remember %d: it is a whole number from 1 to %d", f.remember, xmlschema.MostRemembered)
	}
	if f.urgency < 1 || f.urgency > 3 {
		return nil, fmt.Errorf("--urgency %d: it is a whole number from 1 to 3", f.urgency)
	}
	keywords, err := cli.ParseKeywords(f.keywords)
	if err != nil {
		return nil, err
	}
	urd := xmlschema.NewURD(f.owner, f.url)
	urd.ID, urd.Secret = f.id, f.secret
	if len(keywords) > 0 {
		urd.Keywords = xmlschema.NewKeywords(keywords...)
		urd.Keywords.Match, urd.Keywords.Threshold = f.match, f.threshold
	}
	if f.nonfilter {
		urd.ProcessType = xmlschema.ProcessNonFilter
	}
	if urd.Select, err = cli.ParseRules("--select", f.selects); err != nil {
		return nil, err
	}
	if urd.Ignore, err = cli.ParseRules("--ignore", f.ignores); err != nil {
		return nil, err
	}
	if err := cli.SetWhen(urd, f.when); err != nil {
		return nil, err
	}
	if urd.At, err = timesOf(f.at, f.timing); err != nil {
		return nil, err
	}
	urd.Change, urd.Depth, urd.Scope, urd.Urgency, urd.Timing, urd.Remember = f.change, f.depth, f.scope, f.urgency, f.timing, f.remember
	if err := urd.Validate(); err != nil {
		return nil, err
	}
	_, _, err = control.CrawlOf(urd)
	return urd, err
}

// atFlag is the flag of the times at which sources are asked.
func atFlag(f *pflag.FlagSet, at *string, purpose string) {
	f.StringVar(at, "at", "", purpose+": a cron `LINE` and a time zone (default UTC), as \"0 8 * * 1-5 Europe/Athens\"")
}

// timesOf returns the times of a flag as URDs have them.
func timesOf(at string, timing time.Duration) (string, error) {
	if at == "" {
		return "", nil
	}
	if _, err := cron.Parse(at); err != nil {
		return "", fmt.Errorf("--at %q names no times: %w", at, err)
	}
	if timing != 0 {
		return "", errors.New("--at says at which times a source is asked, and --timing how often: leave one of them out")
	}
	return cron.Normal(at), nil
}

// putURDs stores URDs, prints what became of each, and sums up.
func putURDs(c *cobra.Command, store *control.Store, urds []*xmlschema.URD) error {
	changes, err := store.Put(c.Context(), urds)
	if beyond := (*control.BudgetError)(nil); errors.As(err, &beyond) {
		return fmt.Errorf("%w: webrace-store owner budget", err)
	}
	if err != nil {
		return err
	}
	unknown, err := store.UnknownSecrets(c.Context(), urds)
	if err != nil {
		return err
	}
	for _, name := range unknown {
		note(c, "warning: no secret is named %s: webrace-store secret set stores it", name)
	}
	effects := map[control.Effect]int{}
	out := newRows(c.OutOrStdout(), []string{"id", "effect"}, false)
	for _, change := range changes {
		effects[change.Effect]++
		if err := out.row(change.ID, string(change.Effect)); err != nil {
			return err
		}
	}
	if err := out.flush(); err != nil {
		return err
	}
	if len(urds) != 1 {
		note(c, "%s: %d added, %d changed, %d unchanged", cli.Count(len(urds), "URD"), effects[control.Added], effects[control.Changed], effects[control.Unchanged])
	}
	return nil
}

// ordinal says which of a file's URDs is meant.
func ordinal(i int, u *xmlschema.URD) string {
	return fmt.Sprintf("URD %s (%s)", cmp.Or(u.ID, fmt.Sprint(i+1)), u.URI)
}
