package frontier

import "errors"

// Reopen closes the queue and opens it anew with other options, as the same run: the crawls that were started
// in it go on, what it counted counts on, and it stays sealed if it was. The rounds that it opens count from
// when they did. The callers of Take must have ended their leases and wait for the new queue. After an error the
// queue is closed.
func (q *Queue) Reopen(o QueueOptions) (*Queue, error) {
	o.Began, o.Continuous, o.Elsewhere = q.opt.Began, q.opt.Continuous, q.opt.Elsewhere
	if err := q.Close(); err != nil {
		return nil, err
	}
	next, err := q.store.queue(q.pipeline, o)
	if err != nil {
		return nil, err
	}
	for _, c := range q.crawls.all() {
		if !c.active.Load() {
			continue
		}
		same, err := next.crawls.numbered(c.number)
		if err != nil {
			return nil, errors.Join(err, next.Close())
		}
		next.crawls.activate(same)
		same.shown = true
	}
	for reason := range q.refused {
		next.refused[reason].Store(q.refused[reason].Load())
	}
	next.mu.Lock()
	next.first, next.sealed = q.first, q.sealed
	next.mu.Unlock()
	next.attach()
	return next, nil
}
