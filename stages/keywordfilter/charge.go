package keywordfilter

import (
	"slices"

	"github.com/webrace/webrace/internal/match"
	"github.com/webrace/webrace/internal/selection"
)

// accounts are what the owners may have computed of one document whose URDs look at part of it. Each has a budget, which
// all of their URDs share, and is charged what their own rules cost as if there were no others: what an owner is told
// does not depend on who else looks at the document, and an owner waits for another no longer than for one budget.
type accounts struct {
	urds   func(id string) (owner string)
	budget map[string]*selection.Budget // by owner
}

func (a *audience) newAccounts() *accounts {
	return &accounts{func(id string) string {
		urd, _ := a.selective.urds.Get(id)
		return urd.Owner
	}, map[string]*selection.Budget{}}
}

func (a *accounts) of(r match.Recipient) *selection.Budget {
	owner := a.urds(r.ID)
	if a.budget[owner] == nil {
		a.budget[owner] = selection.NewBudget()
	}
	return a.budget[owner]
}

// most returns as much as that owner has left who has the most of some.
func (a *accounts) most(of []match.Recipient) *selection.Budget {
	most := *a.of(of[0])
	for _, r := range of[1:] {
		if b := a.of(r); b.Left() > most.Left() {
			most = *b
		}
	}
	return &most
}

// charge charges the owner of each URD for what was done for all of them, once, and leaves out those who had less
// left.
func (a *accounts) charge(to []match.Recipient, steps int) []match.Recipient {
	charged := make(map[*selection.Budget]bool)
	return slices.DeleteFunc(to, func(r match.Recipient) bool {
		b := a.of(r)
		paid, known := charged[b]
		if !known {
			paid = b.Spend(steps)
			charged[b] = paid
		}
		return !paid
	})
}
