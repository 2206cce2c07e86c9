package render

import (
	"context"
	"errors"
	"sync"

	"github.com/webrace/webrace/pipeline"
)

// pool keeps browsers for reuse. Each loads one page at a time, so that one that has to be killed takes no
// other page with it; there are never more than pages that are rendered at once.
type pool struct {
	options Options
	env     *pipeline.Env

	mu     sync.Mutex
	idle   []*browser
	closed bool
}

var errClosed = errors.New("the stage is closed")

func newPool(o Options, env *pipeline.Env) *pool { return &pool{options: o, env: env} }

// take returns a browser that works, for one page.
func (p *pool) take(ctx context.Context) (*browser, error) {
	for {
		b, err := p.pop()
		switch {
		case err != nil:
			return nil, err
		case b == nil:
			p.env.Counter("browsers").Add(1)
			return startBrowser(ctx, p.options)
		case !b.crashed():
			return b, nil
		}
		b.stop() // it died while it was idle
	}
}

func (p *pool) pop() (*browser, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, errClosed
	}
	if len(p.idle) == 0 {
		return nil, nil
	}
	b := p.idle[len(p.idle)-1]
	p.idle = p.idle[:len(p.idle)-1]
	return b, nil
}

// give takes a browser back, or ends it if it is not to be used again.
func (p *pool) give(b *browser) {
	if !b.spent() && p.push(b) {
		return
	}
	b.stop()
}

func (p *pool) push(b *browser) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.idle = append(p.idle, b)
	}
	return !p.closed
}

// close ends all browsers that are idle; those in use end when they are given back.
func (p *pool) close() error {
	p.mu.Lock()
	idle := p.idle
	p.idle, p.closed = nil, true
	p.mu.Unlock()
	errs := make([]error, len(idle))
	var stopping sync.WaitGroup
	for i, b := range idle {
		stopping.Go(func() { errs[i] = b.stop() })
	}
	stopping.Wait()
	return errors.Join(errs...)
}
