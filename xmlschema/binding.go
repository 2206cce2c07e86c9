package xmlschema

import (
	"fmt"
	"slices"

	"github.com/webrace/webrace/internal/suggest"
)

// binding takes the attributes and children of one element apart. What was not asked for when it is
// closed is unknown, and what was asked for are the names that may have been meant.
type binding struct {
	d     *Decoder
	n     *node
	attrs []string
	kids  []string
}

// attr returns an attribute, or nil.
func (b *binding) attr(name string) *attribute {
	b.attrs = append(b.attrs, name)
	for i := range b.n.attrs {
		if a := &b.n.attrs[i]; a.name == name {
			a.seen = true
			return a
		}
	}
	return nil
}

// child returns the binding of the one element of that name, or nil.
func (b *binding) child(name string) *binding {
	b.kids = append(b.kids, name)
	var first *node
	for _, kid := range b.n.kids {
		if kid.name != name {
			continue
		}
		kid.seen = true
		if first != nil {
			b.d.problem(kid, kid.at, "", fmt.Sprintf("<%s> is given twice", name), "")
			continue
		}
		first = kid
	}
	if first == nil {
		return nil
	}
	return &binding{d: b.d, n: first}
}

// mustChild is child for an element that may not be missing.
func (b *binding) mustChild(name string) *binding {
	kid := b.child(name)
	if kid == nil {
		b.problem(fmt.Sprintf("<%s> has no <%s>", b.n.name, name))
	}
	return kid
}

// children returns the bindings of all elements of that name.
func (b *binding) children(name string) []*binding {
	b.kids = append(b.kids, name)
	var all []*binding
	for _, kid := range b.n.kids {
		if kid.name == name {
			kid.seen = true
			all = append(all, &binding{d: b.d, n: kid})
		}
	}
	return all
}

// inOrder refuses children that do not follow the order of names.
func (b *binding) inOrder(names ...string) {
	last := 0
	for _, kid := range b.n.kids {
		i := slices.Index(names, kid.name)
		if i >= 0 && i < last {
			b.d.problem(kid, kid.at, "", fmt.Sprintf("<%s> must come before <%s>", kid.name, names[last]), "")
			return
		}
		last = max(last, i)
	}
}

// done closes an element that has elements only.
func (b *binding) done() {
	b.d.refuseText(b.n)
	b.close()
}

// close closes an element that has text.
func (b *binding) close() {
	b.noMoreAttributes()
	for _, kid := range b.n.kids {
		if !kid.seen {
			b.d.unknownElement(kid, b.kids)
		}
	}
}

func (b *binding) noMoreAttributes() {
	for i := range b.n.attrs {
		if a := &b.n.attrs[i]; !a.seen {
			b.at(a, fmt.Sprintf("<%s> has no attribute %s", b.n.name, a.name), suggest.Nearest(a.name, b.attrs))
		}
	}
}

// text closes an element of text alone and returns the text as it stands.
func (b *binding) text() string {
	b.close()
	return string(b.n.text)
}

// word closes an element of text alone and returns the text without the white space around it, which may
// not be all of it.
func (b *binding) word() string {
	s := trim(b.text())
	if s == "" {
		b.problem(fmt.Sprintf("<%s> is empty", b.n.name))
	}
	return s
}

// empty closes an element that has nothing but attributes: not even white space, except in the papers'
// dialect.
func (b *binding) empty() {
	if len(b.n.text) > 0 && !b.n.inked && !b.d.legacy {
		b.problem(fmt.Sprintf("<%s> holds white space, but must be empty", b.n.name))
	}
	b.done()
}

func (b *binding) problem(message string) { b.d.problem(b.n, b.n.at, "", message, "") }

func (b *binding) lacks(attribute string) {
	b.problem(fmt.Sprintf("<%s> needs the attribute %s", b.n.name, attribute))
}

func (b *binding) at(a *attribute, message, hint string) {
	b.d.problem(b.n, a.at, "/@"+a.name, message, hint)
}

func (d *Decoder) problem(n *node, at position, below, message, hint string) {
	if d.ended {
		return
	}
	d.errs = append(d.errs, Problem{File: d.file, Line: at.line, Column: at.column, Path: n.path() + below, Message: message, Hint: hint})
	if len(d.errs) == maxProblems {
		d.errs = append(d.errs, Problem{File: d.file, Line: at.line, Column: at.column, Message: "too many problems: the rest is not read"})
		d.ended = true
	}
}

func (d *Decoder) warning(n *node, at position, below, message, hint string) {
	if len(d.warns) < maxProblems {
		d.warns = append(d.warns, Problem{
			File: d.file, Line: at.line, Column: at.column, Path: n.path() + below, Message: message, Hint: hint, Warning: true,
		})
	}
}

// malformed reports what makes the rest of the document unreadable.
func (d *Decoder) malformed(f *fault) *node {
	if !d.ended {
		d.errs = append(d.errs, Problem{File: d.file, Line: f.at.line, Column: f.at.column, Message: f.message})
		d.ended = true
	}
	return nil
}

func (d *Decoder) unknownElement(n *node, names []string) {
	message := fmt.Sprintf("<%s> is not known", n.name)
	if n.parent != nil {
		message = fmt.Sprintf("<%s> is not known in <%s>", n.name, n.parent.name)
	}
	d.problem(n, n.at, "", message, suggest.Nearest(n.name, names))
}

func (d *Decoder) refuseText(n *node) {
	if n.inked {
		d.problem(n, n.inkAt, "", fmt.Sprintf("<%s> holds text", n.name), "")
		n.inked = false
	}
}
