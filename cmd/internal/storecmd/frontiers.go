package storecmd

import (
	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/scope"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/frontier"
	"github.com/webrace/webrace/stages/keywordfilter"
	"github.com/webrace/webrace/storage"
	store "github.com/webrace/webrace/storage/frontier"
)

// frontiers are the queues of all pipelines that ever had one, open.
type frontiers []queue

// queue is that of one pipeline, and what its configuration says now.
type queue struct {
	*store.Queue
	pipeline string
	matching
}

// matching is what a pipeline does with its documents.
type matching struct {
	rules    *scope.Rules // which URLs it takes
	everyone bool         // it asks every URD, whoever requested the document
	nobody   bool         // it asks none
}

// withFrontiers runs f on the queues of all pipelines: each is opened once, however often f asks it.
func withFrontiers(c *cobra.Command, place *cli.Place, dir *storage.Dir, f func(frontiers) error) error {
	frontier, err := dir.Frontier()
	if err != nil {
		return err
	}
	names, err := frontier.Pipelines()
	if err != nil {
		return err
	}
	var open func(names []string, opened frontiers) error
	open = func(names []string, opened frontiers) error {
		if len(names) == 0 {
			return f(opened)
		}
		m, err := matchingOf(place, names[0])
		if err != nil {
			note(c, "the rules of pipeline %s are not considered: %v", names[0], err)
		}
		return frontier.Look(names[0], store.QueueOptions{Rules: m.rules}, func(q *store.Queue) error {
			return open(names[1:], append(opened, queue{q, names[0], m}))
		})
	}
	return open(names, nil)
}

// matchingOf returns what a pipeline does with its documents, as configured now.
func matchingOf(place *cli.Place, name string) (m matching, err error) {
	config, err := place.Load(pipeline.LoadOptions{Run: []string{name}})
	if err != nil {
		return m, err
	}
	graph, err := config.Graph(name)
	if err != nil {
		return m, err
	}
	m.nobody = true
	for _, s := range graph.Stages {
		switch options := s.Options.(type) {
		case frontier.Options:
			if m.rules, err = scope.ParseRules(options.Rules); err != nil {
				return m, err
			}
		case keywordfilter.Options:
			m.nobody, m.everyone = false, m.everyone || options.Audience == "everyone"
		}
	}
	return m, nil
}

// standings asks every queue about a URL.
func (f frontiers) standings(url string) (all []standing, err error) {
	for _, q := range f {
		why, err := q.Why(url)
		if err != nil {
			return nil, err
		}
		for _, explanation := range why {
			all = append(all, standing{q.pipeline, q.matching, explanation})
		}
	}
	return all, nil
}
