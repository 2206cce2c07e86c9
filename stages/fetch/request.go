package fetch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/httpclient"
	"github.com/webrace/webrace/xmlschema/httprequest"
)

// openRequests returns where it is known how the starts of crawls are asked.
func openRequests(env *pipeline.Env) (httprequest.Source, error) {
	open, err := pipeline.Resource[httprequest.Open](env)
	if err != nil {
		return nil, err
	}
	return open()
}

// preparedRequest is a request that is more than a GET, as it is sent.
type preparedRequest struct {
	method string
	header http.Header
	body   []byte

	holdsSecret bool // that of the crawl, which is not presented besides
}

// prepare finds out how the document is asked for, if not by a plain GET, and puts in the secrets that the request
// names. A [credentials.Refusal] means that it is not to be made.
func (x *exchange) prepare(ctx context.Context) error {
	_, mark := urlnorm.CutMark(x.req.URL)
	if mark == "" {
		return nil
	}
	request, err := x.requestOf(ctx, mark)
	if err != nil {
		return err
	}
	x.prepared = &preparedRequest{method: request.Method}
	x.prepared.header, x.prepared.body, err = request.Expand(func(name string) (string, error) {
		if name != x.req.Secret || x.grant == nil {
			return x.lend(ctx, name)
		}
		x.prepared.holdsSecret = true
		return x.grant.Value(), nil
	})
	if refusal := (*credentials.Refusal)(nil); err == nil || errors.As(err, &refusal) || errors.Is(err, httpclient.ErrResting) || ctx.Err() != nil {
		return err
	}
	return &credentials.Refusal{Why: err.Error()} // its parts hold no secret
}

// requestOf returns the request of a mark, as a URD of one of the crawls has it.
func (x *exchange) requestOf(ctx context.Context, mark string) (*httprequest.Request, error) {
	source, err := x.requests()
	if err != nil {
		return nil, &credentials.Refusal{Why: "it is not known how it is asked for: " + err.Error()}
	}
	for _, r := range x.req.Reach {
		request, err := source.RequestOf(ctx, r.Crawl)
		switch {
		case errors.Is(err, credentials.ErrNotFound):
		case err != nil:
			return nil, err
		case request.Mark() == mark:
			return request, nil
		}
	}
	return nil, &credentials.Refusal{Why: "no URD asks for it so any more (" + mark + ")"}
}

// lendPatience is how long a request waits for a further secret while it holds one: those that name the same secrets
// in another order could wait for one another for ever. It is longer than a command may take to print a secret.
const lendPatience = time.Minute

// lend returns the value of a secret that the request names besides that of the crawl.
func (x *exchange) lend(ctx context.Context, name string) (string, error) {
	if g := x.lent[name]; g != nil {
		return g.Value(), nil
	}
	waiting, stop := context.WithTimeout(ctx, lendPatience)
	defer stop()
	g, err := x.grantOf(waiting, name)
	switch {
	case err != nil && waiting.Err() != nil && ctx.Err() == nil:
		return "", &restingError{time.Now().Add(firstPause), "as many requests as may be are out with secret " + name}
	case errors.Is(err, credentials.ErrNothing):
		return "", &credentials.Refusal{Why: "the request names secret " + name + ", which is of kind none and holds nothing: name another"}
	case err != nil:
		return "", err
	case g == nil:
		return "", &credentials.Refusal{Why: fmt.Sprintf("the request names secret %s, which is not for %s: webrace-store secret set %[1]s --host %[2]s … allows it", name, x.target.Host)}
	}
	if x.lent == nil {
		x.lent = make(map[string]*credentials.Grant)
	}
	x.lent[name] = g
	return g.Value(), nil
}

// closeGrants ends what was lent for the request.
func (x *exchange) closeGrants() {
	x.grant.Close()
	for _, g := range x.lent {
		g.Close()
	}
}

// isGet reports whether the document is asked for by GET, so that the server may confirm what is stored.
func (x *exchange) isGet() bool { return x.prepared == nil || x.prepared.method == http.MethodGet }

// onward returns the address of what a redirect leads to: with the mark of the request if that is to be made again
// (RFC 9110, section 15.4). It is never made of another origin.
func (x *exchange) onward(to string, status int) (string, error) {
	_, mark := urlnorm.CutMark(x.req.URL)
	repeated := x.isGet() || status == http.StatusTemporaryRedirect || status == http.StatusPermanentRedirect
	switch {
	case mark == "" || !repeated || status == http.StatusSeeOther:
		return to, nil
	case urlnorm.Origin(to) == x.target.Origin():
		return urlnorm.Marked(to, mark), nil
	case !x.isGet():
		return "", fmt.Errorf("redirect to another origin, %s, to which the request is not sent", urlnorm.Origin(to))
	}
	return to, nil // without the fields of the request
}
