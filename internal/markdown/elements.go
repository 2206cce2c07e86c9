package markdown

import (
	"strings"

	"golang.org/x/net/html"

	"github.com/webrace/webrace/internal/htmltext"
	"github.com/webrace/webrace/internal/htmltree"
)

// kind is what an element is to Markdown.
type kind uint8

const (
	spaced       kind = iota // running text that parts words, as what is not known
	joined                   // running text
	block                    // a block
	skipped                  // nothing of it is shown
	strong                   // marks of running text
	emphasis                 //
	deleted                  //
	link                     //
	code                     //
	image                    //
	lineBreak                //
	rule                     // blocks
	h1                       //
	h2                       //
	h3                       //
	h4                       //
	h5                       //
	h6                       //
	preformatted             //
	quotation                //
	list                     //
	definitions              //
	table                    //
	summary                  //
)

var kinds = kindsOf(map[kind]string{
	joined: "abbr acronym bdi bdo big cite data dfn font ins label mark meter nobr noscript output q rb rp rt rtc ruby small " +
		"span sub sup time u wbr mi mn mo ms mtext mrow msup msub mfrac msqrt semantics annotation area base link meta",
	block: "address article aside body caption center dd details dialog dir div dt fieldset figcaption figure footer form " +
		"frameset head header hgroup html legend li main nav p search section tbody td tfoot th thead tr foreignobject",
	skipped: "script style template noembed noframes iframe svg title param",
	strong:  "b strong", emphasis: "em i var", deleted: "del s strike", link: "a", code: "code kbd samp tt",
	image: "img", lineBreak: "br", rule: "hr", h1: "h1", h2: "h2", h3: "h3", h4: "h4", h5: "h5", h6: "h6",
	preformatted: "pre listing xmp plaintext", quotation: "blockquote", list: "ul ol menu", definitions: "dl",
	table: "table", summary: "summary",
})

func kindsOf(names map[kind]string) map[string]kind {
	all := make(map[string]kind)
	for k, list := range names {
		for name := range strings.FieldsSeq(list) {
			all[name] = k
		}
	}
	return all
}

// isBlock reports whether elements of this kind end the running text around them.
func (k kind) isBlock() bool { return k == block || k >= rule }

// kindOf returns what an element is, if it is shown.
func (w *writer) kindOf(n *html.Node) kind {
	k := kinds[n.Data]
	if k == skipped || isHidden(n) || w.without != nil && w.without(n) {
		return skipped
	}
	return k
}

// isHidden reports whether a page does not show an element, as package htmltext has it.
func isHidden(n *html.Node) (hidden bool) {
	isOpen := n.Data != "dialog"
	for i := range n.Attr {
		switch a := &n.Attr[i]; a.Key {
		case "hidden":
			hidden = hidden || !strings.EqualFold(a.Val, "until-found")
		case "style":
			hidden = hidden || htmltext.NotDisplayed([]byte(a.Val))
		case "popover":
			hidden = true
		case "open":
			isOpen = true
		case "id":
			if isStreamed(a.Val) {
				return false
			}
		}
	}
	return (hidden || !isOpen) && n.Data != "html" && n.Data != "body"
}

// isStreamed reports whether an element of this name has a part of the page that came late, and that a script puts in
// its place: see package htmltext.
func isStreamed(id string) bool {
	_, number, ok := strings.Cut(id, "S:")
	return ok && number != "" && strings.Trim(number, "0123456789abcdef") == ""
}

// attribute returns the value of an attribute; "" if there is none.
func attribute(n *html.Node, name string) string {
	if value := htmltree.Value(n.Attr, name); value != nil {
		return *value
	}
	return ""
}
