// Command colly crawls a site with gocolly/colly as its documentation shows it: asynchronously, following the
// links of pages.
package main

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/gocolly/colly/v2"
)

func main() {
	if err := crawl(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "colly:", err)
		os.Exit(1)
	}
}

func crawl(start, parallel string) error {
	workers, err := strconv.Atoi(parallel)
	if err != nil {
		return err
	}
	site, err := url.Parse(start)
	if err != nil {
		return err
	}
	c := colly.NewCollector(colly.Async(true), colly.AllowedDomains(site.Hostname(), site.Host), colly.MaxBodySize(16<<20))
	c.WithTransport(&http.Transport{MaxIdleConns: workers, MaxIdleConnsPerHost: workers, DisableCompression: true})
	if err := c.Limit(&colly.LimitRule{DomainGlob: "*", Parallelism: workers}); err != nil {
		return err
	}
	c.OnHTML("a[href]", func(e *colly.HTMLElement) {
		link, _, _ := strings.Cut(e.Request.AbsoluteURL(e.Attr("href")), "#")
		_ = e.Request.Visit(link) // refused are links that were visited, and those to other hosts
	})
	if err := c.Visit(start); err != nil {
		return err
	}
	c.Wait()
	return nil
}
