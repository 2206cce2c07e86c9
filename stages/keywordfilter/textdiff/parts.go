package textdiff

import (
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/normalform"
)

// wholes says, of two texts, which of their parts of pages are shown as one: those that both have by their links, and
// those of which one text has a block that the other has not, or which it has more often. The blocks of others stand for
// themselves, as where their links are others at each request.
func wholes(old, now *webrace.Text) (inOld, inNow []bool) {
	if old == nil || now == nil {
		return nil, nil
	}
	before, after := partsOf(old), partsOf(now)
	return before.wholes(after), after.wholes(before)
}

// partsOf is what is known of the parts of a text.
type parts struct {
	text     *webrace.Text
	forms    []string // of its blocks
	blocks   map[string]bool
	links    map[uint64]int
	contents []string // of its entries
	alike    map[string]int
}

func partsOf(t *webrace.Text) *parts {
	p := &parts{text: t, blocks: make(map[string]bool), links: make(map[uint64]int), contents: make([]string, len(t.Entries)), alike: make(map[string]int)}
	for _, b := range t.Blocks {
		form := normalform.String(collapse(strings.ToValidUTF8(string(t.Compared(b)), "")))
		p.forms, p.blocks[form] = append(p.forms, form), true
		if b.Entry > 0 {
			p.contents[b.Entry-1] += form + "\x00"
		}
	}
	for i, e := range t.Entries {
		if e.IsPart() {
			p.links[e.Link]++
			p.alike[p.contents[i]]++
		}
	}
	return p
}

// wholes returns which of the entries are shown as one, beside another text.
func (p *parts) wholes(other *parts) []bool {
	whole := make([]bool, len(p.text.Entries))
	for i, e := range p.text.Entries {
		content := p.contents[i]
		switch {
		case !e.IsPart() || p.links[e.Link] == 1 && other.links[e.Link] == 1:
			whole[i] = true
		case p.links[e.Link] > 1 || other.links[e.Link] > 0:
		default:
			whole[i] = other.alike[content] > 0 && p.alike[content] > other.alike[content]
		}
	}
	for i, b := range p.text.Blocks {
		if b.Entry > 0 && other.links[p.text.Entries[b.Entry-1].Link] == 0 && !other.blocks[p.forms[i]] {
			whole[b.Entry-1] = true
		}
	}
	return whole
}
