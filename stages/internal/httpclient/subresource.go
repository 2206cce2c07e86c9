package httpclient

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/webrace/webrace"
)

// SubresourceFetcher gets what pages are made of under the same rules as the pages themselves: robots.txt, the
// address guard, the limits, and the slots of the host, so that a page and its subresources together come no faster
// to a public host than pages alone. Redirects are not followed. The errors are [ErrRobots], [ErrResting],
// [ErrSecret], one that [IsRefusal] knows, or of the network. Stage fetch implements it, and stage render calls it.
type SubresourceFetcher interface {
	Subresource(ctx context.Context, r SubresourceRequest) (*Subresource, error)
}

// SubresourceRequest asks for something that a page is made of: a script, or the data that a script asks for.
type SubresourceRequest struct {
	URL    string // normalized
	Header http.Header
	Limit  int           // of the body; what is longer is cut
	Keep   time.Duration // how long a response may serve others that ask for the same; 0: not at all

	// The credentials of the page, and the crawls that came to it: what they may be presented to is bounded as for
	// pages. A response to a request for such a page serves no other page.
	Secret string
	Reach  []webrace.Reach
}

// Subresource is what a server answered. It may be shared, and is not to be changed.
type Subresource struct {
	Status    int
	Header    http.Header
	Body      []byte // decompressed; nil unless it is a success
	Truncated bool
}

// ErrRobots is the error for what robots.txt forbids.
var ErrRobots = errors.New("refused by robots.txt")

// ErrResting is the error for a host that has to be left alone for longer than a request waits.
var ErrResting = errors.New("the host asks to be left alone")

// ErrSecret is the error for what is not asked for because its credentials cannot be used.
var ErrSecret = errors.New("its credentials cannot be used")
