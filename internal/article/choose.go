package article

import "golang.org/x/net/html"

// choose finds the main part.
func (p *page) choose(a *Article) {
	at := p.container()
	if at < 0 {
		return
	}
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

// container returns the number of the element that holds the main part; -1 if there is none.
func (p *page) container() int32 {
	at := int32(0)
	if p.elements[0].prose < 100 {
		return -1
	}
descend:
	for {
		for i := at + 1; i < p.elements[at].end; i = p.elements[i].end {
			e := &p.elements[i]
			if !e.out && 4*e.prose >= 3*p.elements[at].prose && e.is&inline == 0 && e.node.Data != "p" {
				at = i
				continue descend
			}
		}
		return at
	}
}
