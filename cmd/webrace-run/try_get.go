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

// get fetches the document, and has it rendered if that is wanted. It returns what is to be said about that.
func (s *source) get(c *cobra.Command, globals *cli.Globals, url string, f fetch.Options, r render.Options) (d *webrace.Document, notes []string, err error) {
	way := s.way
	if s.secret != "" {
		way.secret = s.secret
	}
	var secrets *control.Store
	if names := way.secrets(); len(names) > 0 || f.Sign != "" {
		stores, err := globals.OpenExisting()
		if err != nil && len(names) > 0 && s.secret == "" {
			return nil, nil, fmt.Errorf("URD %s asks with the secret %s: %w", way.urd, suggest.And(names), err)
		}
		if err != nil {
			return nil, nil, err
		}
		defer func() { err = errors.Join(err, stores.Close()) }()
		if secrets, err = stores.Control(); err != nil {
			return nil, nil, err
		}
	}
	if way.request != nil {
		notes = append(notes, fmt.Sprintf("it was asked for by %s, as URD %s says", way.method(), way.urd))
	}
	if u := way.unused; u != nil {
		notes = append(notes, fmt.Sprintf("it was asked for without the credentials %s of URD %s: --secret %[1]s sends them", u.Secret, u.ID))
	}
	request, lent := way.lend(url, secrets)
	fetcher, err := fetch.NewSingle(f, lent)
	if err != nil {
		return nil, nil, err
	}
	defer fetcher.Close()
	var browser *render.Single
	if s.render {
		if browser, err = render.OpenSingle(c.Context(), r, fetcher); err != nil {
			return nil, nil, &cli.Error{Status: cli.Environment, Err: fmt.Errorf("nothing was fetched, because nothing can be rendered: %w", err)}
		}
		defer browser.Close()
	}
	if d, err = fetcher.Get(c.Context(), request); err != nil {
		for _, note := range notes {
			err = fmt.Errorf("%w (%s)", err, note)
		}
		return nil, nil, err
	}
	if fetcher.Withheld() {
		notes = append(notes, fmt.Sprintf("a host was asked without the credentials %s, which are not for it (webrace-store secret list)", way.secret))
	}
	if browser != nil {
		var more []string
		d, more = rendered(c.Context(), browser, d)
		notes = append(notes, more...)
	}
	return d, notes, c.Context().Err()
}

// lend returns the request for a URL, and what fetch is lent to make it: secrets come from there, if they may be
// wanted.
func (w wayToAsk) lend(url string, secrets *control.Store) (webrace.Request, *pipeline.Resources) {
	request := webrace.Request{URL: urlnorm.Marked(url, w.request.Mark()), Secret: w.secret}
	lent := new(pipeline.Resources)
	pipeline.Provide[httprequest.Open](lent, func() (httprequest.Source, error) { return w, nil })
	if w.request != nil || len(w.secrets()) > 0 {
		request.Reach = []webrace.Reach{{Crawl: "try"}}
	}
	if secrets != nil {
		pipeline.Provide[credentials.Open](lent, func() (credentials.Source, error) { return beginningAt{secrets, url}, nil })
	}
	return request, lent
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
	url string
}

func (b beginningAt) StartOf(context.Context, string) (string, error) { return b.url, nil }
