package annotate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/internal/match"
	"github.com/webrace/webrace/internal/selection"
	"github.com/webrace/webrace/xmlschema"
)

func interestIn(t *testing.T, change func(*xmlschema.URD), keywords ...xmlschema.Keyword) *Interest {
	t.Helper()
	u := xmlschema.NewURD("eleni", "http://a.example/")
	u.ID, u.Keywords = "u1", xmlschema.NewKeywords(keywords...)
	if change != nil {
		change(u)
	}
	i, err := NewInterest(u)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func page(t *testing.T, html string) (*selection.Document, *webrace.Text) {
	t.Helper()
	r, err := extract.Document([]byte(html), "text/html; charset=utf-8", "http://a.example/", extract.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return selection.Open("", []byte(html), r.MediaType, r.Charset, r.Text), r.Text
}

func TestAnInterestSaysWhatADocumentIsWorthAndWhy(t *testing.T) {
	t.Parallel()
	i := interestIn(t, nil, xmlschema.Keyword{Key: "boat", Weight: 5})
	_, text := page(t, "<p>a boat</p><p>new</p>")
	why, alert := i.Worth(text, nil)
	if alert == nil || why.Reason != match.Alerts || alert.Summary != "a «boat»" {
		t.Errorf("%+v, %+v", why, alert)
	}
	why, alert = i.Worth(text, &News{Added: []bool{false, true}, Last: match.Last{Added: []bool{false, true}}})
	if alert != nil || why.Reason != match.NotNew || why.Looked != 1 {
		t.Errorf("of what is new: %+v, %+v", why, alert)
	}
	if why, alert = i.Worth(text, &News{Added: []bool{false, false}, Last: match.Last{Added: []bool{false, false}}}); alert != nil || why.Reason != match.NothingNew {
		t.Errorf("of nothing new: %+v, %+v", why, alert)
	}
	if marks := i.Marks(text); !slices.Equal(marks, []match.Mark{{Start: 2, End: 6, Keyword: "boat"}}) {
		t.Errorf("marks %v", marks)
	}
}

func TestAnInterestLooksAtThePartThatItsRulesSelect(t *testing.T) {
	t.Parallel()
	i := interestIn(t, func(u *xmlschema.URD) {
		u.Select = []xmlschema.Rule{{Language: xmlschema.RuleCSS, Text: ".news"}}
		u.Ignore = []xmlschema.Rule{{Language: xmlschema.RuleCSS, Text: ".clock"}}
	}, xmlschema.Keyword{Key: "boat", Weight: 5})
	d, _ := page(t, "<p>a boat</p><p class=news>the ferry</p>")
	part, err := i.Part(t.Context(), d, selection.NewBudget())
	if err != nil || !i.Selects() || string(part.Text.Bytes) != "the ferry" || len(part.Unmatched) != 1 {
		t.Errorf("part %+v, %v", part, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := i.Part(ctx, d, selection.NewBudget()); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}

func TestRequestsOfAnOwnerShareOneBudget(t *testing.T) {
	t.Parallel()
	const sets = 6
	d, _ := page(t, "<p data-x='"+strings.Repeat("a", 4<<20)+"'>tea")
	costly := func(set int) func(*xmlschema.URD) {
		return func(u *xmlschema.URD) {
			for i := range 64 {
				u.Ignore = append(u.Ignore, xmlschema.Rule{Language: "css", Text: fmt.Sprintf("[data-x*='b%d-%d']", set, i)})
			}
		}
	}
	requests := []*Interest{interestIn(t, func(*xmlschema.URD) {})}
	for set := range sets {
		requests = append(requests, interestIn(t, costly(sets-set))) // not in the order of their rules
	}
	requests = append(requests, interestIn(t, costly(1)))
	all := Parts(t.Context(), requests, d)
	over := 0
	for i, looked := range all {
		if (looked.Part == nil) != (looked.Err != nil) || looked.Err != nil && !errors.Is(looked.Err, selection.ErrBudget) {
			t.Errorf("request %d: %+v", i, looked)
		}
		if looked.Err != nil {
			over++
		}
	}
	if over == 0 || over >= sets-1 || all[0].Err != nil || all[1].Err == nil || all[sets].Err != nil || all[sets+1] != all[sets] {
		t.Errorf("%d are over the budget: %v", over, all)
	}
}

func TestThatARequestCanNeverAlertIsSaidOnce(t *testing.T) {
	t.Parallel()
	i := interestIn(t, func(u *xmlschema.URD) { u.Keywords.Threshold = 90 }, xmlschema.Keyword{Key: "the", Weight: 1})
	want := []string{"this can never alert: the weights give a relevance of at most 20, which does not pass the threshold of 90", `keyword "the" is a word of nearly every page`}
	if !slices.Equal(i.Warnings, want) {
		t.Errorf("warnings %q", i.Warnings)
	}
}
