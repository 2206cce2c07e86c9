package chunk

import "strings"

// split cuts a block of more words than a piece has: a list into items, a table into rows under its head, code into
// lines, a quotation and an item into what they consist of, and running text into sentences.
func split(b block, limit int) []block {
	if words(b.whole()) <= limit {
		return []block{b}
	}
	var parts []block
	part := func(text string) {
		next := b
		next.prefix, next.text = "", text
		if next.kind != codeBlock && next.kind != tableBlock {
			next.kind = paragraph
		}
		parts = append(parts, next)
	}
	prefix := b.prefix
	if words(prefix)*2 > limit {
		for _, text := range cutText(prefix, limit) {
			part(text)
		}
		prefix = ""
	}
	first := len(parts)
	for _, text := range splitText(b.text, limit-words(prefix)) {
		part(text)
	}
	if first < len(parts) {
		parts[first].prefix = prefix
	}
	return parts
}

// splitText returns the parts of a block of at most so many words.
func splitText(text string, limit int) []string {
	if words(text) <= limit {
		return []string{text}
	}
	switch kindOf(text) {
	case codeBlock:
		return splitCode(text, limit)
	case tableBlock:
		return splitTable(text, limit)
	case quotationBlock:
		return splitWithin(withoutPrefix(text, ">", " "), limit)
	case listBlock:
		return splitList(text, limit)
	}
	return cutText(text, limit)
}

// splitWithin splits what is in a quotation or an item.
func splitWithin(text string, limit int) (parts []string) {
	var r reader
	r.read(text)
	for _, b := range r.blocks {
		parts = append(parts, splitText(b.text, limit)...)
	}
	return parts
}

// withoutPrefix returns lines without what each begins with: the prefix and, if it is there, a blank.
func withoutPrefix(text string, prefixes ...string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		for _, prefix := range prefixes {
			line = strings.TrimPrefix(line, prefix)
		}
		b.WriteString(line)
	}
	return b.String()
}

// splitList returns the items of a list; what is in one, if that is too large itself.
func splitList(text string, limit int) (parts []string) {
	var items []string
	from := 0
	for at := lineEnd(text, 0); at < len(text); at = lineEnd(text, at) {
		if markerLength(text[at:]) > 0 {
			items = append(items, text[from:at])
			from = at
		}
	}
	for _, item := range append(items, text[from:]) {
		item = strings.TrimRight(item, "\n")
		if words(item) <= limit {
			parts = append(parts, item)
			continue
		}
		n := markerLength(item)
		within := item[n:lineEnd(item, 0)] + withoutPrefix(item[lineEnd(item, 0):], strings.Repeat(" ", n))
		parts = append(parts, splitWithin(within, limit)...)
	}
	return parts
}

// splitCode returns blocks of code with the lines of one.
func splitCode(text string, limit int) (parts []string) {
	head := text[:lineEnd(text, 0)]
	fence := text[:fenceLength(text)]
	lines := strings.TrimSuffix(strings.TrimSuffix(text[len(head):], fence), "\n")
	rows := packer{limit: limit - words(head) - 1, parts: func(lines string) {
		parts = append(parts, head+strings.TrimRight(lines, " \n")+"\n"+fence)
	}}
	for line := range strings.Lines(lines) {
		rows.add(line, func(line string) []string { return cutWords(line, rows.limit) })
	}
	rows.end()
	return parts
}

// splitTable returns tables with the rows of one, each with its head. A row that is too large is running text.
func splitTable(text string, limit int) (parts []string) {
	head := text[:lineEnd(text, lineEnd(text, 0))]
	if words(head)*2 > limit {
		for line := range strings.Lines(text) {
			parts = append(parts, cutText(strings.TrimSpace(line), limit)...)
		}
		return parts
	}
	rows := packer{limit: limit - words(head), parts: func(rows string) { parts = append(parts, head+strings.TrimRight(rows, "\n")) }}
	for row := range strings.Lines(text[len(head):]) {
		if words(row) > rows.limit {
			rows.end()
			parts = append(parts, cutText(strings.TrimSpace(row), limit)...)
			continue
		}
		rows.add(row, nil)
	}
	rows.end()
	return parts
}

// packer puts lines together, up to a number of words.
type packer struct {
	limit int
	parts func(lines string) // takes a part

	lines strings.Builder
	words int
}

// add adds a line; one that is too long in parts.
func (p *packer) add(line string, cut func(string) []string) {
	n := words(line)
	if n > p.limit {
		p.end()
		for _, part := range cut(line) {
			p.parts(part)
		}
		return
	}
	if p.words+n > p.limit {
		p.end()
	}
	p.lines.WriteString(line)
	p.words += n
}

func (p *packer) end() {
	if strings.TrimSpace(p.lines.String()) != "" {
		p.parts(p.lines.String())
	}
	p.lines.Reset()
	p.words = 0
}

// cutWords cuts text, which is no Markdown, into parts of so many words.
func cutWords(text string, limit int) (parts []string) {
	start, count := 0, 0
	for at := 0; at < len(text); {
		end, isWord := token(text, at)
		if isWord {
			if count == limit {
				parts = append(parts, text[start:at])
				start, count = at, 0
			}
			count++
		}
		at = end
	}
	return append(parts, text[start:])
}
