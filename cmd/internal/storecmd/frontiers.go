package storecmd

import (
	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/frontier"
	"github.com/webrace/webrace/stages/keywordfilter"
	"github.com/webrace/webrace/storage"
	store "github.com/webrace/webrace/storage/frontier"
)

// frontiers are the queues of all pipelines that ever had one, open.
type frontiers []queue

// queue is that of one pipeline, and what its configuration is now.
type queue struct {
	*store.Queue
	pipeline string
	matching
}

// matching is what a pipeline does with its documents.
type matching struct {
	everyone  bool // it asks every URD, whichever requested the document
	unmatched bool // it asks none: it has no stage keyword-filter
	crawls    bool // it has a queue of URLs: a stage frontier
}

// withFrontiers runs f on the queues of all pipelines: each is opened once, however often f asks it.
func withFrontiers(c *cobra.Command, globals *cli.Globals, dir *storage.Dir, f func(frontiers) error) error {
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
	var open func(names []string, opened frontiers) error
	open = func(names []string, opened frontiers) error {
		if len(names) == 0 {
			return f(opened)
		}
		m, o, err := configured(globals, names[0])
		if err != nil {
			note(c, "the rules of pipeline %s are not considered: %v", names[0], err)
		}
		if len(globals.Set) > 0 && frontier.InUse(names[0]) {
			note(c, "pipeline %s is running: what it was started with counts, and --set does not", names[0])
		}
		return frontier.View(names[0], o, func(q *store.Queue) error {
			return open(names[1:], append(opened, queue{q, names[0], m}))
		})
	}
	return open(names, nil)
}

// configured returns what a pipeline does with its documents, and which URLs it takes, as configured now.
func configured(globals *cli.Globals, name string) (m matching, o store.QueueOptions, err error) {
	loaded, err := loadWith(globals, name)
	if err != nil {
		return m, o, err
	}
	graph, err := loaded.Graph(name)
	if err != nil {
		return m, o, err
	}
	m.unmatched = true
	for _, s := range graph.Stages {
		switch options := s.Options.(type) {
		case frontier.Options:
			m.crawls = true
			for _, file := range []*string{&options.BlockedDomainsFile, &options.BlockedURLsFile} {
				if *file != "" {
					*file = globals.Path(*file)
				}
			}
			if o, err = options.QueueOptions(pipeline.NewEnv(name, s.Name, nil)); err != nil {
				return m, o, err
			}
		case keywordfilter.Options:
			m.unmatched, m.everyone = false, m.everyone || options.Audience == "everyone"
		}
	}
	return m, o, nil
}

// statusesOf asks every queue about a URL as it is fetched with these credentials, or none.
func (f frontiers) statusesOf(secret, url string) (all []urlStatus, err error) {
	for _, q := range f {
		explanation, err := q.WhyWith(secret, url)
		if err != nil {
			return nil, err
		}
		all = append(all, urlStatus{q.pipeline, q.matching, explanation})
	}
	return all, nil
}

// statuses asks every queue about a URL, whatever credentials it is fetched with.
func (f frontiers) statuses(url string) (all []urlStatus, err error) {
	for _, q := range f {
		why, err := q.Why(url)
		if err != nil {
			return nil, err
		}
		for _, explanation := range why {
			all = append(all, urlStatus{q.pipeline, q.matching, explanation})
		}
	}
	return all, nil
}
