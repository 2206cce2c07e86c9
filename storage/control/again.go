package control

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/cespare/xxhash/v2"

	"github.com/webrace/webrace/internal/likeness"
	"github.com/webrace/webrace/xmlschema"
)

// An ACI's id says which text mattered to which interest, so that nobody is told twice, wherever the text
// stands. Two things are told by more than the id. A text that had gone from its page and has come back is
// news again; and a text that is nearly the same as one that the owner was told of from another page is none.

const tables5 = `
ALTER TABLE trimmed ADD COLUMN url     TEXT    NOT NULL DEFAULT ''; -- that of the ACI, if it is known
ALTER TABLE trimmed ADD COLUMN version INTEGER NOT NULL DEFAULT 0;

CREATE TABLE likeness ( -- of the texts of ACIs that have one
	urd   TEXT NOT NULL,
	seq   INTEGER NOT NULL, -- aci.seq
	value INTEGER NOT NULL,
	url   INTEGER NOT NULL, -- a hash
	PRIMARY KEY (urd, seq)
) WITHOUT ROWID;
CREATE INDEX likeness_seq ON likeness (seq);
`

// mostCompared is how many ACIs of a URD, the latest, a new one is compared with.
const mostCompared = 64

// memory tells what has been told before, in one transaction.
type memory struct {
	ctx                          context.Context
	known, told, recent, noteOne *sql.Stmt
}

func newMemory(ctx context.Context, tx *sql.Tx) (m memory, err error) {
	m.ctx = ctx
	for _, s := range []struct {
		into  **sql.Stmt
		query string
	}{
		{&m.known, `SELECT EXISTS (SELECT 1 FROM aci WHERE id = ?1) OR EXISTS (SELECT 1 FROM trimmed WHERE id = ?1) OR EXISTS (SELECT 1 FROM withheld WHERE id = ?1)`},
		{&m.told, `SELECT EXISTS (SELECT 1 FROM aci WHERE id = ?1 AND url = ?2 AND version BETWEEN 1 AND ?3)
			OR EXISTS (SELECT 1 FROM trimmed WHERE id = ?1 AND url = ?2 AND version BETWEEN 1 AND ?3)`},
		{&m.recent, "SELECT value, url FROM likeness WHERE urd = ? ORDER BY seq DESC LIMIT ?"},
		{&m.noteOne, "INSERT INTO likeness SELECT ?, last_insert_rowid(), ?, ?"},
	} {
		if *s.into, err = tx.PrepareContext(ctx, s.query); err != nil {
			return m, err
		}
	}
	return m, nil
}

// reappeared returns the ACI under an id of its own, if its text was told of from the same page, was gone
// in the version that the owner saw last, and is back; otherwise the ACI as it is.
func (m *memory) reappeared(r *row) (*row, error) {
	if r.Docbase.Since == 0 {
		return r, nil
	}
	var told bool
	if err := m.told.QueryRowContext(m.ctx, r.ID, r.URI, r.Docbase.Since).Scan(&told); err != nil || !told {
		return r, err
	}
	again := *r.ACI
	again.ID = xmlschema.Again(r.ID, r.Docbase.Version)
	encoded, err := encodeRow(&again)
	return &encoded, err
}

// isAlike reports whether the ACI is new, and its text nearly one that its URD was told of from another page.
func (m *memory) isAlike(r *row) (bool, error) {
	if r.Docbase.Likeness == 0 {
		return false, nil
	}
	alike, err := m.findAlike(r)
	if err != nil || !alike {
		return false, err
	}
	var known bool
	err = m.known.QueryRowContext(m.ctx, r.ID).Scan(&known)
	return !known, err
}

func (m *memory) findAlike(r *row) (found bool, err error) {
	recent, err := m.recent.QueryContext(m.ctx, r.URD, mostCompared)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, recent.Close()) }()
	page := hashOf(r.URI)
	for recent.Next() {
		var value, url int64
		if err := recent.Scan(&value, &url); err != nil {
			return false, err
		}
		if url != page && likeness.Alike(uint64(value), r.Docbase.Likeness) {
			return true, nil
		}
	}
	return false, recent.Err()
}

// note remembers the likeness of the ACI that was stored last.
func (m *memory) note(r *row) error {
	if r.Docbase.Likeness == 0 {
		return nil
	}
	if _, err := m.noteOne.ExecContext(m.ctx, r.URD, int64(r.Docbase.Likeness), hashOf(r.URI)); err != nil {
		return fmt.Errorf("note its likeness: %w", err)
	}
	return nil
}

func hashOf(url string) int64 { return int64(xxhash.Sum64String(url)) }
