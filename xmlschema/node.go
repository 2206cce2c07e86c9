package xmlschema

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"
)

// node is an element of the document being read, with the places of its parts, so that what is wrong can
// be reported where it is.
type node struct {
	name   string
	at     position
	attrs  []attribute
	kids   []*node
	parent *node
	nth    int    // among the root's items; 0 elsewhere
	text   []byte // its character data, without that of its elements
	inkAt  position
	inked  bool // text has more than white space, which begins at inkAt
	seen   bool
}

type attribute struct {
	name, value string
	at          position
	seen        bool
}

// path is the place of n in its document: /urds/urd[2]/keywords/keyword[1].
func (n *node) path() string {
	if n.parent == nil {
		return "/" + n.name
	}
	return n.parent.path() + "/" + n.name + n.ordinal()
}

func (n *node) ordinal() string {
	if n.nth > 0 {
		return fmt.Sprintf("[%d]", n.nth)
	}
	mine, same := 0, 0
	for _, sibling := range n.parent.kids {
		if sibling.name == n.name {
			same++
		}
		if sibling == n {
			mine = same
		}
	}
	if same < 2 {
		return ""
	}
	return fmt.Sprintf("[%d]", mine)
}

// schemaInstance is the namespace of the attributes that may name a schema on any element.
const schemaInstance = "http://www.w3.org/2001/XMLSchema-instance"

// element makes a node of a start tag. What it refuses makes the document ill-formed.
func (d *Decoder) element(parent *node, start xml.StartElement, at position, raw []byte) (*node, *fault) {
	name, places, problem := scanTag(at, raw)
	if problem != nil {
		return nil, problem
	}
	if len(places) != len(start.Attr) {
		return nil, &fault{at, "the tag is not well-formed"}
	}
	if f := undeclared(name, start.Name, at); f != nil {
		return nil, f
	}
	n := &node{name: start.Name.Local, at: at, parent: parent}
	given := make(map[xml.Name]bool, len(start.Attr))
	for i, a := range start.Attr {
		if given[a.Name] {
			return nil, &fault{places[i].at, fmt.Sprintf("attribute %s is given twice", places[i].name)}
		}
		given[a.Name] = true
		if a.Name.Space == "xmlns" || a.Name == (xml.Name{Local: "xmlns"}) {
			if problem := badDeclaration(a.Name, a.Value); problem != "" {
				return nil, &fault{places[i].at, problem}
			}
			continue
		}
		if f := undeclared(places[i].name, a.Name, places[i].at); f != nil {
			return nil, f
		}
		if a.Name.Space == schemaInstance && (a.Name.Local == "schemaLocation" || a.Name.Local == "noNamespaceSchemaLocation") {
			continue
		}
		n.attrs = append(n.attrs, attribute{name: qualified(a.Name), value: a.Value, at: places[i].at})
	}
	d.chooseDialect(n, start.Name)
	return n, nil
}

// chooseDialect learns from the root which dialect the document is in. An element of another namespace
// than the root's gets a name that no element has.
func (d *Decoder) chooseDialect(n *node, name xml.Name) {
	if n.parent == nil {
		d.legacy = name.Space == ""
		if !d.legacy && name.Space != Namespace {
			d.problem(n, n.at, "", fmt.Sprintf("namespace %s is not %s, the one that is understood", name.Space, Namespace), "")
			d.ended = true
		}
		return
	}
	if d.legacy != (name.Space == "") || !d.legacy && name.Space != Namespace {
		n.name = qualified(name)
		if name.Space == "" {
			n.name = "{}" + name.Local
		}
	}
}

// gather adds character data to n.
func (n *node) gather(data []byte, at position, raw []byte) {
	if !n.inked && len(bytes.TrimLeft(data, " \t\n\r")) > 0 {
		n.inked, n.inkAt = true, firstInk(at, raw)
	}
	n.text = append(n.text, data...)
}

// undeclared finds a prefix without a declaration: the XML decoder leaves it in place of the namespace.
func undeclared(raw string, name xml.Name, at position) *fault {
	prefix, _, ok := strings.Cut(raw, ":")
	if ok && prefix == name.Space && prefix != "xmlns" {
		return &fault{at, fmt.Sprintf("namespace prefix %s is not declared", prefix)}
	}
	return nil
}

// qualified names an attribute so that one of a foreign namespace is never taken for one of ours.
func qualified(name xml.Name) string {
	if name.Space == "" {
		return name.Local
	}
	return "{" + name.Space + "}" + name.Local
}

type attributePlace struct {
	name string
	at   position
}

// scanTag finds the names of a start tag and their places. The tag is known to be well-formed, except
// that the XML decoder does not ask for white space between attributes.
func scanTag(at position, raw []byte) (name string, places []attributePlace, problem *fault) {
	i := 1
	end := func(stop string) int {
		j := i
		for j < len(raw) && !strings.ContainsRune(stop, rune(raw[j])) {
			j++
		}
		return j
	}
	skip := func() {
		for i < len(raw) && isSpace(raw[i]) {
			i++
		}
	}
	j := end(" \t\n/>")
	name, i = string(raw[i:j]), j
	for i < len(raw) {
		before := i
		skip()
		if i >= len(raw) || raw[i] == '>' || raw[i] == '/' {
			break
		}
		place := at.after(raw[:i])
		if i == before {
			return name, nil, &fault{place, "white space is missing before the attribute"}
		}
		j = end("= \t\n")
		places = append(places, attributePlace{string(raw[i:j]), place})
		i = j
		skip()
		i++ // the equals sign
		skip()
		if i >= len(raw) {
			break
		}
		quote := string(raw[i])
		i++
		i = end(quote) + 1
	}
	return name, places, nil
}

func isSpace(b byte) bool { return b == ' ' || b == '\t' || b == '\n' || b == '\r' }

// trim removes the white space of XML, which is less than that of Unicode.
func trim(s string) string { return strings.Trim(s, " \t\n\r") }
