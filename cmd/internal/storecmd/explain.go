package storecmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/stages/keywordfilter/annotate"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/objects"
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
				return withFrontiers(c, globals, dir, func(queues frontiers) error {
					p, err := lookUp(dir, queues, secret, url)
					if err != nil {
						return err
					}
					if err := p.mentionViews(c, dir); err != nil {
						return err
					}
					return p.explain(c, args[1])
				})
			})
		},
	}
	withSecret(c, &secret)
	settingsFlag(c, globals)
	return c
}

// page is what is known of a URL.
type page struct {
	*reach
	*stored // nil when it is not in the object cache
	control *control.Store
	cache   *objects.Store
	looked  map[string]annotate.Looked // by the id of the URD
}

func lookUp(dir *storage.Dir, queues frontiers, secret, url string) (*page, error) {
	p := &page{}
	var err error
	if p.control, err = dir.Control(); err != nil {
		return nil, err
	}
	cache, err := dir.Objects()
	if err != nil {
		return nil, err
	}
	p.cache = cache
	url = cache.Spelling(secret, url)
	if p.reach, err = queues.reachOf(secret, url); err != nil {
		return nil, err
	}
	version, err := cache.Latest(objects.View(secret, url))
	if errors.Is(err, objects.ErrNotFound) {
		return p, nil
	}
	if err != nil {
		return nil, err
	}
	p.stored, err = read(cache, version)
	return p, err
}

// mentionViews prints which credentials the page was fetched with besides, where none are asked about.
func (p *page) mentionViews(c *cobra.Command, dir *storage.Dir) error {
	if p.secret != "" {
		return nil
	}
	cache, err := dir.Objects()
	if err != nil {
		return err
	}
	for v, err := range cache.Private(c.Context(), p.url) {
		if err != nil {
			return err
		}
		note(c, "it was fetched with the credentials %s: --secret %[1]s looks at what they show", v.Secret)
	}
	return nil
}

// explain goes through the URDs of an owner.
func (p *page) explain(c *cobra.Command, owner string) error {
	w := cli.Prose(c.OutOrStdout())
	p.describe(w)
	var urds []control.URD
	for urd, err := range p.control.ByOwner(c.Context(), owner) {
		if err != nil {
			return err
		}
		urds = append(urds, urd)
	}
	if len(urds) == 0 {
		return fmt.Errorf("%s has no URDs: %s", owner, listURDs)
	}
	if err := p.lookAtParts(c.Context(), urds); err != nil {
		return err
	}
	for _, urd := range urds {
		if err := p.explainURD(c.Context(), w, urd); err != nil {
			return err
		}
	}
	return nil
}

// lookAtParts finds the parts of the page at which those of an owner's URDs look that are asked: together they have one
// budget.
func (p *page) lookAtParts(ctx context.Context, urds []control.URD) error {
	if p.stored == nil {
		return nil
	}
	var ids []string
	var interests []*annotate.Interest
	for _, u := range urds {
		interest, err := annotate.NewInterest(u.URD)
		if asked, _ := p.asks(u); asked && err == nil { // what is wrong with one is said where it is explained
			ids, interests = append(ids, u.ID), append(interests, interest)
		}
	}
	p.looked = make(map[string]annotate.Looked)
	for i, looked := range annotate.Parts(ctx, interests, p.parts) {
		p.looked[ids[i]] = looked
	}
	return ctx.Err()
}

// describe prints what is known of the page itself.
func (p *page) describe(w io.Writer) {
	fmt.Fprintln(w, p.url+asShown(p.secret))
	if p.stored == nil {
		fmt.Fprintln(w, "  not in the object cache")
		for _, s := range p.statuses {
			fmt.Fprintf(w, "  %s: %s%s\n", s.pipeline, s.state(), removed(s))
		}
		return
	}
	v := p.version
	fmt.Fprintf(w, "  version %d, fetched at %s, last validated at %s: %s\n", v.Number, moment(v.FetchedAt), moment(v.ValidatedAt), oneLine(p.Title))
	switch {
	case p.undecoded != "":
		fmt.Fprintf(w, "  its body is not all decoded: %s\n", p.undecoded)
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
func removed(s urlStatus) string {
	if s.Visit == nil || s.Visit.Version == 0 {
		return ""
	}
	return fmt.Sprintf("; version %d was stored, and is removed", s.Visit.Version)
}
