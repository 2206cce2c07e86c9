package control

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/webrace/webrace/storage/internal/nanos"
)

// VersionRef names one stored version of a document.
type VersionRef struct {
	URL     string
	Version int // counted from 1
}

// Waiting returns those versions that an owner still waits for: an ACI that is neither retrieved nor expired
// points to them, or they are listed in it.
func (s *Store) Waiting(ctx context.Context, refs []VersionRef) (map[VersionRef]bool, error) {
	return s.pointedTo(ctx, refs, "AND retrieved = 0")
}

// Referred returns those versions that any ACI points to.
func (s *Store) Referred(ctx context.Context, refs []VersionRef) (map[VersionRef]bool, error) {
	return s.pointedTo(ctx, refs, "")
}

func (s *Store) pointedTo(ctx context.Context, refs []VersionRef, which string) (map[VersionRef]bool, error) {
	query := `SELECT EXISTS (SELECT 1 FROM aci WHERE url = ?1 AND version = ?2 ` + which + `)
		OR EXISTS (SELECT 1 FROM mirror JOIN aci USING (seq) WHERE mirror.url = ?1 AND mirror.version = ?2 ` + which + `)`
	found := make(map[VersionRef]bool)
	for _, ref := range refs {
		var exists bool
		err := s.read(ctx, func() error {
			prepared, err := s.prepare(ctx, query)
			if err != nil {
				return err
			}
			return prepared.QueryRowContext(ctx, ref.URL, ref.Version).Scan(&exists)
		})
		if err != nil {
			return nil, s.explain("look for ACIs of versions", err)
		}
		if exists {
			found[ref] = true
		}
	}
	return found, nil
}

// ageingBatch is how many ACIs one transaction expires or trims, so that other writers get their turn.
const expireBatch = 500

// Expire marks the ACIs that wait and were updated before a time as expired, which counts as retrieved, and
// returns how many. They can be asked for as before, and tell that themselves. One without a time never expires.
func (s *Store) Expire(ctx context.Context, before time.Time) (n int, err error) {
	return batches(func() (int, error) {
		count := 0
		err := s.write(ctx, allACIs, "expire ACIs", func(tx *sql.Tx) (err error) {
			count, err = expire(ctx, tx, before)
			return err
		})
		return count, err
	})
}

func expire(ctx context.Context, tx *sql.Tx, before time.Time) (n int, err error) {
	var old []record // all of a batch, because updating moves them out of the index that is being read
	err = each(ctx, tx, "SELECT xml, seq, 0, 0 FROM aci WHERE retrieved = 0 AND time > 0 AND time < ? LIMIT ?", func(r record) error {
		old = append(old, r)
		return nil
	}, nanos.Of(before), expireBatch)
	now := nanos.Of(time.Now())
	for _, r := range old {
		if err != nil {
			return 0, err
		}
		err = expireOne(ctx, tx, r, now)
	}
	return len(old), err
}

func expireOne(ctx context.Context, tx *sql.Tx, r record, now int64) error {
	a, err := decodeACI(r.document)
	if err != nil {
		return err
	}
	a.Expired = true
	doc, err := encodeACI(a)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "UPDATE aci SET xml = ?, nodes = ?, retrieved = ? WHERE seq = ?", doc.xml, doc.nodes, now, r.number)
	return err
}

// Trim removes the ACIs that were retrieved, or expired, before a time, and those that were withheld on a day
// before it, and returns how many; never one that waits, or is still to be sent on a channel. They leave the inboxes of
// their owners. The ids of those that were sent stay known, so that
// none is ever stored, and sent, a second time.
func (s *Store) Trim(ctx context.Context, before time.Time) (n int, err error) {
	withheld, err := batches(func() (count int, err error) {
		err = s.write(ctx, allACIs, "trim withheld ACIs", func(tx *sql.Tx) (err error) {
			count, err = trimWithheld(ctx, tx, before)
			return err
		})
		return count, err
	})
	if err != nil {
		return withheld, err
	}
	n, err = s.trimRetrieved(ctx, before)
	return withheld + n, err
}

func (s *Store) trimRetrieved(ctx context.Context, before time.Time) (n int, err error) {
	return batches(func() (int, error) {
		var count int64
		err := s.write(ctx, allACIs, "trim ACIs", func(tx *sql.Tx) error {
			const chosen = "FROM aci WHERE retrieved > 0 AND retrieved < ? AND " + isNotInOutbox + " ORDER BY retrieved, seq LIMIT ?"
			if _, err := tx.ExecContext(ctx, fmt.Sprintf(countTrimmed, chosen), nanos.Of(before), expireBatch); err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, "INSERT INTO trimmed (id, url, version) SELECT id, url, version "+chosen, nanos.Of(before), expireBatch); err != nil {
				return err
			}
			for _, statement := range trimParts {
				if _, err := tx.ExecContext(ctx, statement+" (SELECT seq "+chosen+")", nanos.Of(before), expireBatch); err != nil {
					return err
				}
			}
			result, err := tx.ExecContext(ctx, "DELETE FROM aci WHERE seq IN (SELECT seq "+chosen+")", nanos.Of(before), expireBatch)
			if err == nil {
				count, err = result.RowsAffected()
			}
			return err
		})
		return int(count), err
	})
}

// trimParts is executed with ACIs about to be removed: what is listed in them stays known, like themselves.
var trimParts = []string{
	"INSERT INTO trimmed (id, url, version) SELECT id, url, version FROM mirror WHERE seq IN",
	"DELETE FROM mirror WHERE seq IN",
	"DELETE FROM shown WHERE seq IN",
	"DELETE FROM inbox_item WHERE seq IN",
}

// batches repeats f until it had less than a whole batch to do, and sums up what it did.
func batches(f func() (int, error)) (total int, err error) {
	for {
		n, err := f()
		if err != nil {
			return total, err
		}
		if total += n; n < expireBatch {
			return total, nil
		}
	}
}
