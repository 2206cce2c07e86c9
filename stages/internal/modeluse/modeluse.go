// Package modeluse finds what the site of a page states against its use by a model that is asked of it.
package modeluse

import (
	"net/http"

	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/internal/usage"
)

// Forbidden returns the statement by which a page must not be given to a model, with where it stands; empty if there is
// none. The header is the one that it is stored with; without a body the page itself is not looked at.
func Forbidden(url string, header http.Header, body []byte, mediaType string) string {
	if allowed, by := usage.OfBody(url, header, body, extract.ContentType(header, mediaType)).Allows(usage.AIInput); !allowed {
		return by.String()
	}
	return ""
}
