package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"

	"golang.org/x/net/html"
)

// crawlWorkers is how many requests a crawler has in flight.
const crawlWorkers = 32

func newClient() *http.Client {
	return &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: crawlWorkers, DisableCompression: true}}
}

func isClosed(err error) bool { return errors.Is(err, net.ErrClosed) }

// rawLoop asks for the paths in a file and throws the answers away: what no crawler can do without.
func rawLoop(base, list string) error {
	text, err := os.ReadFile(list)
	if err != nil {
		return err
	}
	client, paths := newClient(), make(chan string, crawlWorkers)
	var workers sync.WaitGroup
	errs := make([]error, crawlWorkers)
	for i := range crawlWorkers {
		workers.Go(func() {
			for path := range paths {
				if err := discard(client, base+path); err != nil {
					errs[i] = err
				}
			}
		})
	}
	for path := range strings.Lines(string(text)) {
		paths <- strings.TrimSuffix(path, "\n")
	}
	close(paths)
	workers.Wait()
	return errors.Join(errs...)
}

func discard(client *http.Client, address string) error {
	response, err := client.Get(address)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return err
}

// plainCrawl is the crawler that one writes in an hour: net/http, the tokenizer of x/net/html, net/url,
// and a set of paths in memory. It writes to a file the paths that were answered 200.
func plainCrawl(base, list string) error {
	c := &plainCrawler{base: base, client: newClient(), seen: map[string]bool{startPath: true}, due: []string{startPath}}
	c.changed.L = &c.mu
	var workers sync.WaitGroup
	for range crawlWorkers {
		workers.Go(c.work)
	}
	workers.Wait()
	if c.err != nil {
		return c.err
	}
	slices.Sort(c.found)
	return os.WriteFile(list, []byte(strings.Join(c.found, "\n")+"\n"), 0o666)
}

type plainCrawler struct {
	base   string
	client *http.Client

	mu      sync.Mutex
	changed sync.Cond
	seen    map[string]bool
	due     []string
	working int
	found   []string
	err     error
}

func (c *plainCrawler) work() {
	for {
		path, ok := c.take()
		if !ok {
			return
		}
		found, links, err := c.fetch(path)
		c.put(path, found, links, err)
	}
}

func (c *plainCrawler) take() (string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.due) == 0 {
		if c.working == 0 {
			return "", false
		}
		c.changed.Wait()
	}
	path := c.due[0]
	c.due = c.due[1:]
	c.working++
	return path, true
}

func (c *plainCrawler) put(path string, found bool, links []string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.working--
	c.err = errors.Join(c.err, err)
	if found {
		c.found = append(c.found, path)
	}
	for _, link := range links {
		if !c.seen[link] {
			c.seen[link] = true
			c.due = append(c.due, link)
		}
	}
	c.changed.Broadcast()
}

func (c *plainCrawler) fetch(path string) (found bool, links []string, err error) {
	page := c.base + path
	response, err := c.client.Get(page)
	if err != nil {
		return false, nil, err
	}
	defer response.Body.Close()
	found = response.StatusCode == http.StatusOK
	if found && strings.HasPrefix(response.Header.Get("Content-Type"), "text/html") {
		return found, linksIn(response.Request.URL, response.Body), nil
	}
	_, err = io.Copy(io.Discard, response.Body)
	return found, nil, err
}

// linksIn returns the paths on the same host that a page leads to, repeated as they are on it.
func linksIn(page *url.URL, body io.Reader) []string {
	var paths []string
	eachAddress(body, func(address string) {
		link, err := page.Parse(address)
		if err == nil && link.Scheme == page.Scheme && link.Host == page.Host {
			paths = append(paths, link.RequestURI())
		}
	})
	return paths
}

// eachAddress calls f with every address that a page leads to, as it is written there.
func eachAddress(page io.Reader, f func(address string)) {
	attribute := map[string]string{"a": "href", "area": "href", "frame": "src", "iframe": "src"}
	tokens := html.NewTokenizer(page)
	for kind := tokens.Next(); kind != html.ErrorToken; kind = tokens.Next() {
		if kind != html.StartTagToken && kind != html.SelfClosingTagToken {
			continue
		}
		name, more := tokens.TagName()
		wanted := attribute[string(name)]
		for wanted != "" && more {
			var key, value []byte
			key, value, more = tokens.TagAttr()
			if string(key) == wanted {
				f(strings.TrimSpace(string(value)))
			}
		}
	}
}

// checkKnown checks that a plain crawl found a site worth crawling.
func checkKnown(paths []string) error {
	if len(paths) < 100 {
		return fmt.Errorf("the site has only %d documents", len(paths))
	}
	return nil
}
