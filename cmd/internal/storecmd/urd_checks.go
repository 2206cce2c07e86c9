package storecmd

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/wording"
	"github.com/webrace/webrace/pipeline/config"
	"github.com/webrace/webrace/stages/urds"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/frontier"
	"github.com/webrace/webrace/storage/schedule"
	"github.com/webrace/webrace/xmlschema/cron"
)

// checked is how the start of a URD was last checked, and when it is due again.
type checked struct {
	Last    time.Time // zero for never
	Outcome string    // empty for a URD that starts no crawl, but that one is paused
	Next    time.Time // zero for at once, or a URD that starts no crawl
	Due     bool      // a run would check it now
}

// next returns when, for a person and a program.
func (c checked) next() string {
	if c.Due {
		return "now"
	}
	return wording.Moment(c.Next)
}

// checks knows how the crawls stand, in whichever pipeline each was last checked.
type checks struct {
	now      time.Time
	frontier *frontier.Store // nil: nothing was ever crawled
	crawls   map[string]stood
	asked    map[string][]asker          // how each crawl is asked for
	times    map[string]*cron.Expression // by their lines
	due      map[string]time.Time        // when each crawl is, as far as that was found out
	options  urds.Options                // of a pipeline that has none

	schedules map[string]urds.Options // of pipelines
}

// asker is how URDs ask for their crawl: at times that count since then, or by their timing, 0 for that of the stage.
type asker struct {
	times  *cron.Expression
	since  time.Time
	timing time.Duration
}

// next is when a crawl is due that stood so.
func (a asker) next(s frontier.CrawlStatus, o urds.Options) time.Time {
	switch {
	case a.times != nil && s.Started.After(a.since):
		return a.times.Next(s.Started)
	case a.times != nil:
		return a.times.Next(a.since)
	case s.Round == 0:
		return time.Time{}
	}
	timing := cmp.Or(a.timing, time.Duration(o.Timing))
	return s.Started.Add(schedule.Policies[o.Policy].Interval(timing, s.Interval))
}

// stood is how a crawl stands in a pipeline, and what that makes of timings.
type stood struct {
	frontier.CrawlStatus
	pipeline string
	options  urds.Options
	outcome  string // if another partition has found it out
}

// readChecks reads how crawls stand in a data directory.
func readChecks(c *cobra.Command, globals *cli.Globals, dir *storage.Dir, store *control.Store) (*checks, error) {
	k, err := newChecks(c, store)
	if err != nil {
		return nil, err
	}
	k.frontier, err = eachStanding(dir, func(pipeline string, s frontier.CrawlStatus) error {
		k.take(globals, stood{CrawlStatus: s, pipeline: pipeline})
		return nil
	})
	return k, err
}

// newChecks knows of no crawl yet.
func newChecks(c *cobra.Command, store *control.Store) (*checks, error) {
	k := &checks{
		now: time.Now(), crawls: map[string]stood{}, asked: map[string][]asker{}, times: map[string]*cron.Expression{}, due: map[string]time.Time{},
		options: urds.Defaults(), schedules: map[string]urds.Options{},
	}
	since, err := store.AllTimesSince(c.Context())
	if err != nil {
		return nil, err
	}
	for urd, err := range store.All(c.Context()) {
		if err != nil {
			return nil, err
		}
		k.ask(urd, since[urd.ID])
	}
	return k, nil
}

// eachStanding calls f for each crawl of each pipeline that has begun, and returns the frontier; nil if nothing was
// ever crawled.
func eachStanding(dir *storage.Dir, f func(pipeline string, s frontier.CrawlStatus) error) (*frontier.Store, error) {
	if _, err := os.Stat(dir.Path("frontier")); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	store, err := dir.Frontier()
	if err != nil {
		return nil, err
	}
	pipelines, err := store.Pipelines()
	if err != nil {
		return nil, err
	}
	for _, name := range pipelines {
		standings, err := store.CrawlStatuses(name)
		if err != nil {
			return nil, err
		}
		for _, s := range standings {
			if s.Round == 0 {
				continue
			}
			if err := f(name, s); err != nil {
				return nil, err
			}
		}
	}
	return store, nil
}

// take takes in how a crawl stands, unless it was checked later in another pipeline.
func (k *checks) take(globals *cli.Globals, s stood) {
	if before, known := k.crawls[s.Crawl]; known && !before.last().Before(s.last()) {
		return
	}
	of, known := k.schedules[s.pipeline]
	if !known {
		of = scheduleOf(globals, s.pipeline)
		k.schedules[s.pipeline] = of
	}
	s.options = of
	k.crawls[s.Crawl] = s
}

// ask takes in how a URD asks. Of those that name the same times, the first that is due is that whose times count for
// longest.
func (k *checks) ask(urd control.URD, since time.Time) {
	a := asker{timing: urd.Timing}
	if urd.At != "" {
		if k.times[urd.At] == nil {
			times, err := cron.Parse(urd.At)
			if err != nil {
				return // it is never due
			}
			k.times[urd.At] = times
		}
		a = asker{times: k.times[urd.At], since: since}
	}
	asked := k.asked[urd.Crawl.ID]
	for i, other := range asked {
		if other.times == a.times && other.timing == a.timing {
			if a.since.Before(other.since) {
				asked[i].since = a.since
			}
			return
		}
	}
	k.asked[urd.Crawl.ID] = append(asked, a)
}

// next is when a crawl is due as the most demanding of its URDs asks; zero for at once.
func (k *checks) next(crawl string, s frontier.CrawlStatus, o urds.Options) time.Time {
	first, known := k.due[crawl]
	if known {
		return first
	}
	for i, a := range k.asked[crawl] {
		if at := a.next(s, o); i == 0 || at.Before(first) {
			first = at
		}
	}
	k.due[crawl] = first
	return first
}

// scheduleOf returns how a pipeline is configured to come back; as it is by default, if it is not configured any more.
func scheduleOf(globals *cli.Globals, name string) urds.Options {
	options := urds.Defaults()
	loaded, err := globals.Load(config.LoadOptions{Run: []string{name}})
	if err != nil {
		return options
	}
	graph, err := loaded.Graph(name)
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
	if urd.Paused {
		return checked{Outcome: "paused"}, nil
	}
	if urd.Crawl.ID == "" {
		return checked{}, nil
	}
	s, known := k.crawls[urd.Crawl.ID]
	if !known {
		c.Outcome, c.Next = "never checked", k.next(urd.Crawl.ID, frontier.CrawlStatus{}, k.options)
		c.Due = !c.Next.After(k.now) || !urd.CheckAsked.IsZero()
		return c, nil
	}
	c.Last = s.last()
	if c.Outcome = s.outcome; c.Outcome == "" {
		if c.Outcome, err = s.outcomeIn(k.frontier, urd.Crawl.Secret, urd.Crawl.Start); err != nil {
			return c, err
		}
	}
	c.Next = k.next(urd.Crawl.ID, s.CrawlStatus, s.options)
	c.Due = s.Pending > 0 || !c.Next.After(k.now) || urd.CheckAsked.After(s.Started) || schedule.Ahead(s.Started, k.now)
	return c, nil
}

// outcomeIn returns what came of the start, by the frontier that it is in.
func (s stood) outcomeIn(store *frontier.Store, secret, start string) (string, error) {
	visit, err := store.LastVisit(s.pipeline, secret, start)
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
