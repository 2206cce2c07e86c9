package control

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/webrace/webrace/xmlschema"
)

// row is an ACI with all that is stored of it.
type row struct {
	*xmlschema.ACI
	document
	retrieved int64
}

func encodeACIs(acis []*xmlschema.ACI) ([]row, error) {
	rows := make([]row, len(acis))
	for i, a := range acis {
		var err error
		if rows[i], err = encodeRow(a); err != nil {
			return nil, fmt.Errorf("ACI %s: %w", a.ID, err)
		}
	}
	return rows, nil
}

func encodeRow(a *xmlschema.ACI) (r row, err error) {
	if a.ID == "" || a.URD == "" || a.Owner == "" {
		return row{}, errors.New("an ACI needs an id, a URD and an owner")
	}
	r.ACI = a
	if a.Expired {
		r.retrieved = nanos(time.Now())
	}
	r.document, err = encodeACI(a)
	return r, err
}

// columns are the arguments of the statements that write an ACI.
func (r *row) columns() []any {
	return []any{r.xml, r.nodes, r.URD, r.Owner, r.URI, r.Docbase.Version, nanos(r.UpdateTime), r.retrieved, r.ID}
}

// emission is the storing of ACIs in one transaction, whose statements end with it.
type emission struct {
	ctx                      context.Context
	memory                   memory
	allowance                *allowance
	insert, withhold, update *sql.Stmt
	stored                   Stored
}

func (s *Store) newEmission(ctx context.Context, tx *sql.Tx) (*emission, error) {
	allowance, err := s.newAllowance(ctx, tx)
	if err != nil {
		return nil, err
	}
	e := &emission{ctx: ctx, allowance: allowance}
	if e.memory, err = newMemory(ctx, tx); err != nil {
		return nil, err
	}
	for _, s := range []struct {
		into  **sql.Stmt
		query string
	}{
		{&e.insert, `INSERT OR FAIL INTO aci (xml, nodes, urd, owner, url, version, time, retrieved, id) SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9
			WHERE NOT EXISTS (SELECT 1 FROM aci WHERE id = ?9) AND NOT EXISTS (SELECT 1 FROM trimmed WHERE id = ?9)
				AND NOT EXISTS (SELECT 1 FROM withheld WHERE id = ?9)`},
		{&e.withhold, `INSERT OR FAIL INTO withheld SELECT ?1, ?2, ?3, ?4, ?5
			WHERE NOT EXISTS (SELECT 1 FROM aci WHERE id = ?1) AND NOT EXISTS (SELECT 1 FROM trimmed WHERE id = ?1)
				AND NOT EXISTS (SELECT 1 FROM withheld WHERE id = ?1)`},
		{&e.update, `UPDATE aci SET xml = ?1, nodes = ?2, urd = ?3, owner = ?4, url = ?5, version = ?6, time = ?7,
			retrieved = CASE retrieved WHEN 0 THEN ?8 ELSE retrieved END WHERE id = ?9 AND url = ?5`},
	} {
		if *s.into, err = tx.PrepareContext(ctx, s.query); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// put stores one ACI as new, if it is: most are. Otherwise it is written over what is known of it.
func (e *emission) put(given *row) error {
	r, err := e.memory.reappeared(given)
	if err != nil {
		return fmt.Errorf("ACI %s: %w", given.ID, err)
	}
	alike, err := e.memory.isAlike(r)
	switch {
	case err != nil:
	case alike:
		e.stored.Alike++
	default:
		err = e.addOrUpdate(r)
	}
	if err != nil {
		return fmt.Errorf("ACI %s: %w", r.ID, err)
	}
	return nil
}

func (e *emission) addOrUpdate(r *row) error {
	isNew, err := e.add(r)
	if err == nil && !isNew {
		_, err = e.update.ExecContext(e.ctx, r.columns()...)
	}
	return err
}

// add sends an ACI that is not known, or withholds it.
func (e *emission) add(r *row) (isNew bool, err error) {
	allowed, err := e.allowance.allows(r.Owner)
	if err != nil {
		return false, err
	}
	if !allowed {
		isNew, err = affected(e.withhold.ExecContext(e.ctx, r.ID, r.Owner, e.allowance.day, r.Relevance, r.xml))
		if isNew {
			e.stored.Withheld++
		}
		return isNew, err
	}
	if isNew, err = affected(e.insert.ExecContext(e.ctx, r.columns()...)); isNew {
		e.stored.Added++
		e.allowance.spend(r.Owner)
		err = e.memory.note(r)
	}
	return isNew, err
}

// affected reports whether a statement changed anything.
func affected(result sql.Result, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n > 0, err
}
