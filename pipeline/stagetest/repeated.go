package stagetest

import (
	"context"
	"fmt"
)

// checkRepeated kills a run as soon as all inputs have been dealt with, before their source could have noted that, and
// has them come again, to a stage that knows of the first run only what that has left outside.
func (s *suite) checkRepeated() {
	if s.Effect == nil || s.isSource() || len(s.Inputs) == 0 {
		return
	}
	once, ok := s.effectOf(true)
	if !ok {
		return
	}
	again, ok := s.effectOf(false)
	if !ok {
		return
	}
	if diff := difference(once, again); diff != "" {
		s.violated(RepeatsNothing, fmt.Errorf("what it did has changed when its inputs came again after a crash (-before +after):\n%s", diff))
	}
}

// effectOf runs the stage on its inputs, and returns, written out, what there is outside then. A run that is to be
// killed is when the last of them has ended.
func (s *suite) effectOf(killed bool) (effect []string, ok bool) {
	t := s.newTrial()
	ctx, kill := context.WithCancel(context.Background())
	defer kill()
	if killed {
		t.allEnded = kill
	}
	run, err := t.start(ctx, s.feed)
	if err != nil {
		return nil, false // checkRun has said so
	}
	s.mustEnd(run, Acknowledges, "with every input processed and let go")
	if s.stuck {
		return nil, false
	}
	seen, err := s.Effect()
	if err != nil {
		s.violated(RepeatsNothing, fmt.Errorf("what it did cannot be seen: %w", err))
	}
	return fingerprint([]any{seen}), err == nil
}
