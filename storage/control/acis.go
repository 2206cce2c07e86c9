package control

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/webrace/webrace/xmlschema"
)

// ACI is a stored annotation.
type ACI struct {
	*xmlschema.ACI
	Seq       int64     // from 1, in the order of arrival; never given twice
	Retrieved time.Time // when its owner took it, or when it was stored as expired; zero while it waits
}

// PutACIs stores annotations, all of them or none, and says how many are new: the others, known by their
// ids, are written over, and keep their place in the order and whether they were retrieved; those known from
// another URL, because a mirror has the same text, are left as they are, and those that [Store.Trim] removed
// stay removed.
func (s *Store) PutACIs(ctx context.Context, acis []*xmlschema.ACI) (added int, err error) {
	if len(acis) == 0 {
		return 0, nil
	}
	err = s.write(ctx, "put ACIs", func(tx *sql.Tx) error {
		added = 0
		update, err := tx.PrepareContext(ctx, `UPDATE aci SET xml = ?1, nodes = ?2, urd = ?3, owner = ?4, url = ?5, version = ?6, time = ?7,
			retrieved = CASE retrieved WHEN 0 THEN ?8 ELSE retrieved END WHERE id = ?9 AND url = ?5`)
		if err != nil {
			return err
		}
		insert, err := tx.PrepareContext(ctx, `INSERT INTO aci (xml, nodes, urd, owner, url, version, time, retrieved, id)
			SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9
			WHERE NOT EXISTS (SELECT 1 FROM aci WHERE id = ?9) AND NOT EXISTS (SELECT 1 FROM trimmed WHERE id = ?9)`)
		if err != nil {
			return err
		}
		for _, a := range acis {
			isNew, err := putACI(ctx, update, insert, a)
			if err != nil {
				return fmt.Errorf("ACI %s: %w", a.ID, err)
			}
			if isNew {
				added++
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	if added > 0 {
		s.told.ring()
	}
	return added, nil
}

func putACI(ctx context.Context, update, insert *sql.Stmt, a *xmlschema.ACI) (isNew bool, err error) {
	if a.ID == "" || a.URD == "" || a.Owner == "" {
		return false, errors.New("an ACI needs an id, a URD and an owner")
	}
	doc, err := encodeACI(a)
	if err != nil {
		return false, err
	}
	var retrieved int64
	if a.Expired {
		retrieved = nanos(time.Now())
	}
	columns := []any{doc.xml, doc.nodes, a.URD, a.Owner, a.URI, a.Docbase.Version, nanos(a.UpdateTime), retrieved, a.ID}
	err = mustAffect(update.ExecContext(ctx, columns...))
	if !errors.Is(err, ErrNotFound) {
		return false, err
	}
	err = mustAffect(insert.ExecContext(ctx, columns...))
	if errors.Is(err, ErrNotFound) {
		return false, nil // it is known from another URL, or was trimmed
	}
	return err == nil, err
}

// Filter chooses ACIs; the zero value chooses all. Conditions combine.
type Filter struct {
	Owner string
	URD   string
	URL   string
	Since time.Time // updated then or later
	XPath string    // evaluated on each as a document: /aci[@relevance > 50]
	After int64     // with a greater Seq
	Limit int       // at most so many; 0 is no limit
}

// ACIs returns those that a filter chooses, in the order of arrival.
func (s *Store) ACIs(ctx context.Context, f Filter) iter.Seq2[ACI, error] {
	c, err := f.condition()
	if err != nil {
		return failed[ACI](err)
	}
	return first(f.Limit, documents(ctx, s, "read ACIs", aciTable, c, decodeStoredACI))
}

func (f *Filter) condition() (c condition, err error) {
	c.and("seq > ?", f.After)
	for _, equal := range []struct{ column, value string }{{"owner", f.Owner}, {"urd", f.URD}, {"url", f.URL}} {
		if equal.value != "" {
			c.and(equal.column+" = ?", equal.value)
		}
	}
	if !f.Since.IsZero() {
		c.and("time >= ?", nanos(f.Since))
	}
	if f.XPath != "" {
		err = c.matches(f.XPath, aciTable)
	}
	return c, err
}

func decodeStoredACI(r record) (a ACI, err error) {
	a.Seq, a.Retrieved = r.number, moment(r.second)
	a.ACI, err = decodeACI(r.document)
	return a, err
}

// Take returns the ACIs that wait for an owner, in the order of arrival, and marks them retrieved.
func (s *Store) Take(ctx context.Context, owner string) ([]ACI, error) {
	now := time.Now().UTC()
	var taken []ACI
	err := s.write(ctx, "take ACIs of "+owner, func(tx *sql.Tx) error {
		taken = nil
		waiting, err := tx.QueryContext(ctx, "UPDATE aci SET retrieved = ? WHERE owner = ? AND retrieved = 0 RETURNING xml, seq", nanos(now), owner)
		if err != nil {
			return err
		}
		defer waiting.Close()
		for waiting.Next() {
			r := record{second: nanos(now)}
			if err := waiting.Scan(&r.document, &r.number); err != nil {
				return err
			}
			a, err := decodeStoredACI(r)
			if err != nil {
				return err
			}
			taken = append(taken, a)
		}
		return errors.Join(waiting.Err(), waiting.Close())
	})
	if err != nil {
		return nil, err
	}
	// SQLite returns updated rows in no particular order.
	slices.SortFunc(taken, func(a, b ACI) int { return cmp.Compare(a.Seq, b.Seq) })
	return taken, nil
}

// NextACIs returns up to limit ACIs (0 is no limit) that arrived after one, in the order of arrival. It waits until there is
// at least one, or the context ends.
func (s *Store) NextACIs(ctx context.Context, after int64, limit int) ([]ACI, error) {
	for {
		news := s.told.next() // before looking, so that nothing slips in between
		var found []ACI
		for a, err := range s.ACIs(ctx, Filter{After: after, Limit: limit}) {
			if err != nil {
				return nil, err
			}
			found = append(found, a)
		}
		if len(found) > 0 {
			return found, nil
		}
		select {
		case <-news:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// LastACI returns the Seq of the ACI that arrived last, 0 when none ever did: who follows from there is
// told of new ones alone.
func (s *Store) LastACI(ctx context.Context) (int64, error) {
	var last int64
	if err := s.readers.QueryRowContext(ctx, "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'aci'").Scan(&last); err != nil {
		return 0, s.explain("read last ACI", err)
	}
	return last, nil
}
