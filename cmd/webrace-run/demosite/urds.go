package demosite

import (
	_ "embed"
	"html"
	"strings"
)

//go:embed urds.xml
var urds string

// URDs returns what three people want to know of the site, as an XML document of four URDs, for a site
// that is served at base, such as http://127.0.0.1:8080:
//
//   - eleni: boats and storms, on all pages within three levels of the first, urgently;
//   - costas: Java, XML and open source, in the technology section however deep. IBM is worth so little
//     to him that the word alone never alerts;
//   - maria: any change of the council's pages and, of the library, which she leaves to others to crawl,
//     the reading club and βιβλιοθήκη.
func URDs(base string) []byte { return at(base, urds) }

// DataStart is where the site's open data begins: a catalogue, from which rdfs:seeAlso leads to all of it. No page
// links there.
const DataStart = "/data/catalog.ttl"

//go:embed data_urds.xml
var dataURDs string

// DataURDs returns the URD that asks for a crawl of the site's open data, from [DataStart] on, for a site that is
// served at base.
func DataURDs(base string) []byte { return at(base, dataURDs) }

// at returns a document for a site that is served at base.
func at(base, document string) []byte {
	return []byte(strings.ReplaceAll(document, Address, html.EscapeString(strings.TrimSuffix(base, "/"))))
}

// BerthsRoot is the root element of /data/berths.xml, which is XML of the port's own.
const BerthsRoot = "{urn:levanda:berths}berths"

//go:embed berths.xsl
var berths string

// BerthsStylesheet returns the stylesheet that makes RDF/XML of documents with the root [BerthsRoot].
func BerthsStylesheet() []byte { return []byte(berths) }
