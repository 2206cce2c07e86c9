package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/user"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/objects"
	"github.com/webrace/webrace/xmlschema"
)

// crawlFlags determine what a crawl without XML is after.
type crawlFlags struct {
	keywords  []string
	depth     int
	scope     string
	threshold int
	owner     string
	sitemaps  []string
	limits    limitFlags
	output    string
	written   outputOptions
}

func newCrawl(globals *cli.Globals) *cobra.Command {
	var flags crawlFlags
	var run runFlags
	c := &cobra.Command{
		Use:   "crawl URL… | --sitemap URL",
		Short: "crawl from URLs, and watch for keywords, without writing any XML",
		Long: `crawl runs the pipeline named crawl from the given URLs. Each keyword is an
interest with a weight of 1 to 5; together they become a URD for each URL, which
is kept like any other: webrace-store urd list shows it.`,
		Example: `  webrace-run crawl https://example.org/ --depth 3
  webrace-run crawl https://example.org/news/ --scope prefix --keyword election:5 --keyword "city council:3"
  webrace-run crawl --sitemap https://example.org/sitemap.xml`,
		Args: func(c *cobra.Command, urls []string) error { return flags.checkStarts(c, urls) },
		RunE: func(c *cobra.Command, urls []string) error { return crawl(c, globals, flags, run, urls) },
	}
	c.Flags().StringArrayVar(&flags.sitemaps, "sitemap", nil, "take the pages alone that the sitemap, or index of sitemaps, at this `URL` lists, as often as needed")
	c.Flags().StringArrayVarP(&flags.keywords, "keyword", "k", nil, "tell me of pages with this `WORD[:WEIGHT]`, as often as needed")
	c.Flags().IntVar(&flags.depth, "depth", 2, "levels of pages: 1 is the start alone, 0 has no limit")
	c.Flags().StringVar(&flags.scope, "scope", xmlschema.ScopeHost, "how far from the start: host, domain, prefix or any")
	c.Flags().IntVar(&flags.threshold, "threshold", xmlschema.DefaultThreshold, "how relevant a page must be to be told of, 0 to 100")
	c.Flags().StringVar(&flags.owner, "owner", currentUser(), "who is told")
	flags.limits.add(c)
	c.Flags().StringVarP(&flags.output, "output", "o", "", "write the documents of this run to a `FILE`: .jsonl, .csv, .warc.gz or .wacz, JSON lines to - (standard output), or Markdown to a folder: DIR/")
	flags.written.add(c.Flags())
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

func crawl(c *cobra.Command, globals *cli.Globals, flags crawlFlags, run runFlags, urls []string) error {
	if len(flags.sitemaps) > 0 {
		urls, flags.depth = flags.sitemaps, 2
		run.set = append(run.set, sitemapsAlone...)
	}
	urds, err := flags.urds(urls)
	if err != nil {
		return cli.Wrong(err)
	}
	for _, urd := range urds[:1] { // they differ in where they start
		for _, advice := range urd.Advice() {
			fmt.Fprintln(cli.Prose(c.ErrOrStderr()), "warning:", advice)
		}
	}
	limits, err := flags.limits.set(c)
	if err != nil {
		return err
	}
	if run.output, err = newCrawlOutput(c, globals, flags.output, flags.written); err != nil {
		return err
	}
	run.set = append(run.set, limits...)
	run.set = append(run.set, "lines.urls="+tomlList(urls), fmt.Sprintf("lines.depth=%d", flags.depth), fmt.Sprintf("lines.scope=%q", flags.scope))
	var before reached
	command := &commandURDs{urds: urds}
	run.before = func(dir *storage.Dir) (err error) {
		if before, err = reachedNow(c.Context(), dir); err == nil && len(flags.keywords) > 0 {
			err = command.subscribe(c.Context(), dir, c.ErrOrStderr())
		}
		return err
	}
	return runPipelines(c, globals, run, []string{"crawl"}, func(dir *storage.Dir, reports []*pipeline.Report) error {
		switch {
		case reports == nil:
			return command.takeBack(c.Context(), dir, c.ErrOrStderr(), "the crawl could not begin", func(*xmlschema.URD) bool { return true })
		case len(flags.keywords) == 0:
			stored := listPages(c.Context(), cli.Prose(c.OutOrStdout()), dir, before, "stored:", ": webrace-store cache ls")
			return errors.Join(stored, flags.someSitemap(reports))
		}
		return errors.Join(command.tell(c, dir, before), flags.someSitemap(reports))
	})
}

// reached is how far the stores have come.
type reached struct {
	annotation int64
	version    uint64
}

func reachedNow(ctx context.Context, dir *storage.Dir) (s reached, err error) {
	annotations, err := dir.Control()
	if err != nil {
		return s, err
	}
	documents, err := dir.Objects()
	if err != nil {
		return s, err
	}
	s.version = documents.Last()
	s.annotation, err = annotations.LastACI(ctx)
	return s, err
}

// tell shows what the owners of URDs were told since, and takes back those of starts that gave no answer.
func (u *commandURDs) tell(c *cobra.Command, dir *storage.Dir, since reached) error {
	store, err := dir.Control()
	if err != nil {
		return err
	}
	failed, err := failedStarts(dir, "crawl")
	if err != nil {
		return err
	}
	hasFailed := func(urd *xmlschema.URD) bool {
		crawl, starts, err := control.CrawlOf(urd)
		return err == nil && starts && failed[crawl.ID]
	}
	return errors.Join(cli.PrintNews(c.Context(), c.OutOrStdout(), store, u.urds, since.annotation, hasFailed),
		u.takeBack(c.Context(), dir, c.ErrOrStderr(), "its start gave no answer", hasFailed))
}

// shownPages is how many pages a crawl names that looks for nothing.
const shownPages = 10

// listPages names the first pages that were stored since, if any, below a heading; where tells how to see the others.
func listPages(ctx context.Context, w io.Writer, dir *storage.Dir, since reached, heading, where string) error {
	documents, err := dir.Objects()
	if err != nil || documents.Last() == since.version {
		return err
	}
	versions, err := documents.Next(ctx, since.version, shownPages)
	if err != nil {
		return err
	}
	fmt.Fprintln(w, heading)
	for _, v := range versions {
		fmt.Fprintf(w, "  %s  %s\n", v.URL, titleOf(documents, v))
	}
	tellMore(w, int(documents.Last()-since.version)-len(versions), where)
	return nil
}

func tellMore(w io.Writer, more int, where string) {
	if more > 0 {
		fmt.Fprintf(w, "  … and %d more%s\n", more, where)
	}
}

// titleOf describes a version: by its title, or else its media type, and whether it is a further one.
func titleOf(documents *objects.Store, v objects.Version) string {
	said := v.MediaType
	if body, header, err := documents.Body(v); err == nil {
		if text, err := extract.Text(body, header, v.MediaType, v.URL); err == nil && text.Title != "" {
			said = strings.Join(strings.Fields(text.Title), " ")
		}
	}
	if v.Number > 1 {
		said += fmt.Sprintf(" (version %d)", v.Number)
	}
	return said
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
