package formats

import (
	"github.com/webrace/webrace"
)

// paragraphs collects the text of paragraphs, which may have others within: in notes and boxes.
type paragraphs struct {
	*writer
	open  []paragraph
	depth int  // of what is skipped, with all that is in it; 0 outside
	full  bool // there is no place for more
}

type paragraph struct {
	text  []byte
	field webrace.Field
	title bool // a heading of the first level, which is the title of a document that declares none
}

// top returns the innermost paragraph; nil outside of any.
func (p *paragraphs) top() *paragraph {
	if len(p.open) == 0 {
		return nil
	}
	return &p.open[len(p.open)-1]
}

func (p *paragraphs) begin(field webrace.Field) {
	if len(p.open) >= p.limits.Depth {
		p.exceed("what is nested deeper than %d levels is left out", p.limits.Depth)
		p.end()
	}
	p.open = append(p.open, paragraph{field: field})
}

// add adds text to the innermost paragraph.
func (p *paragraphs) add(text ...byte) {
	if top := p.top(); top != nil && len(top.text) <= p.limits.Text {
		top.text = append(top.text, text...)
	}
}

// end writes the innermost paragraph.
func (p *paragraphs) end() {
	top := p.top()
	if top == nil {
		return
	}
	p.open = p.open[:len(p.open)-1]
	text := collapse(string(top.text))
	if top.title && p.Title == "" {
		p.Title = shorten(text, longestTitle)
	}
	if !p.block([]byte(text), top.field) {
		p.full = true
	}
}

// longestTitle is how long a heading may be to be the title.
const longestTitle = 250

// skip reports whether an element that begins, or another tag within it, is passed over.
func (p *paragraphs) skip(begins, empty bool) bool {
	if p.depth == 0 && !begins {
		return false
	}
	if !empty {
		p.depth++
	}
	return true
}

// skipEnd handles an end tag, and reports whether it is within what is passed over.
func (p *paragraphs) skipEnd() bool {
	if p.depth == 0 {
		return false
	}
	p.depth--
	return true
}

// heading makes the innermost paragraph a heading of a level; 0 is the title.
func (p *paragraphs) heading(level int) {
	if top := p.top(); top != nil && top.field != webrace.FieldNavigation && level <= 3 {
		top.field, top.title = webrace.FieldHeading, level <= 1
	}
}
