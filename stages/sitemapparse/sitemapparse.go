// Package sitemapparse is the stage that reads sitemaps: what a site lists of itself for robots. Their URLs
// go out as links, with the times at which they changed, and the sitemap ends here: it is no page for
// readers, so it is neither kept nor matched. Every other document passes as it came.
//
// What it guarantees: a sitemap cannot list more than so many URLs, nor be larger than so much once it is
// decompressed, whatever it claims; of one that was cut, by fetch or here, all is taken that stands whole before the
// cut, and that is counted and said; and it speaks for its own host alone, unless that is allowed.
package sitemapparse

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/internal/scope"
	"github.com/webrace/webrace/internal/sitemap"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/linkset"
)

// Options of the stage.
type Options struct {
	MaxSize    pipeline.Size `toml:"max_size" doc:"how much of a sitemap is read, decompressed; fetch.max_body limits what comes here"`
	MaxURLs    int           `toml:"max_urls" doc:"the most URLs taken from a sitemap; the rest is counted"`
	CrossHost  bool          `toml:"cross_host" doc:"also take the URLs of other hosts, for which a sitemap does not speak"`
	Alternates bool          `toml:"alternates" doc:"also take the addresses of a page in other languages"`
	ObeyRobots bool          `toml:"obey_robots" doc:"obey nofollow in X-Robots-Tag"`
	RobotsName string        `toml:"robots_name" doc:"what X-Robots-Tag calls the crawler by: the product token of fetch.user_agent"`

	linkset.Options
}

// The limits are those of sitemaps.org.
var defaults = Options{MaxSize: 50 << 20, MaxURLs: 50_000, ObeyRobots: true, RobotsName: extract.DefaultRobotsName, Options: linkset.Defaults}

const portLinks = "links"

func init() {
	pipeline.Register(pipeline.Spec{
		Type:    "sitemap-parse",
		Single:  true,
		Summary: "reads sitemaps: their URLs go out as links, with the times at which they changed",
		Doc: "Sitemaps and indexes of sitemaps in XML, with the extensions for news, images and videos, and in plain text, also compressed with gzip. " +
			"They are told by their media type and their first bytes, and end here; every other document passes as it came. " +
			"One that is damaged goes to the port `errors`, or by `on_error` to the dead letters, and is counted by `unreadable`; what stands before the damage is taken.",
		In:    pipeline.Kinds(pipeline.KindOf[*webrace.Document]()),
		Needs: pipeline.NoParts, Uses: []pipeline.Part{webrace.PartBody},
		Out: []pipeline.Port{
			{Kind: pipeline.KindOf[*webrace.Document](), Doc: "every document that is no sitemap"},
			{Name: portLinks, Kind: pipeline.KindOf[*webrace.Links](), Doc: "the URLs that a sitemap lists, a thousand at a time"},
		},
		Workers: 2,
	}, defaults, func(o Options, env *pipeline.Env) (any, error) { return &stage{options: o, env: env}, nil })
}

// Validate refuses limits below one.
func (o Options) Validate() error {
	if o.MaxSize < 1 {
		return &pipeline.OptionError{Option: "max_size", Err: fmt.Errorf("%d bytes are not at least 1", o.MaxSize)}
	}
	if o.MaxURLs < 1 {
		return &pipeline.OptionError{Option: "max_urls", Err: fmt.Errorf("%d is not at least 1", o.MaxURLs)}
	}
	if err := extract.CheckRobotsName(o.RobotsName); err != nil {
		return &pipeline.OptionError{Option: "robots_name", Err: err}
	}
	return nil
}

type stage struct {
	options Options
	env     *pipeline.Env
	said    atomic.Int32 // of how many it was said that they are cut
}

var _ pipeline.Processor = (*stage)(nil)

func (s *stage) Process(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
	d, err := pipeline.ValueOf[*webrace.Document](it)
	if err != nil {
		return err
	}
	found := s.open(d)
	if found == nil {
		return out.Emit(ctx, it)
	}
	if found.damaged != nil {
		s.count("unreadable", 1)
		if err := pipeline.Reject(ctx, out, it, fmt.Errorf("%s: the sitemap cannot be read: %w", d.URL, found.damaged)); err != nil {
			return err
		}
	}
	links, err := s.list(d, found)
	if err != nil {
		return err
	}
	for _, l := range links {
		if err := out.EmitTo(ctx, portLinks, it.With(l)); err != nil {
			return err
		}
	}
	it.Learn(notStored(sha256.Sum256(d.Body)))
	return nil
}

// notStored makes the next visit ask for the sitemap anew: what a 304 would confirm is not kept, nor what
// would answer another crawl that comes here in the same round. The digest tells whether it changed.
func notStored(digest webrace.Digest) webrace.Learned {
	return func(v *webrace.Visit) {
		v.ETag, v.LastModified, v.Version, v.Digest = "", "", 0, digest
	}
}

// list returns what a sitemap lists, and counts what it lists in vain.
func (s *stage) list(d *webrace.Document, found *document) ([]*webrace.Links, error) {
	s.count("sitemaps", 1)
	if found.cut {
		s.cut(d)
	}
	var nothing extract.Result
	if s.options.ObeyRobots && nothing.Robots(d.Header, extract.Robot{Name: s.options.RobotsName, At: d.At}).NoFollow {
		s.count("nofollow", 1)
		return nil, nil
	}
	set, err := linkset.New(d.URL, s.options.Rules(), s.options.MaxURLs)
	if err != nil {
		return nil, err
	}
	host, _ := scope.Host(d.URL)
	otherHost := 0
	add := func(reference string, changed time.Time) {
		url, ok := set.Resolve(reference)
		if !ok {
			return
		}
		if h, _ := scope.Host(url); h != host && !s.options.CrossHost {
			otherHost++
			return
		}
		set.Add(url, changed)
	}
	found.each(func(e sitemap.Entry) bool {
		add(string(e.URL), e.Changed)
		if s.options.Alternates {
			for _, a := range e.Alternates {
				add(a, e.Changed)
			}
		}
		return true
	})
	s.count("sitemap_urls", len(set.URLs))
	s.count("repeated", set.Repeated)
	s.count("invalid", set.Invalid)
	s.count("over_limit", set.Over)
	s.count("other_host", otherHost)
	return set.Links(d, webrace.ViaSitemap), nil
}

// mostSaid is of how many sitemaps it is said that they are cut; the others are counted.
const mostSaid = 10

func (s *stage) cut(d *webrace.Document) {
	s.count("truncated", 1)
	if s.said.Add(1) > mostSaid {
		return
	}
	option := "sitemap-parse.max_size"
	if d.Truncated {
		option = "fetch.max_body"
	}
	s.env.Logger.Warn("a sitemap is longer than is read of it: what it lists further on is not found this way; raise "+option, "url", d.URL)
}

func (s *stage) count(name string, n int) {
	if n > 0 {
		s.env.Counter(name).Add(int64(n))
	}
}
