package kafka

import (
	"context"
	"errors"
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/webrace/webrace/pipeline"
)

// positions records how far each partition has been dealt with: leases end in any order, and what Kafka keeps is one
// offset, before which all is done.
type positions struct{ mu sync.Mutex }

type partition struct {
	topic  string
	number int32
}

// progress is that of a partition, for as long as it is ours.
type progress struct {
	open []*position // in the order of their offsets; the first has not ended
	lost bool
}

type position struct {
	record *kgo.Record // without its content
	ended  bool
}

// begin notes a record, and returns what ends it.
func (s *source) begin(r *kgo.Record) (end func(pipeline.Outcome)) {
	of := &position{record: &kgo.Record{Topic: r.Topic, Partition: r.Partition, Offset: r.Offset, LeaderEpoch: r.LeaderEpoch}}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := partition{r.Topic, r.Partition}
	p := s.partitions[key]
	if p == nil {
		p = new(progress)
		s.partitions[key] = p
	}
	p.open = append(p.open, of)
	return func(o pipeline.Outcome) {
		if o.Err != nil {
			s.fail(o.Err)
			return
		}
		s.end(p, of)
	}
}

// fail ends the run, unless that is being cancelled anyhow.
func (s *source) fail(err error) {
	if errors.Is(err, context.Canceled) {
		return
	}
	select {
	case s.failed <- err:
	default: // it is ending already
	}
}

// end marks what has been dealt with up to the first record that has not.
func (s *source) end(p *progress, of *position) {
	s.mu.Lock()
	defer s.mu.Unlock()
	of.ended = true
	var last *kgo.Record
	for len(p.open) > 0 && p.open[0].ended {
		last, p.open = p.open[0].record, p.open[1:]
	}
	if last != nil && !p.lost && s.client != nil {
		s.client.MarkCommitRecords(last)
	}
}

// drop forgets partitions that belong to another member now. What is in work of them still ends, and moves nothing.
func (s *source) drop(lost map[string][]int32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for topic, numbers := range lost {
		for _, number := range numbers {
			key := partition{topic, number}
			if p := s.partitions[key]; p != nil {
				p.lost = true
				delete(s.partitions, key)
			}
		}
	}
}
