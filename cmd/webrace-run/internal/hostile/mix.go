package hostile

import (
	"context"
	"net/http"
	"net/url"
	"strings"
)

// Mixable returns the cases that can be on one site together, each below a path of its own: all but those
// that change each answer of the site, or its robots.txt.
func Mixable() []Case {
	var mixable []Case
	for _, c := range Cases() {
		s := below("http://127.0.0.1:1", "/")
		c.Lay(s)
		if _, robots := s.handlers["/robots.txt"]; s.wrap == nil && !robots {
			mixable = append(mixable, c)
		}
		s.Close()
	}
	return mixable
}

// below returns a part of a site. It has no server, but is served by the site's.
func below(site, prefix string) *Site {
	s := newPart()
	s.URL, s.prefix = site+prefix, prefix
	return s
}

// mix lays a case below a path of its own, where what it serves lies and leads. What leads to the site's good
// pages alone is left as it is written.
func (s *Site) mix(c Case) {
	part := below(s.URL, "/"+c.Name)
	c.Lay(part)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.others = append(s.others, part)
	s.start += part.start
	for _, url := range part.links {
		if len(part.handlers) > 0 {
			url = part.prefixed(url)
		}
		s.links = append(s.links, url)
	}
	s.handlers[part.prefix+"/*"] = part.serveBelow
}

func (s *Site) prefixed(url string) string {
	if strings.HasPrefix(url, "/") {
		return s.prefix + url
	}
	return url
}

type prefixKey struct{}

// serveBelow answers as a site would that has no prefix.
func (s *Site) serveBelow(w http.ResponseWriter, r *http.Request) {
	stripped := r.WithContext(context.WithValue(r.Context(), prefixKey{}, s.prefix))
	stripped.URL = new(url.URL)
	*stripped.URL = *r.URL
	stripped.URL.Path = strings.TrimPrefix(r.URL.Path, s.prefix)
	s.serve(w, stripped)
}

// placed puts the prefix of the case that a request is for before the links that begin at the root.
func placed(r *http.Request, html string) string {
	prefix, _ := r.Context().Value(prefixKey{}).(string)
	if prefix == "" {
		return html
	}
	return strings.NewReplacer(
		`href="/`, `href="`+prefix+"/", `href='/`, `href='`+prefix+"/", `href=/`, `href=`+prefix+"/",
		`src="/`, `src="`+prefix+"/", `url=/`, `url=`+prefix+"/", `URL='/`, `URL='`+prefix+"/",
	).Replace(html)
}
