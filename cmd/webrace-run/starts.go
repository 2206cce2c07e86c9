package main

import (
	"fmt"
	"strings"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage"
)

// someStartMustAnswer fails if a pipeline has crawled from starts none of which gave an answer: what was wanted was
// not even tried. A start that answers that there is no such page is one that was asked.
func someStartMustAnswer(dir *storage.Dir, reports []*pipeline.Report) error {
	for _, r := range reports {
		store, err := dir.Frontier()
		if err != nil {
			return err
		}
		var reasons []string
		for start, err := range store.LastStarts(r.Pipeline) {
			if err != nil {
				return err
			}
			if start.Failed == "" {
				reasons = nil
				break
			}
			reasons = append(reasons, start.Crawl.Start+": "+withoutURL(start.Failed, start.Crawl.Start))
		}
		if len(reasons) > 0 {
			return fmt.Errorf("%s: %s", r.Pipeline, noStartAnswered(reasons))
		}
	}
	return nil
}

// failedStarts returns the ids of the crawls whose starts gave no answer in the last run of a pipeline.
func failedStarts(dir *storage.Dir, pipeline string) (map[string]bool, error) {
	store, err := dir.Frontier()
	if err != nil {
		return nil, err
	}
	failed := map[string]bool{}
	for start, err := range store.LastStarts(pipeline) {
		if err != nil {
			return nil, err
		}
		if start.Failed != "" {
			failed[start.Crawl.ID] = true
		}
	}
	return failed, nil
}

// noStartAnswered says so, and why.
func noStartAnswered(reasons []string) string {
	said := "the start could not be asked"
	if len(reasons) > 1 {
		said = fmt.Sprintf("none of the %d starts could be asked", len(reasons))
	}
	shown := reasons[:min(len(reasons), shownFailures)]
	said += "\n  " + strings.Join(shown, "\n  ")
	if more := len(reasons) - len(shown); more > 0 {
		said += "\n  and " + cli.Count(more, "other")
	}
	return said
}
