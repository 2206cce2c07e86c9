package extract

import (
	"bytes"
	"strings"

	"github.com/webrace/webrace/internal/xmltoken"
)

// FeedType returns the media type of a feed that was sent as something else: as text, or as nothing in
// particular. It is one only if its first tag declares it, with what no other document has: the version of RSS, or the
// namespace of Atom or of RSS 1.0. It is empty for all else.
func FeedType(mediaType string, body []byte) string {
	switch mediaType {
	case "text/plain", "application/octet-stream", "binary/octet-stream":
	default:
		return ""
	}
	const head = 4 << 10
	body = bytes.TrimLeft(bytes.TrimPrefix(body[:min(len(body), head)], []byte("\ufeff")), space)
	if !bytes.HasPrefix(body, []byte("<")) {
		return ""
	}
	r := xmltoken.NewReader(body)
	for {
		switch r.Next() {
		case xmltoken.Start:
			return feedTypeOf(r)
		case xmltoken.Text:
			if len(bytes.TrimSpace(r.Text)) == 0 {
				continue
			}
		}
		return ""
	}
}

func feedTypeOf(root *xmltoken.Reader) string {
	name := string(root.Name)
	for key, value := range root.Attributes() {
		switch key := string(key); {
		case name == "rss" && key == "version":
			return "application/rss+xml"
		case !strings.HasPrefix(key, "xmlns"):
		case (name == "feed" || strings.HasSuffix(name, ":feed")) && (string(value) == nsAtom || string(value) == nsAtomOld):
			return "application/atom+xml"
		case name == "rdf:RDF" && (string(value) == nsRSS || string(value) == nsRSSOld):
			return "application/rss+xml"
		}
	}
	return ""
}

// nsRSS and nsRSSOld are the namespaces of RSS 1.0 and 0.9.
const (
	nsRSS    = "http://purl.org/rss/1.0/"
	nsRSSOld = "http://my.netscape.com/rdf/simple/0.9/"
)
