package cluster

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
)

// format is the version of the tables.
const format = 1

// MostPartitions is how many partitions a cluster may have.
const MostPartitions = 1024

var tables = []string{
	`CREATE TABLE webrace.cluster (format BIGINT NOT NULL, partitions BIGINT NOT NULL, nodes BIGINT NOT NULL, created TIMESTAMPTZ NOT NULL)`,
	`CREATE TABLE webrace.node (i BIGINT PRIMARY KEY, boot TEXT NOT NULL, place TEXT NOT NULL, config TEXT NOT NULL, seen TIMESTAMPTZ NOT NULL,
		address TEXT NOT NULL DEFAULT '')`,
	`CREATE TABLE webrace.part (p BIGINT PRIMARY KEY, node BIGINT NOT NULL)`,
	`CREATE TABLE webrace.inbox (p BIGINT, id BIGINT GENERATED ALWAYS AS IDENTITY, pipeline TEXT COLLATE "C" NOT NULL,
		crawls TEXT[] COLLATE "C" NOT NULL, passes BIGINT[] NOT NULL, data BYTEA NOT NULL, PRIMARY KEY (p, id))
		WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0)`,
	`ALTER TABLE webrace.inbox ALTER COLUMN data SET STORAGE EXTERNAL`,
	`CREATE TABLE webrace.abroad (pipeline TEXT COLLATE "C", crawl TEXT COLLATE "C", pass BIGINT, p BIGINT, pending BOOLEAN NOT NULL,
		PRIMARY KEY (pipeline, crawl, p)) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01)`,
	costTable,
	`CREATE TABLE webrace.run (pipeline TEXT COLLATE "C" PRIMARY KEY, number BIGINT NOT NULL, over BOOLEAN NOT NULL)`,
	`CREATE TABLE webrace.quiet (pipeline TEXT COLLATE "C", p BIGINT, quiet BOOLEAN NOT NULL, boot TEXT NOT NULL, PRIMARY KEY (pipeline, p)) WITH (fillfactor = 50)`,
}

// costTable has how many requests each partition has ever made for crawls that begin in others.
const costTable = `CREATE TABLE IF NOT EXISTS webrace.cost (pipeline TEXT COLLATE "C", crawl TEXT COLLATE "C", p BIGINT, requests BIGINT NOT NULL,
	PRIMARY KEY (pipeline, crawl, p)) WITH (fillfactor = 50)`

// Codes of errors, https://www.postgresql.org/docs/current/errcodes-appendix.html
const (
	codeNoTable, codeNoSchema = "42P01", "3F000"
	codeTableIsThere          = "42P07"
	codeNameIsTaken           = "23505"
	codeNoColumn              = "42703"
)

func hasCode(err error, codes ...string) bool {
	var failure *pgconn.PgError
	if !errors.As(err, &failure) {
		return false
	}
	for _, code := range codes {
		if failure.Code == code {
			return true
		}
	}
	return false
}

// Shape is what a cluster was made with.
type Shape struct{ Partitions, Nodes int }

// Check refuses what no cluster can be made with.
func (s Shape) Check() error {
	switch {
	case s.Partitions < 1 || s.Partitions > MostPartitions || s.Partitions&(s.Partitions-1) != 0:
		return fmt.Errorf("%d partitions: it is a power of two, up to %d", s.Partitions, MostPartitions)
	case s.Nodes < 1 || s.Nodes > s.Partitions:
		return fmt.Errorf("%d nodes: there is at least one, and no more than partitions (%d)", s.Nodes, s.Partitions)
	}
	return nil
}

// create makes the tables in one transaction, beside those of the control store, which are there.
func create(ctx context.Context, db *sql.DB, s Shape) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for _, statement := range tables {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO webrace.part SELECT p, p % $2 FROM generate_series(0, $1 - 1) AS p`, s.Partitions, s.Nodes); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO webrace.cluster VALUES ($1, $2, $3, clock_timestamp())`, format, s.Partitions, s.Nodes); err != nil {
		return err
	}
	return tx.Commit()
}

// addWhatIsNew adds what the first release with clusters did not have.
func addWhatIsNew(ctx context.Context, db *sql.DB) error {
	_, err := db.ExecContext(ctx, `SELECT address FROM webrace.node LIMIT 0`)
	if hasCode(err, codeNoColumn) {
		_, err = db.ExecContext(ctx, `ALTER TABLE webrace.node ADD COLUMN IF NOT EXISTS address TEXT NOT NULL DEFAULT ''`)
	}
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, `SELECT requests FROM webrace.cost LIMIT 0`)
	if hasCode(err, codeNoTable) {
		_, err = db.ExecContext(ctx, costTable)
	}
	if hasCode(err, codeNameIsTaken) { // another node makes it at this moment
		err = nil
	}
	return err
}

// shapeOf reads what the cluster was made with, and refuses one that this program does not know.
func shapeOf(ctx context.Context, db *sql.DB) (s Shape, err error) {
	var version int
	err = db.QueryRowContext(ctx, `SELECT format, partitions, nodes FROM webrace.cluster`).Scan(&version, &s.Partitions, &s.Nodes)
	switch {
	case hasCode(err, codeNoTable, codeNoSchema):
		return s, ErrNone
	case hasCode(err, codeNoColumn):
		return s, fmt.Errorf("its table webrace.cluster is of something else (%w): give webrace a database of its own, createdb webrace", err)
	case errors.Is(err, sql.ErrNoRows):
		return s, errors.New("its table webrace.cluster is empty: restore the database from a backup")
	case err == nil && version != format:
		return s, fmt.Errorf("it has a cluster of format %d, and this program knows format %d: use the program that made it, or a newer one", version, format)
	}
	return s, err
}

// ErrNone means that there is no cluster in a database.
var ErrNone = errors.New("there is no cluster in it yet: webrace-store cluster create --partitions 32 --nodes N makes one")
