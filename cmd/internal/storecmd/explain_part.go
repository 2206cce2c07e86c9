package storecmd

import (
	"context"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/annotate"
	"github.com/webrace/webrace/storage/control"
)

// part returns the text of the part of the page that a URD looks at, and says how much of the page that is,
// and which of the rules match nothing. A fault, if there is one, says why it cannot be looked at.
func (p *page) part(ctx context.Context, u control.URD, say func(format string, args ...any)) (text *webrace.Text, fault error) {
	rules, err := annotate.Selection(u.URD)
	if rules == nil || err != nil {
		return p.text, err
	}
	part, err := rules.Apply(ctx, p.document)
	if err != nil {
		return nil, err
	}
	say("it looks at part of the page: %d of %s", len(part.Text.Blocks), plural(len(p.text.Blocks), "block"))
	for _, r := range part.Unmatched {
		say("  %s matches nothing", r)
	}
	return part.Text, nil
}
