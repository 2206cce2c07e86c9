package frontier

import (
	"errors"
	"fmt"
	"slices"
)

// InUse reports whether the queue of a pipeline is open: it has options of its own then.
func (s *Store) InUse(pipeline string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.queues[pipeline] != nil
}

// View calls f with the queue of a pipeline: the one that is open, or else one that is opened for the
// call, with these options. What f learns of a queue in use is as of its last commit. A pipeline that never
// had a queue is refused.
func (s *Store) View(pipeline string, o QueueOptions, f func(*Queue) error) error {
	names, err := s.Pipelines()
	if err != nil {
		return err
	}
	if !slices.Contains(names, pipeline) {
		return fmt.Errorf("no pipeline %s has a queue; there are %q", pipeline, names)
	}
	s.mu.Lock()
	q := s.queues[pipeline]
	s.mu.Unlock()
	if q != nil {
		return f(q)
	}
	q, err = s.Queue(pipeline, o)
	if err != nil {
		return err
	}
	return errors.Join(f(q), q.Close())
}
