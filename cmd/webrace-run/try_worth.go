package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/webrace/webrace/internal/annotate"
	"github.com/webrace/webrace/internal/match"
	"github.com/webrace/webrace/internal/scope"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// trial is a document and what it is worth to each of some URDs, those that alert first, the most relevant
// first.
type trial struct {
	*specimen
	worths []worth
	marks  []match.Mark // of all URDs, in the order of the text
}

// worth is what a document is worth to one URD.
type worth struct {
	*xmlschema.URD
	match.Explanation
	summary  string   // empty where there is no alert
	warnings []string // what of the URD is probably not meant
	astray   string   // why its crawl does not come to the document; empty if it may
}

func (w *worth) alerts() bool { return w.Reason == match.Alerts }

func newTrial(d *specimen, urds []*xmlschema.URD) (*trial, error) {
	t := &trial{specimen: d}
	for _, urd := range urds {
		if err := t.try(urd); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(t.worths, func(a, b worth) int {
		if a.alerts() != b.alerts() {
			return map[bool]int{true: -1, false: 1}[a.alerts()]
		}
		return cmp.Compare(b.Relevance, a.Relevance)
	})
	slices.SortStableFunc(t.marks, func(a, b match.Mark) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End), cmp.Compare(a.Keyword, b.Keyword))
	})
	return t, nil
}

func (t *trial) try(urd *xmlschema.URD) error {
	profile, doubts, err := match.Compile(annotate.Profile(urd))
	if err != nil {
		return err
	}
	options := match.Options{Recipients: []match.Recipient{{ID: urd.ID}}, Summary: annotate.SummaryBytes}
	w := worth{URD: urd, Explanation: match.Explain(profile, t.Text, options), warnings: warningsOf(urd, doubts), astray: astray(urd, t.url)}
	var index match.Index
	index.Add(profile)
	for alert := range index.Match(t.Text, options) {
		w.summary = alert.Summary
	}
	t.worths = append(t.worths, w)
	t.marks = append(t.marks, match.Marks(profile, t.Text)...)
	return nil
}

// told returns how many URDs alert: the first ones.
func (t *trial) told() int {
	n := slices.IndexFunc(t.worths, func(w worth) bool { return !w.alerts() })
	if n < 0 {
		return len(t.worths)
	}
	return n
}

// warningsOf says what of a URD is probably not meant. That it can never alert is said once.
func warningsOf(urd *xmlschema.URD, doubts []match.Warning) []string {
	all := urd.Advice()
	for _, doubt := range doubts {
		if doubt.Keyword != "" || !slices.ContainsFunc(all, func(a string) bool { return strings.Contains(a, "can never alert") }) {
			all = append(all, doubt.String())
		}
	}
	return all
}

// astray says why a URD is not asked about a document at this URL, whatever it is worth to it.
func astray(urd *xmlschema.URD, url string) string {
	if url == "" {
		return ""
	}
	if under, watches := urd.Prefix(); watches {
		if strings.HasPrefix(url, under) {
			return ""
		}
		return fmt.Sprintf("the document does not lie under %s", urd.URI)
	}
	crawl, starts, err := control.CrawlOf(urd)
	if err != nil || !starts {
		return ""
	}
	if bounds, err := scope.New(crawl.Start, crawl.Scope); err == nil && !bounds.Match(url) {
		return fmt.Sprintf("the document lies outside the scope %s of %s", crawl.Scope, crawl.Start)
	}
	return ""
}
