package cluster

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"
)

// Status is how a cluster stands.
type Status struct {
	Shape
	Nodes []NodeStatus
	Runs  []RunStatus
	Moves []Move
}

// Move is a partition that is on its way from a node to another.
type Move struct {
	Partition int
	Way
	Inbox int // envelopes that wait for it
}

// NodeStatus is how a node stands. One that never ran has no place.
type NodeStatus struct {
	Node       int
	Partitions int           // that it has
	Place      string        // where it keeps them
	Alive      bool          // it was seen lately
	Seen       time.Duration // how long ago it was; 0 of one that has ended
	Config     string        // which configuration it runs
	Inbox      int           // envelopes that wait for its partitions
}

// State is how it stands in a word: new, up, ended or down.
func (n NodeStatus) State() string {
	switch {
	case n.Place == "":
		return "new"
	case n.Alive:
		return "up"
	case n.Seen == 0:
		return "ended"
	}
	return "down"
}

// First returns the first node that is up, with whose configuration those of others are compared; -1 for none.
func (s Status) First() int {
	return slices.IndexFunc(s.Nodes, func(n NodeStatus) bool { return n.Alive })
}

// Differs reports whether a node is up with another configuration than the first that is.
func (s Status) Differs(node int) bool {
	first := s.First()
	return first >= 0 && s.Nodes[node].Alive && s.Nodes[node].Config != s.Nodes[first].Config
}

// RunStatus is how a run stands that ends on all nodes.
type RunStatus struct {
	Pipeline string
	Number   int64
	Over     bool
	Busy     int // partitions that have something left to do, or have not taken part
}

// StatusOf returns how the cluster in a database stands.
func StatusOf(ctx context.Context, address string) (s Status, err error) {
	db, _, name, err := open(address)
	if err != nil {
		return s, err
	}
	defer db.Close()
	if s.Shape, err = shapeOf(ctx, db); err != nil {
		return s, explained("look at the cluster in", name, err)
	}
	rows, err := db.QueryContext(ctx, `SELECT i, (SELECT count(*) FROM webrace.part WHERE node = i), coalesce(place, ''),
			coalesce(seen > clock_timestamp() - make_interval(secs => $1), FALSE),
			CASE WHEN isfinite(seen) THEN extract(epoch FROM clock_timestamp() - seen) ELSE 0 END::float8,
			coalesce(config, ''), (SELECT count(*) FROM webrace.inbox JOIN webrace.part USING (p) WHERE node = i)
		FROM generate_series(0, $2 - 1) AS i LEFT JOIN webrace.node USING (i) ORDER BY i`, deadAfter, s.Shape.Nodes)
	if err != nil {
		return s, explained("look at the cluster in", name, err)
	}
	defer rows.Close()
	for rows.Next() {
		var n NodeStatus
		var ago float64
		if err := rows.Scan(&n.Node, &n.Partitions, &n.Place, &n.Alive, &ago, &n.Config, &n.Inbox); err != nil {
			return s, err
		}
		n.Seen = time.Duration(ago * float64(time.Second))
		s.Nodes = append(s.Nodes, n)
	}
	if err := rows.Err(); err != nil {
		return s, err
	}
	runs, err := db.QueryContext(ctx, `SELECT pipeline, number, over, (SELECT count(*) FROM webrace.quiet AS q WHERE q.pipeline = run.pipeline AND NOT quiet)
		FROM webrace.run ORDER BY pipeline`)
	if err != nil {
		return s, explained("look at the cluster in", name, err)
	}
	defer runs.Close()
	for runs.Next() {
		var r RunStatus
		if err := runs.Scan(&r.Pipeline, &r.Number, &r.Over, &r.Busy); err != nil {
			return s, err
		}
		s.Runs = append(s.Runs, r)
	}
	if err := runs.Err(); err != nil {
		return s, err
	}
	if s.Moves, err = movesOf(ctx, db); err != nil {
		return s, explained("look at the cluster in", name, err)
	}
	return s, nil
}

func movesOf(ctx context.Context, db *sql.DB) (all []Move, err error) {
	rows, err := db.QueryContext(ctx, `SELECT p, node, (SELECT count(*) FROM webrace.inbox WHERE inbox.p = part.p)
		FROM webrace.part WHERE node < 0 ORDER BY p`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var m Move
		var stored int64
		if err := rows.Scan(&m.Partition, &stored, &m.Inbox); err != nil {
			return nil, err
		}
		_, way := holderOf(stored)
		m.Way = *way
		all = append(all, m)
	}
	return all, rows.Err()
}

// Skip removes an envelope that a partition cannot read, and what it would have caused, and reports whether it was
// there.
func Skip(ctx context.Context, address string, p int, id int64) (bool, error) {
	db, _, name, err := open(address)
	if err != nil {
		return false, err
	}
	defer db.Close()
	done, err := db.ExecContext(ctx, `DELETE FROM webrace.inbox WHERE p = $1 AND id = $2`, p, id)
	if hasCode(err, codeNoTable, codeNoSchema) {
		err = ErrNone
	}
	if err != nil {
		return false, explained(fmt.Sprintf("skip envelope %d of partition %d in", id, p), name, err)
	}
	n, err := done.RowsAffected()
	return n > 0, err
}
