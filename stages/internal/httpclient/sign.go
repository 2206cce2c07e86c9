package httpclient

import (
	"context"
	"maps"
	"net/http"
)

// Sign adds fields to those of a request to a host, as in its URL, that prove who makes it. It is called anew for
// each attempt, and last, so that it replaces fields of the same names. What it is an error of is not sent.
type Sign func(ctx context.Context, fields http.Header, scheme, host string) error

// signed returns the fields of a request to a target with further ones, signed if requests are. Those that are
// signed are the request's own.
func (c *Client) signed(ctx context.Context, t Target, further http.Header) (http.Header, error) {
	fields := c.header(t, further)
	if c.sign == nil {
		return fields, nil
	}
	own := make(http.Header, len(fields)+3)
	maps.Copy(own, fields)
	return own, c.sign(ctx, own, t.Scheme, t.Host)
}
