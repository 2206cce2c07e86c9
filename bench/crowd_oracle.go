package main

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/match"
	"github.com/webrace/webrace/internal/selection"
	"github.com/webrace/webrace/stages/keywordfilter/annotate"
	"github.com/webrace/webrace/xmlschema"
)

// all is how many URDs there are.
func (s *crowdStage) all() (n int) {
	for _, of := range s.urds {
		n += of
	}
	return n
}

// consult compares what the stage tells of pages that come for the first time, and of those that have changed, with
// the papers' loop: every URD is asked about every page, one by one.
func (s *crowdStage) consult(pages int) error {
	pairs, alerts := 0, 0
	for _, kind := range crowdKinds {
		s.told = map[string]map[string]int{}
		states, err := s.documents(kind, pages) // which feeds those that come for the first time
		if err != nil {
			return err
		}
		if _, err = s.feed(states[crowdState{kind, crowdStates[1]}]); err != nil {
			return err
		}
		for i, first := range states[crowdState{kind, crowdStates[0]}] {
			for _, d := range []*webrace.Document{first, states[crowdState{kind, crowdStates[1]}][i]} {
				want, err := s.loop(kind, first, d)
				if err != nil {
					return err
				}
				if got := s.told[versionOf(d.URL, d.Version)]; !maps.Equal(got, want) {
					return fmt.Errorf("version %d of %s: %d alerts, want %d: %v, want %v", d.Version, d.URL, len(got), len(want), got, want)
				}
				pairs, alerts = pairs+s.urds[kind], alerts+len(want)
			}
		}
	}
	s.told = nil
	s.bench.note("crowd: the papers' loop agrees on %s pairs of a URD of workload %s and a page, %s of them alerts", grouped(pairs), s.asks.name, grouped(alerts))
	return nil
}

// loop returns the relevance of a document for each URD that is alerted.
func (s *crowdStage) loop(kind string, first, d *webrace.Document) (map[string]int, error) {
	told := map[string]int{}
	for u := range s.bench.urds(s.asks, kind, s.urds[kind]) {
		if len(d.Reach) > 0 && !d.Reach[0].Within(u.Depth) {
			continue
		}
		text, added, err := s.shown(u, first, d)
		if err != nil {
			return nil, err
		}
		if text == nil {
			continue
		}
		profile, _, err := match.Compile(annotate.Profile(u))
		if err != nil {
			return nil, err
		}
		var x match.Index
		x.Add(profile)
		to := match.Recipient{ID: u.ID, OnlyAdded: d != first && u.Change == xmlschema.ChangeAdded}
		for a := range x.Match(text, match.Options{Recipients: []match.Recipient{to}, Added: added}) {
			told[u.ID] = a.Relevance
		}
	}
	return told, nil
}

// shown returns the text that a URD looks at, nil if it has not changed, and which blocks of it are new.
func (s *crowdStage) shown(u *xmlschema.URD, first, d *webrace.Document) (text *webrace.Text, added []bool, err error) {
	text, before := d.Text, first.Text
	if rules, err := annotate.Selection(u); err != nil {
		return nil, nil, err
	} else if rules != nil {
		if text, err = partOf(rules, d); err == nil {
			before, err = partOf(rules, first)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	if d == first {
		return text, nil, nil
	}
	known, _ := match.Baseline(nil).Update(before)
	if _, added = known.Update(text); !slices.Contains(added, true) {
		return nil, nil, nil // nothing went, so nothing has changed
	}
	return text, added, nil
}

func partOf(rules *selection.Selection, d *webrace.Document) (*webrace.Text, error) {
	part, err := rules.Apply(context.Background(), selection.Open(d.URL, d.Body, d.MediaType, d.Charset, d.Text), selection.NewBudget())
	if err != nil {
		return nil, err
	}
	return part.Text, nil
}
