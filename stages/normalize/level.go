package normalize

import (
	"context"
	"fmt"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/pipeline"
)

// Whether canonical URLs are followed.
const (
	followCanonical = "follow"
	ignoreCanonical = "ignore"
)

func (o Options) validateCanonical() error {
	if o.Canonical != followCanonical && o.Canonical != ignoreCanonical {
		return &pipeline.OptionError{Option: "canonical", Err: fmt.Errorf("%q is neither %s nor %s", o.Canonical, followCanonical, ignoreCanonical)}
	}
	return nil
}

// level is where a document leads without a further level. The visit keeps it, whatever the options set, so
// that a document that is not fetched again leads there still.
type level struct{ refresh, canonical string }

// levelOf leaves out what leads to the document itself: a page that is to be loaded again tells no more.
func levelOf(url string, r *extract.Result) (l level) {
	if plain, _ := urlnorm.CutMark(url); r.Refresh != plain {
		l.refresh = r.Refresh
	}
	if r.Canonical != url {
		l.canonical = r.Canonical
	}
	return l
}

func (l level) learn(v *webrace.Visit) { v.Refresh, v.Canonical = l.refresh, l.canonical }

// again passes a document that was not fetched, and leads where it led when it was. One that was not kept, or not to
// be kept, ends here: it came for that alone. One that comes with its stored body, as behind the stage cache, gets text
// and links of that.
func (s *stage) again(ctx context.Context, it *pipeline.Item, d *webrace.Document, out pipeline.Emitter) error {
	n := d
	if v := d.Visit; v != nil {
		if err := s.lead(ctx, it, d, level{v.Refresh, v.Canonical}, out); err != nil {
			return err
		}
		if v.Links != nil || v.Version == 0 {
			return s.follow(ctx, it, d, &webrace.Links{URLs: v.Links}, out)
		}
		n = s.alike.confirm(d)
	}
	if d.Body != nil {
		return s.readStored(ctx, it, n, out)
	}
	if n != d {
		it = it.With(n)
	}
	return out.Emit(ctx, it)
}

// readStored gives a document what its stored body holds. Links that were stored with it have been followed.
func (s *stage) readStored(ctx context.Context, it *pipeline.Item, d *webrace.Document, out pipeline.Emitter) error {
	r, err := extract.Document(d.Body, extract.ContentType(d.Header, d.MediaType), d.URL, s.how())
	if err != nil {
		return err
	}
	r.Canonical = r.CanonicalOf(d.Header, d.URL, s.extract.Rules)
	asked := s.robots(d, r)
	switch {
	case asked.NoFollow:
		r.Links = nil
	case d.Links != nil:
		r.Links = d.Links
	default:
		if err := s.follow(ctx, it, d, s.linksOf(r), out); err != nil {
			return err
		}
	}
	if asked.NoIndex {
		return s.leaveOut(ctx, it, d, out)
	}
	return out.Emit(ctx, it.With(normalized(d, r)))
}

// follow sends out the links of a document.
func (s *stage) follow(ctx context.Context, it *pipeline.Item, d *webrace.Document, links *webrace.Links, out pipeline.Emitter) error {
	if len(links.URLs) == 0 {
		return nil
	}
	links.From, links.Reach, links.Via = d.URL, d.Reach, webrace.ViaLink
	return out.EmitTo(ctx, portLinks, it.With(links))
}

// mostLeft is how many bytes of links a visit keeps of a document that is not kept: a thousand links, say, have 60,000.
const mostLeft = 1 << 20

// left makes the visit lead where a document leads that is not kept, for crawls that come to it later in the round, or
// while it is fresh.
func (s *stage) left(links []string) webrace.Learned {
	kept, bytes := make([]string, 0, len(links)), 0
	for _, link := range links {
		if bytes += len(link); bytes > mostLeft {
			s.env.Counter("links_forgotten").Add(int64(len(links) - len(kept)))
			break
		}
		kept = append(kept, link)
	}
	return func(v *webrace.Visit) { v.Links = kept }
}

// lead sends out where a document leads on its level. It goes before the links, of which it may be one:
// what was accepted as a link would be accepted once more.
func (s *stage) lead(ctx context.Context, it *pipeline.Item, d *webrace.Document, l level, out pipeline.Emitter) error {
	if err := s.step(ctx, it, d, webrace.ViaRefresh, "refreshes", l.refresh, out); err != nil {
		return err
	}
	if s.options.Canonical == ignoreCanonical || l.canonical == l.refresh {
		return nil
	}
	return s.step(ctx, it, d, webrace.ViaCanonical, "canonical", l.canonical, out)
}

// step is one of these ways, if the document has it. It counts like a redirect in a row.
func (s *stage) step(ctx context.Context, it *pipeline.Item, d *webrace.Document, via webrace.Via, counter, to string, out pipeline.Emitter) error {
	if to == "" {
		return nil
	}
	s.env.Counter(counter).Add(1)
	return out.EmitTo(ctx, portLinks, it.With(&webrace.Links{
		From: d.URL, Reach: d.Reach, Via: via, Redirects: d.Redirects + 1, URLs: []string{to},
	}))
}
