package main

import (
	"context"
	"errors"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/diskspace"
)

// fitsCluster refuses what cannot be where this machine is a node of a cluster.
func (l *launch) fitsCluster() error {
	if l.config.Cluster == nil {
		return nil
	}
	return &cli.Error{Status: cli.Environment, Err: errors.New("[cluster]: this program does not run pipelines as a node yet; without [cluster], it runs them alone")}
}

// sessions returns the sessions of the process: one for its data directory.
func (l *launch) sessions(_ context.Context, dir *storage.Dir, _ *diskspace.Watch) ([]*session, func(), error) {
	return []*session{{dir: dir}}, func() {}, nil
}
