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
// are more, the page goes to a lane that one worker at a time serves, page by page, while the others go on.
// It is matched again there, and what was made already is passed over, so it needs no more room than before.

const (
	atOnce      = 1000 // annotations of a page outside the lane
	mostWaiting = 64   // pages that wait in the lane; further ones wait with their workers
)

// errLarge says that a page has more annotations than are made outside the lane.
var errLarge = errors.New("a large page")

// largePage is a page in the lane, matched as of the audience that it met first.
type largePage struct {
	audience *audience
	item     *pipeline.Item
	made     map[string]bool // ids of annotations
	done     func(error)     // ends its lease
}

// lane is the one for large pages.
type lane struct {
	atOnce  int
	waiting chan *largePage
	serving chan struct{} // holds a token while a worker serves
}

func newLane() lane {
	return lane{atOnce, make(chan *largePage, mostWaiting), make(chan struct{}, 1)}
}

// tell matches a document, at once or, when it turns out to be large, in the lane.
func (s *stage) tell(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
	a := s.audience.Load()
	few := &fewEmitter{Emitter: out, most: s.lane.atOnce}
	err := s.match(ctx, a, it, few)
	s.env.Counter("alerts").Add(int64(len(few.made)))
	if !errors.Is(err, errLarge) {
		return err
	}
	s.env.Counter("large").Add(1)
	p := &largePage{audience: a, item: it, made: make(map[string]bool, len(few.made)), done: it.Hold()}
	for _, id := range few.made {
		p.made[id] = true
	}
	select {
	case s.lane.waiting <- p:
	case <-ctx.Done():
		p.done(ctx.Err())
		return ctx.Err()
	}
	s.serve(ctx, out)
	return nil
}

// serve tells of the pages in the lane, unless another worker does, until none waits.
func (s *stage) serve(ctx context.Context, out pipeline.Emitter) {
	for len(s.lane.waiting) > 0 { // looked at again after leaving, for who came to wait before that and found the lane served
		select {
		case s.lane.serving <- struct{}{}:
		default:
			return
		}
		s.serveWaiting(ctx, out)
		<-s.lane.serving
	}
}

func (s *stage) serveWaiting(ctx context.Context, out pipeline.Emitter) {
	for {
		select {
		case p := <-s.lane.waiting:
			p.done(s.tellRest(ctx, p, out))
		default:
			return
		}
	}
}

// tellRest makes the rest of a page's annotations. No error policy is asked about a page that its worker has
// left to the lane, so one that fails goes back to its queue.
func (s *stage) tellRest(ctx context.Context, p *largePage, out pipeline.Emitter) error {
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
