package feedparse

import (
	"bytes"
	"strings"

	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/internal/xmltoken"
)

// kind is what a document is to this stage.
type kind uint8

const (
	none kind = iota
	rssKind
	atomKind
	jsonKind
)

// kindOf tells feeds by their media type and how they begin.
func kindOf(mediaType string, body []byte) kind {
	switch {
	case mediaType == "application/feed+json", mediaType == "application/json" && extract.IsJSONFeed(body):
		return jsonKind
	case mediaType == "", mediaType == "text/xml", mediaType == "application/xml", strings.HasSuffix(mediaType, "+xml"):
		return kindOfXML(body)
	case extract.FeedType(mediaType, body) != "":
		return kindOfXML(body)
	}
	return none
}

// head is how much of a document is looked at to find its root.
const head = 4 << 10

func kindOfXML(body []byte) kind {
	body = bytes.ReplaceAll(body[:min(len(body), head)], []byte{0}, nil) // which leaves the letters of UTF-16
	r := xmltoken.NewReader(body)
	for {
		switch r.Next() {
		case xmltoken.None:
			return none
		case xmltoken.Start:
			switch strings.ToLower(local(r.Name)) {
			case "rss", "rdf":
				return rssKind
			case "feed":
				return atomKind
			}
			return none
		}
	}
}

// local returns a name without its prefix.
func local(name []byte) string { return string(name[bytes.IndexByte(name, ':')+1:]) }

// maxAttributes is the most attributes that one element of a feed may have, and maxElements the most elements
// in all; of JSON the most values. A feed that is nothing but elements may have fewer, because what the library makes
// of one is a hundred times its length.
const (
	maxAttributes = 32
	maxElements   = 200_000
	fewElements   = 20_000
	bytesElement  = 16 // of the feed for each element beyond these
)

// mostElements is how many elements a feed of so many bytes may have.
func mostElements(size int) int { return min(maxElements, fewElements+size/bytesElement) }
