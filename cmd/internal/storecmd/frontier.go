package storecmd

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/suggest"
	"github.com/webrace/webrace/internal/wording"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/frontier"
)

func newFrontier(globals *cli.Globals) *cobra.Command {
	c := &cobra.Command{Use: "frontier", Short: "what is to be fetched: stats, failed, rules, and hosts: pause, resume, drop"}
	c.AddCommand(newFrontierStats(globals), newFrontierFailed(globals), newFrontierRules(globals))
	c.AddCommand(newFrontierHost(globals)...)
	return c
}

// queueStats are the figures of a pipeline's queue that a run leaves behind.
type queueStats struct {
	Pipeline string   `json:"pipeline"`
	Known    int      `json:"known"`
	Queued   int      `json:"queued"`
	Delayed  int      `json:"delayed"`
	Failed   int      `json:"failed"`
	Paused   []string `json:"paused,omitempty"` // hosts
}

// add adds what other hosts have to the figures.
func (s *queueStats) add(more queueStats) {
	s.Known, s.Queued, s.Delayed, s.Failed = s.Known+more.Known, s.Queued+more.Queued, s.Delayed+more.Delayed, s.Failed+more.Failed
	s.Paused = append(s.Paused, more.Paused...)
	slices.Sort(s.Paused)
}

var statsListing = listing[queueStats]{
	header: []string{"pipeline", "known", "queued", "delayed", "failed", "paused"},
	row: func(s queueStats) []any {
		return []any{s.Pipeline, s.Known, s.Queued, s.Delayed, s.Failed, strings.Join(s.Paused, " ")}
	},
	json: func(s queueStats) any { return s },
}

func newFrontierStats(globals *cli.Globals) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:     "stats [PIPELINE]",
		Short:   "count URLs: known, queued, of these delayed, those that gave no document; and list the hosts that are paused",
		Example: "  webrace-store frontier stats --json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			byPipeline := func(a, b queueStats) int { return strings.Compare(a.Pipeline, b.Pipeline) }
			if asked, err := statsListing.ofParts(c, globals, asJSON, byPipeline, (*queueStats).add); asked {
				return err
			}
			return withFrontier(c, globals, lookIntoDir, args, func(store *frontier.Store, names []string) error {
				_, err := statsListing.print(c, asJSON, statsOf(store, names))
				return err
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON lines")
	return c
}

func statsOf(store *frontier.Store, names []string) iter.Seq2[queueStats, error] {
	return func(yield func(queueStats, error) bool) {
		for _, name := range names {
			var s frontier.Stats
			err := store.View(name, frontier.QueueOptions{}, func(queue *frontier.Queue) error {
				s = queue.Stats()
				return nil
			})
			paused, pausedErr := store.Paused(name)
			slices.Sort(paused)
			if !yield(queueStats{name, s.Known, s.Queued, s.Delayed, s.Failed, paused}, errors.Join(err, pausedErr)) {
				return
			}
		}
	}
}

// failedURL is a URL that gave no document in a pipeline.
type failedURL struct {
	frontier.Failure
	Pipeline string
}

func (f failedURL) compare(other failedURL) int { return strings.Compare(f.Pipeline, other.Pipeline) }

var failedListing = listing[failedURL]{
	header: []string{"url", "status", "attempts", "error", "pipeline"},
	row: func(f failedURL) []any {
		return []any{f.URL, f.Visit.Answer(), f.Visit.Attempts, f.Visit.Error, f.Pipeline}
	},
	screen: &view[failedURL]{
		header: []string{"url", "pipeline", "status", "unanswered", "reason"},
		row: func(f failedURL) []any {
			return []any{f.URL, f.Pipeline, orNone(f.Visit.Answer(), ""), orNone(f.Visit.Attempts, "×"), wording.WithoutURL(f.Visit.Error, f.URL)}
		},
	},
}

// orNone formats a number, and returns nothing if it is 0.
func orNone(n int, unit string) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n) + unit
}

func newFrontierFailed(globals *cli.Globals) *cobra.Command {
	return &cobra.Command{
		Use:     "failed [PIPELINE]",
		Short:   "list the URLs that gave no document: URL, last status (0 if there was no answer), times in a row without any answer, error, pipeline",
		Example: "  webrace-store frontier failed webrace",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if asked, err := failedListing.ofParts(c, globals, false, failedURL.compare, nil); asked {
				return err
			}
			return withFrontier(c, globals, lookIntoDir, args, func(store *frontier.Store, names []string) error {
				return failedListing.list(c, false, failuresOf(c.Context(), store, names), "every URL that was visited gave a document")
			})
		},
	}
}

func failuresOf(ctx context.Context, store *frontier.Store, names []string) iter.Seq2[failedURL, error] {
	return func(yield func(failedURL, error) bool) {
		for _, name := range names {
			more := true
			err := store.View(name, frontier.QueueOptions{}, func(queue *frontier.Queue) error {
				for failure, err := range queue.Failed(ctx) {
					if more = yield(failedURL{failure, name}, err) && err == nil; !more {
						break
					}
				}
				return nil
			})
			if err != nil && more {
				more = yield(failedURL{}, err)
			}
			if !more {
				return
			}
		}
	}
}

// withFrontier runs f on the frontier and the pipelines that are wanted: the one that is named, or all.
func withFrontier(c *cobra.Command, globals *cli.Globals, open opening, wanted []string, f func(*frontier.Store, []string) error) error {
	return open(globals, func(dir *storage.Dir) error {
		store, err := dir.Frontier()
		if err != nil {
			return err
		}
		names, err := store.Pipelines()
		if err != nil {
			return err
		}
		switch {
		case len(wanted) == 0 && len(names) == 0:
			note(c, "no pipeline has crawled yet")
			return nil
		case len(wanted) == 0:
			return f(store, names)
		case !slices.Contains(names, wanted[0]):
			return unknownPipeline(wanted[0], names)
		}
		return f(store, wanted)
	})
}

func unknownPipeline(name string, names []string) error {
	if len(names) == 0 {
		return errors.New("no pipeline has crawled yet")
	}
	return fmt.Errorf("pipeline %s has not crawled; there are %s", name, suggest.Choices(name, names))
}
