package control

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/webrace/webrace/xmlschema"
)

// Effect is what putting a URD did.
type Effect string

const (
	Added     Effect = "added"
	Changed   Effect = "changed"
	Unchanged Effect = "unchanged"
)

// Change says what was done for one URD.
type Change struct {
	ID     string
	Effect Effect
}

// Put adds URDs, or changes those whose ids are stored, all of them or none. A URD without an id gets the one
// derived from its owner, URI and interest; one without an owner is refused, and so is one with the id of another
// owner's. The result says, in the order of the argument, what became of each. A URD that says what the stored one
// says changes nothing. If an owner would have more than their budget allows, the error is a [BudgetError].
func (s *Store) Put(ctx context.Context, urds []*xmlschema.URD) ([]Change, error) {
	changes := make([]Change, 0, len(urds))
	err := s.write(ctx, "put URDs", func(tx *sql.Tx) error {
		changes = changes[:0]
		p, err := newPutter(ctx, tx)
		if err != nil {
			return err
		}
		spent, err := s.newSpending(ctx, tx)
		if err != nil {
			return err
		}
		for _, u := range urds {
			var c Change
			err := spent.watch(u.Owner)
			if err == nil {
				c, err = p.put(u)
			}
			if err != nil {
				return fmt.Errorf("URD %q of %q for %s: %w", u.ID, u.Owner, u.URI, err)
			}
			changes = append(changes, c)
		}
		return spent.check()
	})
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(changes, func(c Change) bool { return c.Effect != Unchanged }) {
		s.changed.ring()
	}
	return changes, nil
}

// putter holds the statements of one transaction that puts URDs; they end with it.
type putter struct {
	ctx                                                   context.Context
	stored, revision, write, xml, revive, unindex, addKey *sql.Stmt
}

func newPutter(ctx context.Context, tx *sql.Tx) (p putter, err error) {
	p.ctx = ctx
	for _, s := range []struct {
		into  **sql.Stmt
		query string
	}{
		{&p.stored, "SELECT xml, owner, interest FROM urd JOIN urd_xml USING (n) WHERE id = ?"},
		{&p.revision, nextRevision},
		{&p.write, `INSERT INTO urd (id, owner, uri, crawl, start, protocol, host, urgency, keywords, revision, interest, nodes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (id) DO UPDATE SET uri = excluded.uri, crawl = excluded.crawl, start = excluded.start, protocol = excluded.protocol, host = excluded.host,
				urgency = excluded.urgency, keywords = excluded.keywords, revision = excluded.revision, interest = excluded.interest, nodes = excluded.nodes
			RETURNING n`},
		{&p.xml, "INSERT INTO urd_xml VALUES (?, ?) ON CONFLICT (n) DO UPDATE SET xml = excluded.xml"},
		{&p.revive, "DELETE FROM removed WHERE id = ?"},
		{&p.unindex, "DELETE FROM keyword WHERE urd = ?"},
		{&p.addKey, "INSERT INTO keyword VALUES (?, ?)"},
	} {
		if *s.into, err = tx.PrepareContext(ctx, s.query); err != nil {
			return p, err
		}
	}
	return p, nil
}

var nextRevision = count("revision")

func (p *putter) put(given *xmlschema.URD) (Change, error) {
	u, err := prepare(given)
	if err != nil {
		return Change{}, err
	}
	columns, err := derive(u)
	if err != nil {
		return Change{}, err
	}
	doc, err := encodeURD(u)
	if err != nil {
		return Change{}, err
	}
	effect, interest, err := p.effect(u, columns.crawl, doc)
	if err != nil || effect == Unchanged {
		return Change{u.ID, effect}, err
	}
	var revision, n int64
	if err := p.revision.QueryRowContext(p.ctx).Scan(&revision); err != nil {
		return Change{}, err
	}
	if interest == 0 {
		interest = revision
	}
	err = p.write.QueryRowContext(p.ctx, append(columns.args(), revision, interest, doc.nodes)...).Scan(&n)
	if err == nil {
		_, err = p.xml.ExecContext(p.ctx, n, doc.xml)
	}
	if err == nil {
		_, err = p.revive.ExecContext(p.ctx, u.ID)
	}
	if err == nil {
		err = p.index(n, u, effect == Added)
	}
	return Change{u.ID, effect}, err
}

// effect says what storing a document is going to do, and the revision of the URD's interest if that stays
// as it is; otherwise 0.
func (p *putter) effect(u *xmlschema.URD, crawl string, doc document) (effect Effect, interest int64, err error) {
	var stored []byte
	var owner string
	err = p.stored.QueryRowContext(p.ctx, u.ID).Scan(&stored, &owner, &interest)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return Added, 0, nil
	case err != nil:
		return "", 0, err
	case owner != u.Owner:
		return "", 0, fmt.Errorf("a URD with this id belongs to %q, and %q must not replace it: give it another id, or remove that one first", owner, u.Owner)
	case bytes.Equal(stored, doc.xml):
		return Unchanged, interest, nil
	}
	before, err := decodeURD(stored)
	if err != nil || !matchedAlike(before, u, crawl) {
		interest = 0
	}
	return Changed, interest, err
}

// matchedAlike reports whether a URD concerns the same documents as before, and gives the same annotations
// of them: if only its urgency or timing changed, nobody needs to be told again.
func matchedAlike(before, now *xmlschema.URD, crawl string) bool {
	was, _, err := CrawlOf(before)
	return err == nil && was.ID == crawl && before.URI == now.URI && before.Depth == now.Depth &&
		before.ProcessType == now.ProcessType && before.InterestHash() == now.InterestHash()
}

// index makes the URD with this row number, which may be new, known under its keywords.
func (p *putter) index(n int64, u *xmlschema.URD, isNew bool) error {
	if !isNew {
		if _, err := p.unindex.ExecContext(p.ctx, n); err != nil {
			return err
		}
	}
	for _, key := range keysOf(u) {
		if _, err := p.addKey.ExecContext(p.ctx, key, n); err != nil {
			return err
		}
	}
	return nil
}

// prepare returns a URD as it is stored.
func prepare(given *xmlschema.URD) (*xmlschema.URD, error) {
	u := *given
	u.LastCheck = time.Time{}
	if u.Owner == "" {
		return nil, errors.New("it has no owner, and nobody to tell: give it an owner attribute, or import it with --owner")
	}
	if u.ID == "" {
		u.ID = xmlschema.DeriveID(u.Owner, u.URI, u.InterestHash())
	}
	return &u, nil
}

// Delete removes a URD, or says [ErrNotFound]. Its ACIs stay.
func (s *Store) Delete(ctx context.Context, id string) error {
	err := s.write(ctx, "delete URD "+id, func(tx *sql.Tx) error { return deleteURD(ctx, tx, id) })
	if err == nil {
		s.changed.ring()
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
	if err := tx.QueryRowContext(ctx, nextRevision).Scan(&revision); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO removed VALUES (?, ?)", id, revision)
	return err
}
