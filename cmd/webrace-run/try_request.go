package main

import (
	"cmp"
	"context"
	"net/http"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/xmlschema"
	"github.com/webrace/webrace/xmlschema/httprequest"
)

// wayToAsk is how a document is asked for that is tried: as the URDs ask that start there with a request of their own.
// The zero value is a plain GET.
type wayToAsk struct {
	urd     string // which says so
	request *httprequest.Request
	secret  string // the name of the credentials

	unused *xmlschema.URD // asks by a plain GET with credentials, which are not sent unless they are named here
}

// RequestOf implements [httprequest.Source] for the one crawl there is.
func (w wayToAsk) RequestOf(context.Context, string) (*httprequest.Request, error) {
	return w.request, nil
}

func (w wayToAsk) method() string { return cmp.Or(w.request.Method, http.MethodGet) }

// secrets are the names of those that the request is made with.
func (w wayToAsk) secrets() []string {
	return (&xmlschema.URD{Secret: w.secret, Request: w.request}).Secrets()
}

// askAs finds out how URDs ask for the document, if it is the start of some. Those that ask for it in several ways see
// several documents, of which one is tried at a time.
func (s *source) askAs(urds []*xmlschema.URD) error {
	url, err := urlnorm.Parse(s.url)
	if s.url == "" || err != nil {
		return nil // which is said where it is fetched
	}
	var first *xmlschema.URD
	for _, u := range urds {
		if start, err := urlnorm.Parse(u.URI); err != nil || start != url {
			continue
		}
		first = cmp.Or(first, u)
		if u.Request == nil && u.Secret != "" && s.secret == "" {
			s.way.unused = u
		}
		if u.Request.Mark() != first.Request.Mark() || u.Secret != first.Secret && u.Request != nil {
			return cli.Wrongf("URDs %s and %s ask for %s in different ways (request), and so for two documents: try them one at a time", first.ID, u.ID, url)
		}
	}
	if first != nil && first.Request != nil {
		s.way = wayToAsk{urd: first.ID, request: first.Request, secret: first.Secret}
	}
	return nil
}
