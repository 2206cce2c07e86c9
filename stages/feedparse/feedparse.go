// Package feedparse is the stage that reads feeds: RSS of every version, Atom and JSON Feed. The addresses of
// their entries go out as links, with the times at which the entries were published or changed. The feed goes
// on, to be kept and matched, so that its readers are told of each entry that matters to them.
//
// What it guarantees: no feed costs more than its limits allow, whatever it holds, since size, depth and
// attributes are looked at before it is parsed; and one that cannot be parsed is left to the error policy, and
// passes as it came, so that normalize, which reads whatever there is, finds links in it.
package feedparse

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/linkset"
)

// Options of the stage.
type Options struct {
	MaxSize    pipeline.Size `toml:"max_size" doc:"the largest feed that is parsed; of others, normalize finds the links"`
	MaxDepth   int           `toml:"max_depth" doc:"how deep the elements of a feed may be nested for it to be parsed"`
	MaxLinks   int           `toml:"max_links" doc:"the most links taken from a feed; the rest is counted"`
	Enclosures bool          `toml:"enclosures" doc:"follow the addresses of enclosures and attachments as well: audio, video, images"`
	ObeyRobots bool          `toml:"obey_robots" doc:"obey nofollow in X-Robots-Tag"`
	RobotsName string        `toml:"robots_name" doc:"what X-Robots-Tag calls the crawler by: the product token of fetch.user_agent"`

	linkset.Options
}

var defaults = Options{MaxSize: 10 << 20, MaxDepth: 100, MaxLinks: extract.DefaultMaxLinks, ObeyRobots: true, RobotsName: extract.DefaultRobotsName, Options: linkset.Defaults}

const portLinks = "links"

func init() {
	pipeline.Register(pipeline.Spec{
		Type:    "feed-parse",
		Single:  true,
		Summary: "reads feeds: the addresses of entries go out as links, with the times at which they changed",
		Doc: "RSS 0.9 to 2.0, RDF, Atom and JSON Feed. The feed goes on with its links, and normalize makes its text; " +
			"every other document, and a feed that cannot be parsed, passes as it came. The latter also goes to the port `errors`, or by `on_error` to the dead " +
			"letters, with line and column, and is counted by `unreadable`.",
		In:    pipeline.Kinds(pipeline.KindOf[*webrace.Document]()),
		Needs: pipeline.NoParts, Uses: []pipeline.Part{webrace.PartBody},
		Out: []pipeline.Port{
			{Kind: pipeline.KindOf[*webrace.Document](), Doc: "every document; of feeds, with its links"},
			{Name: portLinks, Kind: pipeline.KindOf[*webrace.Links](), Doc: "where a feed and its entries lead, a thousand at a time"},
		},
		Workers: 2,
	}, defaults, func(o Options, env *pipeline.Env) (any, error) { return &stage{o, env}, nil })
}

// Validate refuses limits below one.
func (o Options) Validate() error {
	for name, n := range map[string]int{"max_size": int(o.MaxSize), "max_depth": o.MaxDepth, "max_links": o.MaxLinks} {
		if n < 1 {
			return &pipeline.OptionError{Option: name, Err: fmt.Errorf("%d is not at least 1", n)}
		}
	}
	if err := extract.CheckRobotsName(o.RobotsName); err != nil {
		return &pipeline.OptionError{Option: "robots_name", Err: err}
	}
	return nil
}

type stage struct {
	options Options
	env     *pipeline.Env
}

var _ pipeline.Processor = (*stage)(nil)

func (s *stage) Process(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
	d, err := pipeline.ValueOf[*webrace.Document](it)
	if err != nil {
		return err
	}
	k := none
	if len(d.Body) > 0 {
		k = kindOf(d.MediaType, d.Body)
	}
	if k == none {
		return out.Emit(ctx, it)
	}
	s.count("feeds", 1)
	var nothing extract.Result
	if s.options.ObeyRobots && nothing.Robots(d.Header, extract.Robot{Name: s.options.RobotsName, At: d.At}).NoFollow {
		return out.Emit(ctx, it) // normalize counts what is not followed
	}
	set, err := s.read(d, k)
	if err != nil {
		s.count("unreadable", 1)
		if err := pipeline.Reject(ctx, out, it, fmt.Errorf("%s: the feed cannot be parsed: %w", d.URL, err)); err != nil {
			return err
		}
		return out.Emit(ctx, it)
	}
	for _, l := range set.Links(d, webrace.ViaFeed) {
		if err := out.EmitTo(ctx, portLinks, it.With(l)); err != nil {
			return err
		}
	}
	read := *d
	if read.Links = set.URLs; read.Links == nil {
		read.Links = []string{} // there are none, which is known
	}
	return out.Emit(ctx, it.With(&read))
}

// read returns where a feed leads.
func (s *stage) read(d *webrace.Document, k kind) (*linkset.Set, error) {
	entries, err := s.parse(d, k)
	if err != nil {
		return nil, err
	}
	set, err := s.links(d, entries)
	if err != nil {
		return nil, err
	}
	s.count("entries", len(entries)-1) // the first is the feed itself
	s.count("feed_links", len(set.URLs))
	s.count("repeated", set.Repeated)
	s.count("invalid", set.Invalid)
	s.count("over_limit", set.Over)
	return set, nil
}

func (s *stage) links(d *webrace.Document, entries []entry) (*linkset.Set, error) {
	set, err := linkset.New(d.URL, s.options.Rules(), s.options.MaxLinks)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		for _, address := range e.addresses {
			if address = strings.TrimSpace(address); address == "" { // not given
				continue
			}
			if url, ok := set.Resolve(address); ok {
				set.Add(url, e.changed)
			}
		}
	}
	return set, nil
}

// entry is what a feed tells of something else, or of itself.
type entry struct {
	addresses []string  // as written, some of them empty
	changed   time.Time // zero if it does not say
}

func (s *stage) count(name string, n int) {
	if n > 0 {
		s.env.Counter(name).Add(int64(n))
	}
}
