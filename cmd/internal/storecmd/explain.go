package storecmd

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/internal/selection"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/objects"
)

func newExplain(place *cli.Place) *cobra.Command {
	return &cobra.Command{
		Use:   "explain URL OWNER",
		Short: "say why an owner was told of a URL or not: how each URD came to it, and what it is worth to it",
		Long: `explain takes the latest stored version of a URL and, for each URD of the owner, says
whether its crawl comes to it, how relevant it is and which keywords make it so, and
what its owner was told of it, or why they were not.`,
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			url, err := normal(args[0])
			if err != nil {
				return err
			}
			return withDir(place, func(dir *storage.Dir) error {
				p, err := lookUp(c, place, dir, url)
				if err != nil {
					return err
				}
				return p.explain(c, args[1])
			})
		},
	}
}

// page is what is known of a URL.
type page struct {
	url       string
	standings []standing
	version   objects.Version // the latest; its number is 0 when there is none
	title     string
	text      *webrace.Text // of that version
	document  *selection.Document
	control   *control.Store
}

func lookUp(c *cobra.Command, place *cli.Place, dir *storage.Dir, url string) (*page, error) {
	p := &page{url: url}
	var err error
	if p.control, err = dir.Control(); err != nil {
		return nil, err
	}
	if p.standings, err = standings(c, place, dir, url); err != nil {
		return nil, err
	}
	cache, err := dir.Objects()
	if err != nil {
		return nil, err
	}
	p.version, err = cache.Latest(url)
	if errors.Is(err, objects.ErrNotFound) {
		return p, nil
	}
	if err != nil {
		return nil, err
	}
	return p, p.read(cache)
}

// read extracts the text of the stored version, as it is matched.
func (p *page) read(cache *objects.Store) error {
	body, header, err := cache.Body(p.version)
	if err != nil {
		return err
	}
	r, err := extract.Document(body, extract.ContentType(header, p.version.MediaType), p.url, extract.Options{MaxLinks: 1})
	if err != nil {
		return err
	}
	p.title, p.text = r.Title, r.Text
	p.document = selection.Open(body, r.MediaType, r.Charset, r.Text)
	return nil
}

// explain goes through the URDs of an owner.
func (p *page) explain(c *cobra.Command, owner string) error {
	w := c.OutOrStdout()
	p.describe(w)
	n := 0
	for urd, err := range p.control.ByOwner(c.Context(), owner) {
		if err != nil {
			return err
		}
		n++
		if err := p.explainURD(c.Context(), w, urd); err != nil {
			return err
		}
	}
	if n == 0 {
		return fmt.Errorf("%s has no URDs: %s", owner, listURDs)
	}
	return nil
}

// describe says what is known of the page itself.
func (p *page) describe(w io.Writer) {
	fmt.Fprintln(w, p.url)
	if p.version.Number > 0 {
		fmt.Fprintf(w, "  version %d, fetched at %s, last validated at %s: %s\n", p.version.Number, moment(p.version.FetchedAt), moment(p.version.ValidatedAt), oneLine(p.title))
		return
	}
	fmt.Fprintln(w, "  not in the object cache")
	for _, s := range p.standings {
		fmt.Fprintf(w, "  %s: %s\n", s.pipeline, s.state())
	}
}
