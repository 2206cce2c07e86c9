package cluster

import (
	"context"
	"database/sql"
)

// Where tells which node has which partition, and how nodes are reached.
type Where struct {
	Shape
	Node  []int // that has the partition; or [OnWay] to another, and none has it
	Nodes []Home
}

// Home is where a node is.
type Home struct {
	Place   string // where it keeps its partitions; empty of a node that never ran
	Address string // where others reach it, as HOST:PORT; empty if they do not
}

// WhereOf returns where the partitions of the cluster in a database are.
func WhereOf(ctx context.Context, address string) (w Where, err error) {
	db, _, name, err := open(address)
	if err != nil {
		return w, err
	}
	defer db.Close()
	if w.Shape, err = shapeOf(ctx, db); err == nil {
		err = w.read(ctx, db)
	}
	return w, explained("look at the cluster in", name, err)
}

// Where is [WhereOf] over the connections of a node.
func (c *Cluster) Where(ctx context.Context) (Where, error) {
	w := Where{Shape: c.Shape}
	err := w.read(ctx, c.db)
	return w, explained("look at the cluster in", c.name, err)
}

func (w *Where) read(ctx context.Context, db *sql.DB) error {
	w.Node, w.Nodes = make([]int, w.Partitions), make([]Home, w.Shape.Nodes)
	if err := w.readNodes(ctx, db); err != nil {
		return err
	}
	rows, err := db.QueryContext(ctx, `SELECT p, node FROM webrace.part WHERE p < $1`, w.Partitions)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var p int
		var stored int64
		if err := rows.Scan(&p, &stored); err != nil {
			return err
		}
		w.Node[p], _ = holderOf(stored)
	}
	return rows.Err()
}

func (w *Where) readNodes(ctx context.Context, db *sql.DB) error {
	// A node of the first release with clusters has no column for its address yet.
	rows, err := db.QueryContext(ctx, `SELECT i, place, coalesce(to_jsonb(n) ->> 'address', '') FROM webrace.node AS n WHERE i < $1`, w.Shape.Nodes)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var node int
		var home Home
		if err := rows.Scan(&node, &home.Place, &home.Address); err != nil {
			return err
		}
		w.Nodes[node] = home
	}
	return rows.Err()
}
