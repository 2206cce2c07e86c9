package storecmd

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/schedule"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/urds"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/frontier"
)

// checked is how the start of a URD was last checked, and when it is due again.
type checked struct {
	Last    time.Time // zero for never
	Outcome string    // empty for a URD that starts no crawl
	Next    time.Time // zero for at once, or a URD that starts no crawl
	Due     bool      // a run would check it now
}

// next says when, for a person and a program.
func (c checked) next() string {
	if c.Due {
		return "now"
	}
	return moment(c.Next)
}

// checks knows how the crawls stand, in whichever pipeline each was last checked.
type checks struct {
	now      time.Time
	frontier *frontier.Store // nil: nothing was ever crawled
	crawls   map[string]stood
	timings  map[string]time.Duration // of each crawl, the shortest that a URD names; 0 for none
}

// stood is how a crawl stands in a pipeline, and what that makes of timings.
type stood struct {
	frontier.Standing
	pipeline string
	options  urds.Options
}

func readChecks(c *cobra.Command, place *cli.Place, dir *storage.Dir, store *control.Store) (*checks, error) {
	k := &checks{now: time.Now(), crawls: map[string]stood{}, timings: map[string]time.Duration{}}
	if _, err := os.Stat(dir.Path("frontier")); errors.Is(err, fs.ErrNotExist) {
		return k, nil
	}
	for urd, err := range store.All(c.Context()) {
		if err != nil {
			return nil, err
		}
		if t := k.timings[urd.Crawl.ID]; urd.Timing > 0 && (t == 0 || urd.Timing < t) {
			k.timings[urd.Crawl.ID] = urd.Timing
		}
	}
	var err error
	if k.frontier, err = dir.Frontier(); err != nil {
		return nil, err
	}
	pipelines, err := k.frontier.Pipelines()
	if err != nil {
		return nil, err
	}
	for _, name := range pipelines {
		standings, err := k.frontier.Standings(name)
		if err != nil {
			return nil, err
		}
		options := scheduleOf(place, name)
		for _, s := range standings {
			if before, known := k.crawls[s.Crawl]; s.Round > 0 && (!known || before.last().Before(stood{Standing: s}.last())) {
				k.crawls[s.Crawl] = stood{s, name, options}
			}
		}
	}
	return k, nil
}

// scheduleOf returns how a pipeline is configured to come back; as it is by default, if it is not configured any more.
func scheduleOf(place *cli.Place, name string) urds.Options {
	options := urds.Defaults()
	config, err := place.Load(pipeline.LoadOptions{Run: []string{name}})
	if err != nil {
		return options
	}
	graph, err := config.Graph(name)
	if err != nil {
		return options
	}
	for _, s := range graph.Stages {
		if of, ok := s.Options.(urds.Options); ok {
			options = of
		}
	}
	return options
}

// last is when the start was last looked at: at the beginning of the round, if it did not answer.
func (s stood) last() time.Time {
	if s.Visited.After(s.Started) {
		return s.Visited
	}
	return s.Started
}

// of returns how the start of a URD was checked.
func (k *checks) of(urd control.URD) (c checked, err error) {
	if urd.Crawl.ID == "" {
		return checked{}, nil
	}
	s, known := k.crawls[urd.Crawl.ID]
	if !known {
		return checked{Outcome: "never checked", Due: true}, nil
	}
	c.Last = s.last()
	if c.Outcome, err = k.outcome(urd, s); err != nil {
		return c, err
	}
	timing := cmp.Or(k.timings[urd.Crawl.ID], time.Duration(s.options.Timing))
	c.Next = s.Started.Add(schedule.Policies[s.options.Policy].Interval(timing, s.Interval))
	c.Due = s.Pending > 0 || !c.Next.After(k.now) || urd.CheckAsked.After(s.Started) || schedule.Ahead(s.Started, k.now)
	return c, nil
}

func (k *checks) outcome(urd control.URD, s stood) (string, error) {
	visit, err := k.frontier.LastVisit(s.pipeline, urd.Crawl.Secret, urd.Crawl.Start)
	switch {
	case err != nil:
		return "", err
	case visit != nil && visit.Error != "":
		return "failed: " + visit.Error, nil
	case visit == nil || s.Pending > 0 && s.Visited.Before(s.Started):
		return "under way", nil
	case s.Changed:
		return "changed", nil
	}
	return "unchanged", nil
}
