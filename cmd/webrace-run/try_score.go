package main

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

// trial is a document and what it is worth to each of some URDs, those that alert first, the most relevant
// first.
type trial struct {
	*triedDocument
	markedText // of the whole text, with the keywords of all URDs that look at it
	scores     []score
	fields     []triedField
}

// markedText is a text, and the marks in it, in its order.
type markedText struct {
	text  *webrace.Text
	marks []match.Mark
}

// score is what a document is worth to one URD.
type score struct {
	*annotate.Interest
	match.Explanation
	summary string      // empty where there is no alert
	astray  string      // why its crawl does not come to the document; empty if it may
	part    *markedText // what it looks at, if that is not the whole
	remarks []string    // on its rules
	number  string      // how its number stands to its condition; empty without one
	unmet   bool        // the number does not meet it
}

func (w *score) alerts() bool { return w.Reason == match.Alerts && !w.unmet }

func newTrial(ctx context.Context, d *triedDocument, urds []*xmlschema.URD) (*trial, error) {
	t := &trial{triedDocument: d, markedText: markedText{text: d.Text}}
	document := selection.Open(d.url, d.body, d.MediaType, d.Charset, d.Text)
	for _, urd := range urds {
		if err := t.try(ctx, urd, document); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(t.scores, func(a, b score) int {
		if a.alerts() != b.alerts() {
			return map[bool]int{true: -1, false: 1}[a.alerts()]
		}
		return cmp.Compare(b.Relevance, a.Relevance)
	})
	return t, nil
}

func (t *trial) try(ctx context.Context, urd *xmlschema.URD, d *selection.Document) error {
	interest, err := annotate.NewInterest(urd)
	if err != nil {
		return err
	}
	w := score{Interest: interest, astray: astray(urd, t.asked, t.url)}
	text, err := w.look(ctx, d)
	if err != nil {
		return err
	}
	if interest.Selects() {
		w.part = &markedText{text: text}
		w.part.mark(interest)
	} else {
		t.mark(interest)
	}
	if err := w.count(ctx, d, t.Language); err != nil {
		return err
	}
	var alert *match.Alert
	if w.Explanation, alert = interest.WorthOf(t.asBody(), text); alert != nil {
		w.summary = alert.Summary
	}
	t.scores = append(t.scores, w)
	return nil
}

// look returns the text that the URD looks at, and remarks on its rules. The error is that of the context.
func (w *score) look(ctx context.Context, d *selection.Document) (*webrace.Text, error) {
	part, err := w.Part(ctx, d, selection.NewBudget())
	if err != nil {
		w.remarks = []string{err.Error()}
		return &webrace.Text{}, ctx.Err()
	}
	for _, rule := range part.Unmatched {
		w.remarks = append(w.remarks, fmt.Sprintf("%s matches nothing", rule))
	}
	for _, rule := range part.Unmet {
		w.remarks = append(w.remarks, fmt.Sprintf("%s finds what it is about, and nothing that meets it", rule))
	}
	for _, problem := range part.Problems {
		w.remarks = append(w.remarks, "what the page says as RDF cannot all be read: "+problem)
	}
	return part.Text, nil
}

// count looks at the number on which the URD has a condition. The error is that of the context.
func (w *score) count(ctx context.Context, d *selection.Document, language string) error {
	when := w.Number()
	if when == nil {
		return nil
	}
	number, err := when.Number(ctx, d, language, selection.NewBudget())
	if err != nil {
		w.number, w.unmet = err.Error(), true
		return ctx.Err()
	}
	tell, _, _ := when.Judge(number, nil, selection.NewBudget()) // an error is part of what is explained
	w.number, w.unmet = when.Explain(number, nil), !tell
	return nil
}

// mark adds what an interest finds.
func (v *markedText) mark(i *annotate.Interest) {
	v.marks = append(v.marks, i.Marks(v.text)...)
	slices.SortStableFunc(v.marks, func(a, b match.Mark) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End), cmp.Compare(a.Keyword, b.Keyword))
	})
}

// alerting returns how many URDs alert: the first ones.
func (t *trial) alerting() int {
	n := slices.IndexFunc(t.scores, func(w score) bool { return !w.alerts() })
	if n < 0 {
		return len(t.scores)
	}
	return n
}

// astray returns why a URD is not asked about a document at this URL, whatever it is worth to it. A paused one is asked
// about none. A crawl follows its
// start wherever that leads.
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
