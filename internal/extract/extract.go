// Package extract turns the body of a document into what webrace works with: its text in UTF-8 and the
// URLs it points to. Whatever needs either, at whatever time, gets it from here, so that a document gives
// the same text and the same links whether it was just fetched or comes out of the cache.
//
// It reads HTML, XHTML, plain text, feeds (RSS, Atom, JSON Feed), sitemaps and other XML, mail, PDF, and what package
// formats does: JSON, tables, Markdown, files of offices and books. Documents of other types have no text and no
// links, which is no error. No content is an error: what is broken is read as far as it makes sense, in time
// linear in its length, and within the limits of [Options]; PDF within those of [pdftext.Default], others within
// those of [formats.Default], and what of them could not be read is said.
package extract

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
	"unsafe"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/charsets"
	"github.com/webrace/webrace/internal/formats"
	"github.com/webrace/webrace/internal/htmltext"
	"github.com/webrace/webrace/internal/mediatype"
	"github.com/webrace/webrace/internal/pdftext"
	"github.com/webrace/webrace/internal/urlnorm"
)

// Revision counts the changes of what is taken for the text of a document whose bytes are the same. What was
// remembered of texts of an earlier revision is not compared with those of a later one: no page has changed by it.
// At 1, what is in noscript is text, and ampersands in XML that begin no reference are themselves; at 2, entries
// of lists are compared as wholes, lines of plain text that are records are blocks, what looks the same is the same,
// and JSON that is sent as a page or as plain text is JSON; at 3, the parts that a page repeats are entries, and a part
// and its link are apart; at 4, what begins in noscript ends with it, parts of a page that came late are shown, as
// shadow roots are, and two links beside each other are two words; at 5, entries of feeds are known by their links
// however they are spelt, and events of calendars by their content; at 6, who a message is from is text, and so are the
// names of its files; at 7, so are the newsgroups that it was posted to.
const Revision = 7

// DefaultMaxLinks is how many different links a document may have if [Options] sets no other number.
const DefaultMaxLinks = 10_000

// candidatesPerLink bounds how many references are looked at for each link that is allowed: navigation
// repeats its links, but not a hundred times.
const candidatesPerLink = 10

// Options describes what to extract. The zero value is what a crawler wants.
type Options struct {
	MaxLinks       int           // the most links; 0 means DefaultMaxLinks
	Images         bool          // also the addresses of images
	Forms          bool          // also the addresses that forms are sent to
	Anchors        bool          // also what links are called
	IgnoreNoFollow bool          // follow what the page asks not to follow
	Scripts        bool          // as a reader sees it whose scripts run: without what is in noscript
	RobotsName     string        // what the page calls us by, where it asks something of robots; empty means DefaultRobotsName
	Requested      []string      // what scripts of a page of HTML asked for: links behind those in it
	Rules          urlnorm.Rules // normalization of links beyond the standard

	Reserve formats.Reserve // takes, before it is made, memory beyond the length of the body; nil has no limit
}

// Result is what a document gave. It shares no memory with the body.
type Result struct {
	MediaType string        // in lower case, without parameters; sniffed if the header had none
	Charset   string        // the encoding of the body (of mail, that of its first text), by its standard name; empty if it has none
	Language  string        // as the document declares it (BCP 47); empty if it does not
	Title     string        // white space collapsed
	Thread    string        // of a message: see [Message]
	Text      *webrace.Text // never nil
	Links     []string      // absolute and normalized, each once, in document order
	Anchors   []string      // if wanted, what each link of a page is called there, in few bytes; those beyond its end have no name
	Canonical string        // normalized; empty if not declared
	Refresh   string        // where the page sends its reader at once, which is no link; normalized; empty if it does not
	NoIndex   bool          // the page asks not to be indexed
	NoFollow  bool          // the page asks that none of its links be followed

	Unread pdftext.Unread // why the text of a type that has text was not read, or not whole

	CharsetGuessed bool // no label told the encoding, nor did its form
	CharsetWrong   bool // the label names an encoding that the body is not in

	Unavailable time.Time // when the page asks not to be indexed any more; zero if it does not

	Candidates int       // references found: links, their repetitions, and what was refused
	Repeated   int       // references to a URL that is already among the links
	Refused    Refused   // references that made no link, by reason
	Failed     []Failure // the first of those that are invalid
}

// Refused counts the references that made no link, by reason.
type Refused struct {
	Scheme   int // neither http nor https: mailto, javascript, data
	Invalid  int // no URL, or too long for one
	NoFollow int // the page asks not to follow them
	Page     int // the page asks not to follow any
	Limit    int // beyond the most links
}

// Failure is a reference that could not be made a URL.
type Failure struct {
	Reference string // as it is written, its beginning if it is long
	Err       error
}

// mostFailures is how many references that could not be made URLs are told of each document, and
// longestFailure how many bytes of each.
const (
	mostFailures   = 20
	longestFailure = 256
)

// Total returns how many references were refused.
func (r Refused) Total() int { return r.Scheme + r.Invalid + r.NoFollow + r.Page + r.Limit }

// ContentType returns the type to extract a document as: that which it was sent with, if it is one, or else the media
// type that is known of it. A caller that extracts a document again has to ask here, or would see another text.
// It passes on what [webrace.MainField] of the header states.
func ContentType(header http.Header, mediaType string) string {
	if sent := header.Get("Content-Type"); mediatype.Of(sent) != "" {
		mediaType = sent
	}
	if header[webrace.MainField] != nil && mediatype.Of(mediaType) != "" {
		mediaType += mainParameter
	}
	return mediaType
}

// Text extracts what [Document] does of a stored document, whose links the caller does not need: at most one of these
// is kept. The header and the media type are those that are stored with the body.
func Text(body []byte, header http.Header, mediaType, url string) (*Result, error) {
	return TextContext(context.Background(), body, header, mediaType, url)
}

// TextContext is Text as DocumentContext is [Document].
func TextContext(ctx context.Context, body []byte, header http.Header, mediaType, url string) (*Result, error) {
	return DocumentContext(ctx, body, ContentType(header, mediaType), url, Options{MaxLinks: 1})
}

// Document extracts text and links of the document at the given URL. The content type is that of the
// HTTP header; when it names none, the type is guessed from the body. The error is for a URL that is none.
func Document(body []byte, contentType, url string, opts Options) (*Result, error) {
	return DocumentContext(context.Background(), body, contentType, url, opts)
}

// DocumentContext is Document, and ends with the context's error when that ends first: a PDF may take seconds.
func DocumentContext(ctx context.Context, body []byte, contentType, url string, opts Options) (*Result, error) {
	r, err := read(ctx, body, contentType, url, opts)
	if err != nil {
		return nil, err
	}
	r.bound(formats.Default.Blocks)
	return r, nil
}

// bound leaves out what is behind so many blocks, of a document of any type, and reports whether anything is left out.
func (r *Result) bound(most int) {
	t := r.Text
	if len(t.Blocks) > most {
		t.Bytes, t.Blocks, t.Cut = t.Bytes[:t.Blocks[most-1].End], t.Blocks[:most], true
	}
	if t.Cut && r.Unread.Cause == "" {
		r.Unread = pdftext.Unread{Cause: pdftext.TooLong, Reason: fmt.Sprintf("it has more than %d blocks of text", most)}
	}
	t.Cut = t.Cut || r.Unread.Cause == pdftext.TooLong
}

func read(ctx context.Context, body []byte, contentType, url string, opts Options) (*Result, error) {
	base, err := urlnorm.NewBase(url)
	if err != nil {
		return nil, fmt.Errorf("extract document: %w", err)
	}
	contentType, main := strings.CutSuffix(contentType, mainParameter)
	if mediatype.Of(contentType) == "" {
		contentType = http.DetectContentType(body)
		contentType, _, _ = strings.Cut(contentType, ";") // its charset is a guess, and ours is better
	}
	r := &Result{MediaType: mediatype.Of(contentType), Text: &webrace.Text{}}
	if feed := FeedType(r.MediaType, body); feed != "" {
		r.MediaType, contentType = feed, strings.Replace(strings.ToLower(contentType), r.MediaType, feed, 1)
	}
	if isMail(r.MediaType) { // its parts have encodings of their own
		x := begin(r, base, opts)
		defer x.release()
		if err := x.reserve(body); err != nil {
			return nil, fmt.Errorf("extract %s: %w", base, err)
		}
		x.mail(body, contentType)
		return r, nil
	}
	if isPDF(r.MediaType, body) {
		x := begin(r, base, opts)
		defer x.release()
		if x.pdf(ctx, body); ctx.Err() != nil {
			return nil, fmt.Errorf("extract %s: %w", base, ctx.Err())
		}
		return r, nil
	}
	if isRTF(r.MediaType, body) {
		x := begin(r, base, opts)
		defer x.release()
		if err := x.reserve(body); err != nil {
			return nil, fmt.Errorf("extract %s: %w", base, err)
		}
		x.rtf(body)
		return r, nil
	}
	reader := readers[r.MediaType]
	if reader == nil || r.MediaType == "text/html" {
		if f := formats.Of(r.MediaType, url, body); f != formats.None {
			x := begin(r, base, opts)
			defer x.release()
			if err := x.document(ctx, f, body, contentType); err != nil || ctx.Err() != nil {
				return nil, fmt.Errorf("extract %s: %w", base, cmp.Or(err, ctx.Err()))
			}
			return r, nil
		}
		if reader == nil && isText(r.MediaType) {
			reader = (*extraction).plain
		}
	}
	if reader == nil && strings.HasSuffix(r.MediaType, "+xml") {
		reader = (*extraction).xml
	}
	if reader == nil {
		return r, nil
	}
	d, err := charsets.Decode(body, contentType)
	if err != nil {
		return nil, fmt.Errorf("extract %s: %w", base, err)
	}
	r.Charset, r.CharsetGuessed, r.CharsetWrong = d.Name, d.Guessed, d.Wrong
	x := begin(r, base, opts)
	defer x.release()
	if err := x.reserve(d.Text); err != nil {
		return nil, fmt.Errorf("extract %s: %w", base, err)
	}
	reader(x, d.Text)
	if main && IsPage(r.MediaType) {
		if opts.Reserve != nil {
			if err := opts.Reserve(treeCost * len(d.Text)); err != nil {
				return nil, fmt.Errorf("extract %s: %w", base, err)
			}
		}
		x.besideMain(d.Text)
	}
	return r, nil
}

var readers = map[string]func(*extraction, []byte){
	"text/html":             (*extraction).html,
	"application/xhtml+xml": (*extraction).xhtml,
	"text/xml":              (*extraction).xml,
	"application/xml":       (*extraction).xml,
	"application/feed+json": (*extraction).jsonFeed,
	mediaTypeSVG:            (*extraction).svg,
}

// extraction is the work on one document; its memory is reused for the next.
type extraction struct {
	*Result
	base    *urlnorm.Base
	opts    Options
	scanner htmltext.Scanner
	text    webrace.Text // being collected, for what is not HTML
	list    feedList     // within it
	linking
}

var extractions = sync.Pool{New: func() any { return new(extraction) }}

func begin(r *Result, base *urlnorm.Base, opts Options) *extraction {
	x := extractions.Get().(*extraction)
	if opts.MaxLinks <= 0 {
		opts.MaxLinks = DefaultMaxLinks
	}
	x.Result, x.base, x.opts = r, base, opts
	x.text = webrace.Text{Bytes: x.text.Bytes[:0], Blocks: x.text.Blocks[:0], Entries: x.text.Entries[:0]}
	x.list = feedList{}
	return x
}

// reserve has memory reserved for what reading a document of markup, mail or text takes beyond its length: its text is
// collected and then copied, as are its blocks, of which there is one for each tag or line at most. What is kept for
// the next document is there already.
func (x *extraction) reserve(body []byte) error {
	if x.opts.Reserve == nil || len(body) < keep/8 { // which cannot take more
		return nil
	}
	blocks := min(bytes.Count(body, []byte{'<'})+bytes.Count(body, []byte{'\n'}), formats.Default.Blocks)
	if most := len(body) + 2*blocks*int(unsafe.Sizeof(webrace.Block{})); most > keep {
		return x.opts.Reserve(most)
	}
	return nil
}

// keep is the most memory, in bytes of text or number of links, that is worth keeping for the next
// document: one giant must not make all others cost as much.
const keep = 1 << 20

func (x *extraction) release() {
	if cap(x.scanner.Text.Bytes)+cap(x.text.Bytes) > keep || cap(x.scanner.Links) > keep/32 {
		return
	}
	x.linking.reset()
	clear(x.scanner.Links) // they point into the body
	x.scanner.Scan(nil)
	x.Result, x.base, x.opts = nil, nil, Options{}
	extractions.Put(x)
}

// html reads a page of HTML.
func (x *extraction) html(body []byte) { x.page(body, false) }

// xhtml reads a page of HTML that is XML.
func (x *extraction) xhtml(body []byte) { x.page(body, true) }

func (x *extraction) page(body []byte, xhtml bool) {
	x.base = x.base.InEncoding(x.Charset)
	s := x.scan(body, htmltext.Options{XHTML: xhtml, Parts: true})
	x.Title, x.Language = string(s.Title), language(s.Language)
	x.obey(s)
	x.follow(s)
	x.followRequested()
	if s.Canonical != nil {
		x.Canonical = canonical(x.base, s.Canonical, x.opts.Rules)
	}
	if s.Refresh != nil {
		x.sendOn(s.Refresh)
	}
	x.take(&s.Text)
}

// obey takes note of what a page, or one of several, asks of robots.
func (x *extraction) obey(s *htmltext.Scanner) {
	asked := Directives{x.NoIndex || s.NoIndex, x.NoFollow || s.NoFollow, x.Unavailable}
	if s.Unavailable != nil {
		asked.read(string(s.Unavailable[:min(len(s.Unavailable), 200)]), "")
	}
	x.NoIndex, x.NoFollow, x.Unavailable = asked.NoIndex, asked.NoFollow, asked.Unavailable
}

// scan reads HTML, with the links that are wanted.
func (x *extraction) scan(body []byte, o htmltext.Options) *htmltext.Scanner {
	o.Images, o.Forms, o.Anchors, o.Scripts = x.opts.Images, x.opts.Forms, x.opts.Anchors, x.opts.Scripts
	o.RobotsName = robotsName(x.opts.RobotsName)
	o.MaxBlocks = formats.Default.Blocks
	o.MaxLinks = min(x.opts.MaxLinks, 1<<24) * candidatesPerLink
	x.scanner.Options = o
	x.scanner.Scan(body)
	return &x.scanner
}

// rebase makes references relative to another URL, unless it is none.
func (x *extraction) rebase(ref []byte) {
	if b, err := x.base.Rebase(ref); err == nil {
		x.base = b
	}
}

// take copies the text into the result.
func (x *extraction) take(t *webrace.Text) {
	x.Text = &webrace.Text{
		Bytes:  append([]byte(nil), t.Bytes...),
		Blocks: append([]webrace.Block(nil), t.Blocks...),
		Cut:    t.Cut,
		Feed:   t.Feed,

		Entries: append([]webrace.Entry(nil), t.Entries...),
	}
}

// language returns a declared language if it looks like a BCP 47 tag.
func language(declared []byte) string {
	tag := strings.ReplaceAll(strings.TrimSpace(string(declared)), "_", "-")
	const longest = 35 // RFC 5646, section 4.4.1
	if len(tag) > longest {
		return ""
	}
	for _, c := range []byte(tag) {
		if c != '-' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			return ""
		}
	}
	return tag
}
