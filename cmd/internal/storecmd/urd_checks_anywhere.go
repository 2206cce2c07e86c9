package storecmd

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"strings"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/cluster"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/frontier"
)

// standing is how a crawl stands in a partition, and what came of its start.
type standing struct {
	frontier.CrawlStatus
	Pipeline, Start, Outcome string
	Partition                int
}

// writeStandings writes how the crawls of a partition stand, for who lists URDs, in the order of their ids.
func writeStandings(c *cobra.Command, globals *cli.Globals, partition int) error {
	out := json.NewEncoder(c.OutOrStdout())
	return lookIntoDir(globals, func(dir *storage.Dir) error {
		store, err := dir.Control()
		if err != nil {
			return err
		}
		var all []standing
		opened, err := eachStanding(dir, func(pipeline string, s frontier.CrawlStatus) error {
			all = append(all, standing{CrawlStatus: s, Pipeline: pipeline, Partition: partition})
			return nil
		})
		for _, s := range all {
			var secret string
			if s.Start, secret, err = store.SourceOf(c.Context(), s.Crawl); errors.Is(err, control.ErrNotFound) {
				continue
			}
			if err == nil {
				s.Outcome, err = stood{CrawlStatus: s.CrawlStatus, pipeline: s.Pipeline}.outcomeIn(opened, secret, s.Start)
			}
			if err == nil {
				err = out.Encode(s)
			}
			if err != nil {
				return err
			}
		}
		return err
	})
}

// readChecks reads how crawls stand where each begins: other partitions know what they were sent of it.
func (p *parts) readChecks(store *control.Store) (*checks, error) {
	k, err := newChecks(p.c, store)
	if err != nil {
		return nil, err
	}
	none := func() io.Reader { return strings.NewReader("") }
	anyOrder := func(a, b standing) int { return cmp.Compare(a.Partition, b.Partition) }
	err = eachRow(p, none, []string{"urd", "list"}, anyOrder, nil, func(rows iter.Seq2[standing, error]) error {
		for s, err := range rows {
			if err != nil {
				return err
			}
			if cluster.PartitionOf(urlnorm.Host(s.Start), p.where.Partitions) == s.Partition {
				k.take(p.globals, stood{CrawlStatus: s.CrawlStatus, pipeline: s.Pipeline, outcome: s.Outcome})
			}
		}
		return nil
	})
	if p.lacking() != nil { // which is said behind what is known
		err = nil
	}
	return k, err
}
