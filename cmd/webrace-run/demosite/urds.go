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
func URDs(base string) []byte {
	return []byte(strings.ReplaceAll(urds, Address, html.EscapeString(strings.TrimSuffix(base, "/"))))
}
