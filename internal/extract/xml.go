package extract

import (
	"bytes"
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/sitemap"
	"github.com/webrace/webrace/internal/xmltoken"
)

const mediaTypeSVG = "image/svg+xml"

// svg reads a drawing, whose text is its own, as in pages; but it may have links.
func (x *extraction) svg(body []byte) {
	x.xml(body)
	x.Text = &webrace.Text{}
}

// xml reads feeds and any other XML, well-formed or not, and leaves sitemaps to their reader. It keeps no tree.
func (x *extraction) xml(body []byte) {
	d := xmlDocument{extraction: x, xlink: "xlink:href"}
	r := xmltoken.NewReader(body)
	for {
		switch r.Next() {
		case xmltoken.None:
			d.flush()
			if d.isFeed() && !d.whole {
				x.cutOff()
			}
			x.endList()
			x.take(&x.text)
			return
		case xmltoken.Text:
			if d.root != "" { // before it stands what is left of a broken prolog
				d.text = append(d.text, r.Text...)
			}
		case xmltoken.Start:
			if d.root == "" && sitemap.IsRoot(r.Name) {
				x.sitemap(body)
				return
			}
			d.start(r)
			if d.root == "html" && x.MediaType != mediaTypeSVG {
				x.xhtml(body)
				return
			}
			if r.Empty {
				d.endElement(d.element)
			}
		case xmltoken.End:
			d.endElement(d.nameOf(r.Name))
		}
	}
}

// sitemap reads what a site lists of itself for robots, which is no text for readers.
func (x *extraction) sitemap(body []byte) {
	sitemap.XML(body, func(e sitemap.Entry) bool {
		x.link(e.URL)
		return true
	})
}

// xmlDocument is the state within one document: text is collected from tag to tag, so that each leaf of
// the tree becomes a block.
type xmlDocument struct {
	*extraction
	root    string // its first element
	whole   bool   // which has ended
	xlink   string // the attribute href of XLink, by the prefix that was declared last
	element string // the innermost element, if no tag has ended since it began
	attrs   map[string]string
	text    []byte
	names   map[string]string // of elements as they are written: as they are compared
	open    []openElement     // of documents that may have records
	beyond  int               // how many elements within these are open
}

// mostNames is how many names of elements are kept.
const mostNames = 256

// nameOf returns the name of an element in lower case.
func (d *xmlDocument) nameOf(tag []byte) string {
	if name, known := d.names[string(tag)]; known {
		return name
	}
	name := strings.ToLower(string(tag))
	if d.names == nil {
		d.names = make(map[string]string)
	}
	if len(d.names) < mostNames {
		d.names[string(tag)] = name
	}
	return name
}

func (d *xmlDocument) start(r *xmltoken.Reader) {
	text := d.flush()
	d.element = d.nameOf(r.Name)
	d.attrs = nil
	for key, value := range r.Attributes() {
		if d.attrs == nil {
			d.attrs = make(map[string]string)
		}
		name := strings.ToLower(string(key))
		if d.attrs[name] == "" { // of two the first counts
			d.attrs[name] = string(value)
		}
		if prefix, ok := strings.CutPrefix(name, "xmlns:"); ok && string(value) == nsXLink {
			d.xlink = prefix + ":href"
		}
	}
	if d.root == "" {
		d.root = d.element
		d.Language = language([]byte(d.attrs["xml:lang"]))
		if base, ok := d.attrs["xml:base"]; ok {
			d.rebase([]byte(strings.TrimSpace(base)))
		}
		d.list.isList = d.root == "rss" || d.root == "feed" && (d.attrs["xmlns"] == nsAtom || d.attrs["xmlns"] == nsAtomOld)
	}
	if d.hasRecords() {
		d.openRecord(text != "")
	}
	switch {
	case !d.isFeed():
		d.xLink()
	case isEntry(d.element):
		d.begin()
		d.named(byAbout, d.attrs["rdf:about"])
	case d.element == "source":
		d.list.source = d.list.open
	case localName(d.element) == "link":
		d.atomLink()
	}
}

const nsXLink = "http://www.w3.org/1999/xlink"

// xLink handles the link of XLink, which any element may be; in drawings it is that of an anchor, and the others are
// parts of the drawing.
func (d *xmlDocument) xLink() {
	href := d.attrs[d.xlink]
	_, local, prefixed := strings.Cut(d.element, ":")
	if !prefixed {
		local = d.element
	}
	if isDrawing := d.root == "svg" || strings.HasSuffix(d.root, ":svg"); isDrawing && local != "a" {
		return
	} else if isDrawing && d.attrs["href"] != "" { // as SVG 2 has it
		href = d.attrs["href"]
	}
	if href = strings.TrimSpace(href); href != "" {
		d.link([]byte(href))
	}
}

// endElement handles the end of an element.
func (d *xmlDocument) endElement(name string) {
	text := d.flush()
	if d.element, d.attrs = "", nil; d.hasRecords() {
		d.closeRecord(name, text)
	}
	switch {
	case name == d.root:
		d.whole = true
	case name == "source":
		d.list.source = false
	case d.isFeed() && isEntry(name):
		d.end()
	}
}

// atomLink handles the link of Atom, whose address is an attribute. Followed are the relations that lead
// to what the feed is about, or on through it (RFC 4287, section 4.2.7.2; RFC 5005).
func (d *xmlDocument) atomLink() {
	href := strings.TrimSpace(d.attrs["href"])
	if href == "" {
		return
	}
	switch strings.TrimSpace(d.attrs["rel"]) {
	case "", "alternate":
		d.named(byLink, href)
		d.link([]byte(href))
	case "next", "prev-archive":
		d.link([]byte(href))
	}
}

// flush handles the text collected since the last tag, and returns its beginning. Addresses are links, not text.
func (d *xmlDocument) flush() (beginning string) {
	text := bytes.Trim(d.text, space)
	d.text = d.text[:0]
	if len(text) > 0 && !d.isFeed() {
		beginning = string(text[:min(len(text), 256)])
	}
	switch {
	case len(text) == 0:
	case !d.isFeed():
		d.block(text, webrace.FieldBody)
	case d.element == "link":
		d.named(byLink, string(text))
		d.link(bytes.TrimSpace(text)) // also of what is no white space in XML, but in word processors
	case d.element == "guid":
		d.named(byID, string(text))
		d.guid(bytes.TrimSpace(text))
	case d.element == "id":
		d.named(byID, string(text))
	default:
		from := len(d.extraction.text.Blocks)
		d.feedText(text)
		if isAside(d.element) || d.list.source {
			d.aside(from)
		}
	}
	return beginning
}

// guid follows the identifier of an item of RSS if it is an address: it is one unless said otherwise,
// which many forget to declare.
func (d *xmlDocument) guid(text []byte) {
	if d.attrs["ispermalink"] != "false" && bytes.HasPrefix(bytes.ToLower(text[:min(len(text), 4)]), []byte("http")) {
		d.link(text)
	}
}

// feedText adds the text of an element of a feed, which often is HTML in disguise.
func (d *xmlDocument) feedText(text []byte) {
	found := &webrace.Text{Bytes: text, Blocks: []webrace.Block{{End: int32(len(text))}}}
	if !isPlain(text) {
		found = d.scanMarkup(text)
	}
	field := webrace.FieldBody
	switch {
	case d.element == "language":
		if d.Language == "" {
			d.Language = language(text)
		}
		return
	case d.element == "title" && d.Title == "":
		d.Title = string(bytes.Join(bytes.Fields(found.Bytes), []byte(" ")))
		field = webrace.FieldTitle
	case d.element == "title":
		field = webrace.FieldHeading
	}
	for _, b := range found.Blocks {
		d.block(found.Slice(b), field)
	}
}

// isPlain reports whether a text is itself what it means as HTML: ASCII without markup, and with single blanks.
func isPlain(text []byte) bool {
	blank := true
	for _, c := range text {
		if c < ' ' || c >= 0x7f || c == '<' || c == '&' || c == ' ' && blank {
			return false
		}
		blank = c == ' '
	}
	return !blank
}

func (d *xmlDocument) isFeed() bool {
	return d.root == "rss" || d.root == "feed" || d.root == "rdf:rdf"
}
