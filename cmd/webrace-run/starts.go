package main

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/webrace/webrace/internal/wording"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/frontier"
)

// unansweredStarts are the starts of pipelines none of whose starts gave an answer: what was wanted of those was not
// even tried. A start that answers that there is no such page is one that was asked.
type unansweredStarts []pipelineStarts

// pipelineStarts holds why each of the starts of a pipeline gave no answer.
type pipelineStarts struct {
	pipeline string
	reasons  []string // each behind its start
}

// noStartAnswered returns the starts of the pipelines that have crawled from starts none of which gave an answer.
func noStartAnswered(sessions []*session, reports []*pipeline.Report) (all unansweredStarts, err error) {
	for _, r := range reports {
		of := pipelineStarts{pipeline: r.Pipeline}
		for start, err := range lastStarts(sessions, r.Pipeline) {
			if err != nil {
				return nil, err
			}
			if start.Failed == "" {
				of.reasons = nil
				break
			}
			of.reasons = append(of.reasons, start.Crawl.Start+": "+wording.WithoutURL(start.Failed, start.Crawl.Start))
		}
		if len(of.reasons) > 0 {
			all = append(all, of)
		}
	}
	return all, nil
}

// lastStarts goes through the starts of a pipeline's crawls in its last run. It ends at the first error, which it
// yields.
func lastStarts(sessions []*session, pipeline string) iter.Seq2[frontier.Start, error] {
	return func(yield func(frontier.Start, error) bool) {
		for _, s := range sessions {
			store, err := s.dir.Frontier()
			if err != nil {
				yield(frontier.Start{}, err)
				return
			}
			for start, err := range store.LastStarts(pipeline) {
				if !yield(start, err) || err != nil {
					return
				}
			}
		}
	}
}

// has reports whether starts of a pipeline are among them, which are all of it.
func (u unansweredStarts) has(pipeline string) bool {
	return slices.ContainsFunc(u, func(s pipelineStarts) bool { return s.pipeline == pipeline })
}

// err reports of each pipeline that it has failed, and why; nil if there is none.
func (u unansweredStarts) err() error {
	var all []error
	for _, s := range u {
		all = append(all, fmt.Errorf("%s: %s", s.pipeline, s.sentence()))
	}
	return errors.Join(all...)
}

func (s *pipelineStarts) sentence() string {
	said := "the start could not be asked"
	if len(s.reasons) > 1 {
		said = fmt.Sprintf("none of the %d starts could be asked", len(s.reasons))
	}
	shown := s.reasons[:min(len(s.reasons), shownFailures)]
	said += "\n  " + strings.Join(shown, "\n  ")
	if more := len(s.reasons) - len(shown); more > 0 {
		said += "\n  and " + wording.Count(more, "other")
	}
	return said
}

// failedStarts returns the ids of the crawls whose starts gave no answer in the last run of a pipeline.
func failedStarts(dir *storage.Dir, pipeline string) (map[string]bool, error) {
	failed := map[string]bool{}
	for start, err := range lastStarts([]*session{{dir: dir}}, pipeline) {
		if err != nil {
			return nil, err
		}
		if start.Failed != "" {
			failed[start.Crawl.ID] = true
		}
	}
	return failed, nil
}
