package extract

import (
	"cmp"
	"net/http"
	"slices"

	"github.com/webrace/webrace/internal/htmltext"
	"github.com/webrace/webrace/internal/urlnorm"
)

// Refreshed takes in the Refresh field of the header that a document was sent with, which browsers take for a meta
// refresh of any type of document, and before those within. One that lets its reader stay is a link.
func (r *Result) Refreshed(header http.Header, url string, o Options) {
	target, atOnce, ok := htmltext.RefreshTarget([]byte(header.Get("Refresh")))
	if !ok {
		return
	}
	base, err := urlnorm.NewBase(url)
	if err != nil {
		return
	}
	u, err := base.Resolve(target)
	if err != nil {
		return
	}
	switch u = o.Rules.Apply(u); {
	case atOnce:
		r.Refresh = u
	case !slices.Contains(r.Links, u) && len(r.Links) < cmp.Or(o.MaxLinks, DefaultMaxLinks):
		r.Links = append(r.Links, u)
	}
}
