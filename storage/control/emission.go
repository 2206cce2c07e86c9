package control

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/webrace/webrace/storage/internal/nanos"
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
		r.retrieved = nanos.Of(time.Now())
	}
	r.document, err = encodeACI(a)
	return r, err
}

// emission is the storing of ACIs in one transaction, whose statements end with it.
type emission struct {
	ctx              context.Context
	once             bool // mirrors are told of once
	mirrors          *mirrors
	allowance        *allowance
	known, byText    *sql.Stmt
	insert, withhold *sql.Stmt
	last             int64 // the Seq of the ACI that was stored last
	hasByText        bool  // some ids may be of the form they had once
	stored           Stored
}

// statement is a query to be prepared.
type statement struct {
	into  **sql.Stmt
	query string
}

func prepareAll(ctx context.Context, tx *sql.Tx, all []statement) (err error) {
	for _, s := range all {
		if *s.into, err = tx.PrepareContext(ctx, s.query); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) newEmission(ctx context.Context, tx *sql.Tx, once bool) (*emission, error) {
	e := &emission{ctx: ctx, once: once}
	var err error
	if e.allowance, err = s.newAllowance(ctx, tx); err != nil {
		return nil, err
	}
	if e.mirrors, err = newMirrors(ctx, tx); err != nil {
		return nil, err
	}
	if err := tx.QueryRowContext(ctx, lastACI).Scan(&e.last); err != nil {
		return nil, err
	}
	if err := tx.QueryRowContext(ctx, "SELECT value FROM counter WHERE name = 'by_text'").Scan(&e.hasByText); err != nil {
		return nil, err
	}
	return e, prepareAll(ctx, tx, []statement{
		{&e.known, `SELECT EXISTS (SELECT 1 FROM aci WHERE id = ?1) OR EXISTS (SELECT 1 FROM trimmed WHERE id = ?1)
			OR EXISTS (SELECT 1 FROM withheld WHERE id = ?1) OR EXISTS (SELECT 1 FROM mirror WHERE id = ?1)`},
		{&e.byText, `SELECT EXISTS (SELECT 1 FROM trimmed WHERE id BETWEEN ?1 AND ?2 AND (url = '' OR url = ?3 AND version = ?4))
			OR EXISTS (SELECT 1 FROM aci WHERE id BETWEEN ?1 AND ?2 AND url = ?3) AND EXISTS (SELECT 1 FROM aci WHERE url = ?3 AND version = ?4 AND urd = ?5)`},
		{&e.insert, "INSERT INTO aci (seq, xml, nodes, urd, owner, url, version, time, retrieved, id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"},
		{&e.withhold, "INSERT INTO withheld VALUES (?, ?, ?, ?, ?)"},
	})
}

// put stores one ACI as new, if it is, and otherwise leaves what is known as it is.
func (e *emission) put(r *row) error {
	known, err := e.isKnown(r)
	if err == nil && !known && e.once {
		if known, err = e.mirrors.addTwin(r); err == nil && !known {
			known, err = e.mirrors.add(r)
		}
		if known {
			e.stored.Mirrors++
		}
	}
	if err == nil && !known {
		err = e.add(r)
	}
	if err != nil {
		return fmt.Errorf("ACI %s: %w", r.ID, err)
	}
	return nil
}

// isKnown reports whether the owner was sent the ACI before, or is not to be; also under the id that it had when
// ids were those of texts, or under a later one for the same text, which was told of again when it came back.
func (e *emission) isKnown(r *row) (known bool, err error) {
	err = e.known.QueryRowContext(e.ctx, r.ID).Scan(&known)
	if err != nil || known || !e.hasByText {
		return known, err
	}
	from := fmt.Sprintf("%016x", r.Docbase.Matched)
	err = e.byText.QueryRowContext(e.ctx, from, from+"g", r.URI, r.Docbase.Version, r.URD).Scan(&known)
	return known, err
}

// add sends an ACI, or withholds it.
func (e *emission) add(r *row) error {
	allowed, err := e.allowance.allows(r.Owner)
	if err != nil {
		return err
	}
	if !allowed {
		e.stored.Withheld++
		_, err := e.withhold.ExecContext(e.ctx, r.ID, r.Owner, e.allowance.day, r.Relevance, r.xml)
		return err
	}
	e.last++
	if _, err := e.insert.ExecContext(e.ctx, e.last, r.xml, r.nodes, r.URD, r.Owner, r.URI, r.Docbase.Version, nanos.Of(r.UpdateTime), r.retrieved, r.ID); err != nil {
		return err
	}
	e.stored.Added++
	e.stored.New = append(e.stored.New, r.ACI)
	e.allowance.spend(r.Owner)
	return e.mirrors.remember(e.last, r)
}

// complete writes the mirrors into the ACIs that they are listed in, and into those which are new.
func (e *emission) complete() error {
	longer, err := e.mirrors.complete()
	for i, aci := range e.stored.New {
		if with := longer[aci.ID]; with != nil {
			e.stored.New[i] = with
		}
	}
	return err
}
