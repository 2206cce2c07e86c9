package ask

import (
	"context"
	"errors"
	"fmt"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
)

// Process asks what is to be asked of an item, and passes it on with the answer.
func (s *stage) Process(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
	q, err := s.subject.of(it)
	if err != nil {
		return err
	}
	if q == nil {
		s.env.Counter("unasked").Add(1)
		return out.Emit(ctx, it)
	}
	if d, ok := it.Value.(*webrace.Document); ok && s.options.ObeyUsage {
		if q.forbidden, err = s.forbiddenOf(d); err != nil {
			return err
		}
	}
	answer, err := s.answer(ctx, q)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var unjudged *unjudgedError
	switch {
	case errors.As(err, &unjudged):
		s.env.Counter("unjudged").Add(1)
		s.env.Counter(unjudged.counter).Add(1)
		return out.Emit(ctx, q.withoutAnswer(it, unjudged.Error()))
	case err != nil: // the store failed
		return err
	}
	judged, no := q.withAnswer(it, answer, s.options.Model)
	if no {
		s.env.Counter("answered_no").Add(1)
		if err := s.book.refuse(it, q, answer, s.options.Model); err != nil {
			return err
		}
		return out.EmitTo(ctx, portNo, judged)
	}
	s.env.Counter("answered").Add(1)
	return out.Emit(ctx, judged)
}

// unjudgedError is why an item is passed on unjudged, in words for its owner.
type unjudgedError struct {
	counter string // by which such items are counted, too
	error
}

func unjudged(counter, format string, args ...any) *unjudgedError {
	return &unjudgedError{counter, fmt.Errorf(format, args...)}
}

// answer returns the answer to a question: a kept one, or what the model answers. An [unjudgedError] tells why there
// is none; any other is of the store.
func (s *stage) answer(ctx context.Context, q *question) (answer, error) {
	if q.forbidden != "" && s.options.ObeyUsage {
		return nil, unjudged("forbidden", "models must not use the page: %s", q.forbidden)
	}
	if err := s.secrets.shows(ctx, q.secret); err != nil {
		return nil, err
	}
	key := q.key(s.options.Model)
	kept, leave, err := s.book.enter(ctx, key)
	if kept != nil {
		s.env.Counter("remembered").Add(1)
	}
	if kept != nil || err != nil {
		return kept, err
	}
	defer leave()
	return s.ask(ctx, key, q)
}

// ask asks the model until it answers as it should, or has been asked often enough, and keeps what comes of it.
func (s *stage) ask(ctx context.Context, key string, q *question) (answer, error) {
	p := s.model.prompt(q)
	spent := 0
	for attempt := 1; ; attempt++ {
		if err := s.model.isAway(); err != nil {
			return nil, err
		}
		if err := s.book.reserve(q.owner, p.tokens); err != nil {
			return nil, errors.Join(err, s.book.keepFailure(ctx, key, q.owner, spent))
		}
		s.env.Counter("asked").Add(1)
		a, used, f := s.model.try(ctx, p)
		s.book.settle(q.owner, p.tokens, used)
		s.env.Counter("tokens").Add(int64(used))
		spent += used
		switch {
		case f == nil:
			s.model.answered()
			return a, s.book.keep(ctx, key, q.owner, spent, a)
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case !f.passing || attempt >= s.options.Attempts:
			s.model.failed(f, attempt)
			if err := s.book.keepFailure(ctx, key, q.owner, spent); err != nil {
				return nil, err
			}
			return nil, unjudged("failed", "%w", f.after(attempt))
		}
		s.env.Counter("repeated").Add(1)
		if err := s.model.pause(ctx, attempt, f.retryAfter); err != nil {
			return nil, err
		}
	}
}
