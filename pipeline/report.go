package pipeline

import (
	"cmp"
	"context"
	"maps"
	"math/bits"
	"slices"
	"sync/atomic"
	"time"

	"github.com/webrace/webrace/internal/pointer"
)

// Report is what a run did, stage by stage.
type Report struct {
	Pipeline string
	Duration time.Duration
	Stages   map[string]StageReport // as they are now
	Flow     []string               // the names of the stages, in the order of the flow

	Reloads, FailedReloads int64 // see [Run.Reload]

	// Lost counts the items that were in flight when the run was cancelled or failed, and whose source does not wait for
	// their end: what it does not read again is lost.
	Lost int64

	Drained string // why a stage has ended the run, by [Env.Drain]; empty if none has
}

// StageReport counts what went through one stage.
type StageReport struct {
	In, Out  int64 // where calls take microseconds, up to 16 late
	Errors   int64 // items that its error policy was applied to
	Buried   int64 // of these, items that were kept as dead letters
	Retried  int64 // items that went back to their queue for another attempt
	Dropped  int64 // emitted to a port that leads nowhere
	Waiting  int   // items in front of it now
	Capacity int   // items that may wait there
	Busy     int   // items in work now
	Workers  int   // items that can be
	P50, P99 time.Duration
	Latency  *Latency         // how long its calls took
	Spent    time.Duration    // by its workers, in its calls; estimated where these are short
	Held     time.Duration    // of that, waiting for the next stages to take what it emits
	Starved  time.Duration    // by its calls, waiting for memory
	Starving int              // calls that wait for memory now
	Counters map[string]int64 // what the stage counts itself
	Levels   map[string]bool  // the counters that show a state, and may fall
}

// Snapshot reports on the run so far. It takes microseconds, and waits for nothing.
func (r *Run) Snapshot() *Report {
	r.layout.RLock()
	defer r.layout.RUnlock()
	report := &Report{
		Pipeline: r.graph.Name, Duration: time.Since(r.started), Stages: make(map[string]StageReport, len(r.nodes)),
		Flow: r.stageNames(), Lost: r.lost.Load(), Reloads: r.reloads.Load(), FailedReloads: r.failedReloads.Load(),
	}
	if reason := pointer.Load(&r.drained); reason != nil {
		report.Drained = *reason
	}
	for _, n := range r.nodes {
		report.Stages[n.name] = n.snapshot()
	}
	return report
}

// Plus returns what this run and another of the same pipeline did together, beside each other.
func (r *Report) Plus(other *Report) *Report {
	sum := *r
	sum.Duration, sum.Drained = max(r.Duration, other.Duration), cmp.Or(r.Drained, other.Drained)
	sum.Reloads, sum.FailedReloads = max(r.Reloads, other.Reloads), max(r.FailedReloads, other.FailedReloads)
	sum.Lost = r.Lost + other.Lost
	sum.Stages = maps.Clone(r.Stages)
	for name, s := range other.Stages {
		if before, both := sum.Stages[name]; both {
			s = before.plus(s)
		}
		sum.Stages[name] = s
	}
	return &sum
}

func (s StageReport) plus(o StageReport) StageReport {
	latency := &Latency{total: s.Latency.total + o.Latency.total}
	for i := range latency.counts {
		latency.counts[i] = s.Latency.counts[i] + o.Latency.counts[i]
	}
	counters := maps.Clone(s.Counters)
	for name, n := range o.Counters {
		counters[name] += n
	}
	levels := s.Levels
	if levels == nil {
		levels = o.Levels
	}
	return StageReport{
		In: s.In + o.In, Out: s.Out + o.Out, Errors: s.Errors + o.Errors, Buried: s.Buried + o.Buried,
		Retried: s.Retried + o.Retried, Dropped: s.Dropped + o.Dropped,
		Waiting: s.Waiting + o.Waiting, Capacity: s.Capacity + o.Capacity, Busy: s.Busy + o.Busy, Workers: s.Workers + o.Workers,
		P50: latency.Quantile(0.50), P99: latency.Quantile(0.99), Latency: latency,
		Spent: s.Spent + o.Spent, Held: s.Held + o.Held, Starved: s.Starved + o.Starved, Starving: s.Starving + o.Starving,
		Counters: counters, Levels: levels,
	}
}

func (n *node) snapshot() StageReport {
	latency := n.stats.latency.read()
	return StageReport{
		In: n.stats.in.Load(), Out: n.stats.out.Load(), Errors: n.stats.errors.Load(), Buried: n.stats.buried.Load(),
		Retried: n.stats.retried.Load(), Dropped: n.stats.dropped.Load(),
		Waiting: n.waiting(), Capacity: n.in.cap(), Busy: int(n.busy.Load()), Workers: n.workers(),
		P50: latency.Quantile(0.50), P99: latency.Quantile(0.99), Latency: latency,
		Spent: time.Duration(n.stats.spent.Load()), Held: time.Duration(n.stats.held.Load()),
		Starved: time.Duration(n.env.memory.waited.Load()), Starving: int(n.env.memory.waiting.Load()),
		Counters: n.env.counters.values(), Levels: n.env.counters.levelNames(),
	}
}

// Lag asks the stages that can tell ([LagReporter]) how far they are behind what they follow. One that fails to
// is left out.
func (r *Run) Lag(ctx context.Context) map[string]int64 {
	r.layout.RLock()
	nodes := slices.Clone(r.nodes)
	r.layout.RUnlock()
	lags := make(map[string]int64)
	for _, n := range nodes {
		reporter, ok := n.impl.(LagReporter)
		if !ok {
			continue
		}
		var lag int64
		if err := n.guarded(func() (err error) {
			lag, err = reporter.Lag(ctx)
			return err
		}); err != nil {
			n.env.Logger.Debug("lag unknown", "error", err)
			continue
		}
		lags[n.name] = lag
	}
	return lags
}

// stats are a node's own counters.
type stats struct {
	taken, in                             atomic.Int64 // off the inbox; of these, given to the stage
	out, errors, buried, retried, dropped atomic.Int64
	latency                               histogram
	spent, held                           atomic.Int64 // nanoseconds
}

// add adds what others have counted so far.
func (s *stats) add(before *stats) {
	s.taken.Add(before.in.Load())
	s.in.Add(before.in.Load())
	s.out.Add(before.out.Load())
	s.errors.Add(before.errors.Load())
	s.buried.Add(before.buried.Load())
	s.retried.Add(before.retried.Load())
	s.dropped.Add(before.dropped.Load())
	s.latency.addAll(&before.latency)
	s.spent.Add(before.spent.Load())
	s.held.Add(before.held.Load())
}

// sampler decides for one worker which calls are timed: reading the clock twice costs as much as a hop,
// so only one in sampled is, unless calls are slow enough for it not to matter.
type sampler struct {
	calls  uint32
	last   uint32 // call that was timed
	slow   bool
	stands int64         // for how many calls the one stands that is being timed; 0 if it is not
	held   time.Duration // that it waited to emit
}

const (
	sampled  = 32
	slowCall = 5 * time.Microsecond
)

// begin reports whether the call that begins is timed.
func (s *sampler) begin() bool {
	s.calls++
	if !s.slow && s.calls%sampled != 1 {
		s.stands = 0
		return false
	}
	s.stands, s.last, s.held = int64(s.calls-s.last), s.calls, 0
	return true
}

// timed counts a call that was timed.
func (s *stats) timed(worker *sampler, took time.Duration) {
	worker.slow = took >= slowCall
	s.latency.add(took)
	s.spent.Add(int64(took) * worker.stands)
	if worker.held > 0 {
		s.held.Add(int64(worker.held) * worker.stands)
	}
}

// buckets is how many a histogram has: one for each quarter of each power of two nanoseconds.
const buckets = 64 * 4

// histogram counts durations in buckets of a power of two nanoseconds, each cut in four, so that a
// quantile is off by at most an eighth.
type histogram [buckets]atomic.Int64

func (h *histogram) add(d time.Duration) { h[bucketOf(max(d, 0))].Add(1) }

// addAll adds what another has counted.
func (h *histogram) addAll(other *histogram) {
	for i := range h {
		h[i].Add(other[i].Load())
	}
}

func (h *histogram) read() *Latency {
	l := new(Latency)
	for i := range h {
		l.counts[i] = h[i].Load()
		l.total += l.counts[i]
	}
	return l
}

func bucketOf(d time.Duration) int {
	n := uint64(d)
	if n < 4 {
		return int(n)
	}
	exponent := bits.Len64(n) - 1
	return exponent*4 + int(n>>(exponent-2)&3)
}

// middle returns the middle of a bucket.
func middle(bucket int) time.Duration {
	if bucket < 4 {
		return time.Duration(bucket)
	}
	exponent, quarter := bucket/4, bucket%4
	width := uint64(1) << (exponent - 2)
	return time.Duration(uint64(4+quarter)*width + width/2)
}

// Latency is how long the calls of a stage took, up to the moment of a [Run.Snapshot]. Where calls take
// less than 5 µs, one in 32 is counted.
type Latency struct {
	counts [buckets]int64
	total  int64
}

// Count returns how many calls are counted.
func (l *Latency) Count() int64 { return l.total }

// Below returns how many calls took less than d. It is exact where d is a power of two nanoseconds, and
// counts none of the bucket that d is in otherwise.
func (l *Latency) Below(d time.Duration) (n int64) {
	for _, count := range l.counts[:bucketOf(max(d, 0))] {
		n += count
	}
	return n
}

// Sum returns how long all calls took together, off by at most an eighth.
func (l *Latency) Sum() (sum time.Duration) {
	for i, count := range l.counts {
		if count > 0 {
			sum += time.Duration(count) * middle(i)
		}
	}
	return sum
}

// Quantile returns the duration that a share q of the calls did not exceed, off by at most an eighth; 0 if
// there were none.
func (l *Latency) Quantile(q float64) time.Duration {
	rank := int64(q * float64(l.total))
	for i, count := range l.counts {
		if rank -= count; rank < 0 {
			return middle(i)
		}
	}
	return 0
}
