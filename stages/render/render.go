// Package render is the stage that lets a real browser run the scripts of a page, and passes on what they
// made of it. It stands between fetch and normalize in pipelines that want it; none that ships does.
//
// The browser, a headless Chromium, never touches the network. Each request that a page makes is stopped
// and answered by the pipeline's fetch stage, under the same rules as the pages: robots.txt, the address
// guard, limits, and the slots of the host; the page itself is answered with what was fetched already. What
// is not stopped that way leads nowhere: the browser knows no names and has a proxy that does not exist. A
// page gets a profile of its own, so that it learns nothing from others, and a browser that crashes, hangs
// or grows is killed and replaced. No process and no file is left behind when the stage is closed.
//
// A page that cannot be rendered is passed on as it was fetched: rendering never loses a document. One on which a step
// cannot be done fails instead, with the step: as it was fetched, it would pass for a change.
package render

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/scope"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/httpclient"
)

// portRedirects is where pages go that scripts lead to.
const portRedirects = "redirects"

func init() {
	pipeline.Register(pipeline.Spec{
		Type:    "render",
		Single:  true,
		Summary: "lets a headless Chromium run a page's scripts",
		Doc: "It stands between fetch and normalize. Pages that match a rule, or show little text without their scripts, are loaded in a " +
			"browser and go on as what the scripts made of them; everything else passes unchanged. The browser gets all that it asks for " +
			"through the fetch stage of the pipeline, under its rules, and has no other way to the network. Rendered pages are fetched " +
			"anew at each visit, because a 304 says nothing of what scripts load.",
		In:    pipeline.Kinds(pipeline.KindOf[*webrace.Document]()),
		Needs: pipeline.NoParts, Uses: []pipeline.Part{webrace.PartBody},
		Out: []pipeline.Port{
			{Kind: pipeline.KindOf[*webrace.Document](), Doc: "every document, rendered or as it was"},
			{Name: portRedirects, Kind: pipeline.KindOf[*webrace.Links](), Doc: "where scripts send the reader, which is not followed"},
		},
		Workers: 2, PerProcess: true,
	}, defaults, newStage)
}

type stage struct {
	options Options
	env     *pipeline.Env
	rules   *scope.Rules
	fetcher httpclient.SubresourceFetcher
	steps   []numberedStep
	pool    *pool
	leave   func() (last bool) // gives the pool up
}

var (
	_ pipeline.Processor = (*stage)(nil)
	_ pipeline.Opener    = (*stage)(nil)
	_ pipeline.Closer    = (*stage)(nil)
	_ pipeline.Checker   = (*stage)(nil)
)

func newStage(o Options, env *pipeline.Env) (any, error) {
	rules, err := scope.ParseRules(o.Rules)
	if err != nil {
		return nil, err
	}
	steps, err := numberSteps(o.Steps)
	if err != nil {
		return nil, err
	}
	s := &stage{options: o, env: env, rules: rules, steps: steps}
	s.pool, s.leave = pipeline.Shared(env, o, nil, func() *pool { return newPool(o, env) })
	return s, nil
}

// Open finds the fetch stage, and starts a browser, so that one that is missing or does not work is told of
// before anything is fetched.
func (s *stage) Open(ctx context.Context) (err error) {
	s.fetcher, err = pipeline.Peer[httpclient.SubresourceFetcher](s.env, s.options.Fetch)
	if err != nil { // a program may lend one instead
		lent, notLent := pipeline.Resource[httpclient.SubresourceFetcher](s.env)
		if notLent != nil {
			return err
		}
		s.fetcher = lent
	}
	if !s.options.Sandbox {
		s.env.Logger.Warn("the browser runs without its sandbox (option sandbox): a page that breaks out of it has the rights of this program")
	}
	return s.Check(ctx)
}

// Check starts a browser, which is kept for the first page.
func (s *stage) Check(ctx context.Context) error {
	b, err := s.pool.take(ctx)
	if err != nil {
		return err
	}
	s.pool.give(b)
	return nil
}

// Close ends all browsers, if nobody else has them.
func (s *stage) Close() error {
	if !s.leave() {
		return nil
	}
	return s.pool.close()
}

// Process renders a page that wants it.
func (s *stage) Process(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
	d, err := pipeline.ValueOf[*webrace.Document](it)
	if err != nil {
		return err
	}
	if !s.wants(d) {
		s.count("passed", 1)
		return out.Emit(ctx, it)
	}
	it.Learn(webrace.Learned((*webrace.Visit).ForgetValidators)) // the same HTML tells nothing of what its scripts load
	result, err := s.render(ctx, d)
	var step *StepError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &step):
		s.count("failed_steps", 1)
		return fmt.Errorf("%s: %w", d.URL, step)
	case err != nil:
		s.count("failed", 1)
		s.env.Logger.Debug("a page is passed on as it was fetched", "url", d.URL, "error", err)
		return out.Emit(ctx, it)
	}
	if result.next != "" {
		s.count("redirects", 1)
		links := &webrace.Links{
			From: d.URL, Reach: d.Reach, Via: webrace.ViaRedirect, Redirects: d.Redirects + 1, URLs: []string{result.next},
		}
		if err := out.EmitTo(ctx, portRedirects, it.With(links)); err != nil {
			return err
		}
	}
	s.count("rendered", 1)
	return out.Emit(ctx, it.With(rendered(d, result)))
}

// attempts is how often a page is loaded whose browser crashes.
const attempts = 2

// render loads the page; once more if the browser crashed, for which the page need not be to blame.
func (s *stage) render(ctx context.Context, d *webrace.Document) (*result, error) {
	var failure error
	for range attempts {
		b, err := s.pool.take(ctx)
		if err != nil {
			failure = err
			continue
		}
		p := s.newPage(d)
		r, err := b.load(ctx, p)
		crashed := b.crashed()
		s.pool.give(b)
		if err == nil || ctx.Err() != nil || !crashed || errors.Is(err, errPage) {
			return r, err
		}
		s.count("browser_crashes", 1)
		failure = err
	}
	if ctx.Err() == nil {
		s.env.Logger.Warn("the browser crashed or did not start, and once more after that", "url", d.URL, "error", failure)
	}
	return nil, failure
}

// result is what became of a page.
type result struct {
	html      []byte
	truncated bool
	next      string // where a script wanted to go; empty if nowhere
	requested []string

	screenshot *webrace.Screenshot
}

// contentType is that of every rendered page.
const contentType = "text/html; charset=utf-8"

// rendered returns the document with what the browser made of it.
func rendered(d *webrace.Document, r *result) *webrace.Document {
	n := *d
	n.Body, n.Truncated, n.Rendered = r.html, r.truncated, true
	n.Requested, n.Screenshot = r.requested, r.screenshot
	n.MediaType, n.Header = "text/html", d.Header.Clone()
	if n.Header == nil {
		n.Header = make(http.Header)
	}
	n.Header.Set("Content-Type", contentType)
	return &n
}

func (s *stage) count(counter string, n int64) { s.env.Counter(counter).Add(n) }

// errPage is what is wrong with a page that cannot be rendered.
var errPage = errors.New("the page cannot be rendered")

// graceful is how long a browser may take over what it does at once if it is well.
const graceful = 10 * time.Second
