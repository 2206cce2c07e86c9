package frontier

import (
	"context"
	"iter"
	"slices"
	"sync"

	"github.com/webrace/webrace"
)

// Failure is a URL that gave no document at its last visit: it was given up, or answered that there is
// none.
type Failure struct {
	URL   string
	Visit webrace.Visit // Error tells why, Attempts how often in a row it failed, Status what the host last answered
}

// Failed goes through the URLs that gave no document, in no particular order. It ends at the first error,
// which it yields.
func (q *Queue) Failed(ctx context.Context) iter.Seq2[Failure, error] {
	return q.store.gaveNone(ctx, q.keys)
}

// mostFailures is how many of a run's failures are kept, to be shown when it has ended.
const mostFailures = 64

// failures counts the visits of a run that gave no document, and keeps the first of their URLs.
type failures struct {
	mu    sync.Mutex
	total int
	first []Failure // no URL twice
}

func (f *failures) note(failed Failure) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.total++
	i := slices.IndexFunc(f.first, func(known Failure) bool { return known.URL == failed.URL })
	if i >= 0 {
		f.first[i] = failed
		return
	}
	if len(f.first) < mostFailures {
		f.first = append(f.first, failed)
	}
}

func (f *failures) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.total
}

// LastFailures returns the first URLs that gave no document in the last run of a pipeline since the store was opened,
// and how many visits of it gave none. The run has ended: its queue is closed.
func (s *Store) LastFailures(pipeline string) (first []Failure, total int) {
	s.mu.Lock()
	f := s.failed[pipeline]
	s.mu.Unlock()
	if f == nil {
		return nil, 0
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.first), f.total
}

func (s *Store) gaveNone(ctx context.Context, k keys) iter.Seq2[Failure, error] {
	return func(yield func(Failure, error) bool) {
		next := k.start(kindFailed)
		for {
			chunk, rest, err := s.failures(k, next)
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				yield(Failure{}, err)
				return
			}
			for _, f := range chunk {
				if !yield(f, nil) {
					return
				}
			}
			if rest == nil {
				return
			}
			next = rest
		}
	}
}

// failures reads a few of the URLs that gave no document, and returns the key to go on from; nil at the
// end. The database is not held while a caller looks at them.
func (s *Store) failures(k keys, from []byte) (chunk []Failure, rest []byte, err error) {
	const size = 256
	err = s.db.Scan(from, k.end(kindFailed), func(key, value []byte) (bool, error) {
		if len(chunk) == size {
			rest = append(rest, key...)
			return false, nil
		}
		r := newReader(value)
		f := Failure{URL: r.Text()}
		if err := r.done(); err != nil {
			return false, err
		}
		visit, err := s.readVisit(k, urlID(key[len(key)-len(urlID{}):]))
		if visit != nil {
			f.Visit = *visit
		}
		chunk = append(chunk, f)
		return err == nil, err
	})
	return chunk, rest, err
}
