package sparql

import (
	"errors"
	"net/http"
	"strings"

	"github.com/webrace/webrace/storage/quads"
)

var errNotModified = errors.New("the client has this answer")

// checkState looks at what the request expects of the state, and sets the header of the answer. The ETag names the
// state and the format. If-Match compares the state alone: who pages through an answer wants the rest of it from the
// same state, whatever the format.
func (a *asked) checkState(r *http.Request, d *quads.Snapshot) error {
	state := d.State()
	tag := `"` + state + "." + a.format.short + `"`
	varies := a.query != nil && a.query.Varies()
	h := a.out.w.Header()
	h.Set("Content-Type", a.format.contentType())
	h.Set("Vary", "Accept, Authorization")
	h.Set("Cache-Control", "no-cache") // without an ETag that still holds, it is asked for anew
	if !varies {
		h.Set("ETag", tag)
	}
	if given := tagsOf(r.Header.Values("If-Match")); len(given) > 0 && !anyTag(given, func(t string) bool { return strings.HasPrefix(t, `"`+state+".") }) {
		return refuse(http.StatusPreconditionFailed, "what is stored has changed since: begin anew without If-Match")
	}
	given := tagsOf(r.Header.Values("If-None-Match"))
	switch {
	case len(given) == 0 || varies || !anyTag(given, func(t string) bool { return strings.TrimPrefix(t, "W/") == tag }):
		return nil
	case r.Method == http.MethodPost:
		return refuse(http.StatusPreconditionFailed, "what is stored is as If-None-Match has it; GET would be answered by 304")
	}
	return errNotModified
}

// tagsOf returns the tags of If-Match or If-None-Match. Ours have no comma.
func tagsOf(values []string) (tags []string) {
	for part := range strings.SplitSeq(strings.Join(values, ","), ",") {
		if tag := strings.TrimSpace(part); tag != "" {
			tags = append(tags, tag)
		}
	}
	return tags
}

func anyTag(tags []string, fits func(string) bool) bool {
	for _, t := range tags {
		if t == "*" || fits(t) {
			return true
		}
	}
	return false
}
