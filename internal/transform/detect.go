package transform

import (
	"bytes"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/webrace/webrace/internal/mediatype"
	"github.com/webrace/webrace/internal/rdf"
)

// The media types of documents that state something, beside those of package rdf.
const (
	typeHTML     = "text/html"
	typeXHTML    = "application/xhtml+xml"
	typeJSONLD   = "application/ld+json"
	typeRSS      = "application/rss+xml"
	typeAtom     = "application/atom+xml"
	typeJSONFeed = "application/feed+json"
	typeXML      = "application/xml"
	typeJSON     = "application/json"
	typeText     = "text/plain"
)

// head is how much of a document is looked at.
const head = 3 << 10

// MediaType returns what a document is: by strong signs at its beginning, which are a root element, a declaration of
// Turtle, a line that is a statement, and JSON with a context; else by the header, whose aliases it knows; and where
// that tells nothing in particular, by the extension of the URL's path. Bytes are scanned, nothing is parsed.
func MediaType(body []byte, contentType, address string) string {
	header := mediatype.Of(contentType)
	if known, ok := aliases[header]; ok {
		header = known
	}
	extension := extensionOf(address)
	if sign := strongSign(body, header, extension); sign != "" {
		return sign
	}
	if header != "" && header != typeText && !generic[header] {
		return header
	}
	if byExtension[extension] != "" {
		return byExtension[extension]
	}
	if header == "" || generic[header] {
		if sniffed := mediatype.Of(http.DetectContentType(body)); header == "" || sniffed != "application/octet-stream" {
			return sniffed
		}
	}
	return header
}

// vague reports whether a media type leaves open what a document holds.
func vague(mediaType string) bool {
	switch mediaType {
	case "", typeText, typeXML, "text/xml", typeJSON, typeRSS:
		return true
	}
	return generic[mediaType] || aliases[mediaType] != "" || strings.HasSuffix(mediaType, "+xml") && mediaType != string(rdf.RDFXML) &&
		mediaType != typeXHTML && mediaType != typeAtom || strings.HasSuffix(mediaType, "+json") && mediaType != typeJSONLD
}

// generic are the types that servers send what they do not know as.
var generic = map[string]bool{
	"application/octet-stream": true, "binary/octet-stream": true, "application/unknown": true, "application/x-unknown": true,
	"unknown/unknown": true, "application/download": true, "application/force-download": true, "application/x-download": true,
}

// aliases are names that were in use before a type was registered, or beside it.
var aliases = map[string]string{
	"text/nt": string(rdf.NTriples), "text/ntriples": string(rdf.NTriples), "application/ntriples": string(rdf.NTriples),
	"text/n-triples": string(rdf.NTriples), "application/x-ntriples": string(rdf.NTriples), "text/x-ntriples": string(rdf.NTriples),
	"text/nquads": string(rdf.NQuads), "text/n-quads": string(rdf.NQuads), "text/x-nquads": string(rdf.NQuads),
	"application/nquads": string(rdf.NQuads), "application/x-nquads": string(rdf.NQuads),
	"text/n3": string(rdf.Turtle), "text/rdf+n3": string(rdf.Turtle), "application/n3": string(rdf.Turtle),
	"application/rdf+n3": string(rdf.Turtle), "application/turtle": string(rdf.Turtle), "application/x-turtle": string(rdf.Turtle),
	"text/x-turtle": string(rdf.Turtle), "text/rdf+turtle": string(rdf.Turtle), "application/rdf+turtle": string(rdf.Turtle),
	"text/trig": string(rdf.TriG), "text/x-trig": string(rdf.TriG), "application/x-trig": string(rdf.TriG),
	"text/rdf": string(rdf.RDFXML), "application/rdf": string(rdf.RDFXML), "text/rdf+xml": string(rdf.RDFXML),
	"application/x-rdf+xml": string(rdf.RDFXML), "application/x-rdf": string(rdf.RDFXML),
	"application/json+ld": typeJSONLD, "application/x-json+ld": typeJSONLD, "text/ld+json": typeJSONLD, "application/jsonld": typeJSONLD,
	"application/rss": typeRSS, "text/rss": typeRSS, "text/rss+xml": typeRSS, "application/x-rss+xml": typeRSS, "application/x-rss": typeRSS,
	"application/atom": typeAtom, "text/atom": typeAtom, "text/atom+xml": typeAtom,
	"application/xhtml": typeXHTML, "text/xhtml": typeXHTML, "text/json": typeJSON, "application/x-json": typeJSON,
}

var byExtension = map[string]string{
	".nt": string(rdf.NTriples), ".nq": string(rdf.NQuads), ".ttl": string(rdf.Turtle), ".n3": string(rdf.Turtle),
	".trig": string(rdf.TriG), ".rdf": string(rdf.RDFXML), ".rdfs": string(rdf.RDFXML), ".owl": string(rdf.RDFXML),
	".jsonld": typeJSONLD, ".html": typeHTML, ".htm": typeHTML, ".xhtml": typeXHTML, ".xht": typeXHTML, ".rss": typeRSS,
	".atom": typeAtom, ".xml": typeXML, ".json": typeJSON,
}

func extensionOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	extension := strings.ToLower(path.Ext(u.Path))
	if (extension == ".gz" || extension == ".bz2") && byExtension[strings.ToLower(path.Ext(strings.TrimSuffix(u.Path, path.Ext(u.Path))))] != "" {
		return strings.ToLower(path.Ext(strings.TrimSuffix(u.Path, path.Ext(u.Path))))
	}
	return extension
}

// strongSign returns what a document is by its beginning; empty if that tells nothing.
func strongSign(body []byte, header, extension string) string {
	cut := len(body) > head
	body = bytes.TrimPrefix(body[:min(len(body), head)], []byte("\xef\xbb\xbf"))
	if len(body) >= 2 && (body[0] == 0 || body[1] == 0 || body[0] == 0xfe || body[0] == 0xff) {
		body = bytes.TrimLeft(bytes.ReplaceAll(body, []byte{0}, nil), "\xfe\xff") // leaves the letters of UTF-16
	}
	body = bytes.TrimLeft(body, white)
	if len(body) == 0 {
		return ""
	}
	switch body[0] {
	case '{', '[':
		return jsonSign(body)
	case '<':
		if syntax := statementSign(body, cut, header); syntax != "" {
			return syntax
		}
		return rootSign(body, cut, header)
	}
	if syntax := turtleSign(body, header, extension); syntax != "" {
		return syntax
	}
	return statementSign(body, cut, header)
}

func jsonSign(body []byte) string {
	switch {
	case bytes.Contains(body, []byte(`"@context"`)), bytes.Contains(body, []byte(`"@graph"`)):
		return typeJSONLD
	case bytes.Contains(body, []byte("://jsonfeed.org/version/")), bytes.Contains(body, []byte(`:\/\/jsonfeed.org\/version\/`)):
		return typeJSONFeed
	}
	return ""
}

// turtleSign knows Turtle and TriG by their declarations, which those of queries look the same as. TriG has graphs in
// braces besides, which in texts of several lines, as those that explain a program, mean nothing.
func turtleSign(body []byte, header, extension string) string {
	declares, inText, graphs := false, false, header == string(rdf.TriG) || extension == ".trig"
	for line := range bytes.Lines(body) {
		began := inText
		if (bytes.Count(line, []byte(`"""`))+bytes.Count(line, []byte("'''")))%2 == 1 {
			inText = !inText
		}
		if began && declares {
			continue
		}
		line = bytes.TrimLeft(line, white)
		word, rest, _ := bytes.Cut(line, []byte(" "))
		if tab := bytes.IndexByte(word, '\t'); tab >= 0 {
			word, rest = line[:tab], line[tab:]
		}
		rest = bytes.TrimLeft(rest, white)
		switch keyword := strings.ToUpper(string(word[:min(len(word), 10)])); {
		case len(line) == 0 || line[0] == '#':
			continue
		case keyword == "@PREFIX" || keyword == "PREFIX":
			name, iri, ok := bytes.Cut(rest, []byte(":"))
			if ok && bytes.HasPrefix(bytes.TrimLeft(iri, white), []byte("<")) && !bytes.ContainsAny(name, white+"<;{") {
				declares = true
				continue
			}
		case keyword == "@BASE" || keyword == "BASE":
			if bytes.HasPrefix(rest, []byte("<")) {
				declares = true
				continue
			}
		case keyword == "GRAPH" || line[0] == '{':
			graphs = true
		case queries[keyword]:
			return ""
		}
		if !declares {
			return ""
		}
		graphs = graphs || !inText && bytes.HasSuffix(bytes.TrimRight(line, white), []byte("{"))
	}
	switch {
	case !declares:
		return ""
	case graphs:
		return string(rdf.TriG)
	}
	return string(rdf.Turtle)
}

// queries are the words of SPARQL that a query or an update has behind its declarations.
var queries = map[string]bool{
	"SELECT": true, "CONSTRUCT": true, "ASK": true, "DESCRIBE": true, "INSERT": true, "DELETE": true, "WITH": true, "LOAD": true,
	"CLEAR": true, "DROP": true, "CREATE": true, "COPY": true, "MOVE": true, "ADD": true,
}

// statementSign knows N-Triples and N-Quads by lines that are statements, and Turtle where other lines follow the
// first.
func statementSign(body []byte, cut bool, header string) string {
	if end := bytes.LastIndexByte(body, '\n'); cut && end >= 0 {
		body = body[:end]
	}
	statements, most := 0, 0
	for line := range bytes.Lines(body) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		terms := statementTerms(line)
		if terms == 0 {
			if statements == 0 {
				return ""
			}
			return string(rdf.Turtle)
		}
		statements++
		most = max(most, terms)
	}
	switch {
	case statements == 0:
		return ""
	case header == string(rdf.Turtle) && most == 3, header == string(rdf.TriG), header == string(rdf.NQuads):
		return header // which N-Triples are, too
	case most == 4:
		return string(rdf.NQuads)
	}
	return string(rdf.NTriples)
}

// statementTerms returns how many terms a line has that is a statement: 3 or 4, and 0 if it is none.
func statementTerms(line []byte) int {
	for n := 0; ; n++ {
		line = bytes.TrimLeft(line, " \t")
		if len(line) == 0 {
			return 0
		}
		if line[0] == '.' {
			rest := bytes.TrimLeft(line[1:], " \t")
			if n < 3 || n > 4 || len(rest) > 0 && rest[0] != '#' {
				return 0
			}
			return n
		}
		end := termEnd(line, n)
		if end <= 0 {
			return 0
		}
		line = line[end:]
	}
}

// termEnd returns where the term ends that stands at this place of a statement; 0 if none does.
func termEnd(line []byte, place int) int {
	switch {
	case line[0] == '<':
		end := bytes.IndexByte(line, '>')
		if end < 0 || bytes.IndexByte(line[:end], ':') < 0 || bytes.ContainsAny(line[1:end], " \t<\"{}|^`") {
			return 0
		}
		return end + 1
	case place != 1 && bytes.HasPrefix(line, []byte("_:")):
		return blankEnd(line)
	case place == 2 && line[0] == '"':
		i := 1
		for ; i < len(line) && line[i] != '"'; i++ {
			if line[i] == '\\' {
				i++
			}
		}
		if i++; i > len(line) {
			return 0
		}
		switch rest := line[i:]; {
		case bytes.HasPrefix(rest, []byte("^^<")):
			end := termEnd(rest[2:], 0)
			if end == 0 {
				return 0
			}
			return i + 2 + end
		case bytes.HasPrefix(rest, []byte("@")):
			return i + blankEnd(rest)
		}
		return i
	}
	return 0
}

// blankEnd returns where a word ends, which a full stop behind it is not part of.
func blankEnd(line []byte) int {
	end := bytes.IndexAny(line, " \t<")
	if end < 0 {
		end = len(line)
	}
	for end > 0 && line[end-1] == '.' {
		end--
	}
	return end
}
