package match

import "github.com/webrace/webrace"

// Keywords returns how many of the different keywords of the profiles the text has, those counted once more
// that several segments hold. It looks at no profile: this is the part of matching whose cost depends on the
// page alone.
func (v *View) Keywords(text *webrace.Text) (n int) {
	p := openPage(text, nil)
	defer p.close()
	for i := range v.segments {
		p.scoring.present = p.scoring.present[:0]
		p.findAtoms(v.segments[i].segment, everything)
		for i := range p.scoring.present {
			if !p.scoring.present[i].frequency.zero() {
				n++
			}
		}
	}
	return n
}
