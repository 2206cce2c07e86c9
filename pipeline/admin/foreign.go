package admin

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"strings"
)

// RefuseForeign returns a handler that answers 403 to requests that a page of another site has a browser send, and
// lets pass to another what else comes: the requests of its own pages, addresses that a person types or has kept,
// and programs that are no browsers. Unlike [http.CrossOriginProtection] it asks whatever the method is, because a
// GET costs work here.
func RefuseForeign(inner http.Handler) http.Handler {
	return refusing(inner, func(r *http.Request) error { return cmp.Or(foreign(r), unsaid(r)) })
}

func refusing(inner http.Handler, check func(*http.Request) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := check(r); err != nil {
			http.Error(w, err.Error(), http.StatusForbidden)
			return
		}
		inner.ServeHTTP(w, r)
	})
}

var (
	errForeign = errors.New("a page of another site asks for this: type the address, or follow a link of a page that is served here")
	errUnsaid  = errors.New("this browser does not say which page asks for this: begin at the first page, /")
)

// foreign returns why a request counts as one of another site's page; nil if it does not. Browsers tell where a request
// comes from in Sec-Fetch-Site ("same-site" is another port of this machine). Those that do not, because they are old
// or because the address is no safe one to them, tell it in Origin or Referer.
func foreign(r *http.Request) error {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "same-origin", "none":
		return nil
	case "":
	default:
		return errForeign
	}
	page := cmp.Or(r.Header.Get("Origin"), r.Referer())
	if at, err := url.Parse(page); page != "" && (err != nil || at.Host == "" || !strings.EqualFold(at.Host, r.Host)) {
		return errForeign
	}
	return nil
}

// unsaid returns an error for what a browser asks for without a word of where it comes from, as a page elsewhere can
// have an old one do, but for the pages to begin at. A program that is no browser does not call itself Mozilla, as
// every browser does.
func unsaid(r *http.Request) error {
	said := r.Header.Get("Sec-Fetch-Site") != "" || r.Header.Get("Origin") != "" || r.Referer() != ""
	if said || !strings.HasPrefix(r.UserAgent(), "Mozilla/") || r.URL.Path == "/" || r.URL.Path == loginPath || isPublic(r) {
		return nil
	}
	return errUnsaid
}
