package control

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/webrace/webrace/storage/internal/nanos"
	"github.com/webrace/webrace/xmlschema"
)

// row is an ACI with all that is stored of it.
type row struct {
	*xmlschema.ACI
	document
	retrieved int64
	put       *putting // by which
}

// putting is what one call puts.
type putting struct {
	rows   []row
	once   bool // mirrors are told of once
	stored Stored

	ctx   context.Context
	ended chan error // of the transaction that stores it
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

// emission is the storing of ACIs in one transaction. A group of them is looked up together, decided on one by one, and
// written together: a statement costs more than a row, and most of all where its answer comes over a network.
type emission struct {
	statements
	once      bool // mirrors are told of once
	mirrors   *mirrors
	allowance *allowance
	last      int64 // the Seq of the ACI that was stored last
	hasByText bool  // some ids may be of the form they had once

	// The ids of the group that are stored, and of its twins: the Seq of the ACI that tells of them, 0 if it was
	// removed or withheld.
	known          map[string]int64
	sent, withheld []any // rows to be inserted for the group
}

func (s *Store) newEmission(ctx context.Context, tx *sql.Tx, once bool) (*emission, error) {
	e := &emission{statements: s.newStatements(ctx, tx), once: once}
	e.mirrors = &mirrors{statements: &e.statements}
	e.allowance = &allowance{statements: &e.statements, left: make(map[string]int)}
	const query = "SELECT (" + lastACI + `), (SELECT value FROM counter WHERE name = 'by_text'), (SELECT value FROM counter WHERE name = 'day'),
		(SELECT value FROM counter WHERE name = 'day_seq'), EXISTS (SELECT 1 FROM budget)`
	limited := false
	err := tx.QueryRowContext(ctx, query).Scan(&e.last, &e.hasByText, &e.allowance.day, &e.allowance.after, &limited)
	if now := s.options.Now(); err == nil && e.allowance.isOver(now) {
		err = e.allowance.begin(dayOf(now))
	}
	if err == nil && limited {
		e.allowance.budgets, err = s.currentBudgets(ctx, tx)
	}
	return e, err
}

// put stores ACIs as new, if they are, and otherwise leaves what is known as it is.
func (e *emission) put(rows []row) error {
	for group := range slices.Chunk(rows, putGroup) {
		if err := e.lookUp(group); err != nil {
			return err
		}
		for i := range group {
			if err := e.decide(&group[i]); err != nil {
				return fmt.Errorf("ACI %s: %w", group[i].ID, err)
			}
		}
		if err := e.write(); err != nil {
			return err
		}
	}
	return nil
}

// lookUp finds out what is stored that decides on the group.
func (e *emission) lookUp(group []row) error {
	if err := e.findKnown(group); err != nil {
		return err
	}
	var fresh []*row
	var owners []string
	for i := range group {
		if _, known := e.known[group[i].ID]; !known {
			fresh = append(fresh, &group[i])
			owners = append(owners, group[i].Owner)
		}
	}
	if err := e.allowance.look(owners); err != nil || !e.once {
		return err
	}
	return e.mirrors.lookUp(fresh)
}

func (e *emission) findKnown(group []row) error {
	e.known = make(map[string]int64)
	var ids []string
	for i := range group {
		ids = append(ids, group[i].ID)
		if t := group[i].Twins; t != nil && e.once {
			ids = append(ids, t.IDs...)
		}
	}
	const query = `SELECT id, seq FROM aci WHERE id IN (SELECT value FROM json_each(?))
		UNION ALL SELECT id, seq FROM mirror WHERE id IN (SELECT value FROM json_each(?))
		UNION ALL SELECT id, 0 FROM trimmed WHERE id IN (SELECT value FROM json_each(?))
		UNION ALL SELECT id, 0 FROM withheld WHERE id IN (SELECT value FROM json_each(?))`
	all := list(ids)
	return e.each(query, []any{all, all, all, all}, func(scan func(...any) error) error {
		var id string
		var seq int64
		err := scan(&id, &seq)
		e.known[id] = max(e.known[id], seq)
		return err
	})
}

// decide has one ACI stored, if it is new.
func (e *emission) decide(r *row) error {
	known, err := e.isKnown(r)
	if err != nil || known {
		return err
	}
	if e.once {
		if seq := e.twinOrMirror(r); seq > 0 {
			e.known[r.ID] = seq
			r.put.stored.Mirrors++
			return nil
		}
	}
	e.add(r)
	return nil
}

// isKnown reports whether the owner was sent the ACI before, or is not to be; also under the id that it had when
// ids were those of texts, or under a later one for the same text, which was told of again when it came back.
func (e *emission) isKnown(r *row) (known bool, err error) {
	if _, known = e.known[r.ID]; known || !e.hasByText {
		return known, nil
	}
	if err := e.write(); err != nil { // what came before it counts
		return false, err
	}
	const query = `SELECT EXISTS (SELECT 1 FROM trimmed WHERE id BETWEEN ?1 AND ?2 AND (url = '' OR url = ?3 AND version = ?4))
		OR EXISTS (SELECT 1 FROM aci WHERE id BETWEEN ?1 AND ?2 AND url = ?3) AND EXISTS (SELECT 1 FROM aci WHERE url = ?3 AND version = ?4 AND urd = ?5)`
	from := fmt.Sprintf("%016x", r.Docbase.Matched)
	err = e.tx.QueryRowContext(e.ctx, query, from, from+"g", r.URI, r.Docbase.Version, r.URD).Scan(&known)
	return known, err
}

// twinOrMirror lists an ACI in one that told its owner the same of its document, as it came to another of their URDs,
// or of a document that its own is a mirror of, and returns the Seq of that one; 0 if there is none.
func (e *emission) twinOrMirror(r *row) int64 {
	if r.Twins != nil {
		for _, id := range r.Twins.IDs {
			if seq := e.known[id]; seq > 0 {
				e.mirrors.list(r.ID, listing{seq, r.Twins.URI}, 0)
				return seq
			}
		}
	}
	return e.mirrors.add(r)
}

// add sends an ACI, or withholds it.
func (e *emission) add(r *row) {
	if !e.allowance.spend(r.Owner) {
		e.known[r.ID] = 0
		r.put.stored.Withheld++
		e.withheld = append(e.withheld, r.ID, r.Owner, e.allowance.day, r.Relevance, r.xml)
		return
	}
	e.last++
	e.known[r.ID] = e.last
	e.sent = append(e.sent, e.last, r.xml, r.nodes, r.URD, r.Owner, r.URI, r.Docbase.Version, nanos.Of(r.UpdateTime), r.retrieved, r.ID)
	r.put.stored.Added++
	r.put.stored.New = append(r.put.stored.New, r.ACI)
	e.mirrors.remember(e.last, r)
}

// write inserts the rows of the group.
func (e *emission) write() error {
	err := e.insertRows("aci (seq, xml, nodes, urd, owner, url, version, time, retrieved, id)", 10, e.sent)
	if err == nil {
		err = e.insertRows("withheld", 5, e.withheld)
	}
	e.sent, e.withheld = e.sent[:0], e.withheld[:0]
	return errors.Join(err, e.mirrors.write())
}

// complete writes the mirrors into the ACIs that they are listed in, and into those which are new.
func (e *emission) complete(all []*putting) error {
	longer, err := e.mirrors.complete()
	for _, p := range all {
		for i, aci := range p.stored.New {
			if with := longer[aci.ID]; with != nil {
				p.stored.New[i] = with
			}
		}
	}
	return err
}
