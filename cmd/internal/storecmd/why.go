package storecmd

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/frontier"
	"github.com/webrace/webrace/storage/objects"
)

func newWhy(place *cli.Place) *cobra.Command {
	return &cobra.Command{
		Use:   "why URL",
		Short: "say why a URL was fetched or not: scope, depth, rule, robots.txt, error, when it is due",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			url, err := normal(args[0])
			if err != nil {
				return err
			}
			return withDir(place, func(dir *storage.Dir) error {
				return withFrontiers(c, place, dir, func(queues frontiers) error { return why(c, dir, queues, url) })
			})
		},
	}
}

func why(c *cobra.Command, dir *storage.Dir, queues frontiers, url string) error {
	all, err := queues.standings(url)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		note(c, "nothing was crawled yet, so nobody came to %s", url)
		return nil
	}
	starts, err := startsOf(c, dir, all)
	if err != nil {
		return err
	}
	for _, s := range all {
		stored, err := stillStored(dir, url, s.Visit)
		if err != nil {
			return err
		}
		s.print(c.OutOrStdout(), starts, time.Now(), stored)
	}
	return nil
}

// startsOf returns where the crawls that came to a URL began, as far as there are URDs of them.
func startsOf(c *cobra.Command, dir *storage.Dir, all []standing) (map[string]string, error) {
	store, err := dir.Control()
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, s := range all {
		for _, came := range s.Came {
			ids = append(ids, came.Crawl)
		}
	}
	starts := map[string]string{}
	for urd, err := range store.ByCrawl(c.Context(), ids...) {
		if err != nil {
			return nil, err
		}
		starts[urd.Crawl.ID] = urd.Crawl.Start
	}
	return starts, nil
}

// stillStored reports whether the version of a visit was not removed since.
func stillStored(dir *storage.Dir, url string, v *webrace.Visit) (bool, error) {
	if v == nil || v.Version == 0 {
		return false, nil
	}
	documents, err := dir.Objects()
	if err != nil {
		return false, err
	}
	_, err = documents.Get(url, v.Version)
	if errors.Is(err, objects.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// print shows where a URL stands to a person, and whether the version of its last visit is still stored.
func (s standing) print(w io.Writer, starts map[string]string, now time.Time, stored bool) {
	fmt.Fprintf(w, "%s: %s\n", s.pipeline, s.state())
	for _, came := range s.Came {
		fmt.Fprintf(w, "  %s\n", describeCame(came, starts))
	}
	if s.Visit != nil {
		describeVisit(w, s.Visit, stored)
	}
	if s.Paused {
		fmt.Fprintf(w, "  its host is paused: webrace-store frontier resume\n")
	}
	if s.Host.After(now) {
		fmt.Fprintf(w, "  its host may be asked again at %s\n", moment(s.Host))
	}
	if because := s.refused(); s.State != frontier.Unseen && s.Refused >= frontier.Rule && s.Refused <= frontier.TrapFarDates {
		fmt.Fprintf(w, "  it is not accepted any more: %s\n", because)
	} else if s.Gate.Rule != nil && s.State != frontier.Unseen {
		fmt.Fprintf(w, "  rule %d, %q, decides about it\n", s.Gate.Number, s.Gate.Rule.Text())
	}
}

func describeCame(came frontier.Came, starts map[string]string) string {
	start := starts[came.Crawl]
	if start == "" {
		start = "crawl " + came.Crawl
	}
	text := fmt.Sprintf("at level %d of the crawl from %s", level(came.Distance), start)
	switch {
	case came.Waiting:
		text += ", which waits for it"
	case !came.Current:
		text += ", in an earlier round"
	}
	return text
}

func describeVisit(w io.Writer, v *webrace.Visit, stored bool) {
	if !v.At.IsZero() {
		text := fmt.Sprintf("last answer at %s: status %d", moment(v.At), v.Status)
		if stored {
			text += fmt.Sprintf("; version %d is stored", v.Version)
		} else if v.Version > 0 {
			text += fmt.Sprintf("; version %d was stored, and is removed", v.Version)
		}
		fmt.Fprintf(w, "  %s\n", text)
	}
	if v.Attempts > 0 {
		fmt.Fprintf(w, "  failed %s in a row: %s\n", plural(v.Attempts, "time"), oneLine(v.Error))
	}
}
