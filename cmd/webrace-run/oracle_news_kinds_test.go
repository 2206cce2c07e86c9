package main

import (
	"fmt"
	"slices"
)

// oracleParts are what URDs select: elements of these classes, or members of these names.
var oracleParts = []string{"a", "b"}

// oracleProse is a page whose blocks come, go, come back and are edited, and of whose parts one may vanish for a while.
type oracleProse struct {
	*oracleSite
	*oracleDocument
	*oraclePlace
	heading oracleBlock
	blocks  []oracleBlock
	gone    []oracleBlock
	dressed int // how its markup is
}

func newOracleProse(s *oracleSite) *oracleProse {
	p := &oracleProse{oracleSite: s, oracleDocument: new(oracleDocument), oraclePlace: s.newPlace("page")}
	p.heading = oracleBlock{words: s.words(), counts: 2}
	for range 2 + s.IntN(5) {
		p.blocks = append(p.blocks, p.block())
	}
	return p
}

func (p *oracleProse) rules() (language string, parts []string) { return "css", oracleParts }

func (p *oracleProse) block() oracleBlock {
	return oracleBlock{p.words(), 1, oneOf(p.Rand, "", "", "a", "b")}
}

// change lets blocks come and go, two times out of three.
func (p *oracleProse) change() {
	for range p.IntN(3) {
		n := len(p.blocks)
		if n == 0 {
			p.blocks = append(p.blocks, p.block())
			continue
		}
		switch i := p.IntN(n); p.IntN(10) {
		case 0, 1:
			p.blocks = slices.Insert(p.blocks, i, p.block())
		case 2:
			p.gone = append(p.gone, p.blocks[i])
			p.blocks = slices.Delete(p.blocks, i, i+1)
		case 3:
			if len(p.gone) > 0 {
				p.blocks = slices.Insert(p.blocks, i, oneOf(p.Rand, p.gone...))
			}
		case 4:
			p.gone = append(p.gone, p.blocks[i])
			p.blocks[i].words = p.words()
		case 5: // a part vanishes, or is back
			part := oneOf(p.Rand, oracleParts...)
			was := len(p.gone)
			p.blocks = slices.DeleteFunc(p.blocks, func(b oracleBlock) bool {
				if b.part == part {
					p.gone = append(p.gone, b)
				}
				return b.part == part
			})
			if was == len(p.gone) && was > 0 {
				p.blocks = append(p.blocks, p.gone[was-1])
			}
		case 6:
			p.heading.words = p.words()
		case 7:
			p.dressed++
		case 8:
			j := p.IntN(n)
			p.blocks[i], p.blocks[j] = p.blocks[j], p.blocks[i]
		case 9:
			p.blocks[i].words = oneOf(p.Rand, p.blocks...).words
		}
	}
}

func (p *oracleProse) publish() {
	page := oraclePage{doc: p.oracleDocument}
	page.body = "<!DOCTYPE html>"
	page.add("title", oracleBlock{words: "Levanda", counts: 4})
	page.add(fmt.Sprintf("h1 id=h%d", p.dressed), p.heading)
	for _, b := range p.blocks {
		page.add("p", b)
	}
	p.pages[p.at] = page
}
