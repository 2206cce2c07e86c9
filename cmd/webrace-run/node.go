package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/cmd/internal/storecmd"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/config"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/cluster"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/diskspace"
	"github.com/webrace/webrace/storage/frontier"
)

// fitsCluster refuses what cannot be where this machine is a node of a cluster.
func (l *launch) fitsCluster() error {
	if l.config.Cluster == nil {
		return nil
	}
	const ask = "store what is asked for with webrace-store urd add, or urd import, and run the pipeline webrace on all nodes"
	switch {
	case !cli.PlaceOf(l.config).Node:
		return cli.Wrongf("--data %s is a partition: a node runs all that it has, so name the data directory that these are in", l.config.Data)
	case l.flags.dry.dry:
		return cli.Wrongf("--dry: a node of a cluster does not run dry; try it without [cluster]")
	case l.flags.mcp.address != "":
		return cli.Wrongf("--mcp: agents look into one data directory, and not into the partitions of a cluster yet")
	case l.flags.urds != "":
		return cli.Wrongf("--urds: a node of a cluster does not run for some URDs alone: %s", ask)
	case l.flags.before != nil:
		return cli.Wrongf("a node of a cluster does not run this command: %s", ask)
	}
	return nil
}

// sessions gives the process its sessions: one for its data directory, or, on a node of a cluster, one for each of its
// partitions. The function that is returned closes what they have.
func (l *launch) sessions(ctx context.Context, p *process, dir *storage.Dir) (func(), error) {
	if l.config.Cluster == nil {
		p.sessions, p.commands = []*session{{dir: dir, configured: l.asConfigured()}}, storecmd.Answer(dir)
		return func() {}, nil
	}
	n := &node{launch: l}
	if err := n.open(ctx, dir, p.room); err != nil {
		n.close()
		return nil, err
	}
	p.sessions, p.node, p.commands = n.parts, n.asked, n.asked.Answer(dir)
	return n.close, nil
}

// node is what a node of a cluster has open: its partitions, each of which is a session.
type node struct {
	*launch
	cluster *cluster.Cluster
	parts   []*session
	asked   *storecmd.Node // once the partitions are open
	deafen  func()         // ends answering other nodes; nil: none is answered
}

func (n *node) open(ctx context.Context, dir *storage.Dir, room *diskspace.Watch) error {
	place := cli.PlaceOf(n.config)
	store, err := dir.Control()
	if err != nil {
		return err
	}
	listener, secured, err := n.listen()
	if err != nil {
		return err
	}
	if listener != nil {
		defer func() {
			if n.deafen == nil {
				listener.Close()
			}
		}()
	}
	n.cluster, err = cluster.Open(ctx, n.config.Cluster.Database, n.config.Cluster.Node, cluster.Options{
		Place: cli.PlaceOfNode(dir), Address: n.config.Cluster.Address, Config: n.digest(), Retry: room.Do, Logger: n.out.logger,
	})
	if err != nil {
		return &cli.Error{Status: cli.Environment, Err: err}
	}
	for _, m := range n.cluster.Coming() {
		n.out.logger.Warn(storecmd.OnWay(m) + ": until then nothing of it is crawled, and no run of the cluster ends")
	}
	mine, caches := n.cluster.Mine(), budgetOf(n.config).caches()
	cache := storage.NewCache(caches)
	defer cache.Unref() // the directories keep it
	options := storage.Options{DiskSpace: room, Cache: cache, Caches: caches / int64(max(len(mine), 1))}
	for _, p := range mine {
		if err := n.openPartition(place, p, store, options); err != nil {
			return err
		}
	}
	dirs := make(map[int]*storage.Dir)
	for i, p := range mine {
		dirs[p] = n.parts[i].dir
	}
	n.asked = storecmd.NewNode(n.globals, n.config, dirs, n.cluster.Where)
	if listener != nil {
		n.deafen = n.serveNodes(listener, secured)
	}
	return nil
}

// digest is the same for nodes that run the same pipelines with the same options.
func (n *node) digest() string {
	h := sha256.New()
	for _, name := range slices.Sorted(slices.Values(n.names)) {
		graph, err := n.config.Graph(name)
		if err != nil {
			continue // it was found when the run was prepared
		}
		for _, e := range graph.Edges {
			fmt.Fprintln(h, e.From, e.Port, e.To)
		}
		for _, s := range graph.Stages {
			fmt.Fprintln(h, s.Name, s.Spec.Type, s.Common)
			for _, option := range config.Settings(s) {
				fmt.Fprintln(h, option.Name, option.Value)
			}
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:4])
}

func (n *node) openPartition(place cli.Place, p int, store *control.Store, options storage.Options) error {
	dir, err := place.OpenPartition(p, store, options)
	if err != nil {
		return err
	}
	first := len(n.parts) == 0
	n.parts = append(n.parts, &session{
		name: cli.PartitionName(p), dir: dir, configured: n.asConfigured(), commands: storecmd.Answer(dir),
		elsewhere: func(name string, s pipeline.Spec) bool {
			return s.Once && n.partitionOf(name) != p || s.PerProcess && !first
		},
		here: func(host string) bool { return n.partitionOf(host) == p },
		rest: func(name string) (frontier.Elsewhere, error) {
			return n.cluster.Elsewhere(name, p, !n.flags.continuous)
		},
		costs: func(ctx context.Context, name string, crawls []string) (map[string]uint64, error) {
			return n.cluster.Requests(ctx, name, p, crawls)
		},
	})
	return nil
}

// partitionOf returns the partition that a host is of, or that what a pipeline does once is in.
func (n *node) partitionOf(name string) int { return cluster.PartitionOf(name, n.cluster.Partitions) }

func (n *node) close() {
	if n.deafen != nil {
		n.deafen()
	}
	if n.asked != nil {
		n.asked.Close()
	}
	if n.cluster != nil {
		n.cluster.Close()
	}
	for _, s := range n.parts {
		s.dir.Close()
	}
}
