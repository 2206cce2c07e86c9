package pipeline

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// Report says what a run did, stage by stage.
type Report struct {
	Pipeline string
	Duration time.Duration
	Stages   map[string]StageReport
}

// StageReport counts what went through one stage.
type StageReport struct {
	In, Out  int64
	Errors   int64 // items that its error policy was applied to
	Retried  int64 // items that went back to their queue for another attempt
	Dropped  int64 // emitted to a port that leads nowhere
	Waiting  int   // items in front of it now
	Busy     int   // items in work now
	P50, P99 time.Duration
	Counters map[string]int64 // what the stage counts itself
}

// Snapshot reports on the run so far.
func (r *Run) Snapshot() *Report {
	report := &Report{Pipeline: r.graph.Name, Duration: time.Since(r.started), Stages: make(map[string]StageReport, len(r.nodes))}
	for _, n := range r.nodes {
		report.Stages[n.name] = StageReport{
			In: n.stats.in.Load(), Out: n.stats.out.Load(), Errors: n.stats.errors.Load(),
			Retried: n.stats.retried.Load(), Dropped: n.stats.dropped.Load(),
			Waiting: len(n.in), Busy: int(n.busy.Load()),
			P50: n.stats.latency.quantile(0.50), P99: n.stats.latency.quantile(0.99),
			Counters: n.env.counters.values(),
		}
	}
	return report
}

// stats are a node's own counters.
type stats struct {
	in, out, errors, retried, dropped atomic.Int64
	latency                           histogram
}

// sampler decides for one worker which calls are timed: reading the clock twice costs as much as a hop,
// so only one in 32 is, unless calls are slow enough for it not to matter.
type sampler struct {
	calls uint32
	slow  bool
}

const slowCall = 5 * time.Microsecond

// begin returns when the call began, or the zero time if it is not timed.
func (s *stats) begin(worker *sampler) time.Time {
	worker.calls++
	if !worker.slow && worker.calls%32 != 1 {
		return time.Time{}
	}
	return time.Now()
}

func (s *stats) end(worker *sampler, began time.Time) {
	if began.IsZero() {
		return
	}
	took := time.Since(began)
	worker.slow = took >= slowCall
	s.latency.add(took)
}

// histogram counts durations in buckets of a power of two nanoseconds, each cut in four, so that a
// quantile is off by at most an eighth.
type histogram [64 * 4]atomic.Int64

func (h *histogram) add(d time.Duration) { h[bucketOf(max(d, 0))].Add(1) }

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

// quantile returns the duration that a share q of those counted does not exceed; 0 if none was.
func (h *histogram) quantile(q float64) time.Duration {
	var total int64
	for i := range h {
		total += h[i].Load()
	}
	rank := int64(q * float64(total))
	for i := range h {
		if rank -= h[i].Load(); rank < 0 {
			return middle(i)
		}
	}
	return 0
}
