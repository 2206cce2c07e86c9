package control

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/webrace/webrace/storage/internal/pace"
)

// gathering stores together what several calls put, such as those of the partitions of a node: a transaction costs more
// than what is in it, and all nodes wait for one another's.
type gathering struct {
	store *Store

	mu      sync.Mutex
	waiting []*putting
	working bool
	full    chan struct{} // what waits is worth a transaction
	spaced  pace.Pace     // of who works
}

// worth is how many ACIs are not waited for any longer.
const worth = 64

func newGathering(s *Store, every time.Duration) *gathering {
	return &gathering{store: s, full: make(chan struct{}, 1), spaced: pace.Pace{Soon: every / 10, Later: every}}
}

// put waits until what a call puts is stored, or is not.
func (g *gathering) put(ctx context.Context, p *putting) error {
	p.ctx, p.ended = ctx, make(chan error, 1)
	g.mu.Lock()
	g.waiting = append(g.waiting, p)
	if !g.working {
		g.working = true
		g.store.postgres.working.Go(g.work)
	}
	g.seeFull()
	g.mu.Unlock()
	select {
	case err := <-p.ended:
		return err
	case <-ctx.Done():
		if g.withdraw(p) {
			return ctx.Err()
		}
		return <-p.ended // which the context ends as well, once no other call wants it
	}
}

// seeFull lets no more be waited for, or again.
func (g *gathering) seeFull() {
	n := 0
	for _, p := range g.waiting {
		n += len(p.rows)
	}
	select {
	case <-g.full:
	default:
	}
	if n >= worth {
		g.full <- struct{}{}
	}
}

// withdraw reports whether what a call puts is not being stored yet, and will not be.
func (g *gathering) withdraw(p *putting) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.Index(g.waiting, p)
	if i >= 0 {
		g.waiting = slices.Delete(g.waiting, i, i+1)
		g.seeFull()
	}
	return i >= 0
}

// work stores what waits, until nothing does.
func (g *gathering) work() {
	for {
		select {
		case <-time.After(g.spaced.Wait(time.Now())):
		case <-g.full:
		case <-g.store.postgres.ended.Done(): // what waits is stored yet
		}
		all := g.take()
		if all == nil {
			return
		}
		g.spaced.Next(time.Now())
		g.putAll(all)
	}
}

// take takes out calls that are of a kind; nil ends the work.
func (g *gathering) take() []*putting {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.waiting) == 0 {
		g.working = false
		return nil
	}
	n := slices.IndexFunc(g.waiting, func(p *putting) bool { return p.once != g.waiting[0].once })
	if n < 0 {
		n = len(g.waiting)
	}
	all := g.waiting[:n:n]
	g.waiting = g.waiting[n:]
	g.seeFull()
	return all
}

// putAll stores what calls put, together, or if that cannot be, each alone: what is wrong with one is not with another.
func (g *gathering) putAll(all []*putting) {
	ctx, stop := wanted(all)
	defer stop()
	err := g.store.putTogether(ctx, all...)
	for _, p := range all {
		if err != nil && len(all) > 1 && p.ctx.Err() == nil {
			p.ended <- g.store.putTogether(p.ctx, p)
		} else {
			p.ended <- err
		}
	}
}

// wanted returns a context that ends when those of all calls have.
func wanted(all []*putting) (context.Context, func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(all[0].ctx))
	go func() {
		for _, p := range all {
			select {
			case <-p.ctx.Done():
			case <-ctx.Done():
				return
			}
		}
		cancel()
	}()
	return ctx, cancel
}
