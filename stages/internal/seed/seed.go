// Package seed makes the request that starts a crawl of a URL that somebody names.
package seed

import (
	"errors"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// Of returns the start of a crawl that a URD with the same start, depth and scope would share.
func Of(url string, depth int, scope string) (webrace.Request, error) {
	urd := xmlschema.NewURD("", url)
	urd.Depth, urd.Scope = depth, scope
	crawl, starts, err := control.CrawlOf(urd)
	if err != nil {
		return webrace.Request{}, err
	}
	if !starts {
		return webrace.Request{}, errors.New("a prefix is no place to start at")
	}
	return webrace.Request{URL: crawl.Start, Crawl: &crawl}, nil
}
