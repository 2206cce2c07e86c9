package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Log is a store that can be read in the order of sequence numbers, with a durable cursor to remember
// how far one has come: what a follower follows.
type Log[T any] struct {
	// Next returns entries whose numbers follow after, in their order, at most max; it waits until there
	// is one.
	Next func(ctx context.Context, after uint64, max int) ([]T, error)
	// Last returns the number of the last entry.
	Last func(ctx context.Context) (uint64, error)
	// Seq returns an entry's number.
	Seq func(T) uint64
	// Value makes the value to emit of an entry. Nil means that there is nothing to emit any more: what the
	// entry was about has been removed.
	Value func(context.Context, T) (any, error)
	// From returns where an entry comes from, see [Item.From]; nil: its number in the log that this stage follows.
	From func(T) (place string, number uint64)
	// Cursor and SetCursor read and write the position of this follower.
	Cursor    func(context.Context) (uint64, error)
	SetCursor func(context.Context, uint64) error
	// MaxLag is how long entries may wait while those who feed the log are at work, so that the follower takes
	// no processor from them. 0 never gives way.
	MaxLag time.Duration
}

// followBatch is how many entries are read at a time, and how many may be acknowledged before the cursor
// is written. It is also written whenever nothing is open, and when the last time was saveEvery ago: who
// delivers one entry a second should not repeat five minutes of them after a crash.
const (
	followBatch = 256
	saveEvery   = time.Second
)

// Follow emits the entries of a log from the cursor on, and advances the cursor over those that have been
// dealt with: an entry is emitted again after a crash unless everything before it, and it, had been. It
// returns when the run drains, or, unless the run is continuous, when it has caught up and nothing in the
// process feeds the log any more.
func Follow[T any](ctx context.Context, env *Env, log Log[T], out Emitter) (err error) {
	after, err := log.Cursor(ctx)
	if err != nil {
		return fmt.Errorf("read the cursor: %w", err)
	}
	progress := NewProgress(after, followBatch, log.SetCursor)
	defer func() { err = errors.Join(err, progress.Save(context.WithoutCancel(ctx))) }()
	feeding, stop := context.WithCancel(ctx)
	defer stop()
	if !env.Continuous {
		go func() {
			defer stop()
			select {
			case <-env.Upstream:
			case <-feeding.Done():
			}
		}()
	}
	pace := pace{last: log.Last, most: log.MaxLag}
	for {
		entries, err := nextEntries(ctx, feeding, log, after)
		if err != nil || len(entries) == 0 {
			return err
		}
		for _, entry := range entries {
			if err := pace.giveWay(feeding, after); err != nil || ctx.Err() != nil {
				return err
			}
			after = log.Seq(entry)
			value, err := log.Value(ctx, entry)
			if err != nil {
				return fmt.Errorf("read entry %d: %w", after, err)
			}
			if err := emitEntry(ctx, env, log, entry, value, progress, out); err != nil {
				return err
			}
		}
	}
}

// nextEntries returns what follows, or nothing once the log is read to its end and nothing feeds it.
func nextEntries[T any](ctx, feeding context.Context, log Log[T], after uint64) ([]T, error) {
	if feeding.Err() == nil {
		entries, err := log.Next(feeding, after, followBatch)
		if feeding.Err() == nil || len(entries) > 0 {
			return entries, err
		}
	}
	for ctx.Err() == nil {
		last, err := log.Last(ctx)
		if err != nil || after >= last {
			return nil, err
		}
		entries, err := nextWithin(ctx, log, after)
		if !errors.Is(err, context.DeadlineExceeded) {
			return entries, err
		}
	}
	return nil, nil
}

// nextWithin is Next for a log that had entries a moment ago: they may have been removed since, and nothing
// may ever follow.
func nextWithin[T any](ctx context.Context, log Log[T], after uint64) ([]T, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	return log.Next(ctx, after, followBatch)
}

func emitEntry[T any](ctx context.Context, env *Env, log Log[T], entry T, value any, p *Progress, out Emitter) error {
	seq := log.Seq(entry)
	p.Begin(seq)
	if value == nil {
		return p.End(ctx, seq, true)
	}
	place, number := env.Pipeline+"/"+env.Stage, seq
	if log.From != nil {
		place, number = log.From(entry)
	}
	return out.Emit(ctx, NewItem(value, func(o Outcome) {
		// The cursor is saved also while the run drains: what is done is done.
		if err := p.End(context.WithoutCancel(ctx), seq, o.Err == nil); err != nil {
			env.Logger.Error("cursor not saved; entries will be read again", "error", err)
		}
	}).From(place, number))
}

// Progress knows how far a source has come whose entries end in any order: everything up to a position has
// been dealt with. Positions grow. It may be used by many goroutines at once.
type Progress struct {
	mu    sync.Mutex
	open  []uint64 // begun and not ended, in order
	done  uint64   // everything up to here has been dealt with
	last  uint64   // the last entry begun
	saved uint64
	at    time.Time // when it was saved
	step  uint64
	save  func(context.Context, uint64) error
}

// NewProgress returns the progress of a source that goes on after a position. A later one is saved when it is so
// much further, when the last was saved a second ago, and whenever nothing is open.
func NewProgress(after, step uint64, save func(context.Context, uint64) error) *Progress {
	return &Progress{done: after, saved: after, at: time.Now(), step: step, save: save}
}

// Begin records that the entry at a position, which is greater than all before, is about to be emitted.
func (p *Progress) Begin(seq uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open = append(p.open, seq)
	p.last = seq
}

// End records that an entry has ended, and whether it was dealt with. If not, the position never goes beyond it.
func (p *Progress) End(ctx context.Context, seq uint64, ok bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !ok {
		return nil // it stays open, and nothing after it counts as done
	}
	if i, found := slices.BinarySearch(p.open, seq); found {
		p.open = slices.Delete(p.open, i, i+1)
	}
	p.done = p.last
	if len(p.open) > 0 {
		p.done = p.open[0] - 1
	}
	if len(p.open) > 0 && p.done < p.saved+p.step && time.Since(p.at) < saveEvery {
		return nil
	}
	return p.write(ctx)
}

// Save saves the position now, as who stops in the middle does.
func (p *Progress) Save(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.write(ctx)
}

func (p *Progress) write(ctx context.Context) error {
	if p.done <= p.saved {
		return nil
	}
	p.saved, p.at = p.done, time.Now()
	return p.save(ctx, p.done)
}

// Lag returns how many entries of the log lie behind the cursor, at most: some may have been removed.
func (log Log[T]) Lag(ctx context.Context) (int64, error) {
	at, err := log.Cursor(ctx)
	if err != nil {
		return 0, fmt.Errorf("read the cursor: %w", err)
	}
	last, err := log.Last(ctx)
	if err != nil {
		return 0, fmt.Errorf("read the end of the log: %w", err)
	}
	return int64(max(last, at) - at), nil
}

// A log is taken to be fed by a pipeline at work when it grew by so many entries since the last look. Fewer leave the
// processor to the follower too: a crawl that waits for its hosts.
const (
	paceLook = time.Second
	paceBusy = 16
)

// pace lets a follower give way to those who feed its log.
type pace struct {
	last func(context.Context) (uint64, error) // of the log
	most time.Duration                         // that entries wait
	free uint64                                // those up to here need not wait any more
}

// giveWay waits before the entry that follows after: until those who feed the log rest or have ended, or until it has
// waited for as long as it may. Then everything that is there by then is caught up with.
func (p *pace) giveWay(feeding context.Context, after uint64) error {
	if p.most <= 0 || after < p.free || feeding.Err() != nil {
		return nil
	}
	seen, err := p.last(feeding)
	look, late := time.NewTicker(paceLook), time.NewTimer(p.most)
	defer look.Stop()
	defer late.Stop()
	for err == nil {
		over := true
		select {
		case <-feeding.Done():
			return nil
		case <-late.C:
		case <-look.C:
			over = false
		}
		p.free, err = p.last(feeding)
		if over || p.free < seen+paceBusy {
			break
		}
		seen = p.free
	}
	if feeding.Err() != nil {
		return nil
	}
	return err
}
