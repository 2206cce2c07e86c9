package cluster

import "context"

// Where tells which node has which partition, and how nodes are reached.
type Where struct {
	Shape
	Node  []int // that has the partition
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
	if w.Shape, err = shapeOf(ctx, db); err != nil {
		return w, explained("look at the cluster in", name, err)
	}
	w.Node, w.Nodes = make([]int, w.Partitions), make([]Home, w.Shape.Nodes)
	// A node of the first release with clusters has no column for its address yet.
	rows, err := db.QueryContext(ctx, `SELECT p, part.node, coalesce(place, ''), coalesce(to_jsonb(n) ->> 'address', '')
		FROM webrace.part LEFT JOIN webrace.node AS n ON i = part.node WHERE p < $1 AND part.node < $2`, w.Partitions, w.Shape.Nodes)
	if err != nil {
		return w, explained("look at the cluster in", name, err)
	}
	defer rows.Close()
	for rows.Next() {
		var p, node int
		var home Home
		if err := rows.Scan(&p, &node, &home.Place, &home.Address); err != nil {
			return w, err
		}
		w.Node[p], w.Nodes[node] = node, home
	}
	return w, rows.Err()
}
