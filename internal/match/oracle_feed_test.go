package match

import (
	"slices"

	"github.com/webrace/webrace"
)

// A feed is as many pages as it has entries, to the oracle: each is judged by itself.

// oracleFeed is a feed, and the version before it that was seen last.
type oracleFeed struct {
	sighting
	entries []oraclePage
	arrived []bool // by entry, and as added of the blocks
	isAdded []bool
	was     *webrace.Text // the version seen last; nil if it is not known
	before  []oraclePage
}

// inventFeed makes a feed of the blocks of a page: entries of some blocks each, of which some are new, some were
// edited, some have come back as older versions had them, some were not in the version seen last; and blocks of none.
func inventFeed(n int, page *webrace.Text, pages []*webrace.Text) *oracleFeed {
	text := &webrace.Text{Bytes: page.Bytes, Blocks: slices.Clone(page.Blocks), Feed: true}
	f := &oracleFeed{sighting: sighting{text: text}}
	other := pages[(n+1)%len(pages)]
	was := &webrace.Text{Bytes: slices.Concat(text.Bytes, other.Bytes), Feed: true}
	f.last = &Last{Went: n%2 == 0, Text: func() *webrace.Text { return was }}
	for i := range text.Blocks {
		if i%9 != 8 && (i%(1+n%4) == 0 || len(text.Entries) == 0) {
			e := webrace.Entry{Name: uint64(i + 1), Link: uint64(i + 1)}
			switch (i + n) % 7 {
			case 0:
				e = webrace.Entry{}
			case 1:
				e.Link = 1_000_000 // as others
			}
			text.Entries = append(text.Entries, e)
			arrived := n%7 != 6 && len(text.Entries)%(2+n%3) == 0
			f.arrived, f.isAdded = append(f.arrived, arrived), append(f.isAdded, arrived && len(text.Entries)%4 < n%5)
			was.Entries = append(was.Entries, e)
			if i%5 == 4 {
				was.Entries[len(was.Entries)-1].Name = uint64(i + 2_000_000)
			}
		}
		if i%9 != 8 {
			text.Blocks[i].Entry = int32(len(text.Entries))
		}
	}
	for i, b := range text.Blocks {
		in := int(b.Entry) - 1
		arrived := in >= 0 && f.arrived[in]
		f.last.Added, f.added = append(f.last.Added, arrived), append(f.added, in >= 0 && f.isAdded[in])
		switch {
		case !arrived:
			was.Blocks = append(was.Blocks, b)
		case in%3 > 0 && len(other.Blocks) > 0: // it was another
			block := other.Blocks[(i*7)%len(other.Blocks)]
			block.Start, block.End, block.Entry = block.Start+int32(len(text.Bytes)), block.End+int32(len(text.Bytes)), b.Entry
			was.Blocks = append(was.Blocks, block)
		}
	}
	f.entries = entriesOf(text)
	switch n % 8 {
	case 3:
		f.last = nil
	case 5:
		f.last.Text = func() *webrace.Text { return nil }
	default:
		f.was, f.before = was, entriesOf(was)
	}
	f.judge = f.oracle
	return f
}

// entriesOf returns the entries of a feed, each as a page.
func entriesOf(text *webrace.Text) []oraclePage {
	p := readPage(text) // as a whole, since the language of a block may be told by those around it
	all := make([]oraclePage, len(text.Entries))
	for i := range all {
		all[i].text = &webrace.Text{Bytes: text.Bytes}
	}
	for i, b := range text.Blocks {
		if b.Entry == 0 {
			continue
		}
		e := &all[b.Entry-1]
		e.text.Blocks, e.blocks, e.lower = append(e.text.Blocks, b), append(e.blocks, p.blocks[i]), append(e.lower, p.lower[i])
		e.words += len(p.blocks[i])
	}
	return all
}

func (f *oracleFeed) oracle(g *wantedGroup, threshold int, seen, once bool) (v oracleVerdict) {
	told := map[int]bool{}
	for i := range f.entries {
		page := &f.entries[i]
		if len(page.blocks) == 0 {
			continue
		}
		one := oracle(g, threshold, page, nil)
		if !one.alerts || seen && !f.isAdded[i] && (once || !f.comesToHold(g, threshold, i)) {
			continue
		}
		told[i+1], v.alerts, v.relevance = true, true, max(v.relevance, one.relevance)
	}
	matched, all := map[int]bool{}, map[int]bool{}
	at := make([]int, len(f.entries)) // the block of each entry that comes next
	for i, b := range f.text.Blocks {
		if b.Entry == 0 {
			continue
		}
		block := at[b.Entry-1]
		at[b.Entry-1]++
		if !told[int(b.Entry)] {
			continue
		}
		all[i] = true
		g.walk(true, func(w *wanted, scored bool) {
			if scored && w.occurrences(&f.entries[b.Entry-1], block) > 0 {
				matched[i] = true
			}
		})
	}
	if len(matched) == 0 {
		matched = all
	}
	v.matched, v.blank = oracleDigest(f.text, matched), isBlank(f.text, func(block int) bool { return all[block] })
	return v
}

// comesToHold reports whether an entry is not as it was, and the groups did not hold on what it was.
func (f *oracleFeed) comesToHold(g *wantedGroup, threshold, number int) bool {
	if f.was == nil || !f.arrived[number] {
		return false
	}
	e, linked := f.text.Entries[number], 0
	at := -1
	for i, was := range f.was.Entries {
		if len(f.before[i].blocks) == 0 || e.Link == 0 || was.Link != e.Link {
			continue
		}
		if was == e {
			return !oracle(g, threshold, &f.before[i], nil).alerts
		}
		linked, at = linked+1, i
	}
	if linked == 1 {
		return !oracle(g, threshold, &f.before[at], nil).alerts
	}
	return false
}
