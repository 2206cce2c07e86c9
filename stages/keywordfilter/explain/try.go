package explain

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/match"
	"github.com/webrace/webrace/internal/scope"
	"github.com/webrace/webrace/internal/selection"
	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/stages/keywordfilter/annotate"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// Trial is what a document is worth to each of some URDs, if no owner has seen it before.
type Trial struct {
	Whole  MarkedText // the whole text, with the keywords of all URDs that look at it
	Scores []Score    // those that alert first, the most relevant first
}

// Score is what a document is worth to one URD.
type Score struct {
	*annotate.Interest
	match.Explanation
	Summary   string      // empty where there is no alert
	Astray    string      // why its crawl does not come to the document; empty if it may
	Selected  *MarkedText // what it looks at, if that is not the whole
	Remarks   []string    // on its rules
	Condition string      // how its number stands to its condition; empty without one
	Unmet     bool        // the number does not meet it
}

// Alerts reports whether the owner would be told.
func (w *Score) Alerts() bool { return w.Reason == match.Alerts && !w.Unmet }

// Try finds what a document is worth to each of some URDs. It has what extraction gives: its media type, charset,
// language and text. Its URL is where it is, and empty for nowhere; asked is the URL that was asked for, which may have
// led there, and empty if none was. It is not changed. The error is that of the context, or that of a URD that cannot
// be matched.
func Try(ctx context.Context, d *webrace.Document, asked string, urds []*xmlschema.URD) (*Trial, error) {
	t := &Trial{Whole: MarkedText{Text: d.Text}}
	parts := selection.Open(d.URL, d.Body, d.MediaType, d.Charset, d.Text)
	for _, urd := range urds {
		if err := t.try(ctx, urd, d, asked, parts); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(t.Scores, func(a, b Score) int {
		if a.Alerts() != b.Alerts() {
			return map[bool]int{true: -1, false: 1}[a.Alerts()]
		}
		return cmp.Compare(b.Relevance, a.Relevance)
	})
	return t, nil
}

func (t *Trial) try(ctx context.Context, urd *xmlschema.URD, d *webrace.Document, asked string, parts *selection.Document) error {
	interest, err := annotate.NewInterest(urd)
	if err != nil {
		return err
	}
	w := Score{Interest: interest, Astray: astray(urd, asked, d.URL)}
	text, err := w.Look(ctx, parts)
	if err != nil {
		return err
	}
	if interest.Selects() {
		w.Selected = &MarkedText{Text: text}
		w.Selected.Mark(interest)
	} else {
		t.Whole.Mark(interest)
	}
	if err := w.count(ctx, parts, d.Language); err != nil {
		return err
	}
	var alert *match.Alert
	if w.Explanation, alert = interest.WorthOf(annotate.BodyOf(d), text); alert != nil {
		w.Summary = alert.Summary
	}
	t.Scores = append(t.Scores, w)
	return nil
}

// Look returns the text that the URD looks at, and remarks on its rules. The error is that of the context.
func (w *Score) Look(ctx context.Context, d *selection.Document) (*webrace.Text, error) {
	part, err := w.Part(ctx, d, selection.NewBudget())
	if err != nil {
		w.Remarks = []string{err.Error()}
		return &webrace.Text{}, ctx.Err()
	}
	w.Remarks = part.Remarks()
	return part.Text, nil
}

// count looks at the number on which the URD has a condition. The error is that of the context.
func (w *Score) count(ctx context.Context, d *selection.Document, language string) error {
	when := w.Number()
	if when == nil {
		return nil
	}
	number, err := when.Number(ctx, d, language, selection.NewBudget())
	if err != nil {
		w.Condition, w.Unmet = err.Error(), true
		return ctx.Err()
	}
	tell, _, _ := when.Judge(number, nil, selection.NewBudget()) // an error is part of what is explained
	w.Condition, w.Unmet = when.Explain(number, nil), !tell
	return nil
}

// Alerting returns how many URDs alert: the first ones.
func (t *Trial) Alerting() int {
	n := slices.IndexFunc(t.Scores, func(w Score) bool { return !w.Alerts() })
	if n < 0 {
		return len(t.Scores)
	}
	return n
}

// astray returns why a URD is not asked about a document at this URL, whatever it is worth to it. A paused one is
// asked about none. A crawl follows its start wherever that leads.
func astray(urd *xmlschema.URD, asked, url string) string {
	if urd.Paused {
		return "the URD is paused"
	}
	if url == "" {
		return ""
	}
	if under, watches := urd.Prefix(); watches {
		if urlnorm.HasPrefix(url, under) {
			return ""
		}
		return fmt.Sprintf("the document does not lie under %s", urd.URI)
	}
	crawl, starts, err := control.CrawlOf(urd)
	if err != nil || !starts || asked != "" && urlnorm.Identity(asked) == urlnorm.Identity(crawl.Start) {
		return ""
	}
	if bounds, err := scope.New(crawl.Start, crawl.Scope); err == nil && !bounds.Match(url) {
		return fmt.Sprintf("the document lies outside the scope %s of %s", crawl.Scope, crawl.Start)
	}
	return ""
}
