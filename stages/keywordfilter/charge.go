package keywordfilter

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/match"
	"github.com/webrace/webrace/internal/selection"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage/control"
)

// accounts are what the owners may have computed of one document whose URDs look at part of it. Each has a budget,
// which all of their URDs share, and is charged what their own rules cost as if there were no others: what an owner
// is told does not depend on who else looks at the document, and an owner waits for another no longer than for one
// budget. Rules that many owners share are applied once for all of them, and charged to none.
type accounts struct {
	urds   func(id string) (owner string)
	budget map[string]*selection.Budget // by owner
}

func (a *audience) newAccounts() *accounts {
	return &accounts{func(id string) string {
		urd, _ := a.urds.Get(id)
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

// most returns as much as that owner has left who has the most of those who are asked.
func (a *accounts) most(g *glance) *selection.Budget {
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

// share charges the owner of each URD for what was done for all of them, once, and tells apart whose owners had as
// much left.
func (a *accounts) share(to []match.Recipient, steps int) (paid, unpaid []match.Recipient) {
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

// charge charges the owners of URDs for the part of a document that these look at, takes the URDs out whose owners had
// less left, and gives those notice.
func (s *stage) charge(ctx context.Context, a *audience, owners *accounts, g *glance, steps int, it *pipeline.Item, out pipeline.Emitter) error {
	if g.Everyone {
		return nil
	}
	paid, unpaid := owners.share(g.Recipients, steps)
	g.Recipients = paid
	if len(unpaid) == 0 {
		return nil
	}
	s.env.Counter("unselectable").Add(1)
	s.env.Logger.Warn("part of a document cannot be looked at for owners whose rules cost too much there",
		"url", it.Value.(*webrace.Document).URL, "urds", len(unpaid), "rules", g.rules.Key(), "error", selection.ErrBudget)
	for _, r := range unpaid {
		urd, _ := a.urds.Get(r.ID)
		if _, told := s.noticed.LoadOrStore(urd.Owner, true); told {
			continue
		}
		if err := out.EmitTo(ctx, "notices", it.With(tooCostly(urd, it.Value.(*webrace.Document)))); err != nil {
			return err
		}
	}
	return nil
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
