package selection

import (
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"github.com/webrace/webrace/internal/htmltree"
)

// Resolve returns the URL that a reference in a part of the document means, where the document is at this address:
// relative to what the first <base> with an address declares, or in XML to what xml:base does on the elements around.
// False if it means none.
func (s *Search) Resolve(at Found, address, reference string) (string, bool) {
	base, err := url.Parse(address)
	if err != nil {
		return "", false
	}
	for _, declared := range s.bases(at) {
		if next, err := base.Parse(declared); err == nil && (next.Scheme == "http" || next.Scheme == "https") {
			base = next
		}
	}
	u, err := base.Parse(reference)
	if err != nil {
		return "", false
	}
	return u.String(), true
}

// bases returns what is declared to be the base of references in a part of the document, each relative to the one
// before.
func (s *Search) bases(at Found) (declared []string) {
	if s.isHTML {
		if !s.based {
			s.base, s.based = htmlBase(s.root), true
		}
		return s.base
	}
	for n := at.hit.node; n != nil; n = n.Parent {
		for _, a := range n.Attr {
			if a.Namespace == "xml" && a.Key == "base" {
				declared = append(declared, strings.TrimSpace(a.Val))
			}
		}
	}
	slices.Reverse(declared)
	return declared
}

// htmlBase returns the address of the first element base that has one, if there is any.
func htmlBase(root *html.Node) []string {
	for at := root; at != nil; {
		if at.Type == html.ElementNode && at.Data == "base" {
			if v := htmltree.Value(at.Attr, "href"); v != nil {
				return []string{strings.TrimSpace(*v)}
			}
		}
		if at.FirstChild != nil {
			at = at.FirstChild
		} else {
			at = after(at, root)
		}
	}
	return nil
}
