package demosite

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// Pages returns, in ascending order, the path and query of every page that is to be found by following
// links from "/": what answers 200 with HTML and can be reached over a, area, frame and iframe elements
// and redirects. Pages that robots.txt withholds are among them. It is computed from the pages as they
// are, by other means than a crawl's.
func (s *Site) Pages() []string { return slices.Sorted(maps.Keys(s.distances())) }

// distances returns the pages with how many links they are from "/". A redirect is no step.
func (s *Site) distances() map[string]int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	found := make(map[string]int)
	layer := []string{"/"}
	for distance := 0; len(layer) > 0; distance++ {
		var next []string
		for _, link := range layer {
			path, page := s.arrive(link)
			if _, known := found[path]; known || page == "" {
				continue
			}
			found[path] = distance
			next = append(next, linksOf(path, page)...)
		}
		layer = next
	}
	return found
}

// arrive follows redirects, and returns the page that they lead to; none if that is something else.
func (s *Site) arrive(link string) (path, page string) {
	for range len(redirects) + 2 {
		u, err := url.Parse(Address + link)
		if err != nil || gone[u.Path] {
			return "", ""
		}
		target, _ := s.redirect(u)
		if target == "" {
			r, ok := s.find(u)
			if !ok || !r.isPage() {
				return "", ""
			}
			return u.RequestURI(), r.content
		}
		link = target
	}
	return "", ""
}

// linksOf returns the path and query of each link of a page that stays on the site.
func linksOf(path, page string) []string {
	base, err := url.Parse(Address + path)
	if err != nil {
		return nil
	}
	var links []string
	for _, ref := range references(page, base, "a href", "area href", "frame src", "iframe src") {
		if u, err := url.Parse(ref); err == nil && strings.HasPrefix(ref, Address+"/") {
			links = append(links, u.RequestURI())
		}
	}
	return links
}

// references returns the absolute addresses in attributes of elements, each given as "element attribute".
func references(page string, base *url.URL, where ...string) []string {
	var refs []string
	rebased := false
	z := html.NewTokenizer(strings.NewReader(page))
	for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
		if kind != html.StartTagToken && kind != html.SelfClosingTagToken {
			continue
		}
		t := z.Token()
		for _, a := range t.Attr {
			u, err := base.Parse(strings.TrimSpace(a.Val))
			if err != nil {
				continue
			}
			switch place := t.Data + " " + a.Key; {
			case place == "base href" && !rebased:
				base, rebased = u, true
			case slices.Contains(where, place):
				refs = append(refs, u.String())
			}
		}
	}
	return refs
}
