package storecmd

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/wording"
	"github.com/webrace/webrace/pipeline/config"
	"github.com/webrace/webrace/storage/cluster"
	"github.com/webrace/webrace/storage/control"
)

func newCluster(globals *cli.Globals) *cobra.Command {
	c := &cobra.Command{Use: "cluster", Short: "what the nodes of a cluster agree on: create, import, status, move, skip"}
	c.AddCommand(newClusterCreate(globals), newClusterImport(globals), newClusterStatus(globals), newClusterMove(globals), newClusterSkip(globals))
	return c
}

func newClusterCreate(globals *cli.Globals) *cobra.Command {
	shape := cluster.Shape{Partitions: 32, Nodes: 1}
	c := &cobra.Command{
		Use:   "create [URL]",
		Short: "make a cluster in a database of PostgreSQL, where there is none",
		Example: `  webrace-store cluster create --partitions 32 --nodes 3
  webrace-store cluster create --nodes 3 postgres://webrace@db.example/webrace`,
		Long: `create makes the tables of a cluster beside those of the control store, which are
made as well. Sites are divided among so many partitions, a power of two, and
partition p is node p mod n's of n nodes, until it is moved. Neither number changes
afterwards.

The database is the one that is named, or that of the configuration's [cluster], or
the one that the environment's WEBRACE_DATABASE names.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := shape.Check(); err != nil {
				return cli.Wrong(err)
			}
			database, keyFile, err := clusterDatabase(globals, args)
			if err != nil {
				return err
			}
			store, err := control.OpenPostgres(c.Context(), database, keyFile, control.Options{})
			if err == nil {
				err = store.Close()
			}
			if err == nil {
				err = cluster.Create(c.Context(), database, shape)
			}
			if err != nil {
				return &cli.Error{Status: cli.Environment, Err: err}
			}
			_, err = fmt.Fprintf(cli.Prose(c.OutOrStdout()), "a cluster of %s and %s at %s\n",
				wording.Count(shape.Partitions, "partition"), wording.Count(shape.Nodes, "node"), control.Redacted(database))
			return err
		},
	}
	c.Flags().IntVar(&shape.Partitions, "partitions", shape.Partitions, "in how many parts sites are divided: a power of two")
	c.Flags().IntVar(&shape.Nodes, "nodes", shape.Nodes, "how many nodes share them")
	return c
}

// clusterDatabase returns the database that a command is about, and where the key of its secrets is.
func clusterDatabase(globals *cli.Globals, args []string) (database, keyFile string, err error) {
	if len(args) > 0 {
		database = args[0]
	} else {
		loaded, err := globals.Load(config.LoadOptions{Run: []string{}})
		if err != nil {
			return "", "", err
		}
		if loaded.Cluster != nil {
			place := cli.PlaceOf(loaded)
			return place.Control, place.KeyFile, nil
		}
		if database = os.Getenv("WEBRACE_DATABASE"); database == "" {
			return "", "", cli.Wrongf("the configuration has no [cluster]: name its database, or another configuration with --config, or set WEBRACE_DATABASE")
		}
	}
	if err := control.CheckURL(database); err != nil {
		return "", "", cli.Wrong(err)
	}
	return database, control.KeyFile, nil
}

func newClusterStatus(globals *cli.Globals) *cobra.Command {
	nodes := listing[cluster.NodeStatus]{
		header: []string{"node", "partitions", "state", "seen", "waiting", "configuration", "place"},
		row: func(n cluster.NodeStatus) []any {
			return []any{n.Node, n.Partitions, n.State(), lastSeen(n), n.Inbox, n.Config, n.Place}
		},
	}
	c := &cobra.Command{
		Use:     "status [URL]",
		Short:   "list the nodes of a cluster: node, partitions, state, when it was seen, envelopes that wait for it, configuration, place",
		Example: "  webrace-store cluster status",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			database, _, err := clusterDatabase(globals, args)
			if err != nil {
				return err
			}
			s, err := cluster.StatusOf(c.Context(), database)
			if err != nil {
				return &cli.Error{Status: cli.Environment, Err: err}
			}
			if _, err := nodes.print(c, false, cli.Each(s.Nodes)); err != nil {
				return err
			}
			for _, r := range s.Runs {
				if !r.Over {
					note(c, "run %d of %s goes on: %s not done", r.Number, r.Pipeline, wording.Count(r.Busy, "partition"))
				}
			}
			for _, m := range s.Moves {
				note(c, "%s (%s wait for it)", OnWay(m), wording.Count(m.Inbox, "envelope"))
			}
			warnOfOthers(c, s)
			return nil
		},
	}
	return c
}

func lastSeen(n cluster.NodeStatus) string {
	if n.Seen == 0 {
		return "-"
	}
	return n.Seen.Round(time.Second).String()
}

// warnOfOthers tells of nodes that run another configuration than the first that runs.
func warnOfOthers(c *cobra.Command, s cluster.Status) {
	for i, n := range s.Nodes {
		if s.Differs(i) {
			note(c, "warning: node %d runs another configuration than node %d", n.Node, s.Nodes[s.First()].Node)
		}
	}
}

func newClusterSkip(globals *cli.Globals) *cobra.Command {
	return &cobra.Command{
		Use:   "skip PARTITION ENVELOPE",
		Short: "remove an envelope that a partition cannot read, and what it would have caused",
		Long: `skip removes one envelope from the inbox of a partition. A node that cannot read one,
as after a newer program has sent it, says so, with these two numbers, and receives
nothing for that partition before it can.`,
		Example: "  webrace-store cluster skip 7 4711",
		Args:    cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			p, err := strconv.Atoi(strings.TrimSpace(args[0]))
			if err != nil {
				return cli.Wrongf("%q is no number of a partition", args[0])
			}
			id, err := strconv.ParseInt(args[1], 10, 64)
			if err != nil {
				return cli.Wrongf("%q is no number of an envelope", args[1])
			}
			database, _, err := clusterDatabase(globals, nil)
			if err != nil {
				return err
			}
			there, err := cluster.Skip(c.Context(), database, p, id)
			switch {
			case err != nil:
				return &cli.Error{Status: cli.Environment, Err: err}
			case !there:
				return fmt.Errorf("partition %d has no envelope %d: it was received, or skipped", p, id)
			}
			_, err = fmt.Fprintf(cli.Prose(c.OutOrStdout()), "envelope %d of partition %d is removed\n", id, p)
			return err
		},
	}
}
