package article

import (
	"golang.org/x/net/html"

	"github.com/webrace/webrace/internal/htmltree"
)

const (
	least = 100 // letters of prose that a page with a main part has

	// Of all prose of a page, in eighths: what an element holds at least that is taken at its word.
	shareOfBody, shareOfContent, shareOfMain = 2, 3, 2

	// Of what a container holds, in hundredths: what an element within it must hold to be the container instead.
	shareOfInner, shareOfInnerBody = 90, 95

	leadLevels = 4 // so far above the container a lead is looked for
)

// choose finds the main part: one container, and what leads to it, each without what is beside it.
func (p *page) choose(a *Article) {
	p.judge()
	p.leave()
	at := p.container()
	if at < 0 {
		return
	}
	p.prune(at)
	p.pruneHeadings(at)
	if l := p.lead(at); l >= 0 {
		a.add(p, l)
	}
	a.add(p, at)
}

// add adds an element to the main part.
func (a *Article) add(p *page, at int32) {
	a.Main = append(a.Main, p.elements[at].node)
	for i := at + 1; i < p.elements[at].end; {
		e := &p.elements[i]
		if !e.out {
			i++
			continue
		}
		if a.without == nil {
			a.without = make(map[*html.Node]struct{})
		}
		a.without[e.node] = struct{}{}
		i = e.end
	}
}

// judge finds what is none of any main part by what it is or is called.
func (p *page) judge() {
	total := p.elements[0].all.prose
	for i := 1; i < len(p.elements); {
		e := &p.elements[i]
		if e.isBeside(total) {
			e.out = true
			i = int(e.end)
			continue
		}
		i++
	}
}

// isBeside reports whether an element of a page with so much prose is none of a main part. What holds most of the page,
// or the text of an article, is called as it is for another reason.
func (e *element) isBeside(total int32) bool {
	switch most := 2*e.all.prose >= total; {
	case e.is&(document|control) != 0:
		return e.is&control != 0 && e.hint&aside == 0 && (e.holds&code == 0 || e.node.Data != "aside")
	case e.is&hidden != 0:
		return !most
	case e.hint&replies != 0: // they may be longer than the article
		return e.holds&body == 0 && (e.holds&title == 0 || !most)
	case e.hint&dated != 0:
		return e.all.prose == 0 && e.holds&title == 0
	case e.hint&beside != 0:
		return e.holds&(body|title|code) == 0 && !most
	}
	return false
}

// leave sums up what is left.
func (p *page) leave() {
	for i := len(p.elements) - 1; i >= 0; i-- {
		e := &p.elements[i]
		e.left.add(e.itself())
		if e.parent >= 0 && !e.out {
			p.elements[e.parent].left.add(e.left)
		}
	}
}

// container returns the number of the element that holds the main part; -1 if there is none. It is what the page calls
// the text of an article, an article, or its main part; or else, from there on, the innermost that holds nearly all.
func (p *page) container() int32 {
	total := p.elements[0].left.prose
	if total < least {
		return -1
	}
	at := int32(0)
	for _, named := range []struct {
		hint
		share int32
	}{{body, shareOfBody}, {content, shareOfContent}, {main, shareOfMain}} {
		if best := p.most(named.hint); best >= 0 && 8*p.elements[best].left.prose >= named.share*total {
			at = best
			break
		}
	}
	share := int32(shareOfInner)
	if p.elements[at].hint&body != 0 {
		share = shareOfInnerBody
	}
	for {
		inner := p.inner(at, share)
		if inner < 0 {
			return at
		}
		at = inner
	}
}

// most returns the number of the element with a hint that holds the most prose, and of those within each other that
// hold nearly as much the innermost; -1 if there is none.
func (p *page) most(hint hint) int32 {
	best, most := int32(-1), int32(0)
	for i := int32(1); i < int32(len(p.elements)); {
		e := &p.elements[i]
		if e.out {
			i = e.end
			continue
		}
		if e.hint&hint != 0 && e.canContain() &&
			(e.left.prose > most || best >= 0 && i < p.elements[best].end && 100*e.left.prose >= shareOfInnerBody*most) {
			best, most = i, e.left.prose
		}
		i++
	}
	return best
}

// inner returns the number of the child that holds such a share of what an element does; -1 if there is none.
func (p *page) inner(at, share int32) int32 {
	whole := p.elements[at].mass()
	for i := at + 1; i < p.elements[at].end; i = p.elements[i].end {
		if e := &p.elements[i]; !e.out && e.canContain() && 100*int64(e.mass()) >= int64(share)*int64(whole) {
			if p.isOneOfMany(i) || p.elements[at].holds&(code|section) != 0 && p.isHeaded(i) {
				return -1
			}
			return i
		}
	}
	return -1
}

// isOneOfMany reports whether an element stands beside others of its name and class that hold prose, as sections do.
func (p *page) isOneOfMany(at int32) bool {
	e := &p.elements[at]
	for i := e.parent + 1; i < p.elements[e.parent].end; i = p.elements[i].end {
		if s := &p.elements[i]; i != at && !s.out && s.left.prose > 0 && s.node.Data == e.node.Data && classOf(s.node) == classOf(e.node) {
			return true
		}
	}
	return false
}

// isHeaded reports whether a heading of the element around it stands before an element.
func (p *page) isHeaded(at int32) bool {
	for i := p.elements[at].parent + 1; i < at; i = p.elements[i].end {
		if s := &p.elements[i]; !s.out && s.holds&headed != 0 {
			return true
		}
	}
	return false
}

func classOf(n *html.Node) string {
	if v := htmltree.Value(n.Attr, "class"); v != nil {
		return *v
	}
	return ""
}

func (e *element) canContain() bool { return e.is&(inline|paragraph|item) == 0 }

// mass weighs the prose of an element, and the rest of its text that is in no link, less.
func (e *element) mass() int32 { return (7*e.left.prose + 3*(e.left.text-e.left.link)) / 10 }

// lead returns the number of an element before the container that an article begins with: called so, or a paragraph
// that stands with the title; -1 if there is none.
func (p *page) lead(at int32) int32 {
	most := p.elements[at].left.prose / 4
	seen := at // from here on, all has been looked at
	for from, level := p.elements[at].parent, 0; from > 0 && level < leadLevels; from, level = p.elements[from].parent, level+1 {
		for i := from + 1; i < seen; {
			e := &p.elements[i]
			switch {
			case e.out:
				i = e.end
				continue
			case e.end > at || e.left.prose == 0 || e.left.prose >= most || e.holds&title != 0:
			case e.hint&lead != 0, e.is&paragraph != 0 && p.elements[e.parent].node.Data == "header":
				return i
			}
			i++
		}
		seen = from
		if up := &p.elements[from]; up.holds&title != 0 || up.node.Data == "article" || up.node.Data == "main" {
			break
		}
	}
	return -1
}
