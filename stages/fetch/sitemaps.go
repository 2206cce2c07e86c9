package fetch

import (
	"context"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/robots"
	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/httpclient"
)

// portSitemaps is where the sitemaps go that a robots.txt names.
const portSitemaps = "sitemaps"

// maxSitemaps is how many of them are taken of one robots.txt.
const maxSitemaps = 1000

// sitemapsOf returns the sitemaps that a robots.txt at a URL names, normalized, each once.
func sitemapsOf(rules *robots.Rules, at string) (urls []string, invalid, over int) {
	named := rules.Sitemaps()
	if len(named) == 0 {
		return nil, 0, 0
	}
	base, err := urlnorm.NewBase(at)
	if err != nil {
		return nil, len(named), 0
	}
	seen := make(map[string]bool)
	for _, reference := range named {
		switch url, err := base.Resolve([]byte(reference)); {
		case err != nil:
			invalid++
		case seen[url]:
		case len(urls) == maxSitemaps:
			over++
		default:
			seen[url] = true
			urls = append(urls, url)
		}
	}
	return urls, invalid, over
}

// sitemaps returns the sitemaps of a host, if they are wanted. What cannot be taken of them is counted once.
func (s *stage) sitemaps(t httpclient.Target, known robotsRules) []string {
	if !s.options.Sitemaps {
		return nil
	}
	if known.badSitemaps+known.overmany > 0 && s.warned.First("sitemaps "+t.Origin()) {
		s.env.Counter("sitemaps_invalid").Add(int64(known.badSitemaps))
		s.env.Counter("sitemaps_over_limit").Add(int64(known.overmany))
	}
	return known.sitemaps
}

// announce tells the crawls that came here of the host's sitemaps, each crawl once a run: they lie one level
// below the page with which it came to the host first, and pass the same gate as its links.
func (x *exchange) announce(ctx context.Context, policy robotsPolicy, out pipeline.Emitter) error {
	if len(policy.sitemaps) == 0 {
		return nil
	}
	var reach []webrace.Reach
	for _, r := range x.req.Reach {
		if x.announced.First(x.target.Origin() + " " + r.Crawl) {
			reach = append(reach, r)
		}
	}
	if len(reach) == 0 {
		return nil
	}
	x.env.Counter("sitemaps").Add(int64(len(policy.sitemaps)))
	return out.EmitTo(ctx, portSitemaps, x.it.With(&webrace.Links{
		From: x.target.Origin() + "/robots.txt", Reach: reach, Via: webrace.ViaRobots, URLs: policy.sitemaps,
	}))
}
