package keywordfilter

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/xmlschema"
)

// A page may concern half a million owners, and several such pages may come one after another. Were every
// worker busy with one, all other pages would wait. So a worker makes atOnce annotations of a page; if there
// are more, the page goes to a queue that one worker at a time serves, page by page, while the others go on.
// It is then matched again, and what was made already is passed over, so it needs no more memory than before.

const (
	atOnce      = 1000 // annotations of a page that do not go through the queue
	mostWaiting = 64   // pages that wait in the queue; further ones wait with their workers
)

// errLarge means that a page has more annotations than are made at once.
var errLarge = errors.New("a large page")

// largePage is a page in the queue, matched as of the audience that it met first.
type largePage struct {
	audience *audience
	item     *pipeline.Item
	made     map[string]bool // ids of annotations
	done     func(error)     // ends its lease
}

// largePages is the queue of large pages, which one worker at a time serves.
type largePages struct {
	atOnce  int
	waiting chan *largePage
	serving chan struct{} // holds a token while a worker serves
}

func newLargePages() largePages {
	return largePages{atOnce, make(chan *largePage, mostWaiting), make(chan struct{}, 1)}
}

// processLarge makes the rest of a page's annotations, of which some were made: now or, while another worker serves the
// large pages, when that one comes to it.
func (s *stage) processLarge(ctx context.Context, a *audience, it *pipeline.Item, made []string, out pipeline.Emitter) error {
	s.env.Counter("large").Add(1)
	p := &largePage{audience: a, item: it, made: make(map[string]bool, len(made)), done: it.Hold()}
	for _, id := range made {
		p.made[id] = true
	}
	select {
	case s.large.waiting <- p:
	case <-ctx.Done():
		p.done(ctx.Err())
		return ctx.Err()
	}
	for len(s.large.waiting) > 0 { // again after serving: a page may have come to wait while this worker still held the token
		select {
		case s.large.serving <- struct{}{}:
		default:
			return nil
		}
		s.serveWaiting(ctx, out)
		<-s.large.serving
	}
	return nil
}

// serveWaiting processes large pages until none waits.
func (s *stage) serveWaiting(ctx context.Context, out pipeline.Emitter) {
	for {
		select {
		case p := <-s.large.waiting:
			p.done(s.processRest(ctx, p, out))
		default:
			return
		}
	}
}

// processRest makes the rest of a page's annotations. No error policy is asked about a page that its worker has
// put into the queue, so one that fails goes back to its queue.
func (s *stage) processRest(ctx context.Context, p *largePage, out pipeline.Emitter) error {
	err := s.env.Try(func() error {
		return s.match(ctx, p.audience, p.item, restEmitter{out, s.env.Counter("alerts"), p.made})
	})
	if err != nil && ctx.Err() == nil {
		err = pipeline.Retry(err, time.Now())
	}
	return err
}

// fewEmitter emits so many annotations and no more.
type fewEmitter struct {
	pipeline.Emitter
	most int
	made []string // their ids
}

func (e *fewEmitter) Emit(ctx context.Context, it *pipeline.Item) error {
	if len(e.made) == e.most {
		return errLarge
	}
	e.made = append(e.made, it.Value.(*xmlschema.ACI).ID)
	return e.Emitter.Emit(ctx, it)
}

// restEmitter emits the annotations that were not made before.
type restEmitter struct {
	pipeline.Emitter
	count *atomic.Int64
	made  map[string]bool
}

func (e restEmitter) Emit(ctx context.Context, it *pipeline.Item) error {
	if e.made[it.Value.(*xmlschema.ACI).ID] {
		return nil
	}
	e.count.Add(1)
	return e.Emitter.Emit(ctx, it)
}
