package pipeline

import "time"

// Tracer follows leases through a run, for a caller that wants to know where the time of an item goes. Without one
// nothing is measured for it.
type Tracer interface {
	// Lease is called when a lease begins; nil means that this one is not followed.
	Lease(pipeline string) Trace
}

// Trace is what a [Tracer] keeps of one lease. Its methods are called concurrently, End last and once.
type Trace interface {
	// Stage tells that a stage worked on an item of the lease.
	Stage(stage string, it *Item, began time.Time, took time.Duration)
	// Failed tells that a stage failed on one, whatever its error policy makes of that.
	Failed(stage string, err error)
	End(Outcome)
}

// follow begins the trace of a lease.
func (r *Run) follow(l *lease) {
	if t := r.options.Tracer; t != nil && l.trace() == nil {
		if trace := t.Lease(r.graph.Name); trace != nil {
			l.update(func(s *leaseState) { s.trace = trace })
		}
	}
}

// traced tells the traces of items that the stage has worked on them since then.
func (n *node) traced(its []*Item, since time.Time) {
	took := time.Since(since)
	for _, it := range its {
		if trace := it.lease.trace(); trace != nil {
			trace.Stage(n.name, it, since, took)
		}
	}
}
