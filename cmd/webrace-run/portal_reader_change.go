package main

import (
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/formats"
	"github.com/webrace/webrace/stages/keywordfilter/explain"
	"github.com/webrace/webrace/stages/keywordfilter/textdiff"
	"github.com/webrace/webrace/stages/portal"
)

const (
	sameAround    = 2        // blocks that are shown on either side of a change
	mostChanges   = 400      // pieces
	mostChanged   = 64 << 10 // bytes
	mostByWords   = 16 << 10 // bytes of blocks that are compared word by word
	leastInCommon = 3        // of so many bytes of such blocks one is in both, or they are others
)

// changeOf returns how one text differs from the one before, block by block, and by words where a block was edited.
func changeOf(before, now *explain.Stored, texts [2]*webrace.Text) *portal.Change {
	lines := [2][]string{textdiff.Lines(texts[0]), textdiff.Lines(texts[1])}
	if before.Version.Digest != now.Version.Digest {
		for i, stored := range []*explain.Stored{before, now} {
			if len(stored.Text.Blocks) == 0 { // its type and size are all there is to compare
				texts[i], lines[i] = &webrace.Text{}, []string{stored.AsBody().String()}
			}
		}
	}
	json := formats.IsJSON(before.MediaType) && formats.IsJSON(now.MediaType)
	changes, _ := textdiff.Texts(texts, lines, json)
	w := &changeWriter{room: mostChanged}
	end := 0
	for _, hunk := range textdiff.Hunks(changes, len(lines[0]), len(lines[1]), sameAround) {
		if hunk.A > end {
			w.add(portal.PieceGap, "")
		}
		at := hunk.A
		for _, c := range hunk.Changes {
			w.lines(portal.PieceSame, lines[0][at:c.A])
			w.change(lines[0][c.A:c.AEnd], lines[1][c.B:c.BEnd])
			at = c.AEnd
		}
		w.lines(portal.PieceSame, lines[0][at:hunk.AEnd])
		end = hunk.AEnd
	}
	if len(changes) > 0 && end < len(lines[0]) {
		w.add(portal.PieceGap, "")
	}
	return &w.Change
}

// changeWriter gathers pieces of a change, as many as there is room for.
type changeWriter struct {
	portal.Change
	room int // bytes
}

func (w *changeWriter) add(kind, text string) {
	last := len(w.Pieces) - 1
	switch {
	case w.Left || text == "" && kind != portal.PieceGap:
		return
	case w.room < len(text) || last+1 >= mostChanges:
		w.Left = true
		text = cutText(text, w.room)
	}
	w.room -= len(text)
	if last >= 0 && w.Pieces[last].Kind == kind && kind != portal.PieceGap {
		w.Pieces[last].Text += text
		return
	}
	w.Pieces = append(w.Pieces, portal.ChangedPiece{Kind: kind, Text: text})
}

func (w *changeWriter) lines(kind string, lines []string) {
	for _, line := range lines {
		w.add(kind, line+"\n")
	}
}

// change adds blocks that took the place of others.
func (w *changeWriter) change(removed, added []string) {
	from, to := wordsIn(removed), wordsIn(added)
	changes, _ := textdiff.Diff(textdiff.Forms(from), textdiff.Forms(to))
	if !haveInCommon(from, to, changes) {
		w.lines(portal.PieceRemoved, removed)
		w.lines(portal.PieceAdded, added)
		return
	}
	at := 0
	for _, c := range changes {
		w.add(portal.PieceSame, strings.Join(to[at:c.B], ""))
		w.add(portal.PieceRemoved, strings.Join(from[c.A:c.AEnd], ""))
		w.add(portal.PieceAdded, strings.Join(to[c.B:c.BEnd], ""))
		at = c.BEnd
	}
	w.add(portal.PieceSame, strings.Join(to[at:], ""))
}

// wordsIn returns the words of blocks, each of which ends with one of its own; none where they are too long.
func wordsIn(lines []string) (words []string) {
	size := 0
	for _, line := range lines {
		if size += len(line); size > mostByWords {
			return nil
		}
		words = append(words, textdiff.Words(line+"\n")...)
	}
	return words
}

// haveInCommon reports whether so much is the same that the one is the other, edited.
func haveInCommon(from, to []string, changes []textdiff.Change) bool {
	all, changed := len(strings.Join(to, "")), 0
	for _, c := range changes {
		changed += len(strings.Join(to[c.B:c.BEnd], ""))
	}
	return len(from) > 0 && len(to) > 0 && (all-changed)*leastInCommon >= max(all, len(strings.Join(from, "")))
}
