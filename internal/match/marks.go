package match

import "github.com/webrace/webrace"

// Mark is an occurrence of a keyword in a text: the bytes Start to End of it, symbols included.
type Mark struct {
	Start, End int
	Keyword    string // as it is written in the profile
}

// Marks returns where the text has the keywords of a profile that count, in the order of the text. Marks may
// overlap: a word can belong to several keywords.
func Marks(c *Compiled, text *webrace.Text) (marks []Mark) {
	p := openPageFor(c, text, nil)
	defer p.close()
	for _, f := range p.found(c, everything) {
		marks = append(marks, Mark{int(f.from), int(f.to), c.atoms[f.atom].written})
	}
	return marks
}
