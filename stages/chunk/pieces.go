package chunk

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// mostPieces is how many pieces a document has at most.
const mostPieces = 10_000

// piece is a part of a document.
type piece struct {
	id      string
	heading []string
	text    string
	words   int
	blocks  []block
}

func (p *piece) hashes() []uint64 {
	hashes := make([]uint64, len(p.blocks))
	for i := range p.blocks {
		hashes[i] = p.blocks[i].hash()
	}
	return hashes
}

// cut cuts Markdown into pieces, and returns how many are left out. Before are the hashes of the blocks of each
// piece of the version before: what stands unchanged in a row stays a piece. Where pieces are only put together
// until they are full, one longer paragraph would move all borders behind it.
func cut(text string, o Options, before [][]uint64) (pieces []piece, leftOut int) {
	limit := o.Words - o.Overlap
	var blocks []block
	for _, b := range blocksOf(text) {
		blocks = append(blocks, split(b, limit)...)
	}
	k := newKept(before)
	for len(blocks) > 0 {
		n := 1
		for n < len(blocks) && blocks[n].section == blocks[0].section {
			n++
		}
		overlap := ""
		for _, group := range k.groups(blocks[:n], limit) {
			if len(pieces) >= mostPieces {
				leftOut++
				continue
			}
			pieces = append(pieces, pieceOf(group, overlap))
			overlap = overlapOf(group[len(group)-1], o.Overlap)
		}
		blocks = blocks[n:]
	}
	return pieces, leftOut
}

func pieceOf(group []block, overlap string) piece {
	p := piece{heading: group[0].heading, blocks: group}
	var texts []string
	if overlap != "" {
		texts = append(texts, overlap)
	}
	for i := range group {
		texts = append(texts, group[i].whole())
	}
	p.text = strings.Join(texts, "\n\n")
	p.words = words(p.text)
	return p
}

// overlapOf returns the last words of a block, if it is running text.
func overlapOf(b block, most int) string {
	if most == 0 || b.kind != paragraph || kindOf(b.text) != paragraph || headingDepth(b.text) > 0 {
		return ""
	}
	return tail(b.text, most)
}

// kept finds the pieces of the version before.
type kept struct {
	pieces [][]uint64
	byHead map[uint64][]int // by the hash of its first block; those that are found again are taken out
}

func newKept(before [][]uint64) *kept {
	k := &kept{before, make(map[uint64][]int)}
	for i, hashes := range before {
		if len(hashes) > 0 {
			k.byHead[hashes[0]] = append(k.byHead[hashes[0]], i)
		}
	}
	return k
}

// group are the blocks of a piece.
type group struct{ from, to, words int }

// groups puts the blocks of a section together: those of a piece of the version before, and what is between such.
func (k *kept) groups(blocks []block, limit int) [][]block {
	hashes, counts := make([]uint64, len(blocks)), make([]int, len(blocks))
	for i := range blocks {
		hashes[i], counts[i] = blocks[i].hash(), words(blocks[i].whole())
	}
	var groups []group
	gap := 0
	for i := 0; i < len(blocks); {
		n := k.find(hashes[i:])
		if n == 0 {
			i++
			continue
		}
		groups = pack(groups, counts, gap, i, limit)
		groups = append(groups, group{i, i + n, sum(counts[i : i+n])})
		i += n
		gap = i
	}
	if n := len(groups); n > 0 && groups[n-1].words+sum(counts[gap:]) <= limit { // what was added at the end
		groups[n-1].to = len(blocks)
	} else {
		groups = pack(groups, counts, gap, len(blocks), limit)
	}
	if afresh := pack(nil, counts, 0, len(blocks), limit); len(groups) > 2*len(afresh)+1 { // many changes have left little pieces
		groups = afresh
	}
	cut := make([][]block, len(groups))
	for i, g := range groups {
		cut[i] = blocks[g.from:g.to]
	}
	return cut
}

// find returns how many blocks are those of a piece of the version before; 0 if they are not.
func (k *kept) find(hashes []uint64) int {
	const tries = 8 // of pieces that begin alike
	candidates := k.byHead[hashes[0]]
	for c := range min(len(candidates), tries) {
		piece := k.pieces[candidates[c]]
		if len(piece) <= len(hashes) && slices.Equal(piece, hashes[:len(piece)]) {
			k.byHead[hashes[0]] = append(candidates[:c:c], candidates[c+1:]...)
			return len(piece)
		}
	}
	return 0
}

// pack adds groups of the blocks from one to another: one, if they have place in that, or else such as have room left,
// so that a paragraph may become longer and stay where it is.
func pack(groups []group, counts []int, from, to, limit int) []group {
	most := limit * 4 / 5
	if sum(counts[from:to]) <= limit {
		most = limit
	}
	before := len(groups)
	for i := from; i < to; i++ {
		if n := len(groups); n > before && groups[n-1].words+counts[i] <= most {
			groups[n-1].to++
			groups[n-1].words += counts[i]
			continue
		}
		groups = append(groups, group{i, i + 1, counts[i]})
	}
	return groups
}

func sum(counts []int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}

// identify names pieces: by what they are of, what they are under, their text, and the number of those that are
// alike. The names are UUIDs of version 8 (RFC 9562, section 5.8), which vector stores take.
func identify(document string, pieces []piece) {
	alike := make(map[[32]byte]uint64)
	for i := range pieces {
		p := &pieces[i]
		h := sha256.New()
		for _, s := range append(append([]string{document}, p.heading...), p.text) {
			h.Write(binary.AppendUvarint(nil, uint64(len(s))))
			h.Write([]byte(s))
		}
		sum := [32]byte(h.Sum(nil))
		alike[sum]++
		id := sha256.Sum256(binary.AppendUvarint(sum[:], alike[sum]))
		id[6], id[8] = id[6]&0x0F|0x80, id[8]&0x3F|0x80
		p.id = fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:16])
	}
}
