package stagetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/webrace/webrace/pipeline"
)

// checkQueue puts all inputs before it takes any, then takes until the queue ends.
func (s *suite) checkQueue() {
	stage, err := s.newStage()
	queue, ok := stage.(pipeline.Queue)
	if err != nil || !ok {
		return
	}
	ctx, end, ok := s.begin(stage)
	defer end()
	if !ok || !s.within(PutsWithoutWaiting, "put its inputs with nobody taking", func() error { return putAll(ctx, queue, s.Inputs) }) {
		return
	}
	s.within(EndsWhenSealed, "end, sealed and with every lease done", func() error { return takeAll(ctx, queue) })
}

func putAll(ctx context.Context, queue pipeline.Queue, inputs []any) error {
	for _, v := range inputs {
		if err := queue.Put(ctx, &pipeline.Item{Value: v}); err != nil {
			return err
		}
	}
	return nil
}

func takeAll(ctx context.Context, queue pipeline.Queue) error {
	queue.Seal()
	for {
		lease, err := queue.Take(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		lease.Done(pipeline.Outcome{})
	}
}

// within calls f, and notes a violation if it fails or does not return in time.
func (s *suite) within(rule Rule, what string, f func() error) bool {
	returned := make(chan error, 1)
	go func() { returned <- guarded(f) }()
	patience := time.NewTimer(s.Patience)
	defer patience.Stop()
	select {
	case err := <-returned:
		if err != nil {
			s.violated(rule, fmt.Errorf("it does not %s: %w", what, err))
		}
		return err == nil
	case <-patience.C:
		s.violated(rule, fmt.Errorf("it does not %s within %v", what, s.Patience))
		s.stuck = true
		return false
	}
}
