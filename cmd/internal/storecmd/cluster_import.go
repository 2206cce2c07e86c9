package storecmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/wording"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/cluster"
	"github.com/webrace/webrace/storage/control"
)

func newClusterImport(globals *cli.Globals) *cobra.Command {
	return &cobra.Command{
		Use:   "import DIR",
		Short: "divide what one machine has stored among the partitions of a cluster that is new",
		Long: `import begins a cluster, which cluster create has made, with the data directory of
one machine. Give it on every node, with the same directory or a copy of it; no node
runs meanwhile, nor what uses the directory, which stays as it is. The first node also
takes URDs, owners, annotations, secrets and dead letters, with their ids, and each the
documents and URLs of its partitions, with all versions and what was found at the last
visits. Rounds that are under way go on in the cluster.

Nothing that ran before may be in the cluster. A command that was interrupted is given
again. Quads, the full-text index, queues between stages and what stages remember are
not imported: webrace-run search fills the index.`,
		Example: "  webrace-store cluster import /backup/data",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return withMove(c, globals, 0, false, func(m *move) error {
				dir := globals.Path(args[0])
				if sameFile(dir, m.stores.Path("")) {
					return cli.Wrongf("%s is the data directory of this node, in which its partitions will be: move it away first, and name it where it is then", dir)
				}
				from, err := cli.OpenAsItIs(dir)
				if err != nil {
					return err
				}
				return errors.Join(m.importAll(from.Dir), from.Close())
			})
		},
	}
}

func sameFile(one, other string) bool {
	a, err := os.Stat(one)
	b, err2 := os.Stat(other)
	return err == nil && err2 == nil && os.SameFile(a, b)
}

// importAll imports a data directory, as far as that concerns this node and is not done.
func (m *move) importAll(from *storage.Dir) error {
	if _, err := os.Stat(from.Path("control.db")); err != nil {
		return cli.Wrongf("%s has no control store (control.db), and so no URDs and annotations: name the data directory of one machine", from.Path(""))
	}
	ctx := m.c.Context()
	partitions := filepath.Dir(cli.PartitionDir(m.place.Data, 0))
	if err := os.MkdirAll(partitions, 0o700); err != nil {
		return err
	}
	parts, err := from.Divide(ctx, filepath.Join(partitions, "import.partial"), func(host string) int { return cluster.PartitionOf(host, m.Partitions) })
	if err != nil {
		return err
	}
	id := uint64(parts.ID())
	err = m.MayImport(ctx, id)
	if err == nil {
		err = m.importControl(from)
	}
	if err == nil {
		waits, wrong := parts.Waiting(ctx)
		if err = wrong; err == nil {
			err = m.BeginImport(ctx, id, waits)
		}
	}
	if err != nil {
		return errors.Join(&cli.Error{Status: cli.Environment, Err: err}, parts.Close())
	}
	ReachedInMove("begun")
	m.noteLeft(from)
	return errors.Join(m.importPartitions(ctx, parts), parts.Close())
}

// importControl copies the control store, unless that is done.
func (m *move) importControl(from *storage.Dir) error {
	ctx := m.c.Context()
	source, err := from.Control()
	if err != nil {
		return err
	}
	target, err := m.stores.Control()
	if err != nil {
		return err
	}
	if err := control.CanReadSecrets(ctx, source, target); err != nil {
		return fmt.Errorf("%w; the key of the cluster's secrets is %s: copy %s there, on all nodes", err, m.place.KeyFile, from.Path(control.KeyFile))
	}
	done, err := control.IsCopyOf(ctx, target, from.Path("control.db"))
	if err != nil || done {
		return err
	}
	counts, err := control.CopyAll(ctx, source, target)
	if err != nil {
		return err
	}
	ReachedInMove("control copied")
	return m.say("%s, %s, %s and %s imported", wording.Count(counts.URDs, "URD"), wording.Count(counts.ACIs, "annotation"),
		wording.Count(counts.Secrets, "secret"), wording.Count(counts.DeadLetters, "dead letter"))
}

// noteLeft tells of what cannot be divided.
func (m *move) noteLeft(from *storage.Dir) {
	for name, what := range map[string]string{
		"quads": "quads", "queues": "what waits in queues between stages", "states": "what stages remember",
	} {
		if isThere(from.Path(name)) {
			note(m.c, "not imported: %s, which a cluster has not", what)
		}
	}
}

// importPartitions takes the partitions that are on their way to this node, and tells which are on their way to others.
func (m *move) importPartitions(ctx context.Context, parts *storage.Division) error {
	moves, err := m.Moves(ctx)
	if err != nil {
		return &cli.Error{Status: cli.Environment, Err: err}
	}
	progress := cli.NewProgress(m.c)
	defer progress.Clear()
	others := map[int]int{}
	for _, p := range moves {
		if p.To != m.node {
			others[p.To]++
			continue
		}
		progress.Show("importing partition %s", cli.PartitionName(p.Partition))
		path := cli.PartitionDir(m.place.Data, p.Partition)
		if err := parts.CopyPart(ctx, p.Partition, path); err != nil {
			return err
		}
		ReachedInMove("copied")
		if err := m.Take(ctx, p.Partition, p.Way); err != nil {
			return &cli.Error{Status: cli.Environment, Err: err}
		}
		ReachedInMove("taken")
	}
	progress.Clear()
	for node := range m.Shape.Nodes {
		if others[node] > 0 {
			note(m.c, "node %d has none of its %s yet: give the command there", node, wording.Count(others[node], "partition"))
		}
	}
	return m.say("node %d has its partitions", m.node)
}
