// Package usage reads what the owner of a page states that it may be used for: by training a model, by answering from
// it, by an index for search. It reads the vocabularies that sites use for that and maps them onto one small set of
// purposes:
//
//	Content-Usage (IETF AIPREF drafts): in the header and robots.txt; train-ai, search, and those of older drafts
//	Content-Signal (Cloudflare): likewise; ai-train, ai-input, search
//	noai, noimageai: in X-Robots-Tag and <meta name="robots">; train-ai=n and ai-input=n, the latter of images
//	TDM Reservation Protocol (W3C CG): in the header, <meta> and tdmrep.json; 1 forbids all but search
//	RSL 1.0: in Link, <link> and robots.txt; that there are terms, and where
//
// Who obeys it is another matter: the package tells what is stated, and where.
//
// What is stated twice is combined as draft-ietf-aipref-vocab, section 5.1, has it: a use that anything forbids is
// forbidden, wherever the statements stand. Within robots.txt the rule with the longest path counts, in the group of
// the crawler (draft-ietf-aipref-attach, section 3.1). Only the TDM Reservation Protocol has an order: a meta element
// supersedes the header, and the header tdmrep.json. What cannot be read states nothing, as these documents ask.
package usage

import (
	"net/http"
	"strconv"
	"strings"

	"golang.org/x/net/html"

	"github.com/webrace/webrace/internal/charsets"
	"github.com/webrace/webrace/internal/htmltree"
	"github.com/webrace/webrace/internal/mediatype"
	"github.com/webrace/webrace/internal/urlnorm"
)

// Purpose is what a page may be used for.
type Purpose string

const (
	// TrainAI is to train a model, or to fine-tune it.
	TrainAI Purpose = "train-ai"
	// AIInput is to give it to a model that is asked something (retrieval-augmented generation, grounding, a summary).
	// Drafts and sites call it ai-use, ai-output and inference, too.
	AIInput Purpose = "ai-input"
	// Search is to index it, and to lead people to it.
	Search Purpose = "search"
	// TextAndDataMining is any automated analysis, as the law of the European Union has it (Directive 2019/790,
	// article 4).
	TextAndDataMining Purpose = "text-and-data-mining"
)

// Purposes are all there are.
var Purposes = []Purpose{TrainAI, AIInput, Search, TextAndDataMining}

// Place is the kind of place where a statement stands.
type Place string

const (
	InHeader Place = "header"      // a field of the header that the page was sent with
	InPage   Place = "page"        // an element of its head
	InRobots Place = "robots.txt"  // a line of the host's robots.txt, as it was when the page was fetched
	InTDMRep Place = "tdmrep.json" // a rule of the host's /.well-known/tdmrep.json, likewise
)

// Statement is one preference: that a page may be used for a purpose, or may not be. One line may make several.
type Statement struct {
	Purpose Purpose `json:"purpose,omitempty"` // empty if it only states that there are terms
	Allowed bool    `json:"allowed"`
	Place   Place   `json:"place"`
	Line    int     `json:"line,omitempty"`  // in robots.txt; in tdmrep.json the number of the rule, from 1
	URL     string  `json:"url"`             // of the document that it stands in
	Text    string  `json:"text"`            // of the field, line or element, as one line
	Terms   string  `json:"terms,omitempty"` // the URL of a license or policy; absolute
}

// Where tells for a person where the statement stands.
func (s *Statement) Where() string {
	switch s.Place {
	case InRobots:
		return "line " + strconv.Itoa(s.Line) + " of " + s.URL
	case InTDMRep:
		return "rule " + strconv.Itoa(s.Line) + " of " + s.URL
	case InPage:
		return "in the page"
	}
	return "in the header"
}

// preference writes it as Content-Usage does.
func (s *Statement) preference() string {
	switch {
	case s.Purpose == "":
		return "terms " + s.Terms
	case s.Allowed:
		return string(s.Purpose) + "=y"
	}
	return string(s.Purpose) + "=n"
}

// String returns the statement with its text and place.
func (s *Statement) String() string {
	return s.preference() + ": " + s.Text + " (" + s.Where() + ")"
}

// Statements are all that is stated of a page: first by the header, then by the page, then by files of the host.
type Statements []Statement

// Allows reports whether the page may be used for a purpose, as far as is stated. If not, it returns the first
// statement that forbids it. If nothing is stated it may be.
func (all Statements) Allows(p Purpose) (bool, *Statement) {
	for i := range all {
		if s := &all[i]; s.Purpose == p && !s.Allowed {
			return false, s
		}
	}
	return true, nil
}

// Lines writes the statements for a person, those that stand in one text as one line:
// "train-ai=n, search=y: Content-Usage: train-ai=n, search=y (line 3 of https://example.org/robots.txt)".
func (all Statements) Lines() (lines []string) {
	for i := 0; i < len(all); {
		first, preferences := &all[i], []string(nil)
		for ; i < len(all) && all[i].Text == first.Text && all[i].Place == first.Place && all[i].Line == first.Line; i++ {
			preferences = append(preferences, all[i].preference())
		}
		if terms := first.Terms; terms != "" && first.Purpose != "" && !strings.Contains(first.Text, terms) {
			preferences = append(preferences, "terms "+terms)
		}
		lines = append(lines, strings.Join(preferences, ", ")+": "+first.Text+" ("+first.Where()+")")
	}
	return lines
}

// Limits of how many statements are read: of the header and the page, and of all.
const (
	mostOfPage = 32
	most       = 128
)

// Of returns what is stated of a document, by the header that it is stored with and the tree of the page, which is
// nil if it is none. What the host's files state of it stands in [webrace.UsageField] of the header, where fetch has
// put it.
func Of(url string, header http.Header, page *html.Node) Statements {
	r := reader{url: url, isImage: strings.HasPrefix(mediatype.Of(header.Get("Content-Type")), "image/")}
	r.header(header)
	if page != nil {
		r.page(page)
	}
	r.all = r.all[:min(len(r.all), mostOfPage)]
	r.recorded(header)
	r.reservation()
	return r.all[:min(len(r.all), most)]
}

// OfBody returns the same of a document whose tree is not known yet, by its body and the Content-Type that it was
// sent as.
func OfBody(url string, header http.Header, body []byte, contentType string) Statements {
	var page *html.Node
	if kind := mediatype.Of(contentType); kind == "text/html" || kind == "application/xhtml+xml" {
		if text, _, err := charsets.ToUTF8(body, contentType); err == nil {
			page, _ = htmltree.Parse(text) // what is too large has no tree, and its header states what it does
		}
	}
	return Of(url, header, page)
}

// reader gathers the statements of one document.
type reader struct {
	url     string
	isImage bool
	all     Statements
	tdm     []reserved // in the order of how much they count
}

// at is where a text stands.
type at struct {
	place Place
	line  int
	text  string
}

// add adds preferences that one text states.
func (r *reader) add(where at, terms string, preferences []preference) {
	for _, p := range preferences {
		r.all = append(r.all, Statement{
			Purpose: p.purpose, Allowed: p.allowed, Place: where.place, Line: where.line, URL: r.urlOf(where.place), Text: oneLine(where.text), Terms: terms,
		})
	}
}

// urlOf returns the URL of what a statement of a place stands in.
func (r *reader) urlOf(place Place) string {
	switch place {
	case InRobots:
		return urlnorm.Origin(r.url) + "/robots.txt"
	case InTDMRep:
		return urlnorm.Origin(r.url) + tdmRepPath
	}
	url, _ := urlnorm.CutMark(r.url)
	return url
}

// absolute resolves the URL of terms. What is none of the web is dropped.
func (r *reader) absolute(ref, base string) string {
	b, err := urlnorm.NewBase(base)
	if err != nil || ref == "" {
		return ""
	}
	url, err := b.Resolve([]byte(ref))
	if err != nil {
		return ""
	}
	return url
}

// longestText is how much of a text a statement shows, in bytes.
const longestText = 300

// oneLine makes a text of the web one line without control characters.
func oneLine(text string) string {
	text = strings.ToValidUTF8(cutBytes(text, 4*longestText), "\uFFFD")
	text = strings.Join(strings.FieldsFunc(text, isInvisible), " ")
	if len(text) <= longestText {
		return text
	}
	cut := longestText
	for text[cut]&0xC0 == 0x80 { // within a character
		cut--
	}
	return text[:cut] + "…"
}
