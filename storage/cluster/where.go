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
	// A node of the first release with clusters has no column for its address yet.
	rows, err := db.QueryContext(ctx, `SELECT i, NULL::bigint, place, coalesce(to_jsonb(n) ->> 'address', '') FROM webrace.node AS n WHERE i < $1
		UNION ALL SELECT p, node, '', '' FROM webrace.part WHERE p < $2`, w.Shape.Nodes, w.Partitions)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var number int // of a node, or of a partition that one has
		var holder sql.NullInt64
		var home Home
		if err := rows.Scan(&number, &holder, &home.Place, &home.Address); err != nil {
			return err
		}
		if holder.Valid {
			w.Node[number], _ = holderOf(holder.Int64)
		} else {
			w.Nodes[number] = home
		}
	}
	return rows.Err()
}
