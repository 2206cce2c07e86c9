package markdown

import "golang.org/x/net/html"

// node writes a node with all that is within.
func (w *writer) node(n *html.Node) {
	switch {
	case n.Type == html.TextNode:
		w.text(n.Data)
		return
	case n.Type == html.DocumentNode:
		w.children(n)
		return
	case n.Type != html.ElementNode || w.depth >= maxDepth || w.full():
		return
	}
	w.depth++
	w.element(n, w.kindOf(n))
	w.depth--
}

func (w *writer) children(n *html.Node) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		w.node(c)
	}
}

func (w *writer) element(n *html.Node, k kind) {
	if k.isBlock() {
		before := w.term
		w.term = before || n.Data == "dt"
		w.flush()
		w.block(n, k)
		w.flush()
		w.term = before
		return
	}
	switch k {
	case skipped:
	case joined:
		w.children(n)
	case spaced:
		w.space = true
		w.children(n)
		w.space = true
	case strong, emphasis, deleted:
		w.marked(w.marks.with(k, ""), n)
	case link:
		w.link(n)
	case code:
		before := w.code
		if w.code == nil {
			w.code = n
		}
		w.children(n)
		w.code = before
	case image:
		w.image(n)
	case lineBreak:
		w.lineBreak()
	}
}

// block writes a block. Within a heading or a cell, where there can be none, its text is part of the running text.
func (w *writer) block(n *html.Node, k kind) {
	if w.context != inFlow {
		if k == preformatted {
			w.codeLines(n)
		} else if k != rule {
			w.children(n)
		}
		return
	}
	switch k {
	case block:
		w.children(n)
	case rule:
		w.begin()
		w.dst = append(w.dst, "***\n"...) // "---" would be a heading's underline, or the beginning of meta data
	case h1, h2, h3, h4, h5, h6:
		w.heading(n, int(k-h1)+1)
	case preformatted:
		w.preformatted(n)
	case quotation:
		w.within(container{first: "> ", rest: "> "}, func() { w.children(n); w.flush() })
	case list:
		w.list(n)
	case definitions:
		w.definitions(n)
	case table:
		w.table(n)
	case summary:
		w.marked(w.marks.with(strong, ""), n)
	}
}

func (w *writer) heading(n *html.Node, level int) {
	w.context = inHeading
	w.children(n)
	w.context = inFlow
	if w.hasText() {
		w.writeHeading(level)
	}
}

// writeHeading writes the running text as a heading.
func (w *writer) writeHeading(level int) {
	w.begin()
	w.dst = append(append(w.dst, "######"[:level]...), ' ')
	w.render(inHeading)
	w.dst = append(w.dst, '\n')
}

// flush ends the running text.
func (w *writer) flush() {
	switch {
	case w.context == inHeading:
		w.space = true
	case w.context == inCell:
		w.lineBreak()
	case w.hasText():
		w.begin()
		w.render(inFlow)
		w.dst = append(w.dst, '\n')
		w.paragraph = true
	}
}
