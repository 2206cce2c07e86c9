package annotate

import (
	"context"
	"slices"
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/match"
	"github.com/webrace/webrace/internal/selection"
	"github.com/webrace/webrace/xmlschema"
)

// Interest is a request made ready to be tried on documents one by one, for those who want to know what each
// is worth to it and why. What it finds is what the index of all requests would find.
type Interest struct {
	*xmlschema.URD
	Warnings []string // what of it is probably not meant

	profile *match.Compiled
	rules   *selection.Selection
	when    *When // nil without a condition on a number
	index   match.Index
}

// NewInterest compiles a request.
func NewInterest(u *xmlschema.URD) (*Interest, error) {
	profile, doubts, err := match.Compile(Profile(u))
	if err != nil {
		return nil, err
	}
	i := &Interest{URD: u, Warnings: warnings(u, doubts), profile: profile}
	if i.rules, err = Selection(u); err != nil {
		return nil, err
	}
	if i.when, err = NewWhen(u); err != nil {
		return nil, err
	}
	i.index.Add(profile)
	return i, nil
}

// warnings returns what of a request is probably not meant. That it can never alert is said once.
func warnings(u *xmlschema.URD, doubts []match.Warning) []string {
	all := u.Advice()
	for _, doubt := range doubts {
		if doubt.Keyword != "" || !slices.ContainsFunc(all, func(a string) bool { return strings.Contains(a, "can never alert") }) {
			all = append(all, doubt.String())
		}
	}
	return all
}

// Selects reports whether the request looks at part of a document only.
func (i *Interest) Selects() bool { return i.rules != nil }

// AsksForData reports whether the request asks what a document states as RDF.
func (i *Interest) AsksForData() bool { return i.rules.AsksForData() }

// Part returns what the request looks at of a document, all of it unless it selects, within the budget of its owner.
// An error is that of the context, or tells why its rules cannot be applied to the document, and then it looks at
// nothing.
func (i *Interest) Part(ctx context.Context, d *selection.Document, budget *selection.Budget) (*selection.Part, error) {
	return i.rules.Look(ctx, d, budget)
}

// Number returns the condition of the request on a number; nil if it has none.
func (i *Interest) Number() *When { return i.when }

// Looked is what a request looks at of a document, or why its rules cannot be applied to it.
type Looked struct {
	*selection.Part
	Err error
}

// Parts returns what requests of one owner look at of a document, within one budget, which they spend in the order in
// which keyword-filter does.
func Parts(ctx context.Context, requests []*Interest, d *selection.Document) []Looked {
	order := make([]int, len(requests))
	for i := range order {
		order[i] = i
	}
	rules := func(i int) string { return requests[i].rules.Key() }
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(rules(a), rules(b)) })
	budget := selection.NewBudget()
	all := make([]Looked, len(requests))
	for k, i := range order {
		if k > 0 && rules(i) == rules(order[k-1]) {
			all[i] = all[order[k-1]]
			continue
		}
		all[i].Part, all[i].Err = requests[i].Part(ctx, d, budget)
	}
	return all
}

// Worth returns what a text is worth to the request, and the alert if it gives rise to one. If news is not nil, the
// request has seen an earlier version, and is told what is new.
func (i *Interest) Worth(text *webrace.Text, news *News) (match.Explanation, *match.Alert) {
	options := match.Options{Recipients: []match.Recipient{{ID: i.ID, OnlyAdded: news != nil}}, Summary: SummaryBytes}
	if news != nil {
		if options.Added = news.Added; news.Last.Text != nil {
			options.Last = &news.Last
		}
	}
	for alert := range i.index.Match(text, options) {
		return alert.Explanation, &alert
	}
	return match.Explain(i.profile, text, options), nil
}

// WorthOf is Worth for who has not seen a document, of which the text is what the request looks at.
func (i *Interest) WorthOf(body Body, text *webrace.Text) (match.Explanation, *match.Alert) {
	if i.toldOfBody(text) {
		alert := BodyAlert(i.URD, body, body.String())
		return alert.Explanation, &alert
	}
	return i.Worth(text, nil)
}

// toldOfBody reports whether a document, of which a text is looked at, is told of by its body.
func (i *Interest) toldOfBody(text *webrace.Text) bool {
	return i.AnyChange() && len(text.Blocks) == 0 && i.rules == nil
}

// Marks returns where a text has the keywords of the request.
func (i *Interest) Marks(text *webrace.Text) []match.Mark { return match.Marks(i.profile, text) }
