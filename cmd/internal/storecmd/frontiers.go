package storecmd

import (
	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/frontier"
	"github.com/webrace/webrace/stages/keywordfilter"
	"github.com/webrace/webrace/stages/keywordfilter/explain"
	"github.com/webrace/webrace/storage"
	store "github.com/webrace/webrace/storage/frontier"
)

// withFrontiers runs f on the queues of all pipelines: each is opened once, however often f asks it.
func withFrontiers(c *cobra.Command, globals *cli.Globals, dir *storage.Dir, f func(explain.Queues) error) error {
	frontier, err := dir.Frontier()
	if err != nil {
		return err
	}
	names, err := frontier.Pipelines()
	if err != nil {
		return err
	}
	if err := checkSettings(globals, names); err != nil {
		return err
	}
	return WithQueues(globals, dir, func(format string, args ...any) { note(c, format, args...) }, f)
}

// WithQueues runs f on the queues of all pipelines. What of these does not hold is noted.
func WithQueues(globals *cli.Globals, dir *storage.Dir, note func(format string, args ...any), f func(explain.Queues) error) error {
	frontier, err := dir.Frontier()
	if err != nil {
		return err
	}
	names, err := frontier.Pipelines()
	if err != nil {
		return err
	}
	var open func(names []string, opened explain.Queues) error
	open = func(names []string, opened explain.Queues) error {
		if len(names) == 0 {
			return f(opened)
		}
		m, o, err := configured(globals, names[0])
		if err != nil {
			note("the rules of pipeline %s are not considered: %v", names[0], err)
		}
		if len(globals.Set) > 0 && frontier.InUse(names[0]) {
			note("pipeline %s is running: what it was started with counts, and --set does not", names[0])
		}
		return frontier.View(names[0], o, func(q *store.Queue) error {
			return open(names[1:], append(opened, explain.Queue{Queue: q, Pipeline: names[0], Matching: m}))
		})
	}
	return open(names, nil)
}

// configured returns what a pipeline does with its documents, and which URLs it takes, as configured now.
func configured(globals *cli.Globals, name string) (m explain.Matching, o store.QueueOptions, err error) {
	loaded, err := LoadWith(globals, name)
	if err != nil {
		return m, o, err
	}
	graph, err := loaded.Graph(name)
	if err != nil {
		return m, o, err
	}
	m.Unmatched = true
	for _, s := range graph.Stages {
		switch options := s.Options.(type) {
		case frontier.Options:
			m.Crawls = true
			for _, file := range []*string{&options.BlockedDomainsFile, &options.BlockedURLsFile} {
				if *file != "" {
					*file = globals.Path(*file)
				}
			}
			if o, err = options.QueueOptions(pipeline.NewEnv(name, s.Name, nil)); err != nil {
				return m, o, err
			}
		case keywordfilter.Options:
			m.Unmatched, m.Everyone = false, m.Everyone || options.Audience == "everyone"
		}
	}
	return m, o, nil
}
