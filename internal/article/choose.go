package article

import "golang.org/x/net/html"

// choose finds the main part.
func (p *page) choose(a *Article) {
	p.judge()
	p.leave()
	at := p.container()
	if at < 0 {
		return
	}
	p.prune(at)
	a.Main = []*html.Node{p.elements[at].node}
	a.without = make(map[*html.Node]struct{})
	for i := at + 1; i < p.elements[at].end; {
		e := &p.elements[i]
		if e.out {
			a.without[e.node] = struct{}{}
			i = e.end
			continue
		}
		i++
	}
}

// judge finds what is none of any main part by what it is or is called.
func (p *page) judge() {
	total := p.elements[0].all.prose
	for i := 1; i < len(p.elements); {
		e := &p.elements[i]
		name := e.node.Data
		if name != "body" && name != "html" && p.isBeside(e, total) {
			e.out = true
			i = int(e.end)
			continue
		}
		i++
	}
}

func (p *page) isBeside(e *element, total int32) bool {
	if e.is&control != 0 {
		return true
	}
	if e.hint&(beside|replies) == 0 || e.holds&(body|title) != 0 {
		return false
	}
	return e.hint&replies != 0 || 2*e.all.prose < total
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

// container returns the number of the element that holds the main part; -1 if there is none.
func (p *page) container() int32 {
	total := p.elements[0].left.prose
	if total < 100 {
		return -1
	}
	at := int32(0)
	for _, hinted := range []hint{body, content, main} {
		if best := p.most(hinted); best >= 0 && 4*p.elements[best].left.prose >= total {
			at = best
			break
		}
	}
descend:
	for {
		for i := at + 1; i < p.elements[at].end; i = p.elements[i].end {
			e := &p.elements[i]
			if !e.out && 8*e.left.prose >= 7*p.elements[at].left.prose && e.is&inline == 0 && e.node.Data != "p" {
				at = i
				continue descend
			}
		}
		return at
	}
}

// most returns the number of the element with a hint that holds the most; -1 if there is none.
func (p *page) most(hinted hint) int32 {
	best, most := int32(-1), int32(0)
	for i := 1; i < len(p.elements); {
		e := &p.elements[i]
		if e.out {
			i = int(e.end)
			continue
		}
		if e.hint&hinted != 0 && e.left.prose > most {
			best, most = int32(i), e.left.prose
		}
		i++
	}
	return best
}

// prune takes out of the main part what is none of it.
func (p *page) prune(at int32) {
	total := p.elements[at].left.prose
	for i := at + 1; i < p.elements[at].end; {
		e := &p.elements[i]
		if !e.out && e.is&inline == 0 {
			switch {
			case e.hint&(beside|caption) != 0 && 4*e.left.prose < total:
				e.out = true
			case e.left.link*2 > e.left.text && e.left.prose == 0 && e.node.Data != "td" && e.node.Data != "th" && e.node.Data != "tr" && e.is&heading == 0 && !e.sentence:
				e.out = true
			}
		}
		if e.out {
			i = e.end
			continue
		}
		i++
	}
}
