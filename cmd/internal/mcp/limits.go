package mcp

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"github.com/webrace/webrace/xmlschema"
)

// Limits are what an operator lets agents have done, beside looking at what is stored. The zero value lets them have
// nothing done.
type Limits struct {
	AnyUse     bool     // what owners of pages state that no model is to be given is given all the same
	Fetch      bool     // read asks the web for what is not stored
	CrawlPages int      // that a crawl may come to; 0: agents begin none
	CrawlDepth int      // levels of pages
	CrawlHosts []string // where it may begin; none: anywhere
}

// AddFlags adds the flags that set them, with a prefix.
func (l *Limits) AddFlags(f *pflag.FlagSet, prefix string) {
	f.BoolVar(&l.Fetch, prefix+"fetch", false, "let agents read pages that are not stored: one polite request each, which is not stored")
	f.BoolVar(&l.AnyUse, prefix+"any-use", false, "give agents also what the owners of pages state that no model is to be given (ai-input)")
	f.IntVar(&l.CrawlPages, prefix+"crawl-pages", 0, "let agents begin crawls where frontier.crawl_urls allows `N` pages at most (default: none)")
	f.IntVar(&l.CrawlDepth, prefix+"crawl-depth", 3, "how many levels of pages such a crawl has at most")
	f.StringSliceVar(&l.CrawlHosts, prefix+"crawl-host", nil, "a `HOST` where it may begin, and those below it; several, or anywhere without one")
}

// Check refuses limits that mean nothing.
func (l *Limits) Check(prefix string) error {
	switch {
	case l.CrawlPages < 0:
		return fmt.Errorf("--%scrawl-pages %d: it is 0, for no crawl, or more", prefix, l.CrawlPages)
	case l.CrawlDepth < 1:
		return fmt.Errorf("--%scrawl-depth %d: it is at least 1, the start alone", prefix, l.CrawlDepth)
	}
	for _, host := range l.CrawlHosts {
		if host == "" || strings.ContainsAny(host, "/:@*") {
			return fmt.Errorf("--%scrawl-host %q is no host: write example.org", prefix, host)
		}
	}
	return nil
}

// allowsCrawl refuses a crawl that is not within the limits.
func (l *Limits) allowsCrawl(start string, depth int) error {
	switch {
	case l.CrawlPages == 0:
		return fmt.Errorf("the operator lets agents begin no crawl (--crawl-pages N allows it)")
	case depth < 1 || depth > l.CrawlDepth:
		return fmt.Errorf("depth %d: the operator allows 1 to %d levels of pages (--crawl-depth)", depth, l.CrawlDepth)
	case len(l.CrawlHosts) == 0:
		return nil
	}
	parsed, err := url.Parse(start)
	if err != nil {
		return err
	}
	host := strings.ToLower(parsed.Hostname())
	within := func(allowed string) bool {
		allowed = strings.ToLower(allowed)
		return host == allowed || strings.HasSuffix(host, "."+allowed)
	}
	if !slices.ContainsFunc(l.CrawlHosts, within) {
		return fmt.Errorf("the operator lets agents begin no crawl at %s, but at %s (--crawl-host)", host, strings.Join(l.CrawlHosts, ", "))
	}
	return nil
}

// allowsWatch refuses what would be a crawl by another name: a watch of more than its page is within the limits of
// crawls.
func (l *Limits) allowsWatch(u *xmlschema.URD) error {
	if _, prefix := u.Prefix(); prefix || u.Depth == 1 {
		return nil
	}
	return l.allowsCrawl(u.URI, u.Depth)
}
