package htmltext

import (
	"encoding/binary"
	"math/bits"

	"github.com/webrace/webrace/internal/swar"
)

// flow is what an element does to the text around its tags.
type flow uint8

const (
	breaks flow = iota // it ends the block; what is not known otherwise does
	joins              // it is part of the running text: "un<b>do</b>" is one word
	spaces             // it stands in the running text and separates words: an image, a button
)

// raw is how an element's content is read.
type raw uint8

const (
	notRaw     raw = iota
	rawSkipped     // up to its end tag, and dropped
	rawScript      // the same, by the rules of scripts
	rawShown       // up to its end tag, and shown as it is
	rawDecoded     // up to its end tag, character references decoded
	rawRest        // to the end of the page, and shown as it is
)

// heading is what an element has to do with headings.
type heading uint8

const (
	noHeading     heading = iota
	opensHeading          // h1 to h3
	closesHeading         // h4 to h6: the standard lets any end tag of a heading close any heading
	endsHeading           // what cannot stand within a heading: one left open has ended
)

// id tells apart the elements that have an effect of their own.
type id uint8

const (
	elemOther id = iota
	elemA
	elemArea
	elemBase
	elemForm
	elemFrame
	elemHTML
	elemImg
	elemLink
	elemMeta
	elemNav // nav, footer and aside are counted in one array, in this order
	elemFooter
	elemAside
	elemTemplate
	elemNoScript
	elemSVG
	elemMath
	elemTitle
	elemPre
	elemRuby // ruby, what is in it, and sup, in this order: see beside.go
	elemRB
	elemRP
	elemRT
	elemSup
	elemDialog
	elemForeignObject
	elemDesc
	elemMI // what may hold HTML within MathML, mi to annotation-xml, in this order
	elemMN
	elemMO
	elemMS
	elemMText
	elemAnnotationXML
)

// element is what the scanner knows of an element by its name.
type element struct {
	name     string
	id       id
	flow     flow
	raw      raw
	heading  heading
	frame    frame
	attrs    bool // its attributes matter
	breakout bool // within SVG or MathML it ends them: a page forgot to
	plain    bool // outside of these its tags say nothing at all
}

var unknown = element{}

// elements lists the elements that differ from an unknown one. Breakouts are those of section 13.2.6.5.
var elements = build(
	each(element{flow: joins}, "abbr acronym bdi bdo cite data del dfn font ins kbd label mark meter "+
		"output q samp time wbr mrow msup msub mfrac msqrt semantics "+
		"annotation"),
	each(element{flow: joins, breakout: true}, "b big code em i nobr s small span strong strike sub tt u var"),
	each(element{flow: joins, breakout: true, id: elemRuby}, "ruby"),
	each(element{flow: joins, breakout: true, id: elemSup}, "sup"),
	each(element{flow: joins, id: elemRB}, "rb"),
	each(element{flow: joins, id: elemRP}, "rp"),
	each(element{flow: joins, id: elemRT}, "rt rtc"),
	each(element{id: elemDialog}, "dialog"),
	each(element{flow: spaces}, "audio button canvas input object picture progress select source track video"),
	each(element{flow: spaces, breakout: true}, "embed"),
	each(element{breakout: true}, "body br center dd head"),
	each(element{breakout: true, frame: frameBox}, "div"),
	each(element{breakout: true, frame: frameTerm}, "dt"),
	each(element{breakout: true, frame: frameItem}, "li"),
	each(element{breakout: true, frame: frameList}, "menu"),
	each(element{heading: endsHeading, frame: frameArticle}, "article"),
	each(element{heading: endsHeading, frame: frameBox}, "section"),
	each(element{heading: endsHeading, frame: frameAny}, "main"),
	each(element{heading: endsHeading, breakout: true}, "blockquote hr p"),
	each(element{heading: endsHeading, breakout: true, frame: frameList}, "ol ul"),
	each(element{heading: endsHeading, breakout: true, frame: frameAny}, "dl"),
	each(element{heading: endsHeading, breakout: true, frame: frameTable}, "table"),
	each(element{frame: frameRows}, "tbody thead tfoot"),
	each(element{frame: frameRow}, "tr"),
	each(element{heading: endsHeading, breakout: true, id: elemPre}, "pre"),
	each(element{breakout: true, id: elemPre}, "listing"),
	each(element{heading: opensHeading, breakout: true}, "h1 h2 h3"),
	each(element{heading: closesHeading, breakout: true}, "h4 h5 h6"),
	each(element{raw: rawSkipped, flow: joins}, "style noembed noframes"),
	each(element{raw: rawSkipped, flow: joins, id: elemNoScript}, "noscript"),
	each(element{raw: rawScript, flow: joins}, "script"),
	each(element{raw: rawShown, id: elemPre}, "xmp"),
	each(element{raw: rawRest, id: elemPre}, "plaintext"),
	each(element{raw: rawDecoded, flow: spaces}, "textarea"),
	each(element{raw: rawDecoded, id: elemTitle}, "title"),
	each(element{raw: rawSkipped, flow: spaces, id: elemFrame, attrs: true}, "iframe"),
	each(element{id: elemFrame, attrs: true}, "frame"),
	each(element{id: elemA, flow: joins, attrs: true, frame: frameLink}, "a"),
	each(element{id: elemArea, flow: joins, attrs: true}, "area"),
	each(element{id: elemBase, flow: joins, attrs: true}, "base"),
	each(element{id: elemLink, flow: joins, attrs: true}, "link"),
	each(element{id: elemMeta, flow: joins, attrs: true, breakout: true}, "meta"),
	each(element{id: elemImg, flow: spaces, attrs: true, breakout: true}, "img"),
	each(element{id: elemForm, heading: endsHeading, attrs: true}, "form"),
	each(element{id: elemHTML, attrs: true}, "html"),
	each(element{id: elemNav, heading: endsHeading, frame: frameAny}, "nav"),
	each(element{id: elemFooter, heading: endsHeading, frame: frameAny}, "footer"),
	each(element{id: elemAside, heading: endsHeading, frame: frameAny}, "aside"),
	each(element{id: elemTemplate, flow: joins}, "template"),
	each(element{id: elemSVG, flow: spaces}, "svg"),
	each(element{id: elemMath, flow: spaces}, "math"),
	each(element{id: elemForeignObject}, "foreignobject"),
	each(element{id: elemDesc}, "desc"),
	each(element{id: elemMI, flow: joins}, "mi"),
	each(element{id: elemMN, flow: joins}, "mn"),
	each(element{id: elemMO, flow: joins}, "mo"),
	each(element{id: elemMS, flow: joins}, "ms"),
	each(element{id: elemMText, flow: joins}, "mtext"),
	each(element{id: elemAnnotationXML}, "annotation-xml"),
)

// The table is looked up once a tag, and most names are short: those are packed into a word, and found by an open hash
// over these, so that no string is made, and none compared.
type table struct {
	short [1 << tableBits]entry
	long  map[string]*element // those of more than eight bytes
}

const (
	tableBits = 9
	longest   = 16 // bytes in the longest name of the table
)

type entry struct {
	name uint64 // in lower case, its first byte the lowest; 0 for none
	el   *element
}

func pack(name string) (packed uint64) {
	for i := range len(name) {
		packed |= uint64(lower[name[i]]) << (8 * i)
	}
	return packed
}

func slot(name uint64) uint64 { return name * 0xff51afd7ed558ccd >> (64 - tableBits) }

func build(groups ...[]*element) *table {
	t := &table{long: make(map[string]*element)}
	for i := range t.short {
		t.short[i].el = &unknown
	}
	for _, group := range groups {
		for _, el := range group {
			if len(el.name) > 8 {
				t.long[el.name] = el
				continue
			}
			name := pack(el.name)
			i := slot(name)
			for t.short[i].name != 0 {
				i = (i + 1) % uint64(len(t.short))
			}
			t.short[i] = entry{name, el}
		}
	}
	return t
}

func each(like element, names string) (group []*element) {
	for start, i := 0, 0; i <= len(names); i++ {
		if i == len(names) || names[i] == ' ' {
			el := like
			el.name = names[start:i]
			el.plain = el.flow == joins && el.id == elemOther && el.raw == notRaw && el.heading == noHeading && !el.attrs
			group = append(group, &el)
			start = i + 1
		}
	}
	return group
}

func (t *table) find(name uint64) *element {
	for i := slot(name); ; i = (i + 1) % uint64(len(t.short)) {
		if e := &t.short[i]; e.name == name || e.name == 0 {
			return e.el
		}
	}
}

// findWritten does the same with a name as it is written.
func (t *table) findWritten(name []byte) *element {
	var small [longest]byte
	if len(name) > longest {
		return &unknown
	}
	for i, c := range name {
		if c == 0 { // it would be none in a word
			return &unknown
		}
		small[i] = lower[c]
	}
	if len(name) <= 8 {
		return t.find(binary.LittleEndian.Uint64(small[:]))
	}
	if el := t.long[string(small[:len(name)])]; el != nil {
		return el
	}
	return &unknown
}

// tagName returns the element whose name begins at i, and where the name ends.
func (s *Scanner) tagName(i int) (*element, int) {
	if i+8 <= len(s.src) {
		const ofLetters = 0x40 * swar.Each
		x := binary.LittleEndian.Uint64(s.src[i:])
		end := bits.TrailingZeros64(^x&ofLetters) &^ 7 // in bits; a digit ends it, too
		if c := byte(x >> end); c == '>' || c == ' ' {
			small := x | 0x20*swar.Each // and what is no letter becomes none
			return elements.find(small & (1<<end - 1)), i + end/8
		}
	}
	return s.longName(i)
}

// longName does the same with any name.
func (s *Scanner) longName(i int) (*element, int) {
	start := i
	for i < len(s.src) && !endsName[s.src[i]] {
		i++
	}
	return elements.findWritten(s.src[start:i]), i
}

var (
	lower     = lowerCase()          // ASCII letters in lower case
	endsName  = class(" \t\n\f\r/>") // what ends the name of a tag
	endsKey   = class(" \t\n\f\r/>=")
	endsValue = class(" \t\n\f\r>")
)

func lowerCase() (t [256]byte) {
	for c := range t {
		t[c] = byte(c)
		if 'A' <= c && c <= 'Z' {
			t[c] |= 0x20
		}
	}
	return t
}

func class(members string) (t [256]bool) {
	for i := range len(members) {
		t[members[i]] = true
	}
	return t
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isSpace(c byte) bool {
	return c <= ' ' && (c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f')
}
