package objects

import (
	"cmp"
	"container/heap"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Verdict is what a collection is told of a version.
type Verdict uint8

const (
	Keep   Verdict = iota // it stays
	May                   // it goes while the store is above its size, the longest not validated first
	Remove                // it goes
)

// CollectOptions determine what a collection removes.
type CollectOptions struct {
	// Verdict judges versions, some hundred at a time; those of one URL come one behind the other, the
	// oldest first. Nil keeps all, so that only segments are rewritten.
	Verdict func(context.Context, []Version) ([]Verdict, error)
	// Confirm is asked for each group that is about to go, when no caller can come to hold one of them any
	// more: Get, Latest, Body and Pin already report that they are gone. What it returns false for is taken
	// back. Nil confirms all.
	Confirm func(context.Context, []Version) (stillRemove []bool, err error)
	// Removed is told the URLs of what is gone for good. If it fails, or a crash comes before it returned,
	// [Store.TellRemoved] tells them again. It may be nil.
	Removed  func(urls []string) error
	MaxBytes int64         // of records in use that the store may hold; 0 for no limit
	Grace    time.Duration // what was stored or validated this lately is never removed
	// MinAlive is the part of a segment that must be in use, or it is rewritten; a half when 0. Above
	// MaxBytes of files, seven eighths.
	MinAlive float64
}

// Collected is what a collection did.
type Collected struct {
	Versions int   // removed
	Bodies   int   // removed with the last version that had them
	Bytes    int64 // of their records
	Kept     int   // versions that were about to go and were taken back
	Segments int   // rewritten
	Freed    int64 // by how much the segments shrank on disk; less than 0 if more was stored meanwhile
}

// doomedAtOnce versions are removed in one batch: Put waits as long as that takes.
const doomedAtOnce = 256

// Collect removes versions, and gives back the space of what is not used any more. Put, Touch and readers
// go on meanwhile. A version that is pinned, validated or built upon while it is about to go stays. An
// error ends it; what it removed until then is gone, as the result tells.
func (s *Store) Collect(ctx context.Context, o CollectOptions) (Collected, error) {
	if err := s.users.enter(); err != nil {
		return Collected{}, err
	}
	defer s.users.Leave()
	if s.options.ReadOnly {
		return Collected{}, fmt.Errorf("collect garbage: %w", ErrReadOnly)
	}
	s.collecting.Lock()
	defer s.collecting.Unlock()
	o.MinAlive = cmp.Or(o.MinAlive, 0.5)
	before := s.Stats().SegmentBytes
	c := &collection{store: s, options: o}
	err := c.removeAll(ctx)
	if err == nil {
		err = c.rewriteAll(ctx)
	}
	c.Freed = int64(before) - int64(s.Stats().SegmentBytes)
	if err != nil {
		return c.Collected, fmt.Errorf("collect garbage: %w", err)
	}
	return c.Collected, nil
}

// collection is one run of Collect.
type collection struct {
	Collected
	store   *Store
	options CollectOptions
}

// candidate is a version that may go.
type candidate struct {
	Version
	bytes int64 // at most freed by it
}

func (c *collection) removeAll(ctx context.Context) error {
	if c.options.Verdict == nil {
		return nil
	}
	for {
		before := c.Versions
		spare := &oldest{}
		if err := c.judge(ctx, spare); err != nil {
			return err
		}
		if err := c.shrink(ctx, spare.sorted()); err != nil {
			return err
		}
		if !spare.overflowed || c.excess() <= 0 || c.Versions == before {
			return nil
		}
	}
}

// judge asks for a verdict on every version, and removes those that have to go. Those that may go are
// gathered.
func (c *collection) judge(ctx context.Context, spare *oldest) error {
	var batch []candidate
	var going []candidate
	flush := func() error {
		verdicts, err := c.verdicts(ctx, batch)
		if err != nil {
			return err
		}
		for i, v := range batch {
			switch verdicts[i] {
			case Remove:
				going = append(going, v)
			case May:
				spare.add(v)
			}
		}
		batch = batch[:0]
		if len(going) >= doomedAtOnce {
			err = c.remove(ctx, going)
			going = going[:0]
		}
		return err
	}
	err := c.store.walk(ctx, func(k *known) error {
		for _, e := range k.all() {
			if batch = append(batch, candidate{e.Version, e.whole().length}); len(batch) >= doomedAtOnce {
				if err := flush(); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err == nil {
		err = flush()
	}
	if err == nil {
		err = c.remove(ctx, going)
	}
	return err
}

// verdicts are Keep for what is too young, whatever the caller of Collect would decide.
func (c *collection) verdicts(ctx context.Context, batch []candidate) ([]Verdict, error) {
	if len(batch) == 0 {
		return nil, nil
	}
	verdicts, err := c.options.Verdict(ctx, versionsOf(batch))
	if err != nil {
		return nil, err
	}
	if len(verdicts) != len(batch) {
		return nil, fmt.Errorf("%d verdicts on %d versions", len(verdicts), len(batch))
	}
	limit := c.store.options.Now().Add(-c.options.Grace)
	for i, v := range batch {
		if c.options.Grace > 0 && (v.ValidatedAt.After(limit) || v.FetchedAt.After(limit)) {
			verdicts[i] = Keep
		}
	}
	return verdicts, nil
}

// shrink removes candidates while the store is above its size.
func (c *collection) shrink(ctx context.Context, oldest []candidate) error {
	for len(oldest) > 0 {
		excess, n := c.excess(), 0
		for n < len(oldest) && n < doomedAtOnce && excess > 0 {
			excess -= oldest[n].bytes
			n++
		}
		if n == 0 {
			return nil
		}
		if err := c.remove(ctx, oldest[:n]); err != nil {
			return err
		}
		oldest = oldest[n:]
	}
	return nil
}

// excess is by how much the records in use are more than they may be.
func (c *collection) excess() int64 {
	if c.options.MaxBytes <= 0 {
		return 0
	}
	stats := c.store.Stats()
	return int64(stats.SegmentBytes-stats.DeadBytes) - c.options.MaxBytes
}

// remove takes candidates out of the store, in this order: from now on no caller can come to hold
// them; does one already; remove the others.
func (c *collection) remove(ctx context.Context, candidates []candidate) error {
	for group := range slices.Chunk(candidates, doomedAtOnce) {
		var going []candidate
		for _, v := range group {
			if c.store.holds.leave(v.key()) {
				going = append(going, v)
			} else {
				c.Kept++
			}
		}
		err := c.removeGoing(ctx, going)
		for _, v := range going {
			c.store.holds.stay(v.key())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *collection) removeGoing(ctx context.Context, going []candidate) error {
	confirmed, err := c.confirm(ctx, going)
	if err != nil {
		return err
	}
	if len(confirmed) == 0 {
		c.Kept += len(going)
		return nil
	}
	gone, err := c.store.remove(confirmed, c.options.Removed != nil)
	if err != nil {
		return err
	}
	c.Versions += len(gone.versions)
	c.Bodies += gone.bodies
	c.Bytes += gone.bytes
	c.Kept += len(going) - len(gone.versions)
	if c.options.Removed == nil {
		return nil
	}
	return c.store.TellRemoved(ctx, c.options.Removed)
}

func (c *collection) confirm(ctx context.Context, going []candidate) ([]doomed, error) {
	if len(going) == 0 {
		return nil, nil
	}
	var still []bool
	if c.options.Confirm != nil {
		var err error
		if still, err = c.options.Confirm(ctx, versionsOf(going)); err != nil {
			return nil, err
		}
		if len(still) != len(going) {
			return nil, fmt.Errorf("%d confirmations of %d versions", len(still), len(going))
		}
	}
	var confirmed []doomed
	for i, v := range going {
		if still == nil || still[i] {
			confirmed = append(confirmed, doomed{v.key(), v.ValidatedAt})
		}
	}
	return confirmed, nil
}

func versionsOf(candidates []candidate) []Version {
	versions := make([]Version, len(candidates))
	for i, v := range candidates {
		versions[i] = v.Version
	}
	return versions
}

// oldest gathers the candidates that were not validated for the longest time, up to a number that bounds
// its memory.
type oldest struct {
	kept       []candidate // a heap, the youngest first
	overflowed bool
}

const oldestKept = 1 << 16

func (o *oldest) Len() int           { return len(o.kept) }
func (o *oldest) Less(i, j int) bool { return byAge(o.kept[i], o.kept[j]) > 0 }
func (o *oldest) Swap(i, j int)      { o.kept[i], o.kept[j] = o.kept[j], o.kept[i] }
func (o *oldest) Push(v any)         { o.kept = append(o.kept, v.(candidate)) }
func (o *oldest) Pop() any {
	last := o.kept[len(o.kept)-1]
	o.kept = o.kept[:len(o.kept)-1]
	return last
}

func (o *oldest) add(v candidate) {
	if len(o.kept) < oldestKept {
		heap.Push(o, v)
		return
	}
	o.overflowed = true
	if byAge(v, o.kept[0]) < 0 {
		o.kept[0] = v
		heap.Fix(o, 0)
	}
}

func (o *oldest) sorted() []candidate {
	slices.SortFunc(o.kept, byAge)
	return o.kept
}

func byAge(a, b candidate) int {
	return cmp.Or(a.ValidatedAt.Compare(b.ValidatedAt), strings.Compare(a.View(), b.View()), cmp.Compare(a.Number, b.Number))
}
