package xmlschema

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/webrace/webrace/internal/suggest"
)

// maxProblems is how many findings of one document are reported before reading stops.
const maxProblems = 100

// Decoder reads one document. Choose what to read with one of its methods, once; then look at
// [Decoder.Err] and [Decoder.Warnings].
type Decoder struct {
	file  string
	limit int64
	check func(*URD) []Fault // nil for none
	src   *source
	xml   *xml.Decoder
	in    io.Reader

	legacy bool // the dialect of the papers, without a namespace
	depth  int
	ids    map[string]int // where the ids of the document's items were first used
	ended  bool           // nothing more can be read
	opened bool
	root   *node // that Root has read; nil if it was not asked
	item   *node // that was yielded last
	rooted bool  // the root's start tag was read

	errs  Problems
	warns Problems
	err   error // of the reader
}

// Option changes how a document is read.
type Option func(*Decoder)

// Name sets what file the document is from, for its problems.
func Name(file string) Option { return func(d *Decoder) { d.file = file } }

// SizeLimit replaces [MaxDocument], for large files of trusted origin.
func SizeLimit(bytes int64) Option { return func(d *Decoder) { d.limit = bytes } }

// NewDecoder returns a decoder of the document in r. Nothing is read yet.
func NewDecoder(r io.Reader, options ...Option) *Decoder {
	d := &Decoder{in: r, limit: MaxDocument, ids: make(map[string]int)}
	for _, option := range options {
		option(d)
	}
	return d
}

// Err returns what is wrong with the document, as [Problems], or why it could not be read; nil when all
// of it was read and nothing is wrong.
func (d *Decoder) Err() error {
	if d.err != nil {
		return fmt.Errorf("read %s: %w", orElse(d.file, "document"), d.err)
	}
	if len(d.errs) > 0 {
		return d.errs.sorted()
	}
	return nil
}

// Warnings returns what is valid in the document, but probably not what was meant.
func (d *Decoder) Warnings() Problems { return d.warns.sorted() }

// Root returns what the document is, without reading more than its first tag: "urds", "urd", "acis", "aci", "meta" or
// "profile", also for the papers' other names; empty if it is none of them, which [Decoder.Err] then reports. Any other
// method may follow.
func (d *Decoder) Root() string {
	if d.root = d.open(); d.root == nil {
		return ""
	}
	d.opened = false
	return d.root.name
}

// URDs yields the requests of a document of either one or many, in order, each as soon as it is read.
// Requests with problems are left out: a caller that wants all or none collects them and looks at
// [Decoder.Err] first.
func (d *Decoder) URDs() iter.Seq[*URD] { return items(d, "urd", bindURD) }

// ACIs yields the annotations of a document of either one or many, as URDs does for requests.
func (d *Decoder) ACIs() iter.Seq[*ACI] { return items(d, "aci", bindACI) }

// Place returns where the item begins that URDs or ACIs yielded last, and its path, as a [Problem] has them.
func (d *Decoder) Place() (line, column int, path string) {
	if d.item == nil {
		return 0, 0, ""
	}
	return d.item.at.line, d.item.at.column, d.item.path()
}

// URD reads a document that is one request.
func (d *Decoder) URD() (*URD, error) { return single(d, "urd", bindURD) }

// ACI reads a document that is one annotation.
func (d *Decoder) ACI() (*ACI, error) { return single(d, "aci", bindACI) }

// Meta reads a document's meta-information.
func (d *Decoder) Meta() (*Meta, error) { return single(d, "meta", bindMeta) }

func single[T any](d *Decoder, kind string, bind func(*binding) *T) (*T, error) {
	root := d.open()
	if root != nil && root.name != kind {
		d.problem(root, root.at, "", fmt.Sprintf("the document is <%s>, not <%s>", root.name, kind), suggest.Nearest(root.name, []string{kind}))
		d.ended = true
	}
	if root == nil || !d.children(root, true) || !d.trailing() {
		return nil, d.Err()
	}
	value := bind(&binding{d: d, n: root})
	if err := d.Err(); err != nil {
		return nil, err
	}
	return value, nil
}

func items[T any](d *Decoder, kind string, bind func(*binding) *T) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		root := d.open()
		switch {
		case root == nil:
			return
		case root.name == kind:
			if d.children(root, true) && d.trailing() {
				each(d, root, bind, yield)
			}
			return
		case root.name != kind+"s":
			d.problem(root, root.at, "", fmt.Sprintf("the document is <%s>, not <%ss> or <%s>", root.name, kind, kind),
				suggest.Nearest(root.name, []string{kind, kind + "s"}))
			d.ended = true
			return
		}
		d.checkListAttributes(root)
		nth := 0
		for item := d.nextItem(root); item != nil; item = d.nextItem(root) {
			d.refuseText(root)
			root.text = root.text[:0]
			if item.name != kind {
				d.unknownElement(item, []string{kind})
				continue
			}
			nth++
			item.nth = nth
			if !each(d, item, bind, yield) {
				return
			}
		}
		if d.ended {
			return
		}
		d.refuseText(root)
		d.trailing()
	}
}

// each binds one item and yields it if nothing is wrong with it; false ends the iteration.
func each[T any](d *Decoder, item *node, bind func(*binding) *T, yield func(*T) bool) bool {
	before := len(d.errs)
	value := bind(&binding{d: d, n: item})
	if len(d.errs) > before {
		return !d.ended
	}
	d.item = item
	return yield(value)
}

// checkListAttributes refuses attributes on a list, except those of the papers' cache, which tell
// nothing about what it holds.
func (d *Decoder) checkListAttributes(root *node) {
	b := &binding{d: d, n: root}
	if d.legacy && root.name == "acis" {
		for _, name := range []string{"location", "size", "maxsize", "locked", "unique_id"} {
			b.attr(name)
		}
	}
	b.noMoreAttributes()
}

// open reads up to the root's start tag.
func (d *Decoder) open() *node {
	if d.opened {
		return nil
	}
	d.opened = true
	if d.root != nil {
		return d.root
	}
	r, encoding, problem, err := utf8Reader(d.in, d.limit)
	switch {
	case errors.Is(err, errTooLarge):
		problem = "the document is too large"
	case err != nil:
		d.err, d.ended = err, true
		return nil
	}
	if problem != "" {
		d.malformed(&fault{position{1, 1}, problem})
		return nil
	}
	d.src = &source{r: r, at: position{1, 1}, encoding: encoding}
	d.xml = xml.NewDecoder(d.src)
	d.xml.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	root := d.next(nil)
	if root == nil {
		return nil
	}
	if d.legacy {
		root.name = upgradeName(root.name)
	}
	switch root.name {
	case "urd", "aci", "meta", "urds", "acis":
		return root
	case "profile":
		if !d.legacy {
			return root
		}
	}
	if use := unreadRoots[strings.ToLower(root.name)]; use != "" {
		d.problem(root, root.at, "", fmt.Sprintf("<%s> is not read: %s", root.name, use), "")
	} else {
		d.unknownElement(root, []string{"urd", "aci", "meta", "urds", "acis"})
	}
	d.ended = true
	return nil
}

// unreadRoots are the roots of the papers' other documents, of which there is a definition in dtd, and what to do.
var unreadRoots = map[string]string{
	"accounts": accountsUse, "account": accountsUse,
	"personal": "it is what a user says of themselves; a URD names its owner, and mail-out says where owners have their mail",
	"profile":  "a request states its own keywords, in <keywords>",
}

const accountsUse = "it holds the accounts of people, and nothing here has any; a URD names its owner, and webrace-store owner what each may use"

// upgradeName gives the papers' other names for an item their present one.
func upgradeName(name string) string {
	switch name {
	case "source":
		return "urd"
	case "annotation":
		return "aci"
	case "cache":
		return "acis"
	}
	return name
}

// nextItem reads the next child of the root whole; nil at the end.
func (d *Decoder) nextItem(root *node) *node {
	n := d.next(root)
	if n == nil || !d.children(n, true) {
		return nil
	}
	if d.legacy {
		n.name = upgradeName(n.name)
	}
	return n
}

// children reads what is in n up to its end tag; false if the document ends before it.
func (d *Decoder) children(n *node, limited bool) bool {
	if limited && n.name != "meta" {
		d.src.itemEnd = d.src.base + MaxItem
		defer func() { d.src.itemEnd = 0 }()
	}
	for kid := d.next(n); kid != nil; kid = d.next(n) {
		n.kids = append(n.kids, kid)
		if !d.children(kid, false) {
			return false
		}
	}
	return !d.ended
}

// next reads up to the next start tag in parent, whose text it collects. It returns nil at the parent's
// end tag and, with ended set, where the document stops making sense.
func (d *Decoder) next(parent *node) *node {
	for !d.ended {
		token, at, raw := d.token()
		switch token := token.(type) {
		case nil:
			return nil
		case xml.StartElement:
			if d.depth++; d.depth > MaxDepth {
				return d.malformed(&fault{at, fmt.Sprintf("elements are nested more than %d deep", MaxDepth)})
			}
			d.rooted = true
			n, problem := d.element(parent, token, at, raw)
			switch {
			case problem != nil:
				return d.malformed(problem)
			case d.ended:
				return nil
			}
			return n
		case xml.EndElement:
			d.depth--
			return nil
		case xml.CharData:
			if parent == nil {
				if problem := strayText(at, raw); problem != nil {
					return d.malformed(problem)
				}
				continue
			}
			parent.gather(token, at, raw)
		}
	}
	return nil
}

// token reads one token and returns where it begins and what it was written as. It returns none at the end
// of the document and, with ended set, where that stops making sense.
func (d *Decoder) token() (xml.Token, position, []byte) {
	d.src.discard(d.xml.InputOffset())
	at := d.src.at
	token, err := d.xml.Token()
	if err == nil {
		raw := d.src.raw(d.xml.InputOffset())
		if problem := overlooked(token, at, raw); problem != nil {
			d.malformed(problem)
			return nil, at, nil
		}
		return token, at, raw
	}
	var syntax *xml.SyntaxError
	raw := d.src.raw(d.xml.InputOffset())
	switch {
	case d.src.fault != nil:
		d.malformed(d.src.fault)
	case d.src.err != nil:
		d.err, d.ended = d.src.err, true
	case errors.Is(err, io.EOF) && d.rooted:
	case errors.Is(err, io.EOF):
		d.malformed(&fault{d.src.at.after(d.src.tape), "the document has no element"})
	case errors.As(err, &syntax) && strings.HasPrefix(syntax.Msg, "unexpected EOF"):
		d.malformed(&fault{d.src.at.after(d.src.tape), "the document ends too early"})
	case errors.As(err, &syntax) && bytes.HasPrefix(raw, []byte("</")):
		d.malformed(&fault{at, withRemedy(syntax.Msg)})
	case errors.As(err, &syntax):
		d.malformed(&fault{at.after(raw[:max(0, len(raw)-1)]), withRemedy(syntax.Msg)})
	default:
		d.malformed(&fault{at, strings.TrimPrefix(err.Error(), "xml: ")})
	}
	return nil, at, nil
}

// withRemedy adds what to write instead of a character that XML gives a meaning to, as in when="number < 100".
func withRemedy(syntax string) string {
	switch {
	case strings.HasPrefix(syntax, "unescaped <"):
		return syntax + "; write &lt; for <"
	case strings.HasSuffix(syntax, "(no semicolon)"):
		return syntax + "; write &amp; for &"
	default:
		return syntax
	}
}

// trailing reads to the end of the document and refuses anything but comments after its root.
func (d *Decoder) trailing() bool {
	for !d.ended {
		token, at, raw := d.token()
		switch token.(type) {
		case nil:
			return !d.ended
		case xml.StartElement:
			d.malformed(&fault{at, "the document has a second root"})
		case xml.CharData:
			if problem := strayText(at, raw); problem != nil {
				d.malformed(problem)
			}
		}
	}
	return false
}

func strayText(at position, raw []byte) *fault {
	if trim(string(raw)) == "" {
		return nil
	}
	return &fault{firstInk(at, raw), "text outside the document's element"}
}

// firstInk is the place of the first character that is not white space.
func firstInk(at position, raw []byte) position {
	i := 0
	for i < len(raw) && isSpace(raw[i]) {
		i++
	}
	if i == len(raw) {
		return at
	}
	return at.after(raw[:i])
}
