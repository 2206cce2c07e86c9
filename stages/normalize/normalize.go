// Package normalize is the stage that turns the bytes of a document into text and links: one pass over
// the page gives what a reader sees, cut into fields and blocks, and where it leads, as normalized URLs.
// It is the extractor of WebRACE (004, section 4.2); its six steps are counters here and in the frontier.
package normalize

import (
	"context"
	"net/http"
	"unsafe"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/linkset"
)

// Options of the stage.
type Options struct {
	MaxLinks   int  `toml:"max_links" doc:"the most links taken from a document; the rest is counted"`
	Main       bool `toml:"main" doc:"what stands beside the main part of a page counts as navigation: for the relevance of alerts, their summaries, and search; adds about as much again to the work of the stage"`
	Images     bool `toml:"images" doc:"follow the addresses of images as well"`
	Forms      bool `toml:"forms" doc:"follow the addresses that forms are sent to as well"`
	ObeyRobots bool `toml:"obey_robots" doc:"obey noindex and nofollow, in meta elements, X-Robots-Tag and rel"`

	RobotsName string `toml:"robots_name" doc:"what pages call the crawler by there: the product token of fetch.user_agent; what is for others is ignored"`
	Canonical  string `toml:"canonical" doc:"whether the URL that a document declares for itself is followed, at the same level: follow or ignore" enum:"follow,ignore"`

	linkset.Options

	Likeness       bool   `toml:"likeness" doc:"compare the texts of pages, to find those that are nearly the same; adds half to the work of the stage"`
	NearDuplicates string `toml:"near_duplicates" doc:"what becomes of a page that is nearly the same as another of its host: report counts it, filter does not pass it on either" enum:"report,filter"`
	Soft404        int    `toml:"soft_404" doc:"of how many other pages of its host a page has likeness and title, to count as one that was not found; 0 to not count"`
}

var defaults = Options{
	MaxLinks: extract.DefaultMaxLinks, ObeyRobots: true, RobotsName: extract.DefaultRobotsName, Canonical: followCanonical,
	Options:        linkset.Defaults,
	NearDuplicates: reportThem, Soft404: 10,
}

func init() {
	pipeline.Register(pipeline.Spec{
		Type:    "normalize",
		Single:  true,
		Summary: "turns a document's bytes into text and links",
		Doc: "Text is UTF-8, cut into blocks of title, headings, body and navigation. Links are absolute WHATWG URLs, each once. " +
			"Where a document sends its reader at once, and the URL that it declares for itself, go out apart: they add no level. " +
			"Documents that were not fetched anew pass unchanged, and lead where they led; behind `cache`, they get the text and links of what is stored.",
		In:    pipeline.Kinds(pipeline.KindOf[*webrace.Document]()),
		Needs: pipeline.NoParts, Uses: []pipeline.Part{webrace.PartBody},
		Out: []pipeline.Port{
			{
				Kind: pipeline.KindOf[*webrace.Document](), Doc: "the document with its text, title and links",
				Adds: []pipeline.Addition{{Parts: []pipeline.Part{webrace.PartText, webrace.PartLinks}, Of: []pipeline.Part{webrace.PartBody}}},
			},
			{
				Name: portLinks, Kind: pipeline.KindOf[*webrace.Links](),
				Doc: "where the document leads: its links as one set, and before them what lies on its own level; with the texts of links and of the document where a stage behind it makes use of these",
			},
			{Name: portGone, Kind: pipeline.KindOf[*webrace.Gone](), Doc: "URLs whose document asks robots not to keep it (noindex)"},
		},
		Workers: 4,
	}, defaults, func(o Options, env *pipeline.Env) (any, error) {
		return newStage(o, env), nil
	})
}

const (
	portLinks = "links"
	portGone  = "gone"
)

// Validate refuses a name that is none, words that there are not, and what is asked of likenesses in vain.
func (o Options) Validate() error {
	if err := extract.CheckRobotsName(o.RobotsName); err != nil {
		return &pipeline.OptionError{Option: "robots_name", Err: err}
	}
	if err := o.validateCanonical(); err != nil {
		return err
	}
	return o.validateAlike()
}

// newStage returns the stage, to be closed.
func newStage(o Options, env *pipeline.Env) *stage {
	return &stage{env: env, options: o, extract: o.extract(), failed: newFailureLog(env), alike: newAlike(o, env)}
}

func (o Options) extract() extract.Options {
	return extract.Options{
		MaxLinks: o.MaxLinks, Images: o.Images, Forms: o.Forms, IgnoreNoFollow: !o.ObeyRobots, RobotsName: o.RobotsName, Rules: o.Rules(),
	}
}

// Extraction returns how the stage extracts a document unless it is told otherwise.
func Extraction() extract.Options { return defaults.extract() }

type stage struct {
	env     *pipeline.Env
	options Options
	extract extract.Options
	failed  *failureLog
	alike   *alike
}

var (
	_ pipeline.Processor = (*stage)(nil)
	_ pipeline.Closer    = (*stage)(nil)
)

// Close ends the log of failures. It may be called twice.
func (s *stage) Close() error { return s.failed.close() }

func (s *stage) Process(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
	d, err := pipeline.ValueOf[*webrace.Document](it)
	if err != nil {
		return err
	}
	if d.Outcome != webrace.Fetched {
		return s.again(ctx, it, d, out)
	}
	if s.options.Main && extract.IsPage(d.MediaType) {
		d = withMain(d)
	}
	r, err := s.read(ctx, it, d)
	if err != nil {
		return err
	}
	asked := s.robots(d, r)
	if err := s.emitLinks(ctx, it, d, r, asked, out); err != nil {
		return err
	}
	if asked.NoIndex || !asked.Unavailable.IsZero() { // a 304 would then confirm what is not kept, and its links be lost
		it.Learn(webrace.Learned((*webrace.Visit).ForgetValidators))
	}
	if asked.NoIndex {
		it.Learn(s.left(r.Links))
		it.Learn(webrace.Learned(func(v *webrace.Visit) { v.Error = notKept }))
		return s.leaveOut(ctx, it, d, out)
	}
	n := normalized(d, r)
	if of := s.alike.compare(n); of != "" {
		it.Learn(filtered(d.Body, of))
		it.Learn(s.left(r.Links))
		return nil
	}
	if n.Likeness != 0 {
		it.Learn(alikeness(n))
	}
	return out.Emit(ctx, it.With(n))
}

// leaveOut tells whom it concerns that a document is not to be kept.
func (s *stage) leaveOut(ctx context.Context, it *pipeline.Item, d *webrace.Document, out pipeline.Emitter) error {
	s.env.Counter("noindex").Add(1)
	if !s.env.Leads(portGone) {
		return nil
	}
	return out.EmitTo(ctx, portGone, it.With(&webrace.Gone{URL: d.URL, Secret: d.Secret, Reason: "it asks robots not to keep it (noindex)", At: d.At}))
}

// withMain returns a document with the note that its main part counts, whoever reads its text.
func withMain(d *webrace.Document) *webrace.Document {
	noted := *d
	if noted.Header = d.Header.Clone(); noted.Header == nil {
		noted.Header = make(http.Header)
	}
	noted.Header[webrace.MainField] = []string{"1"}
	return &noted
}

// notKept is why a visit gave no document where a page asks for noindex: otherwise who watches it would wait in vain.
const notKept = "left out: it asks robots not to keep it (noindex); normalize.obey_robots=false keeps it"

// how returns how a document is extracted: with what its links are called, if that is wanted.
func (s *stage) how() extract.Options {
	how := s.extract
	how.Anchors = s.env.Wants(portLinks, webrace.PartAnchors)
	return how
}

// read extracts a document, within the budget of memory.
func (s *stage) read(ctx context.Context, it *pipeline.Item, d *webrace.Document) (*extract.Result, error) {
	if err := s.env.Reserve(ctx, it, len(d.Body)); err != nil { // for the text, which has seldom more
		return nil, err
	}
	how := s.how()
	how.Requested = d.Requested
	taken := len(d.Body)
	how.Reserve = func(bytes int) error {
		err := s.env.Reserve(ctx, it, bytes)
		if err == nil {
			taken += bytes
		}
		return err
	}
	r, err := extract.DocumentContext(ctx, d.Body, extract.ContentType(d.Header, d.MediaType), d.URL, how)
	if err != nil {
		return nil, err
	}
	if r.Text != nil { // what it did not need; or needs more, as that of an archive or of JSON with long paths
		if err := s.env.Reserve(ctx, it, cap(r.Text.Bytes)+cap(r.Text.Blocks)*int(unsafe.Sizeof(webrace.Block{}))-taken); err != nil {
			return nil, err
		}
		r.Text.Cut = r.Text.Cut || d.Truncated
	}
	s.failed.add(d.URL, r.Failed)
	r.Canonical = r.CanonicalOf(d.Header, d.URL, s.extract.Rules)
	r.Refreshed(d.Header, d.URL, s.extract)
	return r, nil
}

// emitLinks sends out where the document leads, as far as it lets robots follow that, and leaves its links in r.
func (s *stage) emitLinks(ctx context.Context, it *pipeline.Item, d *webrace.Document, r *extract.Result, asked extract.Directives, out pipeline.Emitter) error {
	leads := level{}
	if asked.NoFollow {
		s.env.Counter("nofollow").Add(int64(len(r.Links)))
		r.Links = nil
	} else {
		leads = levelOf(d.URL, r)
	}
	it.Learn(webrace.Learned(leads.learn))
	if err := s.lead(ctx, it, d, leads, out); err != nil {
		return err
	}
	if d.Links != nil && !asked.NoFollow { // a stage that knows this kind of document better has read them, and sent them out
		r.Links = d.Links
		s.count(&extract.Result{Links: r.Links, Unread: r.Unread, CharsetGuessed: r.CharsetGuessed, CharsetWrong: r.CharsetWrong})
		return nil
	}
	s.count(r)
	return s.follow(ctx, it, d, s.linksOf(r), out)
}

// linksOf returns the links of what was extracted, with the parts that are wanted. The text is that of the document: no
// copy is made.
func (s *stage) linksOf(r *extract.Result) *webrace.Links {
	l := &webrace.Links{URLs: r.Links}
	if s.env.Wants(portLinks, webrace.PartAnchors) {
		l.Anchors = append([]string{}, r.Anchors...) // none is not the same as unknown
	}
	if s.env.Wants(portLinks, webrace.PartText) {
		l.Text = r.Text
	}
	return l
}

// robots returns what the document asks of robots, in its header and in itself.
func (s *stage) robots(d *webrace.Document, r *extract.Result) extract.Directives {
	if !s.options.ObeyRobots {
		return extract.Directives{}
	}
	return r.Robots(d.Header, extract.Robot{Name: s.options.RobotsName, At: d.At})
}

func (s *stage) count(r *extract.Result) {
	if r.CharsetGuessed {
		s.env.Counter("charset_guessed").Add(1)
	}
	if r.CharsetWrong {
		s.env.Counter("charset_wrong").Add(1)
	}
	if r.Unread.Cause != "" {
		s.env.Counter("unread_" + string(r.Unread.Cause)).Add(1)
	}
	for name, n := range map[string]int{
		"candidates": r.Candidates, "links": len(r.Links), "repeated": r.Repeated, "ignored_scheme": r.Refused.Scheme,
		"invalid": r.Refused.Invalid, "rel_nofollow": r.Refused.NoFollow, "nofollow": r.Refused.Page, "over_limit": r.Refused.Limit,
	} {
		if n > 0 {
			s.env.Counter(name).Add(int64(n))
		}
	}
}

func normalized(d *webrace.Document, r *extract.Result) *webrace.Document {
	n := *d
	n.MediaType, n.Charset, n.Language, n.Title, n.Thread = r.MediaType, r.Charset, r.Language, r.Title, r.Thread
	n.Text, n.Links, n.Canonical = r.Text, r.Links, r.Canonical
	return &n
}
