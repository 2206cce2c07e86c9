package series

import (
	"slices"
	"strings"
)

// A list may be paged by a cursor: the address of its next page says where this one ends, as ?after=17. An entry that
// comes in front gives all pages behind the first other addresses, of which none tells in whose place it stands. That
// is told by the page in front, which led to the one and leads to the other.

// Apart reports whether the addresses of two pages are the same but for one value of their query.
func Apart(a, b string) bool { return differ(a, b) == 1 }

// Alike reports whether the addresses of two pages are the same but for the values of their query.
func Alike(a, b string) bool { return differ(a, b) > 0 }

// differ returns in how many values of their query the addresses of two pages differ; 0 if in something else, too, or
// in an id, which is that of another thing and not of another page.
func differ(a, b string) (values int) {
	path, query, has := strings.Cut(a, "?")
	otherPath, otherQuery, otherHas := strings.Cut(b, "?")
	if !has || !otherHas || path != otherPath {
		return 0
	}
	parts, others := strings.Split(query, "&"), strings.Split(otherQuery, "&")
	if len(parts) != len(others) {
		return 0
	}
	for i, part := range parts {
		name, _, _ := strings.Cut(part, "=")
		otherName, _, _ := strings.Cut(others[i], "=")
		switch {
		case name != otherName, part != others[i] && name == "id":
			return 0
		case part != others[i]:
			values++
		}
	}
	return values
}

// A page that is known by its number stands where it stood.

// InsteadOf returns the page to which a page led before, and does not now, in whose place it leads to url: there is one
// such, and url is the one that may stand there. It is none of some that are known to stand elsewhere. It returns ""
// where that is not so.
func InsteadOf(url string, before, now []string, not ...string) (was string) {
	if !strings.Contains(url, "?") || placeOf(url).number != noNumber || slices.Contains(before, url) {
		return ""
	}
	for _, link := range now {
		if link != url && Apart(link, url) && !slices.Contains(before, link) && !slices.Contains(not, link) {
			return ""
		}
	}
	for _, link := range before {
		if !Apart(link, url) || slices.Contains(now, link) || slices.Contains(not, link) {
			continue
		}
		if was != "" {
			return ""
		}
		was = link
	}
	return was
}
