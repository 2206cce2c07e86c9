package selection

import (
	"context"
	"fmt"

	"golang.org/x/net/html"
)

// Nodes returns the elements of a page that at least one of several selectors of CSS or XPath chooses, in the order of
// the document, and none that is within another of them. An error is that of the context, or [ErrBudget].
func Nodes(ctx context.Context, root *html.Node, finders []*Finder) (chosen []*html.Node, err error) {
	search, err := NewSearch(ctx, &Document{mediaType: "text/html", root: root, parsed: true})
	if err != nil {
		return nil, err
	}
	found := make(map[*html.Node]bool)
	for _, f := range finders {
		all, err := search.Find(f, Found{})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.rule.Rule, err)
		}
		for _, one := range all {
			found[one.hit.node] = true // of an attribute its element
		}
	}
	for at := root; at != nil; {
		if found[at] {
			chosen = append(chosen, at)
			at = after(at, root)
		} else {
			at = following(at, root)
		}
	}
	return chosen, nil
}
