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

	"github.com/webrace/webrace/storage/internal/nanos"
	"github.com/webrace/webrace/xmlschema"
)

// ACI is a stored annotation.
type ACI struct {
	*xmlschema.ACI
	Seq       int64     // from 1, in the order of arrival; never given twice
	Retrieved time.Time // when its owner took it, or when it was stored as expired; zero while it waits
}

// Stored tells which ACIs were new. The others were known by their ids.
type Stored struct {
	Added    int              // for their owners to take
	Withheld int              // because their owners had been sent what their budgets allow; see [Store.Withheld]
	Mirrors  int              // not stored, but listed in others of their URDs that are of the same text
	New      []*xmlschema.ACI // those that were added, in their order, with the mirrors that were listed in them
}

// PutACIs stores annotations, all of them or none. Those whose ids are known are left as they are: also those that
// were withheld, that are listed as mirrors, or that [Store.Trim] removed. A further document at which a URD would be
// shown the same text, or nearly the same, is listed in the ACI of the first (see [xmlschema.Also]).
func (s *Store) PutACIs(ctx context.Context, acis []*xmlschema.ACI) (Stored, error) {
	return s.putACIs(ctx, acis, true)
}

// PutEachACI is PutACIs without regard to mirrors.
func (s *Store) PutEachACI(ctx context.Context, acis []*xmlschema.ACI) (Stored, error) {
	return s.putACIs(ctx, acis, false)
}

func (s *Store) putACIs(ctx context.Context, acis []*xmlschema.ACI, once bool) (Stored, error) {
	if len(acis) == 0 {
		return Stored{}, nil
	}
	rows, err := encodeACIs(acis) // before the transaction, which others wait for
	if err != nil {
		return Stored{}, fmt.Errorf("put ACIs: %w", err)
	}
	p := &putting{rows: rows, once: once}
	if s.gathering != nil {
		err = s.gathering.put(ctx, p)
	} else {
		err = s.putTogether(ctx, p)
	}
	if err != nil {
		return Stored{}, err
	}
	return p.stored, nil
}

// putTogether stores what was put by calls that are all of a kind, all of it or nothing.
func (s *Store) putTogether(ctx context.Context, all ...*putting) error {
	var rows []row
	err := s.write(ctx, allACIs, "put ACIs", func(tx *sql.Tx) error {
		rows = rows[:0]
		for _, p := range all {
			p.stored = Stored{}
			for i := range p.rows {
				p.rows[i].put = p
			}
			rows = append(rows, p.rows...)
		}
		e, err := s.newEmission(ctx, tx, all[0].once)
		if err != nil {
			return err
		}
		if err = e.put(rows); err == nil {
			err = e.complete(all)
		}
		if err == nil && s.postgres != nil {
			err = s.countACIs(ctx, tx, e.last)
		}
		return err
	})
	if err != nil {
		return err
	}
	if slices.ContainsFunc(all, func(p *putting) bool { return p.stored.Added > 0 }) {
		s.wake(&s.told)
	}
	return nil
}

// ReplaceACI writes an ACI over the one with its id, which keeps its place in the order and whether it was retrieved.
// It is for repairs: what an owner was told does not change otherwise.
func (s *Store) ReplaceACI(ctx context.Context, a *xmlschema.ACI) error {
	r, err := encodeRow(a)
	if err != nil {
		return fmt.Errorf("replace ACI %s: %w", a.ID, err)
	}
	return s.write(ctx, allACIs, "replace ACI "+a.ID, func(tx *sql.Tx) error {
		known, err := affected(tx.ExecContext(ctx, "UPDATE aci SET xml = ?, nodes = ?, urd = ?, owner = ?, url = ?, version = ?, time = ? WHERE id = ?",
			r.xml, r.nodes, r.URD, r.Owner, r.URI, r.Docbase.Version, nanos.Of(r.UpdateTime), r.ID))
		if err == nil && !known {
			err = ErrNotFound
		}
		return err
	})
}

// affected reports whether a statement changed anything.
func affected(result sql.Result, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n > 0, err
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
	if c.query == nil {
		c.limit = f.Limit
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
		c.and("time >= ?", nanos.Of(f.Since))
	}
	if f.XPath != "" {
		err = c.matches(f.XPath, aciTable)
	}
	return c, err
}

func decodeStoredACI(r record) (a ACI, err error) {
	a.Seq, a.Retrieved = r.number, nanos.Time(r.second)
	a.ACI, err = decodeACI(r.document)
	return a, err
}

// Take returns the ACIs that wait for an owner, in the order of arrival, and marks them retrieved.
func (s *Store) Take(ctx context.Context, owner string) ([]ACI, error) {
	return s.take(ctx, owner, "")
}

// take is Take of those that a further condition chooses.
func (s *Store) take(ctx context.Context, owner, and string, args ...any) ([]ACI, error) {
	now := time.Now().UTC()
	args = append([]any{nanos.Of(now), owner}, args...)
	var taken []ACI
	err := s.write(ctx, allACIs, "take ACIs of "+owner, func(tx *sql.Tx) error {
		taken = nil
		waiting, err := tx.QueryContext(ctx, "UPDATE aci SET retrieved = ? WHERE owner = ? AND retrieved = 0"+and+" RETURNING xml, seq", args...)
		if err != nil {
			return err
		}
		defer waiting.Close()
		for waiting.Next() {
			r := record{second: nanos.Of(now)}
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
	// Updated rows are returned in no particular order.
	slices.SortFunc(taken, func(a, b ACI) int { return cmp.Compare(a.Seq, b.Seq) })
	return taken, nil
}

// NextACIs returns up to limit ACIs (0 is no limit) that arrived after one, in the order of arrival. It waits until
// there is at least one, or the context ends.
func (s *Store) NextACIs(ctx context.Context, after int64, limit int) ([]ACI, error) {
	for {
		s.follow()
		news := s.told.Next() // before looking, so that nothing slips in between
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

const lastACI = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'aci'"

// LastACI returns the Seq of the ACI that arrived last, 0 when none ever did: who follows from there is
// told of new ones alone.
func (s *Store) LastACI(ctx context.Context) (int64, error) {
	var last int64
	err := s.readRow(ctx, "read last ACI", lastACI, nil, &last)
	return last, err
}
