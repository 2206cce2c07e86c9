package selection

import (
	"slices"

	"golang.org/x/net/html"
)

// What ends what, by the HTML standard, section 13.2.6.

var (
	void       = names("area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr")
	inHead     = names("base basefont bgsound link meta noframes noscript script style template title")
	formatting = names("a b big code em font i nobr s small strike strong tt u")
	headings   = names("h1 h2 h3 h4 h5 h6")
	rows       = names("tbody thead tfoot")
	cells      = names("td th")
	inTable    = names("caption colgroup col tbody thead tfoot tr td th")
	closesP    = names("address article aside blockquote center details dialog dir div dl dd dt fieldset figcaption " +
		"figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr li listing main menu nav ol p plaintext pre search section " +
		"summary table ul xmp")
	scopes  = names("html table td th caption applet marquee object template foreignobject desc")
	special = names("address applet area article aside base basefont bgsound blockquote body br button caption center col " +
		"colgroup dd details dir div dl dt embed fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 " +
		"head header hgroup hr html iframe img input keygen li link listing main marquee menu meta nav noembed noframes " +
		"noscript object ol p param plaintext pre script search section select source style summary table tbody td " +
		"template textarea tfoot th thead title tr track ul wbr xmp")
	breakouts = names("b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li " +
		"listing menu meta nobr ol p pre ruby s small span strong strike sub sup table tt u ul var")
)

func named(wanted ...string) func(string) bool {
	return func(name string) bool {
		for _, w := range wanted {
			if w == name {
				return true
			}
		}
		return false
	}
}

// enclose closes what the element ends by beginning, and opens what it needs around it.
func (b *builder) enclose(n *html.Node) {
	if b.beyond > 0 {
		return
	}
	name := n.Data
	if inTable.has(name) {
		b.encloseInTable(name)
		return
	}
	if closesP.has(name) {
		b.closeWithin("p", func(open string) bool { return scopes.has(open) || open == "button" })
	}
	switch {
	case headings.has(name) && headings.has(b.top().Data):
		b.popTo(len(b.open) - 1)
	case name == "li":
		b.closeItem("li")
	case name == "dd", name == "dt":
		b.closeItem("dd", "dt")
	case name == "option" && b.top().Data == "option":
		b.popTo(len(b.open) - 1)
	case name == "optgroup" && (b.top().Data == "option" || b.top().Data == "optgroup"):
		if b.top().Data == "option" {
			b.popTo(len(b.open) - 1)
		}
		if b.top().Data == "optgroup" {
			b.popTo(len(b.open) - 1)
		}
	case name == "button":
		b.closeWithin("button", scopes.has)
	case name == "a", name == "nobr":
		b.closeFormatting(name)
	case name == "rb", name == "rp", name == "rt", name == "rtc":
		if i := b.find(named("rb", "rp", "rt"), func(open string) bool { return open == "ruby" || special.has(open) }); i > 0 {
			b.popTo(i)
		}
	}
}

// closeWithin closes the innermost element of that name, unless one that stops the search is within it.
func (b *builder) closeWithin(name string, stops func(string) bool) bool {
	if !b.inside(name) { // as mostly
		return false
	}
	i := b.find(named(name), stops)
	if i > 0 {
		b.popTo(i)
	}
	return i > 0
}

// closeFormatting closes an element such as <b>. Others like it that are open within it go on behind it.
func (b *builder) closeFormatting(name string) bool {
	if !b.inside(name) {
		return false
	}
	i := b.find(named(name), special.has)
	if i < 0 {
		return false
	}
	within := slices.Clone(b.open[i+1:])
	b.popTo(i)
	for _, n := range within {
		if formatting.has(n.Data) {
			b.push(&html.Node{Type: html.ElementNode, Data: n.Data, Attr: n.Attr})
		}
	}
	return true
}

// closeItem closes the item of a list before the next one.
func (b *builder) closeItem(items ...string) {
	i := b.find(named(items...), func(open string) bool {
		return special.has(open) && open != "address" && open != "div" && open != "p"
	})
	if i > 0 {
		b.popTo(i)
	}
}

// encloseInTable goes up to where a part of a table belongs. Outside of tables it stays where it is.
func (b *builder) encloseInTable(name string) {
	if !b.inside("table") || b.find(named("table"), named("template", "html")) < 0 {
		return
	}
	up := func(to ...string) {
		if i := b.find(named(append(to, "table")...), named("template", "html")); i > 0 {
			b.popTo(i + 1)
		}
	}
	open := func(name string) { b.push(&html.Node{Type: html.ElementNode, Data: name}) }
	switch {
	case cells.has(name):
		up("tr", "tbody", "thead", "tfoot")
		if b.top().Data == "table" {
			open("tbody")
		}
		if rows.has(b.top().Data) {
			open("tr")
		}
	case name == "tr":
		up("tbody", "thead", "tfoot")
		if b.top().Data == "table" {
			open("tbody")
		}
	case name == "col":
		up("colgroup")
		if b.top().Data == "table" {
			open("colgroup")
		}
	default:
		up()
	}
}

// end handles an end tag.
func (b *builder) end(name string) {
	if b.inForeign() && b.endForeign(name) {
		return
	}
	if b.beyond > 0 {
		b.beyond--
		return
	}
	closed := false
	switch {
	case name == "body", name == "html":
		return // what follows belongs to the body all the same
	case name == "head":
		if b.body == nil && b.top() == b.head {
			b.popTo(len(b.open) - 1)
		}
		return
	case headings.has(name):
		if i := b.find(headings.has, scopes.has); i > 0 {
			b.popTo(i)
			closed = true
		}
	case inTable.has(name), name == "table":
		closed = b.closeWithin(name, func(open string) bool { return open == "table" && name != "table" || open == "template" })
	case formatting.has(name):
		closed = b.closeFormatting(name) || b.unnest(name)
	case name == "form":
		closed = b.closeWithin(name, scopes.has)
	case name == "p":
		closed = b.closeWithin(name, func(open string) bool { return scopes.has(open) || open == "button" })
	case name == "li":
		closed = b.closeWithin(name, func(open string) bool { return scopes.has(open) || open == "ol" || open == "ul" })
	case special.has(name):
		closed = b.closeWithin(name, scopes.has)
	default:
		closed = b.closeWithin(name, special.has)
	}
	if !closed {
		b.unmatched(name)
	}
}

// unmatched keeps an end tag without a start. Two of them make an element.
func (b *builder) unmatched(name string) {
	if name == "p" || name == "br" {
		b.ensureBody()
		b.push(&html.Node{Type: html.ElementNode, Data: name})
		b.close()
		return
	}
	if b.body != nil {
		b.stray(name, "</")
	}
}

// unnest takes an element out of those that are open, though one within it is not closed: <b><p></b>.
func (b *builder) unnest(name string) bool {
	if !b.inside(name) {
		return false
	}
	i := b.find(named(name), scopes.has)
	if i < 0 {
		return false
	}
	b.flush()
	b.open = append(b.open[:i], b.open[i+1:]...)
	b.counts[name]--
	return true
}

// endForeign handles an end tag in a drawing or formula, and says whether it belongs to it.
func (b *builder) endForeign(name string) bool {
	if b.beyond > 0 {
		b.beyond--
		return true
	}
	if breakouts.has(name) || headings.has(name) {
		b.leaveForeign()
		return false
	}
	if i := b.find(named(name), named("svg", "math")); i > 0 {
		b.popTo(i)
	}
	return true
}
