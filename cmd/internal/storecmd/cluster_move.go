package storecmd

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/pipeline/config"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/cluster"
)

// ReachedInMove is called between the steps of a move with the name of the one that is done. Tests kill the process
// there.
var ReachedInMove = func(step string) {}

func newClusterMove(globals *cli.Globals) *cobra.Command {
	var to int
	var into, from string
	c := &cobra.Command{
		Use:   "move PARTITION",
		Short: "take a partition from the node that has it to another, by a backup",
		Example: `  webrace-store cluster move 6 --to 2 --into /backup/06    # where it is
  webrace-store cluster move 6 --from /backup/06           # on node 2, to which that was copied`,
		Long: `move takes a partition, with its sites and all that is stored of them, from one
node to another, in two commands: with --to on the node that has it, and with --from
on the one that gets it. Neither may run meanwhile; all others may.

The first checks the partition, writes a backup of it, checks that, and gives the
partition away: no node has it then, and what comes for it waits in the database.
The directory of the backup is there when all this is done. The second restores it,
and refuses any other backup. A command that was interrupted is given again as it
was. --to the node that had the partition takes it back, before it was taken in.

What the first node had is kept, as *.set-aside beside its partitions. The check of
the backup needs room for a copy of it where temporary files are (TMPDIR).`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			partition, err := strconv.Atoi(strings.TrimSpace(args[0]))
			if err != nil || partition < 0 {
				return cli.Wrongf("%q is no number of a partition", args[0])
			}
			gives, takes := c.Flags().Changed("to"), from != ""
			switch {
			case gives == takes:
				return cli.Wrongf("--to NODE --into DIR gives partition %02d away, where it is, and --from DIR takes it in, on the node that gets it: say one of the two", partition)
			case gives && to < 0:
				return cli.Wrongf("--to %d: nodes are numbers from 0", to)
			case takes && into != "":
				return cli.Wrongf("--into goes with --to")
			}
			return withMove(c, globals, partition, gives, func(m *move) error {
				if takes {
					return m.takeIn(globals.Path(from))
				}
				return m.giveTo(to, globals.Path(into))
			})
		},
	}
	c.Flags().IntVar(&to, "to", 0, "the `NODE` that gets it")
	c.Flags().StringVar(&into, "into", "", "the `DIR`ectory for its backup, which must not be there, or be empty")
	c.Flags().StringVar(&from, "from", "", "the `DIR`ectory with the backup in which it comes to this node")
	return c
}

// move is a partition that comes to this node, or leaves it, while that does not run.
type move struct {
	*cluster.Mover
	c         *cobra.Command
	stores    *cli.Stores // of the node, locked
	place     cli.Place
	node      int // this one
	partition int
	path      string // where it is, if it is here
}

// withMove runs f while the node's data directory is locked, which is there already if it is to give something away.
func withMove(c *cobra.Command, globals *cli.Globals, partition int, gives bool, f func(*move) error) (err error) {
	loaded, err := globals.Load(config.LoadOptions{Run: []string{}})
	if err != nil {
		return err
	}
	place := cli.PlaceOf(loaded)
	switch {
	case loaded.Cluster == nil:
		return cli.Wrongf("the configuration has no [cluster], which says which node this is: name another with --config")
	case !place.Node:
		return cli.Wrongf("--data %s is a partition: name the data directory of the node that it is in, or none", place.Data)
	case globals.Shared != nil:
		return mustRest(loaded.Cluster.Node, globals.Shared.Owner())
	}
	open := globals.OpenToFill
	if gives {
		open = globals.OpenExisting
	}
	stores, err := open()
	if locked := new(storage.LockedError); errors.As(err, &locked) && !locked.Readers {
		return mustRest(loaded.Cluster.Node, locked.Owner)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stores.Close()) }()
	mover, err := cluster.OpenMover(c.Context(), place.Control, loaded.Cluster.Node, cli.PlaceOfNode(stores.Dir))
	if err != nil {
		return &cli.Error{Status: cli.Environment, Err: err}
	}
	defer func() { err = errors.Join(err, mover.Close()) }()
	if partition >= mover.Partitions {
		return cli.Wrongf("partition %d: the cluster has %d, from 0 to %d", partition, mover.Partitions, mover.Partitions-1)
	}
	return f(&move{
		Mover: mover, c: c, stores: stores, place: place, node: loaded.Cluster.Node, partition: partition, path: cli.PartitionDir(place.Data, partition),
	})
}

// mustRest is the error of who moves or imports a partition while the node runs.
func mustRest(node int, owner storage.Owner) error {
	stop := "stop that"
	if owner.PID != 0 {
		stop = fmt.Sprintf("stop it (kill -INT %d, or as it was started), wait for its end", owner.PID)
	}
	return &cli.Error{Status: cli.Environment, Err: fmt.Errorf("partitions come and go at rest, and node %d runs, in %s: %s, give this command again, and start it again", node, owner, stop)}
}

// OnWay says where a partition is on its way to, and what takes it in.
func OnWay(m cluster.Move) string {
	return fmt.Sprintf("partition %s is on its way to node %d: there, webrace-store cluster move %d --from BACKUP takes it in, or webrace-store cluster import DIR, as it was sent",
		cli.PartitionName(m.Partition), m.To, m.Partition)
}

func (m *move) name() string { return "partition " + cli.PartitionName(m.partition) }

// takeIn restores the partition, if this is the backup in which it is on its way here.
func (m *move) takeIn(from string) error {
	id, err := storage.IDOfBackup(from)
	if err != nil {
		return err
	}
	node, way, err := m.Holder(m.c.Context(), m.partition)
	switch {
	case err != nil:
		return &cli.Error{Status: cli.Environment, Err: err}
	case way == nil && node == m.node:
		return m.mustHaveCome(from, id)
	case way == nil:
		return fmt.Errorf("%s is node %d's: there, webrace-store cluster move %d --to %d --into DIR gives it away", m.name(), node, m.partition, m.node)
	case way.To != m.node:
		return fmt.Errorf("%s is on its way to node %d, and this is node %d: give the command there", m.name(), way.To, m.node)
	case way.Backup != uint64(id):
		return fmt.Errorf("%s is not the backup in which %s comes: that is %s, and this one is %s, of another move", from, m.name(), storage.BackupID(way.Backup), id)
	}
	if err := storage.TakeIn(m.c.Context(), from, m.path); err != nil {
		return err
	}
	ReachedInMove("restored")
	if err := m.Take(m.c.Context(), m.partition, *way); err != nil {
		return &cli.Error{Status: cli.Environment, Err: err}
	}
	ReachedInMove("taken")
	return m.say("%s is node %d's: start it; webrace-run search fills the full-text index of the partition again", m.name(), m.node)
}

// mustHaveCome refuses a backup in which the node's partition has not come.
func (m *move) mustHaveCome(from string, id storage.BackupID) error {
	came, err := storage.HasMoved(m.path, id)
	if err == nil && !came {
		err = fmt.Errorf("%s is this node's already, and did not come in %s: its state stays as it is", m.name(), from)
	}
	if err != nil {
		return err
	}
	return m.say("%s is node %d's already", m.name(), m.node)
}

func (m *move) say(format string, args ...any) error {
	_, err := fmt.Fprintf(cli.Prose(m.c.OutOrStdout()), format+"\n", args...)
	return err
}

// isThere reports whether a directory has anything in it.
func isThere(dir string) bool {
	entries, err := os.ReadDir(dir)
	return err == nil && len(entries) > 0
}
