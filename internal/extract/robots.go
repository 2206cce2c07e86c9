package extract

import (
	"net/http"
	"slices"
	"strings"
)

// Robots returns what the document asks of robots, in the header it was sent with and in itself.
func (r *Result) Robots(header http.Header) (noIndex, noFollow bool) {
	noIndex, noFollow = r.NoIndex, r.NoFollow
	for _, line := range header.Values("X-Robots-Tag") {
		for directive := range strings.SplitSeq(strings.ToLower(line), ",") {
			directive = strings.TrimSpace(directive)
			if forAnother(directive) {
				break
			}
			noIndex = noIndex || directive == "noindex" || directive == "none"
			noFollow = noFollow || directive == "nofollow" || directive == "none"
		}
	}
	return noIndex, noFollow
}

// forAnother reports whether a directive begins with the name of a robot, for which the rest of its line
// is then meant ("otherbot: noindex, nofollow"): none of these names is ours.
func forAnother(directive string) bool {
	name, _, named := strings.Cut(directive, ":")
	return named && !slices.Contains(withValue, strings.TrimSpace(name))
}

// withValue are the directives that are written like the name of a robot.
var withValue = []string{"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"}
