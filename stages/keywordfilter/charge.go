package keywordfilter

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/match"
	"github.com/webrace/webrace/internal/selection"
	"github.com/webrace/webrace/storage/control"
)

// ownerBudgets are what the owners may have computed of one document whose URDs look at part of it. Each has a budget,
// which all of their URDs share, and is charged what their own rules cost as if there were no others: what an owner
// is told does not depend on who else looks at the document, and an owner waits for another no longer than for one
// budget. Rules that many owners share are applied once for all of them, and charged to none; a condition on a number
// (when) is evaluated for each URD, and always charged to its owner.
type ownerBudgets struct {
	urds   urds
	budget map[string]*selection.Budget // by owner
}

// most returns as much as that owner has left who has the most of those who are asked.
func (a *ownerBudgets) most(g *partGroup) *selection.Budget {
	if g.Everyone {
		return selection.NewBudget()
	}
	most := *a.of(g.Recipients[0])
	for _, r := range g.Recipients[1:] {
		if b := a.of(r); b.Left() > most.Left() {
			most = *b
		}
	}
	return &most
}

func (a *ownerBudgets) of(r match.Recipient) *selection.Budget {
	urd, _ := a.urds.Get(r.ID)
	return a.owned(urd)
}

// owned is the account of a URD's owner.
func (a *ownerBudgets) owned(urd *control.URD) *selection.Budget {
	if a.budget[urd.Owner] == nil {
		a.budget[urd.Owner] = selection.NewBudget()
	}
	return a.budget[urd.Owner]
}

// charge charges the owners of URDs for the part of a document that these look at, takes the URDs out whose owners had
// less left, and gives those notice.
func (m *matching) charge(ctx context.Context, owners *ownerBudgets, g *partGroup, steps int) error {
	if g.Everyone {
		return nil
	}
	paid, unpaid := owners.share(g.Recipients, steps)
	g.Recipients = paid
	if len(unpaid) == 0 {
		return nil
	}
	m.stage.env.Counter("unselectable").Add(1)
	m.stage.env.Logger.Warn("part of a document cannot be looked at for owners whose rules cost too much there",
		"url", m.document.URL, "urds", len(unpaid), "rules", g.rules.Key(), "error", selection.ErrBudget)
	for _, r := range unpaid {
		urd, _ := m.audience.urds.Get(r.ID)
		if err := m.notify(ctx, urd); err != nil {
			return err
		}
	}
	return nil
}

// notify gives the owner of a URD that costs too much notice of that, once.
func (m *matching) notify(ctx context.Context, urd *control.URD) error {
	if _, told := m.stage.noticed.LoadOrStore(urd.Owner, true); told {
		return nil
	}
	return m.out.EmitTo(ctx, "notices", m.item.With(tooCostly(urd, m.document)))
}

// share charges the owner of each URD for what was done for all of them, once, and tells apart whose owners had as
// much left.
func (a *ownerBudgets) share(to []match.Recipient, steps int) (paid, unpaid []match.Recipient) {
	charged := make(map[*selection.Budget]bool)
	for _, r := range to {
		b := a.of(r)
		pays, known := charged[b]
		if !known {
			pays = b.Spend(steps)
			charged[b] = pays
		}
		if pays {
			paid = append(paid, r)
		} else {
			unpaid = append(unpaid, r)
		}
	}
	return paid, unpaid
}

// tooCostly is the notice that a document is not looked at for a URD. It is the same for all documents, and each run,
// until the URD is changed.
func tooCostly(urd *control.URD, d *webrace.Document) *webrace.Notice {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %s %d", urd.ID, webrace.SourceTooCostly, urd.Interest))
	return &webrace.Notice{
		ID: "n" + hex.EncodeToString(sum[:10]), State: webrace.SourceTooCostly, Owner: urd.Owner, URD: urd.ID, URI: d.URL,
		Reason: selection.ErrBudget.Error(), At: d.At,
	}
}
