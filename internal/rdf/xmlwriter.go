package rdf

import (
	"bufio"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/webrace/webrace"
)

// xmlBody writes RDF/XML: what is said of a subject in one element as long as it comes without a break.
type xmlBody struct {
	prefixes map[string]string // names by namespace
	sorted   []prefix
	begun    bool
	subject  webrace.Term // of the element that is open
}

func newXMLBody(prefixes map[string]string) *xmlBody {
	x := &xmlBody{prefixes: map[string]string{NS: "rdf"}}
	x.sorted = sortedPrefixes(prefixes, func(name string) bool {
		return isPlainName(name) && is(name[0], isLetter) && name != "rdf" && !strings.HasPrefix(strings.ToLower(name), "xml")
	})
	for _, p := range x.sorted {
		if x.prefixes[p.space] == "" {
			x.prefixes[p.space] = p.name
		}
	}
	return x
}

func (x *xmlBody) begin(out *bufio.Writer) {
	if x.begun {
		return
	}
	x.begun = true
	out.WriteString("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<rdf:RDF xmlns:rdf=\"" + NS + "\"")
	for _, p := range x.sorted {
		out.WriteString("\n    xmlns:" + p.name + "=\"" + escapeXML(p.space) + "\"")
	}
	out.WriteString(">\n")
}

func (x *xmlBody) write(out *bufio.Writer, q Quad) error {
	tag, declared, err := x.tag(q.Predicate)
	if err != nil {
		return err
	}
	x.begin(out)
	if q.Subject != x.subject {
		x.endSubject(out)
		x.subject = q.Subject
		out.WriteString("  <rdf:Description" + node(q.Subject, "about") + ">\n")
	}
	out.WriteString("    <" + tag + declared)
	if KindOf(q.Object) != Literal {
		_, err := out.WriteString(node(q.Object, "resource") + "/>\n")
		return err
	}
	text := Value(q.Object)
	if !isXMLText(text) {
		return fmt.Errorf("RDF/XML cannot write the literal %.100q: XML lacks one of its characters", text)
	}
	if language := Language(q.Object); language != "" {
		out.WriteString(" xml:lang=\"" + language + "\"")
	} else if datatype := Datatype(q.Object); datatype != XSDString {
		out.WriteString(" rdf:datatype=\"" + escapeXML(datatype) + "\"")
	}
	_, err = out.WriteString(">" + escapeXML(text) + "</" + tag + ">\n")
	return err
}

// node writes the attribute that names a node.
func node(term webrace.Term, attribute string) string {
	value := Value(term)
	if KindOf(term) == Blank {
		attribute = "nodeID"
		if !isNCName([]byte(value)) || value[0] == '_' {
			value = fmt.Sprintf("_%x", value)
		}
	}
	return " rdf:" + attribute + "=\"" + escapeXML(value) + "\""
}

// tag returns the name of a property's element, and what declares its namespace if the document does not.
func (x *xmlBody) tag(predicate webrace.Term) (tag, declared string, err error) {
	iri := Value(predicate)
	start := len(iri)
	for i := len(iri); i > 0; {
		c, size := utf8.DecodeLastRuneInString(iri[:i])
		if !isNameRune(c) && c != '.' {
			break
		}
		i -= size
		if isNameStart(c) || c == '_' {
			start = i
		}
	}
	space, local := iri[:start], iri[start:]
	if space == "" || local == "" || isXMLSpace(space) || space == NS && (!mayBeProperty([]byte(local)) || local == "li") {
		return "", "", fmt.Errorf("RDF/XML cannot write the predicate %s: it ends with no name of XML, or with one of the "+
			"syntax itself", predicate)
	}
	if name := x.prefixes[space]; name != "" {
		return name + ":" + local, "", nil
	}
	return "p:" + local, " xmlns:p=\"" + escapeXML(space) + "\"", nil
}

func (x *xmlBody) endSubject(out *bufio.Writer) {
	if x.subject != "" {
		out.WriteString("  </rdf:Description>\n")
	}
}

func (x *xmlBody) end(out *bufio.Writer) error {
	x.begin(out)
	x.endSubject(out)
	_, err := out.WriteString("</rdf:RDF>\n")
	return err
}

var xmlEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "\r", "&#xD;")

func escapeXML(text string) string { return xmlEscapes.Replace(text) }

// isXMLText reports whether XML has all characters of a text.
func isXMLText(text string) bool {
	for _, c := range text {
		if !isXMLChar(c) {
			return false
		}
	}
	return true
}
