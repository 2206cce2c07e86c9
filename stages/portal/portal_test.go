package portal

import (
	"context"
	"errors"
	"testing"

	"github.com/webrace/webrace/internal/channel"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/delivery"
)

// Whoever waits for what comes of a message is told, whichever way it ended; otherwise what was not sent is counted.
func TestWhatComesOfAMessageIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	env := pipeline.NewEnv("portal", "portal", nil)
	s, err := newStageOver(defaults, env, w.store)
	w.ok(err)
	for _, c := range []struct {
		outcome pipeline.Outcome
		want    delivery.Result
	}{
		{pipeline.Outcome{Learned: []any{1, delivery.Result{Taken: true}}}, delivery.Result{Taken: true}},
		{pipeline.Outcome{Learned: []any{delivery.Result{Said: "550"}}, Failed: errors.New("x")}, delivery.Result{Said: "550"}},
		{pipeline.Outcome{Err: errors.New("no server")}, delivery.Result{Passing: true, Said: "no server"}},
		{pipeline.Outcome{Failed: errors.New("dead letter")}, delivery.Result{Passing: true, Said: "dead letter"}},
		{pipeline.Outcome{}, delivery.Result{Said: text("error.unsent")}},
	} {
		m := &delivery.Message{ID: "m", Address: channel.NewAddress("a@b.example", "")}
		result := make(chan delivery.Result, 1)
		taken := make(chan outgoing, 1)
		go func() { taken <- <-s.mails }()
		w.ok(s.mail(t.Context(), m, result))
		s.mailed(<-taken, c.outcome)
		if got := <-result; got != c.want {
			t.Errorf("%+v: told is %+v", c.outcome, got)
		}
		before := env.Counter("mails_lost").Load()
		s.mailed(outgoing{message: m}, c.outcome)
		if lost := env.Counter("mails_lost").Load() - before; (lost == 1) == c.want.Taken {
			t.Errorf("%+v: %d are counted as lost", c.outcome, lost)
		}
	}
	s.end.Do(func() { close(s.ended) })
	if err := s.mail(context.Background(), nil, nil); !isRefusal(err) {
		t.Errorf("when it ends: %v", err)
	}
}
