package selection

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"github.com/webrace/webrace/internal/htmltext"
	"github.com/webrace/webrace/internal/htmltree"
	"github.com/webrace/webrace/internal/xpath"
)

// hit is what a rule found: a node, or its attribute of that number.
type hit struct {
	node *html.Node
	attr int // -1 for the node itself
}

// mark is what becomes of a node.
type mark struct {
	selected, ignored bool
	leads             bool         // something within it is selected
	attrs             map[int]bool // that are selected, by number
}

// marks are those of a document.
type marks struct {
	all    map[*html.Node]*mark
	chosen bool // only what is selected is kept; otherwise everything is
}

func (m marks) of(n *html.Node) *mark {
	if m.all[n] == nil {
		m.all[n] = new(mark)
	}
	return m.all[n]
}

func (m marks) choose(h hit) {
	if h.attr >= 0 {
		if m := m.of(h.node); m.attrs == nil {
			m.attrs = map[int]bool{h.attr: true}
		} else {
			m.attrs[h.attr] = true
		}
	} else {
		m.of(h.node).selected = true
	}
	for at := h.node; at != nil && !m.of(at).leads; at = at.Parent {
		m.of(at).leads = true
	}
}

// renderer writes a document out again with what is kept of it, and the tags around that, so that the
// extractor sees headings as headings and navigation as such. What was apart stays apart.
type renderer struct {
	marks
	budget *xpath.Budget
	out    bytes.Buffer
	html   bool // it is read as a page of HTML
	xml    bool // every element is closed

	asked   *html.Node // whether it is mixed was asked last
	isMixed bool
}

// renderedBytes are written and read again at the cost of a step.
const renderedBytes = 4

// part is an element that HTML does not know: it stands for itself, and so its text is a block. It encloses what
// is selected, and text that HTML writes without references.
const part = "part"

var nothing = new(mark)

// node writes a node. Kept tells whether what it is in is kept.
func (r *renderer) node(n *html.Node, kept bool) {
	r.budget.Spend(1)
	m := r.all[n]
	if m == nil {
		if !kept {
			return
		}
		m = nothing
	}
	if m.ignored {
		r.gap(n)
		return
	}
	if !kept {
		for _, i := range slices.Sorted(maps.Keys(m.attrs)) {
			r.apart(n.Attr[i].Val)
		}
		if !m.selected && !m.leads {
			return
		}
	}
	begins := m.selected && !kept
	kept = kept || m.selected
	switch n.Type {
	case html.TextNode:
		switch {
		case begins && r.mixed(n.Parent):
			r.apart(n.Data)
		case kept:
			r.escape(n.Data)
		}
	case html.RawNode:
		if kept {
			r.out.WriteString(n.Data)
		}
	case html.ElementNode:
		if begins {
			r.out.WriteString("<" + part + ">")
		}
		r.element(n, kept, kept && !begins)
		if begins {
			r.out.WriteString("</" + part + ">")
		}
	case html.DocumentNode:
		r.children(n, kept)
	}
}

// mixed reports whether an element may have elements between its texts.
func (r *renderer) mixed(n *html.Node) bool {
	if r.html {
		return !decoded.Has(n.Data)
	}
	if n == r.asked { // as by each of many texts
		return r.isMixed
	}
	r.asked, r.isMixed = n, false
	for kid := n.FirstChild; kid != nil && !r.isMixed; kid = kid.NextSibling {
		r.isMixed = kid.Type == html.ElementNode
	}
	return r.isMixed
}

func (r *renderer) children(n *html.Node, kept bool) {
	for kid := n.FirstChild; kid != nil; kid = kid.NextSibling {
		r.node(kid, kept)
	}
}

// Of the elements whose content HTML reads in a way of its own, these have text without references, which is
// shown; these text that is not shown; and these text with references.
var (
	literal = htmltree.Names("xmp plaintext")
	unseen  = htmltree.Names("script style noembed noframes iframe")
	decoded = htmltree.Names("title textarea")
)

// element writes an element. Within means that what it is in is kept, too: the owner has not asked for it by itself,
// and it is shown if the page shows it.
func (r *renderer) element(n *html.Node, kept, within bool) {
	name := n.Data
	if n.Namespace != "" {
		name = n.Namespace + ":" + name
	}
	if r.html && literal.Has(name) {
		name = part
	}
	r.tag(name, n, within)
	if !r.xml && htmltree.Void.Has(name) {
		return
	}
	if !r.html || !unseen.Has(name) {
		r.children(n, kept)
	}
	r.out.WriteString("</" + name + ">")
}

// hiding are the attributes by which a page may not show an element. Who asks for one by a rule sees it all the same.
var hiding = htmltree.Names("hidden style popover")

// longestAttribute is how long the value of an attribute may be to be written: what extraction asks for,
// such as a language or a relation, is short, and addresses are not wanted here.
const longestAttribute = 256

func (r *renderer) tag(name string, n *html.Node, within bool) {
	r.out.WriteString("<" + name)
	if !within && name == "dialog" {
		r.out.WriteString(` open=""`)
	}
	for _, a := range n.Attr {
		switch {
		case !within && hiding.Has(a.Key):
			continue
		case a.Key == "style" && htmltext.NotDisplayed([]byte(a.Val)):
			a.Val = "display:none"
		case len(a.Val) > longestAttribute:
			continue
		}
		key := a.Key
		if a.Namespace != "" {
			key = a.Namespace + ":" + key
		}
		r.out.WriteString(" " + key + `="`)
		r.escape(a.Val)
		r.out.WriteByte('"')
	}
	r.out.WriteByte('>')
}

// gap stands where something is ignored: the element without its content, and a blank.
func (r *renderer) gap(n *html.Node) {
	switch {
	case n.Type == html.ElementNode && (r.xml || !htmltree.Void.Has(n.Data)) && !literal.Has(n.Data):
		name := n.Data
		if n.Namespace != "" {
			name = n.Namespace + ":" + name
		}
		r.out.WriteString("<" + name + "> </" + name + ">")
	default:
		r.out.WriteByte(' ')
	}
}

// apart writes text as a block of its own.
func (r *renderer) apart(text string) {
	r.out.WriteString("<" + part + ">")
	r.escape(text)
	r.out.WriteString("</" + part + ">")
}

var references = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "\r", "&#13;")

func (r *renderer) escape(text string) { references.WriteString(&r.out, text) }
