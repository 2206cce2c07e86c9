package storecmd

import (
	"cmp"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/wording"
	"github.com/webrace/webrace/stages/keywordfilter/explain"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/control"
)

func newExplain(globals *cli.Globals) *cobra.Command {
	var secret string
	c := &cobra.Command{
		Use:   "explain URL OWNER",
		Short: "say why an owner was told of a URL or not: how each URD came to it, and what it is worth to it",
		Example: `  webrace-store explain https://example.org/news eleni
  webrace-store explain https://bank.example/account eleni --secret bank`,
		Long: `explain takes the latest stored version of a URL and, for each URD of the owner, says
whether it is asked about the page, how relevant the page is and which keywords make it
so, what its owner was told of it, or why they were not, and what of the URD is probably
not meant. webrace-run try does the same with a page that is not stored.`,
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			url, err := normal(args[0])
			if err != nil {
				return err
			}
			if asked, err := atHomeOf(c, globals, url); asked {
				return err
			}
			return lookIntoDir(globals, func(dir *storage.Dir) error {
				return withFrontiers(c, globals, dir, func(queues explain.Queues) error {
					p, err := explain.LookUp(c.Context(), dir, queues, secret, url)
					if err != nil {
						return err
					}
					if err := mentionViews(c, dir, p); err != nil {
						return err
					}
					return explainTo(c, dir, p, args[1])
				})
			})
		},
	}
	withSecret(c, &secret)
	settingsFlag(c, globals)
	return c
}

// mentionViews prints which credentials the page was fetched with besides, where none are asked about.
func mentionViews(c *cobra.Command, dir *storage.Dir, p *explain.Page) error {
	if p.Secret != "" {
		return nil
	}
	cache, err := dir.Objects()
	if err != nil {
		return err
	}
	for v, err := range cache.Private(c.Context(), p.URL) {
		if err != nil {
			return err
		}
		note(c, "it was fetched with the credentials %s: --secret %[1]s looks at what they show", v.Secret)
	}
	return nil
}

// explainTo goes through the URDs of an owner.
func explainTo(c *cobra.Command, dir *storage.Dir, p *explain.Page, owner string) error {
	w := cli.Prose(c.OutOrStdout())
	describePage(w, p)
	store, err := dir.Control()
	if err != nil {
		return err
	}
	var urds []control.URD
	for urd, err := range store.ByOwner(c.Context(), owner) {
		if err != nil {
			return err
		}
		urds = append(urds, urd)
	}
	if len(urds) == 0 {
		return fmt.Errorf("%s has no URDs: %s", owner, listURDs)
	}
	if err := p.LookAtParts(c.Context(), urds); err != nil {
		return err
	}
	say := func(format string, args ...any) { fmt.Fprintf(w, "  "+format+"\n", args...) }
	for _, urd := range urds {
		fmt.Fprintf(w, "\nURD %s: %s, %s\n", urd.ID, urd.URI, cli.InterestInFull(urd.URD))
		if err := p.URD(c.Context(), urd, say); err != nil {
			return err
		}
	}
	return nil
}

// describePage prints what is known of the page itself.
func describePage(w io.Writer, p *explain.Page) {
	fmt.Fprintln(w, p.URL+asShown(p.Secret))
	if p.Stored == nil {
		fmt.Fprintln(w, "  not in the object cache")
		for _, s := range p.Statuses {
			fmt.Fprintf(w, "  %s: %s%s\n", s.Pipeline, s.Because(), removed(s))
		}
		return
	}
	v := p.Version
	fmt.Fprintf(w, "  version %d, fetched at %s, last validated at %s: %s\n", v.Number, wording.Moment(v.FetchedAt), wording.Moment(v.ValidatedAt), wording.OneLine(p.Title))
	switch {
	case p.Undecoded != "":
		fmt.Fprintf(w, "  its body is not all decoded: %s\n", p.Undecoded)
	case v.Truncated:
		fmt.Fprintln(w, "  it is longer than was fetched of it (fetch.max_body)")
	}
	switch {
	case p.Unread.Cause != "":
		fmt.Fprintf(w, "  its text was not read, or not whole (%s): %s\n", p.MediaType, p.Unread.Reason)
	case len(p.Text.Blocks) == 0:
		fmt.Fprintf(w, "  it has no text that could be read (%s)\n", cmp.Or(p.MediaType, "of unknown type"))
	}
}

// asShown returns with which credentials something was fetched.
func asShown(secret string) string {
	if secret == "" {
		return ""
	}
	return fmt.Sprintf(" (with credentials %s)", secret)
}

// removed reports of a URL that is not in the object cache that it was.
func removed(s explain.Status) string {
	if s.Visit == nil || s.Visit.Version == 0 {
		return ""
	}
	return fmt.Sprintf("; version %d was stored, and is removed", s.Visit.Version)
}
