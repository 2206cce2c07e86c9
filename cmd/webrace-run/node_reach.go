package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/cmd/internal/remote"
	"github.com/webrace/webrace/cmd/internal/storecmd"
	"github.com/webrace/webrace/pipeline/admin"
	"github.com/webrace/webrace/pipeline/connections"
	"github.com/webrace/webrace/storage/cluster"
)

// listen makes other nodes reach this one, if its configuration says where. They see what webrace-store shows of its
// partitions, and may change that, so that a certificate of the cluster's authority is asked for.
func (n *node) listen() (l net.Listener, config *tls.Config, err error) {
	address := n.config.Cluster.Address
	if address == "" {
		return nil, nil, nil
	}
	config, err = storecmd.ClusterTLS(n.config.Cluster)
	if err != nil {
		return nil, nil, &cli.Error{Status: cli.Environment, Err: err}
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, nil, cli.Wrong(err)
	}
	if net.ParseIP(host) == nil {
		host = "" // a name leads others here, by whichever of this machine's addresses
	}
	l, err = net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, nil, &cli.Error{Status: cli.Environment, Err: fmt.Errorf("address in [cluster]: %w", err)}
	}
	return l, config, nil
}

// serveNodes answers other nodes until stop is called.
func (n *node) serveNodes(listener net.Listener, config *tls.Config) (stop func()) {
	commands := &remote.Server{Logger: n.out.logger, Run: n.asked.AnswerNodes}
	mux := http.NewServeMux()
	mux.Handle("POST "+remote.Path, commands)
	mux.Handle("POST "+storecmd.SearchPath, n.asked.Searches(n.out.logger))
	end := admin.ServeTLS(listener, config, connections.AdmitAll(mux))
	return func() {
		end()
		ctx, cancel := context.WithTimeout(context.Background(), grace)
		defer cancel()
		commands.Shutdown(ctx)
	}
}

// showCluster has the admin page show all nodes, if this process is one.
func (l *launch) showCluster(handler *admin.Handler) {
	c := l.config.Cluster
	if c == nil {
		return
	}
	handler.OnCluster(c.Node, func(ctx context.Context) ([]admin.Node, error) {
		status, err := cluster.StatusOf(ctx, c.Database)
		if err != nil {
			return nil, err
		}
		where, err := cluster.WhereOf(ctx, c.Database)
		if err != nil {
			return nil, err
		}
		nodes := make([]admin.Node, len(status.Nodes))
		for i, n := range status.Nodes {
			nodes[i] = admin.Node{
				Node: n.Node, State: n.State(), Seen: n.Seen.Seconds(), Waiting: n.Inbox, Config: n.Config, Differs: status.Differs(i),
				Place: n.Place, Address: where.Nodes[i].Address, Here: n.Node == c.Node,
			}
		}
		for p, node := range where.Node {
			if node < 0 {
				to := &nodes[cluster.OnWay(node)]
				to.Coming = append(to.Coming, cli.PartitionName(p))
				continue
			}
			nodes[node].Partitions = append(nodes[node].Partitions, cli.PartitionName(p))
		}
		return nodes, nil
	})
}

// printNodes prints how the nodes of a cluster are, below what the pipelines of one do.
func printNodes(w io.Writer, nodes []admin.Node) error {
	if len(nodes) == 0 {
		return nil
	}
	var rows [][]any
	for _, n := range nodes {
		config := n.Config
		if n.Differs {
			config += ", which differs"
		}
		rows = append(rows, []any{fmt.Sprint("node ", n.Node), n.State, n.Ago(), n.Waiting, config, strings.Join(n.Has(), " "), n.Place})
	}
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	return storecmd.WriteTable(w, []string{"node", "state", "seen", "waiting", "configuration", "partitions", "place"}, rows)
}
