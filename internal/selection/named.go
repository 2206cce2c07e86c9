package selection

import (
	"errors"

	"golang.org/x/net/html"

	"github.com/webrace/webrace/internal/article"
)

// mainPart is the one part of a document that has a name: what a reader of the page came for.
const mainPart = "main"

var errNamed = errors.New(`there is one part with a name, "main": what a reader of the page came for`)

// parseNamed checks a rule that names a part.
func parseNamed(r Rule) error {
	switch {
	case r.Ignore:
		return errors.New("what is beside the main part is left out by selecting that")
	case r.Text != mainPart:
		return errNamed
	}
	return nil
}

// isAllMain reports whether all of a document is its main part, since it is no page of HTML.
func (d *Document) isAllMain() bool {
	root, err := d.tree()
	return err == nil && (root == nil || !d.isHTML())
}

// LacksMain reports whether the main part of a page was looked for by a rule, and it has none, so that all of it
// counts.
func (d *Document) LacksMain() bool { return d.main != nil && d.main.Main == nil && d.isHTML() }

// allMain takes rules that name the main part for such as choose nothing: all is it.
func (w *work) allMain() {
	all := *w.Selection
	all.chosen = false
	w.Selection = &all
	for i, r := range w.rules {
		if r.Language == Named {
			w.matched[i] = true
		}
	}
}

// markMain chooses the main part of a page, without what is beside it; of a page that has none all of it.
func (w *work) markMain(m marks, d *Document) {
	if d.main == nil {
		d.main = article.Find(d.root, d.url)
	}
	if d.main.Main == nil {
		w.budget.Spend(stepsPerHit)
		m.choose(hit{d.root, -1})
		w.noMain = true
		return
	}
	for _, top := range d.main.Main {
		w.budget.Spend(stepsPerHit)
		m.choose(hit{top, -1})
		for n := top; n != nil; n = following(n, top) {
			if w.budget.Spend(1); n.Type == html.ElementNode && d.main.Without(n) {
				m.of(n).ignored = true
			}
		}
	}
}
