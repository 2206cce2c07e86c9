package control

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"github.com/webrace/webrace/xmlschema"
)

// Effect is what putting a URD did.
type Effect string

const (
	Added     Effect = "added"
	Changed   Effect = "changed"
	Unchanged Effect = "unchanged"
)

// Change is what was done for one URD.
type Change struct {
	ID     string
	Effect Effect
}

// Put adds URDs, or changes those whose ids are stored, all of them or none. A URD without an id gets the one
// derived from its owner, URI and interest; one without an owner is refused, and so is one with the id of another
// owner's. The result tells, in the order of the argument, what became of each. A URD that equals the stored one
// changes nothing. If an owner would have more than their budget allows, the error is a [BudgetError].
func (s *Store) Put(ctx context.Context, urds []*xmlschema.URD) ([]Change, error) {
	return s.put(ctx, func(*sql.Tx) ([]*xmlschema.URD, error) { return urds, nil })
}

// put puts the URDs that which returns, in the same transaction.
func (s *Store) put(ctx context.Context, which func(*sql.Tx) ([]*xmlschema.URD, error)) ([]Change, error) {
	var changes []Change
	err := s.write(ctx, allURDs, "put URDs", func(tx *sql.Tx) error {
		urds, err := which(tx)
		if err != nil {
			return err
		}
		spent, err := s.newSpending(ctx, tx)
		if err != nil {
			return err
		}
		p, err := s.newPutter(ctx, tx, spent)
		if err != nil {
			return err
		}
		for _, u := range urds {
			if err := p.add(u); err != nil {
				return err
			}
		}
		changes, err = p.finish()
		return err
	})
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(changes, func(c Change) bool { return c.Effect != Unchanged }) {
		s.wake(&s.changed)
	}
	return changes, nil
}

// Delete removes a URD, or returns [ErrNotFound]. Its ACIs stay.
func (s *Store) Delete(ctx context.Context, id string) error {
	return s.delete(ctx, id, func(*sql.Tx) error { return nil })
}

// delete removes a URD if may allows it, in the same transaction.
func (s *Store) delete(ctx context.Context, id string, may func(*sql.Tx) error) error {
	err := s.write(ctx, allURDs, "delete URD "+id, func(tx *sql.Tx) error {
		if err := may(tx); err != nil {
			return err
		}
		return deleteURD(ctx, tx, id)
	})
	if err == nil {
		s.wake(&s.changed)
	}
	return err
}

func deleteURD(ctx context.Context, tx *sql.Tx, id string) error {
	var n, revision int64
	err := tx.QueryRowContext(ctx, "DELETE FROM urd WHERE id = ? RETURNING n", id).Scan(&n)
	if errors.Is(err, sql.ErrNoRows) {
		return ErrNotFound
	}
	if err != nil {
		return err
	}
	for _, part := range []string{"DELETE FROM urd_xml WHERE n = ?", "DELETE FROM keyword WHERE urd = ?"} {
		if _, err := tx.ExecContext(ctx, part, n); err != nil {
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, dropCursor, timesCursor+id); err != nil {
		return err
	}
	if err := tx.QueryRowContext(ctx, count("revision")).Scan(&revision); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO removed VALUES (?, ?)", id, revision)
	return err
}
