package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/webrace/webrace/pipeline/config"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/control"
)

// partitionsDir is where a node of a cluster has its partitions, in its data directory.
const partitionsDir = "partitions"

// PartitionDir returns where a node has a partition, which is a data directory.
func PartitionDir(data string, partition int) string {
	return filepath.Join(data, partitionsDir, PartitionName(partition))
}

// PartitionName is how a partition is called.
func PartitionName(partition int) string { return fmt.Sprintf("%02d", partition) }

// nodeOf returns the data directory of the node whose partition this one is; empty if it is none.
func nodeOf(data string) string {
	parent, name := filepath.Split(filepath.Clean(data))
	if _, err := strconv.ParseUint(name, 10, 31); err != nil || filepath.Base(parent) != partitionsDir {
		return ""
	}
	return filepath.Dir(filepath.Clean(parent))
}

// PlaceOfNode names the data directory of a node among those of all machines.
func PlaceOfNode(dir *storage.Dir) string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return host + ":" + dir.Path("")
}

// placeInCluster returns where the stores of a node are, or those of a partition of it.
func placeInCluster(c *config.Config) Place {
	node := nodeOf(c.Data)
	keyFile := cmp.Or(c.Cluster.Secrets, filepath.Join(cmp.Or(node, c.Data), control.KeyFile))
	return Place{Data: c.Data, Control: c.Cluster.Database, KeyFile: keyFile, Node: node == ""}
}

// inPartitions is the error of who asks the data directory of a node for what its partitions have.
func (p Place) inPartitions() error {
	return Wrongf("%s is the data directory of a node of a cluster, and this is done of each of its partitions, which are data directories, as --data %s",
		p.Data, PartitionDir(p.Data, 0))
}

// OpenPartition opens a partition of the node, with the control store that the node has open.
func (p Place) OpenPartition(partition int, outside *control.Store, o storage.Options) (*storage.Dir, error) {
	o.Fatal = func(err error) { fatal(err, o.DiskSpace) }
	o.ControlStore = outside
	of := Place{Data: PartitionDir(p.Data, partition), Control: p.Control}
	dir, err := storage.Open(of.Data, o)
	if err == nil {
		if err = of.note(); err != nil {
			err = errors.Join(err, dir.Close())
		}
	}
	if err != nil {
		return nil, opening(err)
	}
	return dir, nil
}
