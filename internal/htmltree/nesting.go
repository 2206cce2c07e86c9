package htmltree

import (
	"slices"

	"golang.org/x/net/html"
)

// What ends what, by the HTML standard, section 13.2.6.

// Void are the elements that have no end tag.
var Void = Names("area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr")

var (
	inHead     = Names("base basefont bgsound link meta noframes noscript script style template title")
	formatting = Names("a b big code em font i nobr s small strike strong tt u")
	headings   = Names("h1 h2 h3 h4 h5 h6")
	rows       = Names("tbody thead tfoot")
	cells      = Names("td th")
	inTable    = Names("caption colgroup col tbody thead tfoot tr td th")
	closesP    = Names("address article aside blockquote center details dialog dir div dl dd dt fieldset figcaption " +
		"figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr li listing main menu nav ol p plaintext pre search section " +
		"summary table ul xmp")
	scopes  = Names("html table td th caption applet marquee object template foreignobject desc")
	special = Names("address applet area article aside base basefont bgsound blockquote body br button caption center col " +
		"colgroup dd details dir div dl dt embed fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 " +
		"head header hgroup hr html iframe img input keygen li link listing main marquee menu meta nav noembed noframes " +
		"noscript object ol p param plaintext pre script search section select source style summary table tbody td " +
		"template textarea tfoot th thead title tr track ul wbr xmp")
	breakouts = Names("b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li " +
		"listing menu meta nobr ol p pre ruby s small span strong strike sub sup table tt u ul var")
)

// traits are the sets that a name is in: one look-up for each tag, where each set would be one.
type traits uint8

const (
	isVoid traits = 1 << iota
	isInHead
	isFormatting
	isHeading
	isInTable
	endsP
	isSpecial
	isBreakout
)

var traitsOf = func() map[string]traits {
	all := make(map[string]traits)
	for trait, set := range map[traits]Set{
		isVoid: Void, isInHead: inHead, isFormatting: formatting, isHeading: headings, isInTable: inTable, endsP: closesP,
		isSpecial: special, isBreakout: breakouts,
	} {
		for name := range set {
			all[name] |= trait
		}
	}
	return all
}()

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
func (b *builder) enclose(name string, is traits) {
	if b.beyond > 0 {
		return
	}
	if is&isInTable != 0 {
		b.encloseInTable(name)
		return
	}
	if is&endsP != 0 {
		b.closeWithin("p", func(open string) bool { return scopes.Has(open) || open == "button" })
	}
	switch {
	case is&isHeading != 0 && headings.Has(b.top().Data):
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
		b.closeWithin("button", scopes.Has)
	case name == "a", name == "nobr":
		b.closeFormatting(name)
	case name == "rb", name == "rp", name == "rt", name == "rtc":
		if i := b.find(named("rb", "rp", "rt"), func(open string) bool { return open == "ruby" || special.Has(open) }); i > 0 {
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
	i := b.find(named(name), special.Has)
	if i < 0 {
		return false
	}
	within := slices.Clone(b.open[i+1:])
	b.popTo(i)
	for _, n := range within {
		if formatting.Has(n.Data) {
			again := b.element(n.Data)
			again.Attr = n.Attr
			b.push(again)
		}
	}
	return true
}

// closeItem closes the item of a list before the next one.
func (b *builder) closeItem(items ...string) {
	i := b.find(named(items...), func(open string) bool {
		return special.Has(open) && open != "address" && open != "div" && open != "p"
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
	open := func(name string) { b.push(b.element(name)) }
	switch {
	case cells.Has(name):
		up("tr", "tbody", "thead", "tfoot")
		if b.top().Data == "table" {
			open("tbody")
		}
		if rows.Has(b.top().Data) {
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
	closed, is := false, traitsOf[name]
	switch {
	case name == "body", name == "html":
		return // what follows belongs to the body all the same
	case name == "head":
		if b.body == nil && b.top() == b.head {
			b.popTo(len(b.open) - 1)
		}
		return
	case is&isHeading != 0:
		if i := b.find(headings.Has, scopes.Has); i > 0 {
			b.popTo(i)
			closed = true
		}
	case is&isInTable != 0, name == "table":
		closed = b.closeWithin(name, func(open string) bool { return open == "table" && name != "table" || open == "template" })
	case is&isFormatting != 0:
		closed = b.closeFormatting(name) || b.unnest(name)
	case name == "form":
		closed = b.closeWithin(name, scopes.Has)
	case name == "p":
		closed = b.closeWithin(name, func(open string) bool { return scopes.Has(open) || open == "button" })
	case name == "li":
		closed = b.closeWithin(name, func(open string) bool { return scopes.Has(open) || open == "ol" || open == "ul" })
	case is&isSpecial != 0:
		closed = b.closeWithin(name, scopes.Has)
	default:
		closed = b.closeWithin(name, special.Has)
	}
	if !closed {
		b.unmatched(name)
	}
}

// endNoScript closes a noscript element with all that is open within.
func (b *builder) endNoScript() {
	if i := slices.IndexFunc(b.open, func(n *html.Node) bool { return n.Data == "noscript" }); i > 0 {
		b.popTo(i)
		b.beyond = 0
		return
	}
	b.end("noscript")
}

// unmatched keeps an end tag without a start. Two of them make an element.
func (b *builder) unmatched(name string) {
	if name == "p" || name == "br" {
		b.ensureBody()
		b.push(b.element(name))
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
	i := b.find(named(name), scopes.Has)
	if i < 0 {
		return false
	}
	b.flush()
	b.open = append(b.open[:i], b.open[i+1:]...)
	b.counts[name]--
	return true
}

// endForeign handles an end tag in a drawing or formula, and reports whether it belongs to it.
func (b *builder) endForeign(name string) bool {
	if b.beyond > 0 {
		b.beyond--
		return true
	}
	if breakouts.Has(name) || headings.Has(name) {
		b.leaveForeign()
		return false
	}
	if i := b.find(named(name), named("svg", "math")); i > 0 {
		b.popTo(i)
	}
	return true
}
