package frontier

import (
	"context"
	"fmt"
	"iter"

	"github.com/webrace/webrace"
)

// Failure is a URL that gave no document at its last visit: it was given up, or answered that there is
// none.
type Failure struct {
	URL   string
	Visit webrace.Visit // Error says why, Attempts how often in a row it failed, Status what the host last answered
}

// Failed goes through the URLs that gave no document, in no particular order. It ends at the first error,
// which it yields.
func (q *Queue) Failed(ctx context.Context) iter.Seq2[Failure, error] {
	return q.store.failed(ctx, q.keys)
}

// Failures returns the first of a pipeline's URLs that gave no document, in no particular order and at
// most limit of them (0 is no limit), and how many there are. The pipeline's queue may be open or not; one
// that never had a queue has no failures.
func (s *Store) Failures(ctx context.Context, pipeline string, limit int) (first []Failure, total int, err error) {
	k, known, err := s.knownKeys(pipeline)
	if err != nil || !known {
		return nil, 0, err
	}
	value, err := s.get(k.start(kindMeta))
	if err != nil || value == nil {
		return nil, 0, err
	}
	count, err := decodeCounters(value)
	if err != nil {
		return nil, 0, fmt.Errorf("counters of pipeline %s: %w", pipeline, err)
	}
	for f, err := range s.failed(ctx, k) {
		if err != nil {
			return nil, 0, err
		}
		if first = append(first, f); len(first) == limit {
			break
		}
	}
	return first, int(count.failed), nil
}

func (s *Store) failed(ctx context.Context, k keys) iter.Seq2[Failure, error] {
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
	err = s.scan(from, k.end(kindFailed), func(key, value []byte) (bool, error) {
		if len(chunk) == size {
			rest = append(rest, key...)
			return false, nil
		}
		r := newReader(value)
		f := Failure{URL: r.text()}
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
