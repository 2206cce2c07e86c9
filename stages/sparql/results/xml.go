package results

import (
	"fmt"
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
)

// resultsNS is the namespace of the elements.
const resultsNS = "http://www.w3.org/2005/sparql-results#"

// xmlForm writes SPARQL Query Results XML Format.
type xmlForm struct{}

func (xmlForm) head(b []byte, vars []string) []byte {
	b = append(b, "<?xml version=\"1.0\"?>\n<sparql xmlns=\""+resultsNS+"\">\n<head>"...)
	for _, v := range vars {
		b = append(b, `<variable name="`...)
		b = append(appendXML(b, v), `"/>`...)
	}
	return append(b, "</head>\n<results>\n"...)
}

func (xmlForm) name(variable string) string {
	return string(append(appendXML([]byte(`<binding name="`), variable), `">`...))
}

func (xmlForm) row(b []byte, names []string, row []webrace.Term, _ bool) []byte {
	b = append(b, "<result>"...)
	for i, t := range row {
		if t != "" {
			b = append(b, names[i]...)
			b = appendXMLTerm(b, t)
			b = append(b, "</binding>"...)
		}
	}
	return append(b, "</result>\n"...)
}

func appendXMLTerm(b []byte, t webrace.Term) []byte {
	switch rdf.KindOf(t) {
	case rdf.IRI:
		b = appendXML(append(b, "<uri>"...), string(t[1:len(t)-1]))
		return append(b, "</uri>"...)
	case rdf.Blank:
		b = appendXML(append(b, "<bnode>"...), string(t[2:]))
		return append(b, "</bnode>"...)
	}
	_, tag, datatype := splitLiteral(t)
	b = append(b, "<literal"...)
	switch {
	case tag != "":
		b = append(b, ` xml:lang="`...)
		b = append(append(b, tag...), '"')
	case datatype != "":
		b = append(b, ` datatype="`...)
		b = append(appendXML(b, datatype), '"')
	}
	b = appendXML(append(b, '>'), rdf.Value(t))
	return append(b, "</literal>"...)
}

// appendXML appends a text, of an element or attribute. XML has no place for most control characters, not even escaped.
func appendXML(b []byte, s string) []byte {
	start := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if !specialInXML[c] {
			continue
		}
		escaped, size := xmlEscapes[c], 1
		if c == 0xEF { // U+FFFE and U+FFFF are no characters of XML, and alone begin so
			if !strings.HasPrefix(s[i:], "\uFFFE") && !strings.HasPrefix(s[i:], "\uFFFF") {
				continue
			}
			size = len("\uFFFE")
		}
		if escaped == "" {
			escaped = "\uFFFD"
		}
		b = append(append(b, s[start:i]...), escaped...)
		start = i + size
		i = start - 1
	}
	return append(b, s[start:]...)
}

// xmlEscapes are what stands for characters; readers would make a carriage return a line feed.
var xmlEscapes = [256]string{'&': "&amp;", '<': "&lt;", '>': "&gt;", '"': "&quot;", '\r': "&#xD;"}

// specialInXML are the bytes that may not stand in XML as they are.
var specialInXML = func() (special [256]bool) {
	for c := range special {
		special[c] = c < ' ' && c != '\t' && c != '\n' || xmlEscapes[c] != "" || c == 0xEF
	}
	return special
}()

func (xmlForm) end(b []byte) []byte { return append(b, "</results>\n</sparql>\n"...) }

func (xmlForm) boolean(b []byte, value bool) []byte {
	b = append(b, "<?xml version=\"1.0\"?>\n<sparql xmlns=\""+resultsNS+"\">\n<head/>\n"...)
	return fmt.Appendf(b, "<boolean>%t</boolean>\n</sparql>\n", value)
}
