package pipeline

import (
	"sync/atomic"
	"time"
)

// Report says what a run did, stage by stage.
type Report struct {
	Pipeline string
	Duration time.Duration
	Stages   map[string]StageReport // as they are now
	Flow     []string               // the names of the stages, in the order of the flow

	Reloads, FailedReloads int64 // see [Run.Reload]
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
		Flow: r.stageNames(), Reloads: r.reloads.Load(), FailedReloads: r.failedReloads.Load(),
	}
	for _, n := range r.nodes {
		report.Stages[n.name] = n.snapshot()
	}
	return report
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
