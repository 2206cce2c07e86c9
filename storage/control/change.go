package control

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/webrace/webrace/xmlschema"
)

// Change has URDs changed by a function, all of them or none, so that no change of another is lost that is made
// meanwhile. The function may be called again with what is stored by then; its last calls count. Ids and owners stay.
// It returns [ErrNotFound] if one is not there, the error of the function, and whatever [Store.Put] refuses them for;
// otherwise what became of each, in the order of the ids.
func (s *Store) Change(ctx context.Context, ids []string, change func(*xmlschema.URD) error) ([]Change, error) {
	return s.changeEach(ctx, ids, func(_ *sql.Tx, u *xmlschema.URD) error { return change(u) })
}

// changeEach is Change by a function that is called within the transaction.
func (s *Store) changeEach(ctx context.Context, ids []string, change func(*sql.Tx, *xmlschema.URD) error) ([]Change, error) {
	return s.put(ctx, func(tx *sql.Tx) ([]*xmlschema.URD, error) {
		urds, err := storedURDs(ctx, tx, ids)
		if err != nil {
			return nil, err
		}
		for _, u := range urds {
			id, owner := u.ID, u.Owner
			if err := change(tx, u); err != nil {
				return nil, err
			}
			u.ID, u.Owner = id, owner
		}
		return urds, nil
	})
}

// storedURDs returns the URDs of some ids, in their order, or [ErrNotFound] if one is not there.
func storedURDs(ctx context.Context, tx *sql.Tx, ids []string) ([]*xmlschema.URD, error) {
	found, err := tx.QueryContext(ctx, "SELECT nodes FROM urd WHERE id IN (SELECT value FROM json_each(?))", list(ids))
	if err != nil {
		return nil, err
	}
	defer found.Close()
	known := make(map[string]*xmlschema.URD)
	for found.Next() {
		var nodes []byte
		if err := found.Scan(&nodes); err != nil {
			return nil, err
		}
		u, err := xmlschema.StoredURD(nodes)
		if err != nil {
			return nil, err
		}
		known[u.ID] = u
	}
	if err := found.Err(); err != nil {
		return nil, err
	}
	urds := make([]*xmlschema.URD, len(ids))
	for i, id := range ids {
		if urds[i] = known[id]; urds[i] == nil {
			return nil, fmt.Errorf("URD %s: %w", id, ErrNotFound)
		}
	}
	return urds, nil
}
