package storecmd

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/wording"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
	"github.com/webrace/webrace/xmlschema/cron"
)

// urdFlags determine what a URD is to be.
type urdFlags struct {
	id, url, owner string
	title          string
	labels         []string
	interest       cli.InterestFlags
	protocol       string
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
  webrace-store urd add --url imaps://mail.example.org/INBOX --owner eleni --secret mail --keyword ferry:5
  webrace-store urd add --url https://example.org/boat --owner eleni --nonfilter --select '#price' --ignore 'regex:\d+ readers'`,
		Args: flagsAlone,
		RunE: func(c *cobra.Command, _ []string) error {
			urd, err := flags.urd()
			if err != nil {
				return cli.Wrong(err)
			}
			warnings := urd.Advice()
			for _, fault := range globals.CheckURD(urd) {
				if !fault.Warning {
					return cli.Wrong(errors.New(fault.Message))
				}
				warnings = append(warnings, fault.Message)
			}
			for _, warning := range warnings {
				note(c, "warning: %s", warning)
			}
			return fillControl(globals, func(store *control.Store) error { return putURDs(c, store, []*xmlschema.URD{urd}) })
		},
	}
	f := c.Flags()
	f.StringVar(&flags.url, "url", "", "where to start")
	f.StringVar(&flags.owner, "owner", "", "who is told")
	f.StringVar(&flags.id, "id", "", "its name (default: derived from owner, URL and interest)")
	f.StringVar(&flags.title, "title", "", "a line that names it for its owner")
	f.StringArrayVar(&flags.labels, "label", nil, "a `WORD` by which its owner groups URDs, as often as needed")
	flags.interest.Add(f)
	f.StringVar(&flags.protocol, "protocol", "", "what the start is, where its URL does not tell: http, feed, imap, nntp or db")
	f.IntVar(&flags.depth, "depth", xmlschema.DefaultDepth, "levels of pages: 1 is the start alone, 0 has no limit")
	f.StringVar(&flags.scope, "scope", xmlschema.ScopeHost, "how far from the start: host, domain, prefix or any")
	f.StringVar(&flags.secret, "secret", "", "ask with the credentials of this name (webrace-store secret)")
	f.IntVar(&flags.urgency, "urgency", xmlschema.DefaultUrgency, "1 to 3, 3 the most urgent")
	f.DurationVar(&flags.timing, "timing", 0, "the longest time between visits of the start, as 10m (default: left to the schedule)")
	atFlag(f, &flags.at, "ask for the start at these times, and no others")
	return c
}

// flagsAlone refuses an argument with what it was probably meant for.
func flagsAlone(_ *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case strings.Contains(args[0], "://"):
		return cli.Wrongf("%q is one argument too many: did you mean --url?", args[0])
	}
	return cli.Wrongf("%q is one argument too many: a URD is made of the flags; URDs in files are added by urd import", args[0])
}

func (f *urdFlags) urd() (*xmlschema.URD, error) {
	if f.url == "" || f.owner == "" {
		return nil, fmt.Errorf("a URD needs --url, where to start, and --owner, who is told")
	}
	if f.depth < 0 {
		return nil, fmt.Errorf("--depth %d: it is 0, for no limit, or more", f.depth)
	}
	if f.urgency < 1 || f.urgency > 3 {
		return nil, fmt.Errorf("--urgency %d: it is a whole number from 1 to 3", f.urgency)
	}
	urd := xmlschema.NewURD(f.owner, f.url)
	urd.Protocol = cmp.Or(f.protocol, xmlschema.ProtocolOf(f.url))
	urd.ID, urd.Secret, urd.Title, urd.Labels = f.id, f.secret, strings.TrimSpace(f.title), f.labels
	for _, label := range f.labels {
		if !xmlschema.FitsLabel(label) {
			return nil, fmt.Errorf("--label %q: it is one word, of at most %d characters", label, xmlschema.LongestLabel)
		}
	}
	if err := f.interest.Fill(urd); err != nil {
		return nil, err
	}
	var err error
	if urd.At, err = timesOf(f.at, f.timing); err != nil {
		return nil, err
	}
	urd.Depth, urd.Scope, urd.Urgency, urd.Timing = f.depth, f.scope, f.urgency, f.timing
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
	var rows [][]any
	for _, change := range changes {
		effects[change.Effect]++
		rows = append(rows, []any{change.ID, string(change.Effect)})
	}
	if err := WriteTable(c.OutOrStdout(), []string{"id", "effect"}, rows); err != nil {
		return err
	}
	if len(urds) != 1 {
		note(c, "%s: %d added, %d changed, %d unchanged", wording.Count(len(urds), "URD"), effects[control.Added], effects[control.Changed], effects[control.Unchanged])
	}
	return nil
}

// ordinal returns which of a file's URDs is meant.
func ordinal(i int, u *xmlschema.URD) string {
	return fmt.Sprintf("URD %s (%s)", cmp.Or(u.ID, fmt.Sprint(i+1)), u.URI)
}
