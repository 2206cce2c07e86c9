package control

import (
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/webrace/webrace/xmlschema"
)

// ForbiddenSecretError means that URDs name secrets which are neither their owner's nor granted to them.
type ForbiddenSecretError struct{ Names []string }

func (e *ForbiddenSecretError) Error() string {
	return fmt.Sprintf("there is no secret %q that you may use", e.Names)
}

// Put is [Store.Put] of URDs of this owner: an owner that they name is replaced. It is a [ForbiddenSecretError] if they
// name secrets that are neither the owner's own nor granted to them, whether these exist or not.
func (o Owned) Put(ctx context.Context, urds []*xmlschema.URD) ([]Change, error) {
	return o.store.put(ctx, func(tx *sql.Tx) ([]*xmlschema.URD, error) {
		mine := make([]*xmlschema.URD, len(urds))
		for i, u := range urds {
			own := *u
			own.Owner = o.owner
			mine[i] = &own
		}
		return mine, o.mayUse(ctx, tx, mine...)
	})
}

// Add is Put of one URD, under an id that nobody has, which it returns; an id that it has is replaced. It is a
// [TakenError] with the id of another of the owner's if that asks the same of the same source, and was not changed from
// asking something else.
func (o Owned) Add(ctx context.Context, u *xmlschema.URD) (id string, err error) {
	changes, err := o.store.put(ctx, func(tx *sql.Tx) ([]*xmlschema.URD, error) {
		own := *u
		own.Owner = o.owner
		own.ID = xmlschema.DeriveID(o.owner, own.Source(), own.InterestHash())
		there, err := storedURDs(ctx, tx, []string{own.ID})
		switch {
		case errors.Is(err, ErrNotFound):
		case err != nil:
			return nil, err
		case there[0].Owner == o.owner && there[0].Source() == own.Source() && there[0].InterestHash() == own.InterestHash():
			return nil, &TakenError{What: "URD", Name: own.ID}
		default:
			own.ID = "u" + rand.Text()
		}
		return []*xmlschema.URD{&own}, o.mayUse(ctx, tx, &own)
	})
	if err != nil {
		return "", err
	}
	return changes[0].ID, nil
}

// Change is [Store.Change] of URDs of this owner. It is a [ForbiddenSecretError] as Put is, unless of a URD that names
// such a secret already nothing is changed but its title, its labels and whether it is paused.
func (o Owned) Change(ctx context.Context, ids []string, change func(*xmlschema.URD) error) ([]Change, error) {
	return o.store.changeEach(ctx, ids, func(tx *sql.Tx, u *xmlschema.URD) error {
		if u.Owner != o.owner {
			return fmt.Errorf("URD %s: %w", u.ID, ErrNotFound)
		}
		was := unmarked(u)
		if err := change(u); err != nil || bytes.Equal(was, unmarked(u)) {
			return err
		}
		return o.mayUse(ctx, tx, u)
	})
}

// unmarked returns the canonical form of a URD without what is for its owner alone.
func unmarked(u *xmlschema.URD) []byte {
	bare := *u
	bare.Title, bare.Labels, bare.Paused = "", nil, false
	return bare.Canonical()
}

// mayUse refuses URDs that name secrets which the owner may not use.
func (o Owned) mayUse(ctx context.Context, tx *sql.Tx, urds ...*xmlschema.URD) error {
	var names []string
	for _, u := range urds {
		names = append(names, u.Secrets()...)
	}
	if len(names) == 0 {
		return nil
	}
	allowed, err := stringsIn(ctx, tx, `SELECT name FROM secret WHERE owner = ?1 AND kind <> 'session'
		UNION SELECT name FROM secret_grant WHERE owner = ?1`, o.owner)
	if err != nil {
		return err
	}
	slices.Sort(names)
	names = slices.DeleteFunc(slices.Compact(names), func(name string) bool { return slices.Contains(allowed, name) })
	if len(names) > 0 {
		return &ForbiddenSecretError{names}
	}
	return nil
}

// InboxCounts returns how many ACIs of URDs, which may be gone, are in each state in the owner's inbox, by the URDs.
func (o Owned) InboxCounts(ctx context.Context, urds ...string) (map[string]map[InboxState]int, error) {
	counts := make(map[string]map[InboxState]int)
	for c, err := range o.inboxCounts(ctx, urds) {
		if err != nil {
			return nil, err
		}
		if counts[c.urd] == nil {
			counts[c.urd] = make(map[InboxState]int)
		}
		counts[c.urd][c.state] = c.n
	}
	return counts, nil
}

// inboxCount is how many ACIs of a URD are in a state.
type inboxCount struct {
	urd   string
	state InboxState
	n     int
}

func (o Owned) inboxCounts(ctx context.Context, urds []string) iter.Seq2[inboxCount, error] {
	return rows(ctx, o.store, "count the inbox of "+o.owner, func(r *sql.Rows) (c inboxCount, err error) { return c, r.Scan(&c.urd, &c.state, &c.n) },
		// By the index of ACIs by URD, and in this order: their rows are large, and far from each other.
		`SELECT urd, state, count(*) FROM aci CROSS JOIN inbox_item WHERE urd IN (SELECT value FROM json_each(?)) AND inbox_item.seq = aci.seq AND inbox_item.owner = ?
			GROUP BY urd, state`, list(urds), o.owner)
}
