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

// viewed is a queue that is open for who looks at it alone.
type viewed struct {
	*Queue
	users int
}

// View calls f with the queue of a pipeline: the one that is open, or else one that is opened for the
// call, with these options, and for calls that come meanwhile. What f learns of a queue in use is as of its last
// commit. A pipeline that never had a queue is refused.
func (s *Store) View(pipeline string, o QueueOptions, f func(*Queue) error) (err error) {
	names, err := s.Pipelines()
	if err != nil {
		return err
	}
	if !slices.Contains(names, pipeline) {
		return fmt.Errorf("no pipeline %s has a queue; there are %q", pipeline, names)
	}
	v, q, err := s.look(pipeline, o)
	if err != nil {
		return err
	}
	if v == nil {
		return f(q)
	}
	defer func() { err = errors.Join(err, s.leave(pipeline, v)) }()
	return f(v.Queue)
}

// look returns the queue of a pipeline that is in use, or else one that is open for who looks.
func (s *Store) look(pipeline string, o QueueOptions) (v *viewed, inUse *Queue, err error) {
	s.looking.Lock()
	defer s.looking.Unlock()
	if v = s.views[pipeline]; v == nil {
		s.mu.Lock()
		inUse = s.queues[pipeline]
		s.mu.Unlock()
		if inUse != nil {
			return nil, inUse, nil
		}
		q, err := s.Queue(pipeline, o)
		if err != nil {
			return nil, nil, err
		}
		v = &viewed{Queue: q}
		if s.views == nil {
			s.views = make(map[string]*viewed)
		}
		s.views[pipeline] = v
	}
	v.users++
	return v, nil, nil
}

// leave closes what the last one looks at no more.
func (s *Store) leave(pipeline string, v *viewed) error {
	s.looking.Lock()
	defer s.looking.Unlock()
	if v.users--; v.users > 0 {
		return nil
	}
	delete(s.views, pipeline)
	return v.Close()
}
