package redis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
)

// A server that is away, or not ready yet, is asked again after a wait, which doubles.
const (
	firstWait   = 50 * time.Millisecond
	longestWait = 5 * time.Second
)

// outage is the error of a server that does not answer, or is not ready.
type outage struct{ error }

func (o *outage) Unwrap() error { return o.error }

// notReady begins what servers answer that are starting, or are to be replaced.
var notReady = []string{"LOADING", "MASTERDOWN", "READONLY", "CLUSTERDOWN", "TRYAGAIN"}

// asked adds what the server was asked to do when it failed, and tells an outage from what it refuses.
func asked(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	wrapped := fmt.Errorf(format+": %w", append(args, err)...)
	var refusal redis.Error
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, redis.ErrClosed):
		return wrapped
	case errors.As(err, &refusal) && !slices.ContainsFunc(notReady, func(p string) bool { return redis.HasErrorPrefix(err, p) }):
		return wrapped
	}
	return &outage{wrapped}
}

func isOutage(err error) bool { return errors.As(err, new(*outage)) }

// backoff is the waits between attempts. The zero value is ready.
type backoff struct{ next time.Duration }

// wait waits, unless the context ends before.
func (b *backoff) wait(ctx context.Context) {
	b.next = min(max(2*b.next, firstWait), longestWait)
	select {
	case <-time.After(b.next):
	case <-ctx.Done():
	}
}
