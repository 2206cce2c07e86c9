package readfile

import (
	"bufio"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"github.com/webrace/webrace/pipeline"
)

// deepest is how many elements may be open at once.
const deepest = 1000

// elements gives the elements of a document that a path selects as records, one after the other. Nothing is
// kept of what has been read but the names of the elements that are open.
type elements struct {
	path    path
	most    int64 // bytes of a record
	in      *measured
	decoder *xml.Decoder
	open    []string // the names of elements
}

// elements reads content that is UTF-8 by now: see [decoded].
func (o Options) elements(in *content) reader {
	m := &measured{in: in, behind: make([]byte, 0, 4<<10), most: int64(o.MaxLength), line: 1}
	path, _ := pathOf(o.Record)
	e := &elements{path: path, most: int64(o.MaxLength), in: m, decoder: xml.NewDecoder(m)}
	e.decoder.Entity = xml.HTMLEntity
	e.decoder.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // it is UTF-8 by now
	return e.next
}

func (e *elements) next() (any, error) {
	for {
		token, err := e.token()
		if errors.Is(err, io.EOF) {
			return nil, errEnd
		}
		if err != nil {
			return nil, err
		}
		switch t := token.(type) {
		case xml.StartElement:
			if err := e.enter(t); err != nil {
				return nil, err
			}
			if e.path.selects(e.open) {
				return e.record(t)
			}
		case xml.EndElement:
			e.open = e.open[:len(e.open)-1]
		}
	}
}

// token reads a token, of which the decoder keeps no more than a record may have.
func (e *elements) token() (xml.Token, error) {
	e.in.begin()
	token, err := e.decoder.Token()
	if err != nil && err != io.EOF { // which the decoder returns where a document may end
		err = e.wrong(err)
	}
	return token, err
}

// wrong adds to an error where it is.
func (e *elements) wrong(err error) error {
	var syntax *xml.SyntaxError
	switch isSyntax := errors.As(err, &syntax); {
	case isSyntax && e.in.cutNow:
		err = errTooLong(e.most)
	case isSyntax:
		err = errors.New(syntax.Msg)
	}
	return fmt.Errorf("line %d, column %d: %w", e.in.line, e.in.column, err)
}

// record reads the element whose start tag was read last.
func (e *elements) record(start xml.StartElement) (any, error) {
	from, depth := e.in.read, len(e.open)
	e.in.cut = false
	e.in.passed()
	at := e.in.in.mark
	stack := []*element{newElement(start)} // nil once it is too long, of which nothing is kept
	for {
		token, err := e.token()
		if err != nil {
			return nil, err
		}
		if e.in.cut || e.in.read-from > e.most {
			stack = nil
		}
		switch t := token.(type) {
		case xml.StartElement:
			if err := e.enter(t); err != nil {
				return nil, err
			}
			if stack != nil {
				stack = append(stack, newElement(t))
			}
		case xml.CharData:
			if stack != nil {
				stack[len(stack)-1].text.Write(t)
			}
		case xml.EndElement:
			e.open = e.open[:len(e.open)-1]
			switch inside := len(e.open) >= depth; {
			case inside && stack != nil:
				last := stack[len(stack)-1]
				stack = stack[:len(stack)-1]
				stack[len(stack)-1].add(t.Name.Local, last.value())
			case inside:
			case stack == nil:
				e.in.passed()
				return nil, &badRecord{fmt.Errorf("the element %s is longer than %s", t.Name.Local, pipeline.Size(e.most)), at, ""}
			default:
				e.in.passed()
				return stack[0].record(), nil
			}
		}
	}
}

func (e *elements) enter(t xml.StartElement) error {
	if len(e.open) == deepest {
		return e.wrong(fmt.Errorf("more than %d elements are in one another", deepest))
	}
	e.open = append(e.open, t.Name.Local)
	return nil
}

// element is one as it becomes a value: its attributes and what is in it, by their names.
type element struct {
	fields pipeline.Record
	text   strings.Builder
}

func newElement(start xml.StartElement) *element {
	e := new(element)
	for _, a := range start.Attr {
		if a.Name.Space != "xmlns" && a.Name.Local != "xmlns" {
			e.add(a.Name.Local, a.Value)
		}
	}
	return e
}

// add sets a field. One that is there already becomes a list.
func (e *element) add(name string, value any) {
	if e.fields == nil {
		e.fields = make(pipeline.Record)
	}
	switch before := e.fields[name].(type) {
	case nil:
		e.fields[name] = value
	case []any:
		e.fields[name] = append(before, value)
	default:
		e.fields[name] = []any{before, value}
	}
}

// value is the text of an element that has nothing else.
func (e *element) value() any {
	if e.fields == nil {
		return strings.TrimSpace(e.text.String())
	}
	return e.record()
}

func (e *element) record() pipeline.Record {
	if text := strings.TrimSpace(e.text.String()); text != "" {
		e.add("text", text)
	}
	if e.fields == nil {
		return pipeline.Record{}
	}
	return e.fields
}

// declarationBytes are enough for the encoding that a document declares.
const declarationBytes = 256

var declaredEncoding = regexp.MustCompile(`^<\?xml\s[^>]*encoding\s*=\s*["']([A-Za-z0-9._:-]+)["']`)

// decode makes UTF-8 of the content, which is a document.
func (c *content) decode() { c.Reader = bufio.NewReaderSize(decoded(c.Reader), bufferBytes) }

// decoded returns a document in UTF-8. What means nothing in its encoding becomes U+FFFD.
func decoded(in *bufio.Reader) io.Reader {
	first, _ := in.Peek(1) // waits for no more than there is
	if len(first) > 0 {
		first, _ = in.Peek(min(in.Buffered(), declarationBytes))
	}
	if m := declaredEncoding.FindSubmatch(first); m != nil {
		encoding, name := charset.Lookup(string(m[1]))
		if encoding != nil && !strings.HasPrefix(name, "utf-") { // in UTF-16 it would not have been found
			return encoding.NewDecoder().Reader(in)
		}
	}
	return transform.NewReader(in, unicode.BOMOverride(unicode.UTF8.NewDecoder()))
}

// measured is a document that is read by a decoder, and knows where that is. It lets no more bytes of a token
// through than there is room for: of a longer text the rest is passed over.
type measured struct {
	in           *content
	behind       []byte // the mark of the content, which have been read
	most         int64
	line, column int
	read         int64 // bytes
	given        int64 // of these, bytes of the token
	cutNow       bool  // some of the token were passed over
	cut          bool  // and some of another one since it was last looked at
}

var _ io.ByteReader = (*measured)(nil)

func (m *measured) begin() { m.given, m.cutNow = 0, false }

func (m *measured) ReadByte() (byte, error) {
	for {
		b, err := m.in.ReadByte()
		if err != nil {
			return 0, err
		}
		m.read++
		if m.behind = append(m.behind, b); len(m.behind) == cap(m.behind) {
			m.passed()
		}
		switch {
		case b == '\n':
			m.line, m.column = m.line+1, 0
		case b&0xC0 != 0x80: // no character goes on here
			m.column++
		}
		if m.given >= m.most && b != '<' {
			m.cut, m.cutNow = true, true
			continue
		}
		if m.given++; m.given > 2*m.most+2 {
			return 0, errTooLong(m.most)
		}
		return b, nil
	}
}

// passed moves the mark of the content to where the decoder is.
func (m *measured) passed() {
	m.in.pass(m.behind)
	m.behind = m.behind[:0]
}

func errTooLong(most int64) error {
	return fmt.Errorf("a tag, comment or section is longer than max_length, %s", pipeline.Size(most))
}

// Read is there because a decoder takes nothing else, and is not called.
func (m *measured) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	b, err := m.ReadByte()
	if err != nil {
		return 0, err
	}
	p[0] = b
	return 1, nil
}
