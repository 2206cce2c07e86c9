package cluster

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/webrace/webrace/storage/frontier"
)

// What one machine has stored is imported into a cluster that is new. First all partitions are put on their way, each
// to the node that has it; then every node takes its own. So no node runs with a partition that has not come yet, and
// no run of the cluster ends before all have.

// importTable tells what the cluster was begun with.
const importTable = `CREATE TABLE IF NOT EXISTS webrace.import (backup BIGINT NOT NULL)`

// BeginImport puts all partitions on their way to the nodes that have them, in what has this number, and notes which
// passes of crawls wait for URLs. Begun already with this number, it does nothing; a cluster that was ever used is
// refused.
func (m *Mover) BeginImport(ctx context.Context, backup uint64, waits []frontier.Waits) error {
	return m.transact(ctx, func(tx *sql.Tx) error {
		// No other begins it, and no node starts meanwhile.
		if _, err := tx.ExecContext(ctx, `LOCK TABLE webrace.cluster, webrace.node IN SHARE ROW EXCLUSIVE MODE`); err != nil {
			return err
		}
		begun, err := importOf(ctx, tx)
		if err != nil || begun != nil {
			return mustBe(begun, backup, err)
		}
		if err := mustBeNew(ctx, tx); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, importTable); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO webrace.import VALUES ($1)`, int64(backup)); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `UPDATE webrace.part SET node = $1::bigint - node`, Way{Backup: backup}.stored())
		if err != nil {
			return err
		}
		return noteWaits(ctx, tx, waits)
	})
}

// MayImport refuses what BeginImport does.
func (m *Mover) MayImport(ctx context.Context, backup uint64) error {
	return m.transact(ctx, func(tx *sql.Tx) error {
		begun, err := importOf(ctx, tx)
		if err != nil || begun != nil {
			return mustBe(begun, backup, err)
		}
		return mustBeNew(ctx, tx)
	})
}

// importOf returns the number of what the cluster was begun with; nil if that is nothing.
func importOf(ctx context.Context, tx *sql.Tx) (*uint64, error) {
	var there bool
	err := tx.QueryRowContext(ctx, `SELECT to_regclass('webrace.import') IS NOT NULL`).Scan(&there)
	if err != nil || !there {
		return nil, err
	}
	var backup int64
	err = tx.QueryRowContext(ctx, `SELECT backup FROM webrace.import`).Scan(&backup)
	is := uint64(backup)
	return &is, err
}

func mustBe(begun *uint64, backup uint64, err error) error {
	if err == nil && *begun != backup {
		err = fmt.Errorf("it was begun with another import, or with this directory in another state (%012x, and this is %012x): "+
			"name what was imported first, as it was then; or make another cluster, in a database of its own", *begun, backup)
	}
	return err
}

// mustBeNew refuses a cluster that was ever used.
func mustBeNew(ctx context.Context, tx *sql.Tx) error {
	for _, used := range []struct{ by, query string }{
		{"runs: stop all nodes", fmt.Sprintf(`SELECT EXISTS (SELECT 1 FROM webrace.node WHERE seen > clock_timestamp() - make_interval(secs => %d))`, deadAfter)},
		{"has run already", `SELECT EXISTS (SELECT 1 FROM webrace.run) OR EXISTS (SELECT 1 FROM webrace.inbox) OR EXISTS (SELECT 1 FROM webrace.abroad)`},
		{"has a partition that moves", `SELECT EXISTS (SELECT 1 FROM webrace.part WHERE node < 0)`},
	} {
		var is bool
		if err := tx.QueryRowContext(ctx, used.query).Scan(&is); err != nil {
			return err
		}
		if is {
			return fmt.Errorf("the cluster %s, and one machine's data are imported into a new one, before anything else: "+
				"webrace-store cluster create makes one in another database", used.by)
		}
	}
	return nil
}

func noteWaits(ctx context.Context, tx *sql.Tx, waits []frontier.Waits) error {
	var of, crawls []string
	var numbers []int64
	var at []int
	for _, w := range waits {
		of, crawls, numbers, at = append(of, w.Pipeline), append(crawls, w.Crawl), append(numbers, int64(w.Number)), append(at, w.Part)
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO webrace.abroad SELECT pipeline, crawl, pass, p, TRUE
		FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[]) AS r (pipeline, crawl, pass, p)`, of, crawls, numbers, at)
	return err
}

// Moves returns the partitions that are on their way.
func (m *Mover) Moves(ctx context.Context) ([]Move, error) {
	all, err := movesOf(ctx, m.db)
	return all, explained("look at the cluster in", m.name, err)
}
