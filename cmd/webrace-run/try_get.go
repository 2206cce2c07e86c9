package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/internal/suggest"
	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/fetch"
	"github.com/webrace/webrace/stages/render"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema/httprequest"
)

// asker asks for documents one after the other, as a source has it. It has to be closed.
type asker struct {
	way     wayToAsk
	stores  *cli.Stores // nil if no secret can be wanted
	secrets *control.Store
	url     string // that is asked for now
	fetcher *fetch.Single
	browser *render.Single // nil if nothing is rendered
}

// asker makes one that fetches and renders by these options.
func (s *source) asker(c *cobra.Command, globals *cli.Globals, f fetch.Options, r render.Options) (a *asker, err error) {
	a = &asker{way: s.way}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.Close())
		}
	}()
	if s.secret != "" {
		a.way.secret = s.secret
	}
	if names := a.way.secrets(); len(names) > 0 || f.Sign != "" {
		a.stores, err = globals.OpenExisting()
		if err != nil && len(names) > 0 && s.secret == "" {
			return a, fmt.Errorf("URD %s asks with the secret %s: %w", a.way.urd, suggest.And(names), err)
		}
		if err != nil {
			return a, err
		}
		if a.secrets, err = a.stores.Control(); err != nil {
			return a, err
		}
	}
	if a.fetcher, err = fetch.NewSingle(f, a.lend()); err != nil {
		return a, err
	}
	if s.render {
		if a.browser, err = render.OpenSingle(c.Context(), r, a.fetcher); err != nil {
			return a, &cli.Error{Status: cli.Environment, Err: fmt.Errorf("nothing was fetched, because nothing can be rendered: %w", err)}
		}
	}
	return a, nil
}

// Close ends it.
func (a *asker) Close() (err error) {
	if a.browser != nil {
		a.browser.Close()
	}
	if a.fetcher != nil {
		a.fetcher.Close()
	}
	if a.stores != nil {
		err = a.stores.Close()
	}
	return err
}

// get fetches a document, and has it rendered if that is wanted. It returns what is to be said about that.
func (a *asker) get(ctx context.Context, url string) (d *webrace.Document, notes []string, err error) {
	a.url = url
	if a.way.request != nil {
		notes = append(notes, fmt.Sprintf("it was asked for by %s, as URD %s says", a.way.method(), a.way.urd))
	}
	if u := a.way.unused; u != nil {
		notes = append(notes, fmt.Sprintf("it was asked for without the credentials %s of URD %s: --secret %[1]s sends them", u.Secret, u.ID))
	}
	if d, err = a.fetcher.Get(ctx, a.request()); err != nil {
		for _, note := range notes {
			err = fmt.Errorf("%w (%s)", err, note)
		}
		return nil, nil, err
	}
	if a.fetcher.Withheld() {
		notes = append(notes, fmt.Sprintf("a host was asked without the credentials %s, which are not for it (webrace-store secret list)", a.way.secret))
	}
	if a.browser != nil {
		var more []string
		d, more = rendered(ctx, a.browser, d)
		notes = append(notes, more...)
	}
	return d, notes, ctx.Err()
}

// request returns the one for the URL.
func (a *asker) request() webrace.Request {
	request := webrace.Request{URL: urlnorm.Marked(a.url, a.way.request.Mark()), Secret: a.way.secret}
	if a.way.request != nil || len(a.way.secrets()) > 0 {
		request.Reach = []webrace.Reach{{Crawl: "try"}}
	}
	return request
}

// lend returns what fetch is lent to make requests: secrets come from there, if they may be wanted.
func (a *asker) lend() *pipeline.Resources {
	lent := new(pipeline.Resources)
	pipeline.Provide[httprequest.Open](lent, func() (httprequest.Source, error) { return a.way, nil })
	if a.secrets != nil {
		pipeline.Provide[credentials.Open](lent, func() (credentials.Source, error) { return beginningAt{a.secrets, &a.url}, nil })
	}
	return lent
}

// rendered returns what the stage would pass on, and what is to be said about it.
func rendered(ctx context.Context, browser *render.Single, d *webrace.Document) (*webrace.Document, []string) {
	if !browser.Wants(d) {
		return d, []string{"it is not rendered: it is no whole HTML page, has text without its scripts (--set render.empty_only=false renders it all the same), or a rule leaves it out"}
	}
	made, next, err := browser.Render(ctx, d)
	switch {
	case err != nil:
		return d, []string{fmt.Sprintf("it is shown as it was fetched: %v", err)}
	case next != "":
		return made, []string{"its scripts send the reader to " + next}
	}
	return made, nil
}

// beginningAt is where secrets are stored, for a crawl that begins at the document that is tried.
type beginningAt struct {
	*control.Store
	url *string
}

func (b beginningAt) StartOf(context.Context, string) (string, error) { return *b.url, nil }
