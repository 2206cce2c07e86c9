package selection

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/net/html"

	"github.com/webrace/webrace/internal/htmltree"
	"github.com/webrace/webrace/internal/xpath"
)

// Finder finds the elements that a selector of CSS chooses, the elements, attributes and texts that XPath does, or the
// values that a program of jq gives. It may be used by many goroutines at once.
type Finder struct{ rule compiled }

// NewFinder makes a selector ready.
func NewFinder(language Language, text string) (*Finder, error) {
	switch language {
	case Regex:
		return nil, errors.New("regular expressions choose no elements")
	case SPARQL:
		return nil, errors.New("queries choose no elements")
	case Named:
		return nil, errors.New("the main part is no element")
	}
	rule, err := Rule{Language: language, Text: text}.compile()
	return &Finder{rule}, err
}

// Search looks for several things in one document. All its work has one budget of steps.
type Search struct {
	document *Document
	root     *html.Node
	isHTML   bool
	budget   *xpath.Budget
	chosen   map[*Finder]set64 // what selectors of CSS choose of the whole document

	base  []string // of HTML, once based
	based bool
}

// NewSearch begins one; a document of a type that has no elements has nothing to be found.
func NewSearch(ctx context.Context, d *Document) (*Search, error) {
	root, err := d.tree()
	if err != nil {
		return nil, fmt.Errorf("read document: %w", err)
	}
	return &Search{document: d, root: root, isHTML: d.isHTML(), budget: &xpath.Budget{Context: ctx, Left: maxSteps}, chosen: map[*Finder]set64{}}, nil
}

// Found is a part of a document. The zero value is all of it.
type Found struct {
	hit   hit
	value *any // of JSON
}

// Value returns the value that was found in JSON, and whether it was: of the types that encoding/json decodes to, with
// numbers as int, float64, [big.Int] or [json.Number].
func (f Found) Value() (any, bool) {
	if f.value == nil {
		return nil, false
	}
	return *f.value, true
}

// Find returns what the selector chooses within a part, in the order of the document: elements below it for
// CSS, where :scope is that part, and for XPath what its path leads to from there. An error is that of the context, or
// [ErrBudget].
func (s *Search) Find(f *Finder, within Found) (found []Found, err error) {
	if f.rule.jq != nil {
		return s.values(f, within)
	}
	from := within.hit
	if from.node == nil {
		from = hit{s.root, -1}
	}
	if from.node == nil {
		return nil, nil
	}
	err = s.guarded(func() {
		if f.rule.xpath != nil {
			for _, h := range s.document.xpaths().evaluate(f.rule.xpath, from, s.budget) {
				found = append(found, Found{hit: h})
			}
			return
		}
		found = s.below(f, from.node)
	})
	return found, err
}

// values returns what a program gives for a value, or each of those of the document. What it reports of one that it is
// not for ends it there, and is no error.
func (s *Search) values(f *Finder, within Found) (found []Found, err error) {
	values, err := s.document.jsonValues()
	if value, ok := within.Value(); ok {
		values = []any{value}
	}
	if err != nil {
		return nil, fmt.Errorf("read document: %w", err)
	}
	err = s.guarded(func() {
		run := &jqRun{s.budget}
		for _, value := range values {
			_ = run.run(f.rule.jq.values, value, func(result any) { found = append(found, Found{value: &result}) })
		}
	})
	if errors.Is(err, ErrBudget) {
		err = fmt.Errorf("jq %q: %w", f.rule.Text, err)
	}
	return found, err
}

// Values returns how many values a document of JSON has, and where what follows them is no JSON, if it is not. Of one
// of another type it has none.
func (s *Search) Values() (n int, broken error) {
	values, _ := s.document.jsonValues() // whose error Find returns
	return len(values), s.document.broken
}

// below returns the elements below a node that a selector of CSS chooses. It looks for them in the whole document
// once, unless :scope makes them others for each node.
func (s *Search) below(f *Finder, from *html.Node) (found []Found) {
	m := s.document.matcher(s.budget)
	part := m.everything()
	switch from.Type {
	case html.DocumentNode:
	case html.ElementNode:
		m.scope = int32(from.DataAtom)
		part = span{m.scope + 1, m.end[m.scope]}
	default:
		return nil // there are none below a text
	}
	var chosen set64
	if f.rule.scoped {
		chosen = m.matchingIn(f.rule.css, part)
	} else if chosen = s.chosen[f]; chosen == nil {
		chosen = m.matching(f.rule.css)
		s.chosen[f] = chosen
	}
	for i := part.from; i < part.to; i++ {
		if s.budget.Spend(1); chosen.has(i) {
			found = append(found, Found{hit: hit{m.nodes[i], -1}})
		}
	}
	return found
}

// Text returns the text of a part, without scripts and styles, its white space collapsed.
func (s *Search) Text(f Found) (text string, err error) {
	if value, ok := f.Value(); ok {
		return valueText(value), nil
	}
	if f.hit.node == nil {
		f = Found{hit: hit{s.root, -1}}
	}
	if f.hit.node == nil {
		return "", nil
	}
	err = s.guarded(func() {
		var all strings.Builder
		s.write(&all, f.hit)
		text = strings.Join(strings.Fields(all.String()), " ")
	})
	return text, err
}

// write adds a part's text. Elements end words, other than those that stand within them.
func (s *Search) write(all *strings.Builder, h hit) {
	if h.attr >= 0 {
		all.WriteString(h.node.Attr[h.attr].Val)
		return
	}
	for at := h.node; at != nil; {
		s.budget.Spend(1)
		switch {
		case at.Type == html.TextNode:
			s.budget.Spend(len(at.Data) / xpath.StepBytes)
			all.WriteString(at.Data)
		case at.Type == html.ElementNode && at != h.node && hidden.Has(at.Data):
			at = after(at, h.node)
			continue
		case at.Type == html.ElementNode && !inline.Has(at.Data):
			all.WriteByte(' ')
		}
		at = following(at, h.node)
	}
}

var (
	hidden = htmltree.Names("script style template")
	inline = htmltree.Names("a abbr b bdi bdo cite code data em font i kbd mark q s small span strong sub sup time u var wbr")
)

// after returns the node behind another and all that it holds, within root.
func after(n, root *html.Node) *html.Node {
	for n != root && n.NextSibling == nil {
		n = n.Parent
	}
	if n == root {
		return nil
	}
	return n.NextSibling
}

// Attribute returns an attribute of an element.
func (f Found) Attribute(name string) (string, bool) {
	if f.hit.node == nil || f.hit.attr >= 0 {
		return "", false
	}
	if v := htmltree.Value(f.hit.node.Attr, name); v != nil {
		return strings.Clone(*v), true // it may be kept, and the page with it
	}
	return "", false
}

func (s *Search) guarded(work func()) error {
	err := xpath.Evaluate(work)
	if errors.Is(err, xpath.ErrBudget) {
		return ErrBudget
	}
	return err
}
