package main

import (
	"errors"
	"fmt"
	"os/user"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/xmlschema"
)

// crawlFlags say what a crawl without XML is after.
type crawlFlags struct {
	keywords  []string
	depth     int
	scope     string
	threshold int
	owner     string
}

func newCrawl(place *cli.Place) *cobra.Command {
	var flags crawlFlags
	var run runFlags
	c := &cobra.Command{
		Use:   "crawl URL…",
		Short: "crawl from URLs, and watch for keywords, without writing any XML",
		Long: `crawl runs the pipeline named crawl from the given URLs. Each keyword is an
interest with a weight of 1 to 5; together they become a URD for each URL, which
is kept like any other: webrace-store urd list shows it.`,
		Example: `  webrace-run crawl https://example.org/ --depth 3
  webrace-run crawl https://example.org/news/ --scope prefix --keyword election:5 --keyword "city council:3"`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, urls []string) error { return crawl(c, place, flags, run, urls) },
	}
	c.Flags().StringArrayVarP(&flags.keywords, "keyword", "k", nil, "tell me of pages with this `WORD[:WEIGHT]`, as often as needed")
	c.Flags().IntVar(&flags.depth, "depth", 2, "levels of pages: 1 is the start alone, 0 has no limit")
	c.Flags().StringVar(&flags.scope, "scope", xmlschema.ScopeHost, "how far from the start: host, domain, prefix or any")
	c.Flags().IntVar(&flags.threshold, "threshold", xmlschema.DefaultThreshold, "how relevant a page must be to be told of, 0 to 100")
	c.Flags().StringVar(&flags.owner, "owner", currentUser(), "who is told")
	c.Flags().StringArrayVar(&run.set, "set", nil, "override an option: `STAGE.OPTION=VALUE`, as often as needed")
	run.addOutputFlags(c)
	return c
}

func currentUser() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return "me"
}

func crawl(c *cobra.Command, place *cli.Place, flags crawlFlags, run runFlags, urls []string) error {
	urds, err := flags.urds(urls)
	if err != nil {
		return cli.Wrong(err)
	}
	for _, urd := range urds[:1] { // they differ in where they start
		for _, advice := range urd.Advice() {
			fmt.Fprintln(c.ErrOrStderr(), "warning:", advice)
		}
	}
	run.set = append(run.set, "lines.urls="+tomlList(urls), fmt.Sprintf("lines.depth=%d", flags.depth), fmt.Sprintf("lines.scope=%q", flags.scope))
	if len(flags.keywords) == 0 {
		return runPipelines(c, place, run, []string{"crawl"}, nothingMore)
	}
	run.requests = urds
	return runPipelines(c, place, run, []string{"crawl"}, func(dir *storage.Dir, _ []*pipeline.Report) error {
		return tell(c, dir, urds)
	})
}

// tell shows what the owners of URDs were told.
func tell(c *cobra.Command, dir *storage.Dir, urds []*xmlschema.URD) error {
	store, err := dir.Control()
	if err != nil {
		return err
	}
	for _, urd := range urds {
		if err := cli.PrintACIs(c.Context(), c.OutOrStdout(), store, urd.ID); err != nil {
			return err
		}
	}
	return nil
}

// urds returns a request for each URL.
func (f *crawlFlags) urds(urls []string) ([]*xmlschema.URD, error) {
	keywords, err := cli.ParseKeywords(f.keywords)
	if err != nil {
		return nil, err
	}
	var urds []*xmlschema.URD
	for _, url := range urls {
		if err := mustBeStart(url); err != nil {
			return nil, err
		}
		urd := xmlschema.NewURD(f.owner, url)
		if urd.Depth, urd.Scope = f.depth, f.scope; len(keywords) > 0 {
			urd.Keywords = xmlschema.NewKeywords(keywords...)
			urd.Keywords.Threshold = f.threshold
		}
		if err := urd.Validate(); err != nil {
			return nil, fmt.Errorf("%s: %w", url, err)
		}
		urd.ID = xmlschema.DeriveID(urd.Owner, urd.URI, urd.InterestHash())
		urds = append(urds, urd)
	}
	return urds, nil
}

// mustBeStart refuses what a crawl cannot start at.
func mustBeStart(url string) error {
	_, err := urlnorm.Parse(url)
	switch {
	case strings.HasSuffix(url, "*"):
		return fmt.Errorf("%s is a prefix: nothing can be crawled from it", url)
	case err == nil:
		return nil
	case !strings.Contains(url, "://"):
		if _, err := urlnorm.Parse("https://" + url); err == nil {
			return fmt.Errorf("%q is no URL; did you mean https://%s?", url, url)
		}
	case errors.Is(err, urlnorm.ErrScheme):
		return fmt.Errorf("%q is neither an http nor an https URL", url)
	}
	return fmt.Errorf("%q is no URL", url)
}

func tomlList(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = strconv.Quote(w)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}
