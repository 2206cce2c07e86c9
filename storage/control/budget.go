package control

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/webrace/webrace/internal/pointer"
)

// Budget is how much one owner may have of the store; 0 is no limit.
type Budget struct {
	Alerts   int // ACIs sent a day (UTC): those beyond are withheld, see [Store.Withheld]
	URDs     int
	Keywords int // of all URDs; the same one twice in a URD counts once
}

// DefaultBudget is that of everyone whom no other was given. [Store.SetBudget] of no owner changes it.
var DefaultBudget = Budget{URDs: 10_000, Keywords: 100_000}

// noOwner has the budget of owners who were given none of their own.
const noOwner = ""

// Budget returns that of an owner: their own, or else that of the owner "".
func (s *Store) Budget(ctx context.Context, owner string) (Budget, error) {
	b := DefaultBudget
	err := s.readRow(ctx, "read budget of "+owner, "SELECT alerts, urds, keywords FROM budget WHERE owner IN (?, '') ORDER BY owner DESC LIMIT 1", []any{owner},
		&b.Alerts, &b.URDs, &b.Keywords)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return Budget{}, err
	}
	return b, nil
}

// SetBudget gives an owner, who need have no URDs yet, a budget of their own; nil takes it back. What the
// owner has already stays. The owner "" stands for all owners without one of their own.
func (s *Store) SetBudget(ctx context.Context, owner string, b *Budget) error {
	if b != nil && min(b.Alerts, b.URDs, b.Keywords) < 0 {
		return fmt.Errorf("set budget of %q to %+v: it takes numbers of 0, for no limit, or more", owner, *b)
	}
	defer pointer.Store(&s.budgets, nil)
	return s.write(ctx, singleRows, "set budget of "+owner, func(tx *sql.Tx) (err error) {
		if b == nil {
			_, err = tx.ExecContext(ctx, "DELETE FROM budget WHERE owner = ?", owner)
		} else {
			_, err = tx.ExecContext(ctx, `INSERT INTO budget VALUES (?, ?, ?, ?)
				ON CONFLICT (owner) DO UPDATE SET alerts = excluded.alerts, urds = excluded.urds, keywords = excluded.keywords`, owner, b.Alerts, b.URDs, b.Keywords)
		}
		return err
	})
}

// budgets are those that were given, by owner.
type budgets map[string]Budget

func (b budgets) of(owner string) Budget {
	if own, given := b[owner]; given {
		return own
	}
	if own, given := b[noOwner]; given {
		return own
	}
	return DefaultBudget
}

// currentBudgets returns those that are stored, from memory if they were read before: few are ever given.
// It is called within write transactions, which follow one another, so that what it keeps is never older
// than what is stored.
func (s *Store) currentBudgets(ctx context.Context, tx *sql.Tx) (budgets, error) {
	if known := pointer.Load(&s.budgets); known != nil && s.postgres == nil { // other processes may have changed them there
		return *known, nil
	}
	all, err := readBudgets(ctx, tx)
	if err == nil {
		pointer.Store(&s.budgets, &all)
	}
	return all, err
}

func readBudgets(ctx context.Context, tx *sql.Tx) (budgets, error) {
	found, err := tx.QueryContext(ctx, "SELECT owner, alerts, urds, keywords FROM budget")
	if err != nil {
		return nil, err
	}
	defer found.Close()
	all := make(budgets)
	for found.Next() {
		var owner string
		var b Budget
		if err := found.Scan(&owner, &b.Alerts, &b.URDs, &b.Keywords); err != nil {
			return nil, err
		}
		all[owner] = b
	}
	return all, errors.Join(found.Err(), found.Close())
}

// BudgetError means that URDs were not stored, because their owner would have more than the budget allows.
type BudgetError struct {
	Owner string
	What  string // URDs or keywords
	Had   int
	Would int // have
	May   int
}

func (e *BudgetError) Error() string {
	return fmt.Sprintf("%q has %d %s, would have %d, and may have %d: remove some, or raise the budget of this owner", e.Owner, e.Had, e.What, e.Would, e.May)
}

// holding is how much an owner has.
type holding struct{ urds, keywords int }

// readHoldings returns those of owners who have anything.
func readHoldings(ctx context.Context, tx *sql.Tx, owners []string) (map[string]holding, error) {
	found, err := tx.QueryContext(ctx, "SELECT owner, count(*), sum(keywords) FROM urd WHERE owner IN (SELECT value FROM json_each(?)) GROUP BY owner", list(owners))
	if err != nil {
		return nil, err
	}
	defer found.Close()
	all := make(map[string]holding)
	for found.Next() {
		var owner string
		var h holding
		if err := found.Scan(&owner, &h.urds, &h.keywords); err != nil {
			return nil, err
		}
		all[owner] = h
	}
	return all, found.Err()
}

// spending watches what the owners of one transaction have, so that none ends beyond their budget. Nil watches none.
type spending struct {
	ctx     context.Context
	tx      *sql.Tx
	budgets budgets
	owners  map[string]*spent
}

// spent is what an owner had before the transaction, and has by now.
type spent struct{ before, now holding }

func (s *Store) newSpending(ctx context.Context, tx *sql.Tx) (*spending, error) {
	all, err := s.currentBudgets(ctx, tx)
	return &spending{ctx, tx, all, make(map[string]*spent)}, err
}

// watch is called before the URDs of owners are changed.
func (s *spending) watch(owners []string) error {
	if s == nil {
		return nil
	}
	var further []string
	for _, owner := range owners {
		b := s.budgets.of(owner)
		if s.owners[owner] == nil && (b.URDs > 0 || b.Keywords > 0) {
			s.owners[owner] = new(spent)
			further = append(further, owner)
		}
	}
	if len(further) == 0 {
		return nil
	}
	all, err := readHoldings(s.ctx, s.tx, further)
	for owner, had := range all {
		*s.owners[owner] = spent{had, had}
	}
	return err
}

// add counts what an owner has more, or less.
func (s *spending) add(owner string, more holding) {
	if s == nil || s.owners[owner] == nil {
		return
	}
	now := &s.owners[owner].now
	now.urds, now.keywords = now.urds+more.urds, now.keywords+more.keywords
}

// check returns an error if an owner has more than before, and more than they may have. An owner who is beyond a
// budget that was lowered may change what they have, and remove of it.
func (s *spending) check() error {
	if s == nil {
		return nil
	}
	for _, owner := range slices.Sorted(maps.Keys(s.owners)) {
		had, now, may := s.owners[owner].before, s.owners[owner].now, s.budgets.of(owner)
		for _, e := range []BudgetError{{owner, "URDs", had.urds, now.urds, may.URDs}, {owner, "keywords", had.keywords, now.keywords, may.Keywords}} {
			if e.May > 0 && e.Would > e.May && e.Would > e.Had {
				return &e
			}
		}
	}
	return nil
}
