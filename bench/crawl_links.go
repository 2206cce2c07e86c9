package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/webrace/webrace/internal/extract"
)

// links measures the way from a page to the URLs that it leads to. Ours also reads the text of the page; the rival is
// what most crawlers in Go do: the tokenizer of x/net/html, and net/url for each address.
func (c *crawlBench) links(b *bench) error {
	address, page, err := c.typicalPage()
	if err != nil {
		return fmt.Errorf("links of a page: %w", err)
	}
	base, err := url.Parse(address)
	if err != nil {
		return err
	}
	var ours, theirs []string
	var failed error
	least := time.Second / 2
	times, err := clock(7,
		calls(least, func() {
			r, err := extract.Document(page, "text/html", address, extract.Options{IgnoreNoFollow: true})
			ours, failed = r.Links, errors.Join(failed, err)
		}),
		calls(least, func() { theirs = urlsIn(base, page) }),
	)
	if err = errors.Join(err, failed); err != nil {
		return fmt.Errorf("links of a page: %w", err)
	}
	for _, link := range theirs {
		if !slices.Contains(ours, link) {
			return fmt.Errorf("links of a page: %s is not found", link)
		}
	}
	b.table.against(fmt.Sprintf("webrace, %d links of a page of %d KB, CPU", len(ours), len(page)/1000), micros(times[0].CPU), "µs",
		fmt.Sprintf("x/net and net/url %s µs", number(micros(times[1].CPU))), micros(times[1].CPU), atMost(1.0/6))
	return nil
}

// typicalPage returns the page of the site whose size is nearest to typicalBytes.
func (c *crawlBench) typicalPage() (address string, page []byte, err error) {
	nearest := int64(-1)
	for _, path := range c.paths {
		if !strings.HasSuffix(path, ".html") {
			continue
		}
		response, err := http.Head(c.site.base + path)
		if err != nil {
			return "", nil, err
		}
		response.Body.Close()
		if d := distance(response.ContentLength); nearest < 0 || d < nearest {
			nearest, address = d, c.site.base+path
		}
	}
	response, err := http.Get(address)
	if err != nil {
		return "", nil, err
	}
	defer response.Body.Close()
	page, err = io.ReadAll(response.Body)
	return address, page, err
}

// urlsIn returns the URLs that a page leads to, without their fragments, each once.
func urlsIn(base *url.URL, page []byte) (urls []string) {
	seen := make(map[string]bool)
	eachAddress(bytes.NewReader(page), func(address string) {
		link, err := base.Parse(address)
		if err != nil || link.Scheme != "http" && link.Scheme != "https" {
			return
		}
		link.Fragment, link.RawFragment = "", ""
		if text := link.String(); !seen[text] {
			seen[text] = true
			urls = append(urls, text)
		}
	})
	return urls
}
