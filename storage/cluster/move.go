package cluster

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Way is where a partition is on its way to, and in which backup: by a number that no other has. Meanwhile no node has
// it, and its inbox fills.
type Way struct {
	To     int
	Backup uint64 // below 2^48
}

// stored is how webrace.part has it, where the node that has the partition stands otherwise.
func (w Way) stored() int64 { return -1 - int64(w.Backup)*MostPartitions - int64(w.To) }

// holderOf returns who has a partition by what webrace.part has: a node, or none if it is on its way.
func holderOf(stored int64) (node int, way *Way) {
	if stored >= 0 {
		return int(stored), nil
	}
	n := -1 - stored
	return OnWay(int(n % MostPartitions)), &Way{To: int(n % MostPartitions), Backup: uint64(n / MostPartitions)}
}

// OnWay is the number that stands for no node where a partition is on its way to one.
func OnWay(to int) int { return -1 - to }

// Mover gives away the partitions of a node that does not run, and takes them.
//
// It guarantees: no two nodes have a partition, whatever is killed, and however often a step is repeated. Each step is
// one transaction, which locks the row of the node, as a node does that starts: so either reads what the other has
// done, and a commit whose process was killed before it had the answer is seen by the next one.
type Mover struct {
	Shape
	db    *sql.DB
	name  string
	node  int
	place string
}

// OpenMover opens the cluster in a database for a node whose data directory, which is its place, this process has
// locked.
func OpenMover(ctx context.Context, address string, node int, place string) (*Mover, error) {
	db, _, name, err := open(address)
	if err != nil {
		return nil, err
	}
	m := &Mover{db: db, name: name, node: node, place: place}
	if m.Shape, err = shapeOf(ctx, db); err == nil && node >= m.Nodes {
		err = fmt.Errorf("node %d: the cluster has %d nodes, from 0 to %d", node, m.Nodes, m.Nodes-1)
	}
	if err != nil {
		return nil, errors.Join(explained("move a partition in", name, err), db.Close())
	}
	return m, nil
}

// Close leaves the database.
func (m *Mover) Close() error { return m.db.Close() }

// Holder returns which node has a partition, or on which way it is.
func (m *Mover) Holder(ctx context.Context, p int) (node int, way *Way, err error) {
	err = m.transact(ctx, func(tx *sql.Tx) error {
		node, way, err = holder(ctx, tx, p)
		return err
	})
	return node, way, err
}

func holder(ctx context.Context, tx *sql.Tx, p int) (node int, way *Way, err error) {
	var stored int64
	if err := tx.QueryRowContext(ctx, `SELECT node FROM webrace.part WHERE p = $1`, p).Scan(&stored); err != nil {
		return 0, nil, err
	}
	node, way = holderOf(stored)
	return node, way, nil
}

// Give puts a partition that the node has on its way.
func (m *Mover) Give(ctx context.Context, p int, way Way) error {
	return m.change(ctx, p, int64(m.node), way.stored())
}

// Take gives the node a partition that is on this way.
func (m *Mover) Take(ctx context.Context, p int, way Way) error {
	return m.change(ctx, p, way.stored(), int64(m.node))
}

// change changes what is stored of a partition, if it is as it was.
func (m *Mover) change(ctx context.Context, p int, from, to int64) error {
	return m.transact(ctx, func(tx *sql.Tx) error {
		done, err := tx.ExecContext(ctx, `UPDATE webrace.part SET node = $3 WHERE p = $1 AND node = $2`, p, from, to)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n > 0 {
			return err
		}
		node, way, err := holder(ctx, tx, p)
		switch {
		case err != nil:
			return err
		case way != nil:
			return fmt.Errorf("partition %d was put on its way to node %d meanwhile, in backup %012x", p, way.To, way.Backup)
		}
		return fmt.Errorf("partition %d is node %d's meanwhile", p, node)
	})
}

// transact runs f in a transaction while no process becomes the node, which must keep its partitions here.
func (m *Mover) transact(ctx context.Context, f func(tx *sql.Tx) error) error {
	tx, err := m.db.BeginTx(ctx, nil)
	if err == nil {
		defer tx.Rollback()
		if err = m.lock(ctx, tx); err == nil {
			err = f(tx)
		}
		if err == nil {
			err = tx.Commit()
		}
	}
	return explained("move a partition in", m.name, err)
}

func (m *Mover) lock(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO webrace.node (i, boot, place, config, seen) VALUES ($1, '', $2, '', '-infinity') ON CONFLICT (i) DO NOTHING`,
		m.node, m.place)
	if err != nil {
		return err
	}
	var place string
	if err := tx.QueryRowContext(ctx, `SELECT place FROM webrace.node WHERE i = $1 FOR UPDATE`, m.node).Scan(&place); err != nil {
		return err
	}
	if place != m.place {
		return fmt.Errorf("node %d keeps its partitions at %s, and this is %s: run this there; or, if they are here now, start the node once", m.node, place, m.place)
	}
	return nil
}
