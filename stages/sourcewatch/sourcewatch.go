// Package sourcewatch is the stage that tells owners when the start of their crawl gives no document any more,
// and when it does again; and when there is nothing in it that their URD could find. It follows how the crawls of
// another pipeline stand in its frontier, and never holds a request of theirs.
//
// It guarantees: after so many rounds in a row in which the start of a URD's crawl failed, there is one notice
// for its owner, however many more fail, and one when it answers again; and one after as many in which it had
// nothing to find, however many more follow. A notice counts as given when it has been dealt with, which is durable,
// so that no restart brings it again. Who is killed before that brings it once more, under the same id. Only rounds
// that it sees ended are counted: of those that ended while it did not run, the last.
package sourcewatch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/frontier"
	"github.com/webrace/webrace/storage/objects"
)

// Options of the stage.
type Options struct {
	Pipelines []string `toml:"pipelines" doc:"the pipelines whose crawls are watched"`
	Rounds    int      `toml:"rounds" doc:"after how many rounds in a row in which the start failed, or had nothing to find, its owner is told"`
}

func init() {
	pipeline.Register(pipeline.Spec{
		Type:    "source-watch",
		Summary: "tells owners when the start of their crawl fails, when it answers again, and when there is nothing in it to find",
		Doc: "It counts the rounds in a row in which a start gave no document: it did not answer, or with 404, 410, 5xx or the like, robots.txt " +
			"refused it, it asks robots not to keep it, it leads elsewhere for a while, or its credentials were not accepted. After so many there is one notice, and one on recovery. " +
			"So it counts those in which it had no text, or nothing that the rules of the URD select, or in which something else came in its place: after so many there is one notice. It remembers under the name of " +
			"its pipeline and stage what it has told. It ends when no crawl runs in the same process any more.",
		Out:     []pipeline.Port{{Kind: pipeline.KindOf[*webrace.Notice](), Doc: "the notice, for the owner of one URD"}},
		Follows: true,
	}, Options{Pipelines: []string{"webrace", "mailrace", "newsrace", "dbrace"}, Rounds: 3}, newStage)
}

// Validate refuses to watch nothing, and to tell of nothing.
func (o Options) Validate() error {
	if len(o.Pipelines) == 0 || slices.Contains(o.Pipelines, "") {
		return &pipeline.OptionError{Option: "pipelines", Err: errors.New("is not set: name the pipelines that crawl")}
	}
	if o.Rounds < 1 || o.Rounds > maxCount {
		return &pipeline.OptionError{Option: "rounds", Err: fmt.Errorf("%d is not 1 to %d", o.Rounds, maxCount)}
	}
	return nil
}

type stage struct {
	options  Options
	env      *pipeline.Env
	frontier *frontier.Store
	control  *control.Store
	objects  *objects.Store
	now      func() time.Time

	mu     sync.Mutex
	states map[string]map[string]*state // by crawl and what is watched: of that alone which failed last
	again  []string                     // crawls to check again, because a notice of theirs was dealt with
	signal chan struct{}                // capacity 1
}

var _ pipeline.Source = (*stage)(nil)

func newStage(o Options, env *pipeline.Env) (any, error) {
	dir, err := pipeline.Resource[*storage.Dir](env)
	if err != nil {
		return nil, err
	}
	s := &stage{options: o, env: env, now: time.Now, states: make(map[string]map[string]*state), signal: make(chan struct{}, 1)}
	if s.frontier, err = dir.Frontier(); err != nil {
		return nil, err
	}
	if s.control, err = dir.Control(); err != nil {
		return nil, err
	}
	s.objects, err = dir.Objects()
	return s, err
}

// Run checks all crawls, and then each whose status changes, until the run drains, or, unless it is continuous,
// nothing crawls in this process any more.
func (s *stage) Run(ctx context.Context, out pipeline.Emitter) error {
	if err := s.load(ctx); err != nil {
		return fmt.Errorf("read what was told of sources: %w", err)
	}
	crawling, stop := context.WithCancel(ctx)
	defer stop()
	changed, failed := make(chan []round), make(chan error, len(s.options.Pipelines))
	var listeners sync.WaitGroup
	defer listeners.Wait()
	defer stop() // before waiting
	for _, name := range s.options.Pipelines {
		listeners.Go(func() { failed <- s.env.Try(func() error { return s.listen(crawling, name, changed) }) })
	}

	err := s.checkAll(ctx, out)
	upstream := s.env.Upstream
	if s.env.Continuous {
		upstream = nil
	}
	for err == nil {
		select {
		case rounds := <-changed:
			err = s.checkEach(ctx, rounds, out)
		case <-s.signal:
			err = s.checkAgain(ctx, out)
		case err = <-failed:
		case <-upstream:
			return s.checkAll(ctx, out)
		case <-ctx.Done():
			return nil
		}
	}
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// round is how a crawl stands in the pipeline that makes it.
type round struct {
	frontier.CrawlStatus
	pipeline string
	crawl    string // the name under which what was told of it is kept: the first pipeline's have none of the pipeline in it
}

// rounds are those of the statuses of a pipeline's crawls.
func (s *stage) rounds(name string, statuses []frontier.CrawlStatus) []round {
	all := make([]round, len(statuses))
	for i, status := range statuses {
		all[i] = round{status, name, status.Crawl}
		if name != s.options.Pipelines[0] {
			all[i].crawl = name + ":" + status.Crawl
		}
	}
	return all
}

// allRounds are those of all crawls.
func (s *stage) allRounds() (all []round, err error) {
	for _, name := range s.options.Pipelines {
		statuses, err := s.frontier.CrawlStatuses(name)
		if err != nil {
			return nil, err
		}
		all = append(all, s.rounds(name, statuses)...)
	}
	return all, nil
}

// listen passes on the statuses of a pipeline's crawls that change.
func (s *stage) listen(ctx context.Context, name string, changed chan<- []round) error {
	for cursor := uint64(0); ; {
		statuses, next, err := s.frontier.WaitStatus(ctx, name, cursor)
		if err != nil {
			return err
		}
		cursor = next
		select {
		case changed <- s.rounds(name, statuses):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (s *stage) checkAll(ctx context.Context, out pipeline.Emitter) error {
	all, err := s.allRounds()
	if err != nil {
		return err
	}
	return s.checkEach(ctx, all, out)
}

// checkAgain checks the crawls of which a notice has been dealt with: what became of them meanwhile waited.
func (s *stage) checkAgain(ctx context.Context, out pipeline.Emitter) error {
	s.mu.Lock()
	again := make(map[string]bool, len(s.again))
	for _, crawl := range s.again {
		again[crawl] = true
	}
	s.again = nil
	s.mu.Unlock()
	all, err := s.allRounds()
	if err != nil {
		return err
	}
	return s.checkEach(ctx, slices.DeleteFunc(all, func(r round) bool { return !again[r.crawl] }), out)
}

func (s *stage) checkEach(ctx context.Context, rounds []round, out pipeline.Emitter) error {
	for _, r := range rounds {
		if err := s.check(ctx, r, out); err != nil {
			return fmt.Errorf("look at crawl %s: %w", r.Crawl, err)
		}
	}
	return nil
}

// check finds out how the start of a crawl fares, and tells the owners of its URDs what there is to tell.
func (s *stage) check(ctx context.Context, status round, out pipeline.Emitter) error {
	urds, err := s.urds(ctx, status.Crawl)
	if err != nil {
		return err
	}
	if err := s.forgetOthers(ctx, status.crawl, urds); err != nil || len(urds) == 0 {
		return err
	}
	crawl := urds[0].Crawl // start and secret of all of them are the same
	visit, at, err := s.frontier.LastVisitAt(status.pipeline, crawl.Secret, crawl.Start)
	if err != nil || visit == nil {
		return err
	}
	if now, err := s.frontier.CrawlStatus(status.pipeline, status.Crawl); err != nil || now.Round != status.Round || now.Pending == 0 != (status.Pending == 0) {
		return err // the visit may be of another round: once that has ended, its status comes
	}
	for _, urd := range urds {
		if err := s.judge(ctx, status, urd, found{visit, objects.View(crawl.Secret, at)}, out); err != nil {
			return err
		}
	}
	return nil
}

// judge holds what was found where a crawl begins against a URD.
func (s *stage) judge(ctx context.Context, status round, urd control.URD, f found, out pipeline.Emitter) error {
	source := watched{urd, webrace.SourceFailing, nil}
	if f.visit.Error != "" {
		return s.failed(ctx, status, source, f.visit.Error, out)
	}
	if err := s.answered(ctx, status.crawl, source, out); err != nil || !urd.OfTheWeb() { // a mailbox is no document
		return err
	}
	for _, part := range sought(urd) {
		lack, err := s.lack(urd, part, f)
		if err != nil {
			return err
		}
		content := watched{urd, webrace.SourceEmpty, part}
		if lack == "" {
			err = s.answered(ctx, status.crawl, content, out)
		} else {
			err = s.failed(ctx, status, content, lack, out)
		}
		if err != nil || lack != "" && part.isWhole() {
			return err
		}
	}
	return nil
}

func (s *stage) urds(ctx context.Context, crawl string) (urds []control.URD, err error) {
	for urd, err := range s.control.ByCrawl(ctx, crawl) {
		if err != nil {
			return nil, err
		}
		urds = append(urds, urd)
	}
	return urds, nil
}

// failed counts a round that has ended without what is watched, once.
func (s *stage) failed(ctx context.Context, status round, w watched, reason string, out pipeline.Emitter) error {
	if status.Pending > 0 {
		return nil // it may still be tried again
	}
	s.mu.Lock()
	st := s.stateOf(status.crawl, w.key())
	if st.pending {
		s.mu.Unlock()
		return nil
	}
	counted := st.count(status.Round)
	next := *st
	s.mu.Unlock()
	switch {
	case !next.told && next.failures >= s.options.Rounds:
		next.told = true
		return s.emitNotice(ctx, status.crawl, w, next, &webrace.Notice{
			ID: noticeID(w.ID, w.fault, next.since), State: w.fault, Reason: reason, Failures: next.failures,
		}, out)
	case counted:
		return s.save(ctx, status.crawl, w.key(), next)
	}
	return nil
}

// answered ends what was counted. What is found again is told by the document that has it.
func (s *stage) answered(ctx context.Context, crawl string, w watched, out pipeline.Emitter) error {
	s.mu.Lock()
	st := s.states[crawl][w.key()]
	if st == nil || st.pending {
		s.mu.Unlock()
		return nil
	}
	last := *st
	s.mu.Unlock()
	if !last.told || w.fault != webrace.SourceFailing {
		return s.save(ctx, crawl, w.key(), state{})
	}
	return s.emitNotice(ctx, crawl, w, state{}, &webrace.Notice{
		ID: noticeID(w.ID, webrace.SourceRecovered, last.since), State: webrace.SourceRecovered, Failures: last.failures,
	}, out)
}

// emitNotice emits a notice. Once it has been dealt with, the state is the next one.
func (s *stage) emitNotice(ctx context.Context, crawl string, w watched, next state, n *webrace.Notice, out pipeline.Emitter) error {
	n.Owner, n.URD, n.URI, n.At = w.Owner, w.ID, w.Crawl.Start, s.now().UTC().Truncate(time.Second)
	key := w.key()
	s.mu.Lock()
	s.states[crawl][key].pending = true
	s.mu.Unlock()
	return out.Emit(ctx, pipeline.NewItem(n, func(o pipeline.Outcome) {
		if o.Err != nil { // what was found is found again, and told
			s.mu.Lock()
			defer s.mu.Unlock()
			if st := s.states[crawl][key]; st != nil {
				st.pending = false
			}
			return
		}
		// It stays pending until that is durable, so that it is not emitted again meanwhile.
		if err := s.save(context.WithoutCancel(ctx), crawl, key, next); err != nil {
			s.env.Logger.Error("not noted that an owner was told of their source; they may be told again", "urd", w.ID, "error", err)
			return
		}
		s.env.Counter(string(n.State)).Add(1)
		s.requestCheck(crawl)
	}).From("notice "+n.ID, 0))
}

// requestCheck has a crawl checked again.
func (s *stage) requestCheck(crawl string) {
	s.mu.Lock()
	s.again = append(s.again, crawl)
	s.mu.Unlock()
	select {
	case s.signal <- struct{}{}:
	default:
	}
}
