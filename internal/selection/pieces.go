package selection

import (
	"context"
	"slices"

	"github.com/webrace/webrace"
)

// Piece is what one of several rules that select finds in a document: what is not there is no state of that one,
// whatever the others find.
type Piece struct {
	Rules *Selection // that rule, with what the others ignore or look at
	Text  *webrace.Text
}

// Look is [Selection.Apply], and returns which piece of the part is whose.
func (s *Selection) Look(ctx context.Context, d *Document, budget *Budget) (*Part, error) {
	part, err := s.Apply(ctx, d, budget)
	if err == nil {
		part.Pieces, err = s.Pieces(ctx, d, budget)
	}
	if err != nil {
		return nil, err
	}
	return part, nil
}

// Pieces returns what each of several rules that select finds; without several it returns none.
func (s *Selection) Pieces(ctx context.Context, d *Document, budget *Budget) (pieces []Piece, err error) {
	for _, one := range s.Parts() {
		part, err := one.Apply(ctx, d, budget)
		if err != nil {
			return nil, err
		}
		pieces = append(pieces, Piece{one, part.Text})
	}
	return pieces, nil
}

// Parts returns, where several rules select, a selection for each of them: with all that ignores, and the regular
// expressions that look at what it chooses.
func (s *Selection) Parts() (parts []*Selection) {
	if s == nil {
		return nil
	}
	byRegex := !s.chosen && !s.asks // otherwise these are applied to what the others choose
	selects := func(r compiled) bool { return !r.Ignore && (r.Language == Regex) == byRegex }
	for i, r := range s.rules {
		if !selects(r) {
			continue
		}
		var rules []compiled
		for k, other := range s.rules {
			if k == i || !selects(other) {
				rules = append(rules, other)
			}
		}
		parts = append(parts, assemble(rules))
	}
	if len(parts) < 2 {
		return nil
	}
	return parts
}

// Join returns a text with another behind it.
func Join(text, more *webrace.Text) *webrace.Text {
	all := *text
	at, entries := int32(len(text.Bytes)), int32(len(text.Entries))
	all.Bytes, all.Entries, all.Blocks = slices.Concat(text.Bytes, more.Bytes), slices.Concat(text.Entries, more.Entries), slices.Clone(text.Blocks)
	for _, b := range more.Blocks {
		b.Start, b.End = b.Start+at, b.End+at
		if b.Entry > 0 {
			b.Entry += entries
		}
		all.Blocks = append(all.Blocks, b)
	}
	for _, column := range more.Columns {
		if !slices.Contains(all.Columns, column) {
			all.Columns = append(slices.Clip(all.Columns), column)
		}
	}
	return &all
}
