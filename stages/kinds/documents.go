package kinds

import (
	"bytes"
	"fmt"
	"math"
	"net/netip"
	"slices"
	"time"
	"unsafe"

	"github.com/webrace/webrace"
)

type request struct {
	URL       string  `json:"url,omitzero" doc:"absolute and normalized"`
	Crawl     *crawl  `json:"crawl,omitzero" doc:"on a seed only: the crawl that starts here"`
	Reach     []reach `json:"reach,omitzero" doc:"the crawls that came here, and over how many links"`
	From      string  `json:"from,omitzero" doc:"the page or redirect that named it"`
	Redirects int     `json:"redirects,omitzero" doc:"how many redirects in a row led here"`
	Secret    string  `json:"secret,omitzero" doc:"the name of the credentials to ask with"`
	Stored    bool    `json:"stored,omitzero" doc:"the stored document answers"`
	Left      bool    `json:"left,omitzero" doc:"nothing leads there any more: only whether it has moved for good is asked"`
	Instead   instead `json:"instead,omitzero" doc:"where it stands in a list whose pages have other addresses by now"`
	Visit     *visit  `json:"visit,omitzero" doc:"what is known from the last visit"`
}

func encodeRequest(r webrace.Request) (request, []byte) {
	return request{
		URL: r.URL, Crawl: encodeCrawl(r.Crawl), Reach: encodeReach(r.Reach), From: r.From, Redirects: r.Redirects,
		Secret: r.Secret, Stored: r.Stored, Left: r.Left, Instead: instead(r.Instead), Visit: encodeVisit(r.Visit),
	}, nil
}

func decodeRequest(r request, _ []byte) (webrace.Request, error) {
	return webrace.Request{
		URL: r.URL, Crawl: decodeCrawl(r.Crawl), Reach: decodeReach(r.Reach), From: r.From, Redirects: r.Redirects,
		Secret: r.Secret, Stored: r.Stored, Left: r.Left, Instead: webrace.Instead(r.Instead), Visit: decodeVisit(r.Visit),
	}, nil
}

type instead struct {
	Of     string `json:"of,omitzero" doc:"the page that stood in its place"`
	Before string `json:"before,omitzero" doc:"the page in front of that one"`
}

type links struct {
	From      string      `json:"from,omitzero" doc:"the document that holds them"`
	Reach     []reach     `json:"reach,omitzero" doc:"the crawls that came to that document"`
	Via       string      `json:"via,omitzero" doc:"how they were found: link, redirect, refresh, canonical, sitemap, robots (a sitemap that robots.txt names) or feed"`
	Redirects int         `json:"redirects,omitzero" doc:"how many redirects in a row, this one included"`
	Permanent bool        `json:"permanent,omitzero" doc:"the redirect is for good"`
	Again     bool        `json:"again,omitzero" doc:"of a redirect: other cookies go there now than when it was asked last"`
	Score     uint8       `json:"score,omitzero" doc:"how promising they are, 0 to 255"`
	URLs      []string    `json:"urls,omitzero" doc:"absolute and normalized, each once"`
	Changed   []time.Time `json:"changed,omitzero" doc:"when each of the URLs was last changed, as a sitemap or feed says"`
	Scores    []uint16    `json:"scores,omitzero" doc:"how promising each of the URLs is, 0 to 255; score is for those beyond its end"`
	Anchors   []string    `json:"anchors,omitzero" part:"anchors" doc:"what each of the URLs is called where it is linked to; a list may end early"`
	Text      *pageText   `json:"text,omitzero" part:"text" doc:"of the document that holds them, as its reader sees it"`
	Blocks    pageBlocks  `json:"blocks,omitzero" part:"text" doc:"the parts of that text, as in a document"`
	Columns   []string    `json:"columns,omitzero" part:"text" doc:"the names of columns of tables in that text, as in a document"`
	Entries   []entry     `json:"entries,omitzero" part:"text" doc:"the entries of lists in that text, as in a document"`
	Feed      bool        `json:"feed,omitzero" part:"text" doc:"these are documents of their own, as in a document"`
}

func encodeLinks(l *webrace.Links) (links, []byte) {
	h := links{
		From: l.From, Reach: encodeReach(l.Reach), Via: string(l.Via), Redirects: l.Redirects, Permanent: l.Permanent, Again: l.Again, Score: l.Score,
		URLs: l.URLs, Changed: l.Changed, Scores: convert(l.Scores, func(s uint8) uint16 { return uint16(s) }),
		Anchors: l.Anchors, Text: (*pageText)(l.Text),
	}
	if l.Text != nil {
		h.Blocks, h.Entries, h.Feed, h.Columns = l.Text.Blocks, encodeEntries(l.Text), l.Text.Feed, l.Text.Columns
	}
	return h, nil
}

func decodeLinks(l links, _ []byte) (*webrace.Links, error) {
	text, err := textOf(l.Text, l.Blocks, l.Entries, l.Columns)
	if err != nil {
		return nil, err
	}
	if text != nil {
		text.Feed = l.Feed
	}
	for _, score := range l.Scores {
		if score > math.MaxUint8 {
			return nil, fmt.Errorf("a score is 0 to 255, not %d", score)
		}
	}
	return &webrace.Links{
		From: l.From, Reach: decodeReach(l.Reach), Via: webrace.Via(l.Via), Redirects: l.Redirects,
		Permanent: l.Permanent, Again: l.Again, Score: l.Score, URLs: l.URLs, Changed: l.Changed,
		Scores: convert(l.Scores, func(s uint16) uint8 { return uint8(s) }), Anchors: l.Anchors, Text: text,
	}, nil
}

type document struct {
	URL       string              `json:"url,omitzero" doc:"the URL that was asked for, normalized"`
	Reach     []reach             `json:"reach,omitzero" doc:"the crawls that came here, and over how many links"`
	From      string              `json:"from,omitzero" doc:"the page or redirect that named it"`
	Instead   instead             `json:"instead,omitzero" doc:"where it stands in a list whose pages have other addresses by now"`
	Visit     *visit              `json:"visit,omitzero" doc:"the last visit before this one"`
	Outcome   string              `json:"outcome,omitzero" case:"it" doc:"how it was obtained: fetched, not-modified or fresh"`
	Status    int                 `json:"status,omitzero" doc:"the HTTP status"`
	Header    map[string][]string `json:"header,omitzero" doc:"of the HTTP answer; Webrace-Undecoded says why the body is not decoded, or not to its end, Webrace-Truncated why it is truncated if not by a limit: disconnect, time or unspecified, Webrace-Usage what robots.txt states that the document may be used for"`
	Origin    netip.Addr          `json:"origin,omitzero" doc:"the address that answered"`
	At        time.Time           `json:"at,omitzero" doc:"when the answer began"`
	Took      seconds             `json:"took_s,omitzero" doc:"seconds from request to last byte"`
	MediaType string              `json:"media_type,omitzero" part:"body" doc:"lower case, without parameters: text/html"`
	Secret    string              `json:"secret,omitzero" doc:"the name of the credentials it was asked for with"`
	Redirects int                 `json:"redirects,omitzero" doc:"how many redirects in a row led here"`
	Rendered  bool                `json:"rendered,omitzero" part:"body" doc:"the body is what a browser made of the page"`
	Requested []string            `json:"requested,omitzero" part:"body" doc:"what the scripts of a rendered page asked for; they are links of it"`
	Truncated bool                `json:"truncated,omitzero" part:"body" doc:"a limit cut the body, or it ended early"`

	Screenshot *screenshot `json:"screenshot,omitzero" doc:"of a rendered page, until it is stored: png, in base 64, and whole where it shows more than is seen before the page is scrolled"`

	Charset  string     `json:"charset,omitzero" part:"text" doc:"the encoding of the body, by its standard name"`
	Language string     `json:"language,omitzero" part:"text" doc:"BCP 47, as declared"`
	Title    string     `json:"title,omitzero" part:"text" doc:"of the document"`
	Thread   string     `json:"thread,omitzero" part:"text" doc:"of a message: the ID of the one that began what it belongs to"`
	Text     *pageText  `json:"text,omitzero" part:"text" doc:"what a reader sees"`
	Blocks   pageBlocks `json:"blocks,omitzero" part:"text" doc:"the parts of the text: start and end in bytes of UTF-8, and field: title, heading, body or navigation; of an entry of a list its number, from 1; skip, the bytes at its beginning that are not compared with other versions; aside, if it makes nothing new"`
	Columns  []string   `json:"columns,omitzero" part:"text" doc:"of tables in the text: the names of their columns, by which rows are compared"`
	Entries  []entry    `json:"entries,omitzero" part:"text" doc:"of the entries of lists in the text: by what each is known in other versions, as hashes: name, and of entries of feeds link; those that are known by their content alone have the same name"`
	Feed     bool       `json:"feed,omitzero" part:"text" doc:"the entries are documents of their own, as those of a feed or a calendar: each is judged by itself"`
	Cut      bool       `json:"cut,omitzero" part:"text" doc:"a limit left out what is behind the text"`
	Links    []string   `json:"links,omitzero" part:"links" doc:"absolute and normalized, each once, in document order"`

	Graph         *triples `json:"graph,omitzero" part:"graph" doc:"what it says as RDF, a line of N-Triples each"`
	GraphWhole    bool     `json:"graph_whole,omitzero" part:"graph" doc:"the graph is all that the document says: it was neither malformed nor cut"`
	GraphProblems []string `json:"graph_problems,omitzero" part:"graph" doc:"why the graph is not whole, and what could not be read, with line and column"`

	Canonical string         `json:"canonical,omitzero" part:"text" doc:"the URL that the document declares for itself"`
	Likeness  hash           `json:"likeness,omitzero" doc:"a fingerprint of the words, 16 hexadecimal digits"`
	Digest    webrace.Digest `json:"digest,omitzero" part:"version" doc:"of the body: sha256:…"`
	Version   int            `json:"version,omitzero" part:"version" doc:"the stored version, from 1; 0 before it is stored"`
	Changed   bool           `json:"changed,omitzero" part:"version" doc:"the version is new with this visit"`
}

func encodeDocument(d *webrace.Document) (document, []byte) {
	h := document{
		URL: d.URL, Reach: encodeReach(d.Reach), From: d.From, Instead: instead(d.Instead), Visit: encodeVisit(d.Visit), Outcome: string(d.Outcome), Status: d.Status,
		Header: d.Header, Origin: d.Origin, At: d.At, Took: seconds(d.Took), MediaType: d.MediaType, Secret: d.Secret,
		Redirects: d.Redirects, Rendered: d.Rendered, Requested: d.Requested, Truncated: d.Truncated,
		Screenshot: encodeScreenshot(d.Screenshot), Charset: d.Charset, Language: d.Language,
		Title: d.Title, Thread: d.Thread, Text: (*pageText)(d.Text), Links: d.Links, Canonical: d.Canonical, Likeness: hash(d.Likeness),
		Digest: d.Digest, Version: d.Version, Changed: d.Changed,
	}
	if d.Text != nil {
		h.Blocks, h.Entries, h.Feed, h.Columns, h.Cut = d.Text.Blocks, encodeEntries(d.Text), d.Text.Feed, d.Text.Columns, d.Text.Cut
	}
	if d.Graph != nil {
		h.Graph, h.GraphWhole, h.GraphProblems = &triples{d.Graph.Triples}, d.Graph.Whole, d.Graph.Problems
	}
	return h, d.Body
}

func encodeEntries(t *webrace.Text) []entry {
	return convert(t.Entries, func(e webrace.Entry) entry { return entry{hash(e.Name), hash(e.Link)} })
}

// ownDocument copies the bytes of a document, which belong to its request.
func ownDocument(d *webrace.Document) *webrace.Document {
	own := *d
	own.Body = bytes.Clone(d.Body)
	if d.Text != nil {
		own.Text = &webrace.Text{Bytes: bytes.Clone(d.Text.Bytes), Blocks: slices.Clone(d.Text.Blocks), Entries: slices.Clone(d.Text.Entries), Columns: d.Text.Columns, Cut: d.Text.Cut, Feed: d.Text.Feed}
	}
	return &own
}

// sizeOfDocument counts what may be large.
func sizeOfDocument(d *webrace.Document) int {
	const header, block, link = 1 << 10, int(unsafe.Sizeof(webrace.Block{})), 64
	size := header + cap(d.Body) + link*(len(d.Links)+len(d.Requested))
	if d.Text != nil {
		size += cap(d.Text.Bytes) + block*len(d.Text.Blocks) + 16*len(d.Text.Entries)
	}
	if d.Screenshot != nil {
		size += cap(d.Screenshot.PNG)
	}
	if d.Graph != nil {
		size += sizeOfGraph(d.Graph)
	}
	return size
}

// decodeDocument gives a document that was fetched a body even if there is nothing in it: no body at all
// means that there was none to fetch.
func decodeDocument(h document, body []byte) (*webrace.Document, error) {
	text, err := textOf(h.Text, h.Blocks, h.Entries, h.Columns)
	if err != nil {
		return nil, err
	}
	if text != nil {
		text.Cut, text.Feed = h.Cut, h.Feed
	}
	d := &webrace.Document{
		URL: h.URL, Reach: decodeReach(h.Reach), From: h.From, Instead: webrace.Instead(h.Instead), Visit: decodeVisit(h.Visit), Outcome: webrace.Outcome(h.Outcome), Status: h.Status,
		Header: h.Header, Origin: h.Origin, At: h.At, Took: time.Duration(h.Took), MediaType: h.MediaType, Secret: h.Secret,
		Redirects: h.Redirects, Rendered: h.Rendered, Requested: h.Requested, Truncated: h.Truncated,
		Screenshot: decodeScreenshot(h.Screenshot), Charset: h.Charset, Language: h.Language,
		Title: h.Title, Thread: h.Thread, Text: text, Links: h.Links, Canonical: h.Canonical, Likeness: uint64(h.Likeness),
		Digest: h.Digest, Version: h.Version, Changed: h.Changed,
	}
	if h.Graph != nil || h.GraphWhole || h.GraphProblems != nil {
		d.Graph = &webrace.Graph{Whole: h.GraphWhole, Problems: h.GraphProblems}
		if h.Graph != nil {
			d.Graph.Triples = h.Graph.list
		}
	}
	switch {
	case len(body) > 0:
		d.Body = body
	case d.Outcome == webrace.Fetched:
		d.Body = []byte{}
	}
	return d, nil
}
