package storecmd

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net/http"
	"sync"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/cmd/internal/remote"
	"github.com/webrace/webrace/pipeline/config"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/cluster"
)

// Node is a node of a cluster that runs. It answers other nodes for its partitions, and searches the whole cluster
// for who asks at its socket: over connections that it keeps, so that such a search takes about as long as one of an
// index.
type Node struct {
	config *config.Config
	file   string // of the configuration
	dirs   map[int]*storage.Dir
	where  func(context.Context) (cluster.Where, error)
	tls    func() (*tls.Config, error)
	nodes  searchedNodes
	others sync.WaitGroup // searches for other nodes that are under way
}

// NewNode returns a node that has the directories of its partitions open. What it asks where partitions are is asked
// for each search.
func NewNode(globals *cli.Globals, c *config.Config, dirs map[int]*storage.Dir, where func(context.Context) (cluster.Where, error)) *Node {
	return &Node{config: c, file: globals.Config, dirs: dirs, where: where, tls: clientTLS(c.Cluster)}
}

// Answer is [Answer] over the data directory of the node, and for the whole cluster.
func (n *Node) Answer(dir *storage.Dir) func(context.Context, remote.Call) int {
	alone := Answer(dir)
	return func(ctx context.Context, call remote.Call) int {
		if !call.Cluster {
			return alone(ctx, call)
		}
		return runCall(context.WithValue(ctx, nodeKey{}, n), &cli.Globals{Shared: dir, WorkDir: call.Dir}, func(c *cobra.Command) error {
			if !isSearch(c) {
				return fmt.Errorf("%s is no command that a node runs for its cluster", c.CommandPath())
			}
			return nil
		}, call)
	}
}

// AnswerNodes is Answer for other nodes, whose files are not here, over the partitions of this one: the configuration
// is that of this process.
func (n *Node) AnswerNodes(ctx context.Context, call remote.Call) int {
	if call.Part == nil {
		fmt.Fprintln(call.Err, "error: a node is asked for its partitions alone")
		return cli.Environment
	}
	dir := n.dirs[call.Part.Partition]
	if dir == nil {
		fmt.Fprintf(call.Err, "error: this node does not have partition %s, which it is asked for\n", cli.PartitionName(call.Part.Partition))
		return cli.Environment
	}
	globals := &cli.Globals{Shared: dir}
	return runCall(ctx, globals, func(c *cobra.Command) error {
		globals.Config, globals.Data = n.file, ""
		if !isInParts(c) {
			return fmt.Errorf("%s is no command that a node runs for others", c.CommandPath())
		}
		return nil
	}, call)
}

// Searches answers searches of the node's partitions, at [SearchPath].
func (n *Node) Searches(logger *slog.Logger) http.Handler { return searches{n, logger} }

// Close closes the connections that the node keeps, and returns when no search for another is under way. The servers
// that have these have ended before.
func (n *Node) Close() {
	n.nodes.close()
	n.others.Wait()
}

// dir returns the directory of a partition.
func (n *Node) dir(partition int) (*storage.Dir, error) {
	if n.dirs[partition] == nil {
		return nil, &cli.Error{Status: cli.Environment, Err: fmt.Errorf("node %d does not have it", n.config.Cluster.Node)}
	}
	return n.dirs[partition], nil
}

// parts returns the partitions of the cluster as the node asks them.
func (n *Node) parts(c *cobra.Command, globals *cli.Globals) (*parts, error) {
	where, err := n.where(c.Context())
	if err != nil {
		return nil, &cli.Error{Status: cli.Environment, Err: err}
	}
	return &parts{
		c: c, globals: globals, place: cli.PlaceOf(n.config), cluster: n.config.Cluster, where: where, tls: n.tls, running: n, away: make(map[int]error),
	}, nil
}

// nodeKey is where the context of a command has the node that runs it for the whole cluster.
type nodeKey struct{}

func nodeOf(c *cobra.Command) *Node {
	n, _ := c.Context().Value(nodeKey{}).(*Node)
	return n
}

// isSearch reports whether a command is a search, which a node does for the whole cluster.
func isSearch(c *cobra.Command) bool { return groupOf(c) == "search" && !c.Flags().Changed("rebuild") }
