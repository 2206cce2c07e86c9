package formats

import (
	"bytes"
	"regexp"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// The library takes time and memory that grow with the square of some documents: it fills up short rows of tables,
// looks for the ends of links again and again, and keeps a note for each list that an empty line is within. All that it
// reads by is replaceable, so what stands around it counts: steps of work, as they are done, of which one is a byte
// that is looked at or a quarter of one that is kept. Blocks and what is within them have each half of them.

const (
	workOfNode = 1 << 10 // a node of the tree, and what is written of it
	workOfLook = 1 << 7  // a look at a line on behalf of a block that is open
	workOfByte = 1 << 2  // a byte that is kept
)

// work counts what the library does for one document.
type work struct {
	source []byte
	memory *memory
	most   int
	left   int
	nodes  int      // within the block that is being read
	marks  int      // of emphasis in it
	block  ast.Node // nil while blocks are found
}

// overWork ends the reading of a document, which is to be cut where a line begins.
type overWork struct{ at int }

// spend takes steps for what stands somewhere in the source.
func (w *work) spend(steps, at int) {
	if w.left -= steps; w.left < 0 || !w.memory.take(steps/workOfByte) {
		at = max(min(at, len(w.source)-1), 0) // where it ends, its last line is too much
		panic(overWork{bytes.LastIndexByte(w.source[:at], '\n') + 1})
	}
}

var workKey = parser.NewContextKey()

// convert writes the page that a source means, and returns where that is to be cut if it takes too much; -1 if not.
func convert(source []byte, most int, m *memory) (page []byte, cutAt int) {
	defer func() {
		if over, is := recover().(overWork); is {
			cutAt = over.at
		}
	}()
	w := &work{source: source, memory: m, most: most, left: most / 2}
	pc := parser.NewContext()
	pc.Set(workKey, w)
	tree := markdown.Parser().Parse(&lineReader{text.NewReader(source), w}, parser.WithContext(pc))
	var out bytes.Buffer
	_ = markdown.Renderer().Render(&out, source, tree) // a bytes.Buffer has no errors
	return out.Bytes(), -1
}

// lineReader counts looks at lines, while blocks are found.
type lineReader struct {
	text.Reader
	*work
}

func (r *lineReader) PeekLine() ([]byte, text.Segment) {
	line, at := r.Reader.PeekLine()
	r.spend(workOfLook, at.Start)
	return line, at
}

// counted makes the parts of a reader of Markdown count.
type counted struct{}

func (counted) Extend(m goldmark.Markdown) { m.Parser().AddOptions(counted{}) }

func (counted) SetParserOption(c *parser.Config) {
	for i, p := range c.BlockParsers {
		c.BlockParsers[i].Value = countedBlock{p.Value.(parser.BlockParser)}
	}
	for i, p := range c.InlineParsers {
		inline := countedInline{p.Value.(parser.InlineParser)}
		c.InlineParsers[i].Value = inline
		if closer, ok := p.Value.(parser.CloseBlocker); ok {
			c.InlineParsers[i].Value = countedLink{inline, closer}
		}
	}
	for i, p := range c.ParagraphTransformers {
		c.ParagraphTransformers[i].Value = countedParagraph{p.Value.(parser.ParagraphTransformer)}
	}
}

// countedBlock counts blocks.
type countedBlock struct{ parser.BlockParser }

func (c countedBlock) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	_, at := reader.Position()
	node, state := c.BlockParser.Open(parent, reader, pc)
	if node != nil {
		pc.Get(workKey).(*work).spend(workOfNode, at.Start)
	}
	return node, state
}

// countedParagraph counts what becomes of a paragraph that may be definitions of links, or a table.
type countedParagraph struct{ parser.ParagraphTransformer }

func (c countedParagraph) Transform(node *ast.Paragraph, reader text.Reader, pc parser.Context) {
	w := pc.Get(workKey).(*work)
	if c.ParagraphTransformer == parser.LinkReferenceParagraphTransformer {
		w.definitions(node.Lines())
	} else {
		w.table(node.Lines())
	}
	c.ParagraphTransformer.Transform(node, reader, pc)
}

// definitions counts those of links: for each line of one all lines are looked at, and for each title the text behind.
func (w *work) definitions(lines *text.Segments) {
	n, at, titles := lines.Len(), lines.At(0).Start, 0
	if !bytes.HasPrefix(bytes.TrimLeft(w.source[at:], space), []byte("[")) {
		return
	}
	for _, line := range lines.Sliced(0, n) {
		if bytes.ContainsAny(line.Value(w.source), `"'(`) {
			titles++
		}
	}
	w.spend(2*n*n+titles*(lines.At(n-1).Stop-at)/4, at)
}

// table counts cells, with those that fill up short rows. Those with bars that are no ends are compared with each
// other.
func (w *work) table(lines *text.Segments) {
	columns, escaped := 0, 0
	for i, line := range lines.Sliced(0, lines.Len()) {
		row := line.Value(w.source)
		if i == 1 || columns == 0 && i > 0 {
			columns = delimiters(row)
		}
		if columns == 0 {
			continue
		}
		escaped += bytes.Count(row, []byte(`\|`))
		w.spend(columns*workOfNode+escaped*bytes.Count(row, []byte(`\|`)), line.Start)
	}
}

// delimiters returns how many columns a line makes if it is that below the head of a table; 0 if it is none.
func delimiters(line []byte) int {
	if len(bytes.Trim(line, " \t\r\n\f\v-|:")) > 0 {
		return 0
	}
	return bytes.Count(line, []byte("|")) + 1
}

// countedInline counts what is looked at for what stands within a block, and what is made of it.
type countedInline struct{ parser.InlineParser }

func (c countedInline) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	w := pc.Get(workKey).(*work)
	_, at := block.Position()
	w.enter(parent, at.Start)
	return w.made(c.InlineParser.Parse(parent, &inlineReader{block, w, parent.Lines().Len()}, pc), at.Start)
}

// made counts what a part of a block has become; nil if nothing.
func (w *work) made(node ast.Node, at int) ast.Node {
	if node == nil {
		return nil
	}
	w.nodes += 2 // and the text before it
	w.spend(2*workOfNode, at)
	if _, is := node.(*parser.Delimiter); is { // each may be compared with all before
		w.marks++
		w.spend(w.marks, at)
	}
	return node
}

// enter notes which block is read.
func (w *work) enter(block ast.Node, at int) {
	if w.block == nil {
		w.left = w.most / 2
	}
	if w.block != block {
		w.block, w.nodes, w.marks = block, 0, 0
		w.spend(block.Lines().Len()*workOfNode/2, at) // each is a text of its own
	}
}

// countedLink counts besides that at the end of each link all that stands before in the block may be looked at, and
// that each use of a definition is a copy of it.
type countedLink struct {
	countedInline
	parser.CloseBlocker
}

func (c countedLink) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	w := pc.Get(workKey).(*work)
	line, at := block.PeekLine()
	w.enter(parent, at.Start)
	if line[0] != ']' {
		return w.made(c.InlineParser.Parse(parent, block, pc), at.Start)
	}
	w.spend(w.nodes, at.Start)
	made := c.countedInline.Parse(parent, block, pc)
	switch link := made.(type) {
	case *ast.Link:
		w.spend(workOfByte*(len(link.Destination)+len(link.Title)), at.Start)
	case *ast.Image:
		w.spend(workOfByte*(len(link.Destination)+len(link.Title)), at.Start)
	}
	return made
}

// inlineReader counts bytes of a block that are looked at.
type inlineReader struct {
	text.Reader
	*work
	lines int // of the block
}

// PeekLine counts what its caller may look at: up to white space, or in a URL or tag to its end.
func (r *inlineReader) PeekLine() ([]byte, text.Segment) {
	line, at := r.Reader.PeekLine()
	ends := " \t\r\n"
	if len(line) > 0 && line[0] == '<' {
		ends = ">\n"
	}
	end := bytes.IndexAny(line, ends)
	if end < 0 {
		end = len(line)
	}
	r.spend(end, at.Start)
	return line, at
}

func (r *inlineReader) AdvanceLine() {
	_, at := r.Position()
	r.spend(at.Len(), at.Start)
	r.Reader.AdvanceLine()
}

func (r *inlineReader) FindClosure(opener, closer byte, how text.FindClosureOptions) (*text.Segments, bool) {
	_, from := r.Position()
	found, ok := r.Reader.FindClosure(opener, closer, how)
	_, to := r.Position()
	r.spend(max(to.Stop-from.Start, 0), from.Start)
	return found, ok
}

// Value counts the lines among which the library looks for that of a segment.
func (r *inlineReader) Value(of text.Segment) []byte {
	r.spend(r.lines+of.Len(), of.Start)
	return r.Reader.Value(of)
}

const workOfRune = 1 << 4 // of a regular expression

func (r *inlineReader) ReadRune() (rune, int, error) {
	_, at := r.Position()
	r.spend(workOfRune, at.Start)
	return r.Reader.ReadRune()
}

func (r *inlineReader) Match(pattern *regexp.Regexp) bool {
	line, at := r.Position()
	found := pattern.FindReaderIndex(r)
	if r.SetPosition(line, at); found == nil {
		return false
	}
	r.Advance(found[1] - found[0])
	return true
}
