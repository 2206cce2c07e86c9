package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/pipeline"
)

// sitemapsAlone are the options with which a crawl of two levels from a sitemap takes what that lists, also through an
// index, and nothing that other sitemaps of the host list.
var sitemapsAlone = []string{"fetch.sitemaps=false", "frontier.sitemap_levels=0"}

// checkStarts refuses a crawl from nowhere, and one that is to take the pages of a sitemap alone and others.
func (f *crawlFlags) checkStarts(c *cobra.Command, urls []string) error {
	switch {
	case len(f.sitemaps) == 0:
		return cobra.MinimumNArgs(1)(c, urls)
	case len(urls) > 0:
		return cli.Wrongf("--sitemap takes the pages of a sitemap alone: crawl %s in a command of its own", urls[0])
	case c.Flags().Changed("depth"):
		return cli.Wrongf("--sitemap takes the pages of a sitemap alone, so --depth means nothing; to follow their links, give the sitemap as the start: webrace-run crawl %s --depth 3", f.sitemaps[0])
	}
	return nil
}

// someSitemap fails if what was given as a sitemap was fetched, and is none. A round that was begun earlier goes on
// without asking for it again.
func (f *crawlFlags) someSitemap(reports []*pipeline.Report) error {
	if len(f.sitemaps) == 0 {
		return nil
	}
	var pages, sitemaps, resumed int64
	for _, r := range reports {
		for _, s := range r.Stages {
			pages += s.Counters["pages"]
			sitemaps += s.Counters["sitemaps"]
			resumed += s.Counters["rounds_resumed"]
		}
	}
	if pages == 0 || sitemaps > 0 || resumed > 0 {
		return nil
	}
	return fmt.Errorf("%s: no sitemap that sitemap-parse can read; webrace-run crawl URL crawls from a page", strings.Join(f.sitemaps, ", "))
}
