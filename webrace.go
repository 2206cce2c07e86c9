// Package webrace holds the plain data that flows between stages: a [Request] for a URL, the set of
// [Links] a page gave, and the [Document] that came back. It has no behaviour of its own beyond
// answering questions about that data, and imports the standard library alone, so that every room of
// the system, and every stage written elsewhere, can speak it.
//
// A value is read-only once it has been emitted: to change one, copy it first.
package webrace

import (
	_ "embed"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"time"
)

// Pipelines is the pipelines.toml that ships with webrace.
//
//go:embed pipelines.toml
var Pipelines []byte

// PipelineTests is the pipelines_test.toml that ships with them.
//
//go:embed pipelines_test.toml
var PipelineTests []byte

// Crawl is a start and the bounds within which pages are followed from it. URDs that agree on start,
// scope and credentials share one crawl, so that a page is fetched once however many owners want it.
type Crawl struct {
	ID      string        // identifies start, scope and credentials; stable between runs
	Start   string        // the normalized URL it begins at
	Scope   Scope         // how far from the start's host it may go
	Secret  string        // the name of the credentials it is fetched with; empty for none
	Levels  int           // the most levels any of its URDs asks for; 0 is no limit
	Urgency int           // 1 to 3, 3 the most urgent: the highest of its URDs
	Timing  time.Duration // the longest interval between visits of the start; 0 leaves it to the schedule
}

// Scope determines which URLs a crawl may follow, relative to its start.
type Scope string

const (
	ScopeHost   Scope = "host"   // the start's host and port: the default
	ScopeDomain Scope = "domain" // the start's registrable domain and everything under it
	ScopePrefix Scope = "prefix" // URLs that begin with the start's, up to its last slash
	ScopeAny    Scope = "any"    // anywhere
)

// Reach means that a crawl came to a URL over Distance links; the start has distance 0. A list of
// reaches is sorted by crawl, has each crawl once, with its least distance, and may be shared between
// many requests: it is never changed in place.
type Reach struct {
	Crawl    string
	Distance int
}

// Within reports whether a page at this distance lies within so many levels: level 1 is the start page
// alone, 2 the pages it links to as well, and 0 has no limit.
func (r Reach) Within(levels int) bool { return levels == 0 || r.Distance < levels }

// Request asks for one URL.
type Request struct {
	URL       string  // absolute and normalized (WHATWG); with a mark behind it if it is asked for by more than a GET
	Crawl     *Crawl  // on a seed only: the crawl that starts here
	Reach     []Reach // the crawls that came here; empty on a seed
	From      string  // the page or redirect that named it; empty on a seed
	Redirects int     // how many redirects in a row led here
	Secret    string  // the name of the credentials to ask with; empty for none
	Stored    bool    // the stored document answers: it was validated in this round, or is still fresh
	Left      bool    // nothing leads there any more: only whether it has moved for good (301, 308) is asked
	Instead   Instead // where it stands in a list whose pages have other addresses by now
	Visit     *Visit  // what is known from the last completed visit; nil on the first
}

// Instead is where a page stands in a list that is paged by a cursor (?after=17), so that an entry that comes in front
// gives all pages behind the first other addresses. It is as the addresses have it: whether there is a list, its pages
// tell. The zero value if it stands in the place of no other page.
type Instead struct {
	Of     string // the page that stood in its place: nothing led elsewhere from there
	Before string // the page in front of that one
}

// Via is how a set of links was found, and with that whether following them adds a level.
type Via string

const (
	ViaLink      Via = "link"      // on a page: one level further
	ViaRedirect  Via = "redirect"  // by a redirect: the same level
	ViaRefresh   Via = "refresh"   // by a page that sends its reader on at once: the same level
	ViaCanonical Via = "canonical" // by a page that declares another address for itself: the same level
	ViaSitemap   Via = "sitemap"   // in a sitemap: as many levels further as the frontier sets, by default none
	ViaRobots    Via = "robots"    // in a robots.txt, as a sitemap: one level further than the page that led to the host
	ViaFeed      Via = "feed"      // in a feed: one level further
)

// SameLevel reports whether what is found so lies on the level of the document that it was found by. Chains
// of such steps are counted, and cut.
func (v Via) SameLevel() bool { return v == ViaRedirect || v == ViaRefresh || v == ViaCanonical }

// Links is everything one document points to, as one set: it is 40 times cheaper to carry than an item
// a link.
type Links struct {
	From      string   // the document that holds them
	Reach     []Reach  // the reach of that document
	Via       Via      // how they were found
	Redirects int      // where Via stays on the level: how many such steps in a row, this one included
	Permanent bool     // for [ViaRedirect]: the server declares that it is for good (301, 308)
	Again     bool     // for [ViaRedirect]: other cookies go there now than when it was asked last, so that it may answer otherwise
	Score     uint8    // how promising they are, to a crawl in the order of best-first; 0 leaves it to the frontier
	URLs      []string // absolute, normalized, each once, in document order

	Changed []time.Time // when each URL was last changed, as a sitemap or feed tells; nil if nothing does, a zero time where it does not
	Scores  []uint8     // how promising each URL is; those beyond its end have the Score of all
	Anchors []string    // what each URL is called where it is linked to; those beyond its end have no name
	Text    *Text       // of the document that holds them
}

// ScoreOf returns how promising the URL of this number is; 0 leaves it to the frontier.
func (l *Links) ScoreOf(i int) uint8 {
	if i < len(l.Scores) {
		return l.Scores[i]
	}
	return l.Score
}

// Outcome is how a document was obtained.
type Outcome string

const (
	Fetched     Outcome = "fetched"      // its body came over the network
	NotModified Outcome = "not-modified" // the server confirmed the stored version
	Fresh       Outcome = "fresh"        // the stored version answers: it was recent enough not to ask, or what came was cut
)

// Document is one fetched thing: a page, a feed, a mail, a row. It grows as it flows: fetch fills the
// first group of fields, normalize the second, cache the third; a copy is made where branches part.
type Document struct {
	URL       string        // the URL that was asked for, normalized; with a mark behind it if that was by more than a GET
	Reach     []Reach       // the crawls that came here
	From      string        // the page or redirect that named it; empty for a start
	Instead   Instead       // of its request
	Visit     *Visit        // the last completed visit before this one; nil on the first
	Outcome   Outcome       // how it was obtained
	Status    int           // the HTTP status; 304 when not modified, 0 when fresh, and of what no HTTP server answered
	Header    http.Header   // as received, but for [UndecodedField] and [UsageField]; nil when fresh
	Origin    netip.Addr    // the address that answered
	At        time.Time     // when the answer began
	Took      time.Duration // from request to last byte
	MediaType string        // lower case, without parameters: "text/html"
	Secret    string        // the name of the credentials it was asked for with; empty for none
	Redirects int           // how many redirects in a row led here
	Rendered  bool          // Body is what a browser made of the page
	Requested []string      // of a rendered page: what its scripts asked for, absolute and normalized, which are links as those in Body
	Body      []byte        // decompressed, unless Header tells why not; valid until the item's lease ends; nil unless fetched
	Truncated bool          // the body is not whole, and never taken for it: [TruncationOf] the header tells why

	Screenshot *Screenshot // of a page that was rendered now: what it looks like, if that was wanted; nil once it is stored

	Charset  string   // the encoding Body is in, by its standard name
	Language string   // BCP 47, as declared; empty when unknown
	Title    string   // of the document, in UTF-8
	Thread   string   // of a message: the Message-ID (RFC 5322) of the one that began what it belongs to, its own if it answers none
	Text     *Text    // what a reader sees; nil until needed when not fetched
	Links    []string // absolute and normalized, each once, in document order

	Graph *Graph // what it states as RDF; nil before the stage transform, and of documents without a body

	Canonical string // the URL that the document declares for itself, normalized; empty if it declares none
	Likeness  uint64 // a fingerprint of the words of its body: those of nearly the same text differ in few bits; 0 for none

	Digest  Digest // of Body; of the stored version when not fetched
	Version int    // the stored version, counted from 1 for each URL, or on from its [Former]; 0 before it is stored
	Changed bool   // Version is new with this visit
}

// UndecodedField is the field of a document's header in which fetch tells why its body, or the end of it, is not taken
// out of its content encodings, or did not come. It is stored with the header; what a server sends by that name is
// left out.
const UndecodedField = "Webrace-Undecoded"

// SourceField is the field of the header of a document without a status in which its agent tells at which source it was
// found, such as a mailbox. It is stored with the document.
const SourceField = "Webrace-Source"

// UsageField is the field of a document's header in which fetch notes what files of the host state that the document
// may be used for: "robots.txt:3: Content-Usage: train-ai=n" is what line 3 of robots.txt states, which spoke of its
// URL when it was fetched. It is stored with the header; what a server sends by that name is left out.
const UsageField = "Webrace-Usage"

// MainField is the field of a document's header in which normalize notes that what stands beside the main part of a
// page counts as navigation, whenever its text is read. It is stored with the header; what a server sends by that name
// is left out.
const MainField = "Webrace-Main"

// What a document may come without. A server that confirms the stored version sends none of them, and a document
// that is still fresh was not even asked for: the stage cache adds what is stored, where a stage behind it needs it.
const (
	PartBody    = "body"    // Body, with MediaType, Truncated, Rendered and Requested, which speak of it
	PartText    = "text"    // Text, and what is read in the same pass: Charset, Language, Title and Canonical
	PartLinks   = "links"   // Links
	PartVersion = "version" // Version and Digest as they are stored, and Changed; documents of an archive are of version 0
	PartGraph   = "graph"   // Graph, which the stage transform makes of the body
	PartAnchors = "anchors" // Anchors, of links: they and Text come where a stage uses them, if the links are those of a page that was read
)

// Case names the case that the document is of: its outcome.
func (d *Document) Case() string { return string(d.Outcome) }

// Lacks returns in a clause why the document comes without a part, and is "" if it has it. A text that is empty is
// there; so is the body of every document that was fetched.
func (d *Document) Lacks(part string) (because string) {
	switch {
	case part == PartBody && (d.Body != nil || d.Outcome == Fetched), part == PartText && d.Text != nil,
		part == PartLinks && (d.Links != nil || d.Text != nil), part == PartVersion && (d.Version > 0 || d.Outcome == Fetched): // which may be one that is not to be stored
		return ""
	case part == PartGraph && d.Graph != nil:
		return ""
	case part == PartGraph && d.Body != nil:
		return "no stage has read what " + d.URL + " says as RDF yet"
	case d.Outcome == NotModified:
		return d.URL + " was not modified since it was stored, so the server did not send it"
	case d.Outcome == Fresh:
		return d.URL + " is stored and still fresh, so the server was not asked for it"
	case part == PartBody:
		return "nothing says how " + d.URL + " was obtained, and it has no body"
	}
	return "no stage has read the body of " + d.URL + " yet"
}

// Screenshot is what a page looks like in a browser.
type Screenshot struct {
	PNG   []byte
	Whole bool // it shows more of the page than what is seen before it is scrolled
}

// Digest is the SHA-256 of a body; the zero digest means none.
type Digest [32]byte

// String returns the digest as it is written in XML: "sha256:" and 64 hexadecimal digits; "" for none.
func (d Digest) String() string {
	if d == (Digest{}) {
		return ""
	}
	return "sha256:" + hex.EncodeToString(d[:])
}

// MarshalText writes the digest as String does.
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (d *Digest) UnmarshalText(text []byte) error {
	*d = Digest{}
	if len(text) == 0 {
		return nil
	}
	digits, ok := strings.CutPrefix(string(text), "sha256:")
	decoded, err := hex.DecodeString(digits)
	if !ok || err != nil || len(decoded) != len(d) {
		return fmt.Errorf("%q is no digest: it is sha256: and 64 hexadecimal digits", text)
	}
	copy(d[:], decoded)
	return nil
}

// Field is the part of a page that a block of text belongs to; relevance weighs them differently.
type Field uint8

const (
	FieldBody Field = iota
	FieldTitle
	FieldHeading    // h1 to h3
	FieldNavigation // nav, footer, aside
)

// String returns the field's name as it is written in XML and in explanations.
func (f Field) String() string {
	switch f {
	case FieldTitle:
		return "title"
	case FieldHeading:
		return "heading"
	case FieldNavigation:
		return "navigation"
	}
	return "body"
}

// Text is the visible text of a document in UTF-8, as one buffer cut into blocks. Phrases and summaries
// never cross a block's border.
type Text struct {
	Bytes   []byte
	Blocks  []Block
	Entries []Entry  // of lists
	Columns []string // of tables, whose rows are written "name: Bolt; price: 12": their names
	Cut     bool     // a limit left out what is behind it: that may have more
	Unmet   bool     // it is a part for which a query was asked, and is empty since the document states what it is about, with other values
	Feed    bool     // its entries are documents of their own, published one by one: who asks for words asks for them in one entry
}

// Block is the bytes Start to End of a text, all of one field.
//
// In a list what is new is not a block but an entry: an entry of a feed, an element of JSON, a record. The blocks
// of one are compared as one with the versions before, wherever in the list they stand. Those of a part that a page
// repeats are compared each by itself, with those of that part.
type Block struct {
	Start, End int32
	Entry      int32  // the entry that it is part of, counted from 1; 0 for none
	Skip       uint16 // how many bytes at its beginning say only where it stands, such as the path of a leaf: they are not compared
	Field      Field
	Aside      bool // it is never new: a date of building, a counter of comments, what a feed tells of itself
}

// Entry is by what an entry of a list is known in other versions, as hashes.
type Entry struct {
	Name uint64 // its list, and its id, key or link; of those that are known by their content alone it is the same; 0 of a part of a page
	Link uint64 // of an entry of a feed: its link, or else its name, since some give their entries other names each time; 0 for none; of a part of a page its link
}

// IsPart reports whether an entry is a part that a page repeats, such as an offer.
func (e Entry) IsPart() bool { return e.Name == 0 && e.Link != 0 }

// Slice returns the bytes of block b.
func (t *Text) Slice(b Block) []byte { return t.Bytes[b.Start:b.End] }

// Compared returns of block b what is compared with other versions: nothing of one that stands aside.
func (t *Text) Compared(b Block) []byte {
	if b.Aside {
		return nil
	}
	return t.Bytes[min(b.Start+int32(b.Skip), b.End):b.End]
}

// HostReport tells the frontier that a host's connection is free again, and how the host wants to be
// treated from now on. The fetching stage decides, because only it knows the host's address, robots.txt
// and answers; the frontier keeps it, across restarts.
type HostReport struct {
	NotBefore time.Time // when the host may be asked again; zero for at once
	Why       string    // it is left alone until then, for a person; empty for the usual pause
	Parallel  int       // how many requests it may have in flight; 0 leaves it as it is, 1 at first

	// Documents is how many came or were confirmed with this answer, 0 or 1, and Bytes how much of a body, decompressed.
	Documents int
	Bytes     int64
	Redirect  bool // the answer is a redirect, which is offered to the queue behind this report

	// URL and Secret are those of the request that the report is about: it may be one of several in a batch.
	URL, Secret string
}

// Gone means that a URL has no document, or none any more that may be kept: whatever was made of one is to be removed.
// It tells nothing about what is for the moment, such as a server that fails or a redirect for a while.
type Gone struct {
	URL    string
	Secret string // the name of the credentials it was asked for with; empty for none
	Reason string // "404 Not Found"
	At     time.Time
}

// Notice tells the owner of a URD how the start of their crawl fares: that it has failed so often in a row
// that somebody should look, and, once, that it answers again; or that it has had nothing so often in a row that the
// URD could find. Or that their rules cost too much on a page.
type Notice struct {
	ID       string // the same however often the notice is sent
	State    SourceState
	Owner    string
	URD      string // its id
	URI      string // where the crawl begins, or the page
	Reason   string // why the last attempt failed, there is nothing to find, or the page is not looked at; empty on recovery
	Failures int    // rounds in a row that failed, or had nothing to find; on recovery, how many had failed
	At       time.Time
}

// SourceState is how a source fares.
type SourceState string

const (
	SourceFailing   SourceState = "failing"
	SourceRecovered SourceState = "recovered"
	SourceEmpty     SourceState = "finds-nothing" // it answers, and has no text, or nothing that the rules of the URD select
	SourceTooCostly SourceState = "too-costly"    // a page is not looked at: the rules of the owner need too many steps on it
)
