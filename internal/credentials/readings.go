package credentials

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Renewer is a [Source] of secrets that come from a file or a command, and are read from there anew when they are
// refused.
type Renewer interface {
	// RenewSecret reads the secret of a name anew that was refused as it was at a version, unless that was done lately.
	// It reports whether there is another one now; the error tells why none could be read.
	RenewSecret(ctx context.Context, name string, version uint64) (renewed bool, err error)
}

// How long a secret is not read again: at first, and when it has come out the same, or not at all, time and again.
const (
	firstWait = time.Minute
	lastWait  = time.Hour
)

// Readings are secrets that come from elsewhere, as they were read last: once, and again when they are refused. A
// secret is read by one caller at a time. Once it was read anew, or could not be read, it is not read again within a
// minute; the wait doubles with each time that what comes is the same or nothing, up to an hour. So pages that refuse a
// secret do not run a command each. The zero value is ready for use.
type Readings struct {
	mu     sync.Mutex
	byName map[string]*reading

	now  func() time.Time                              // for tests
	read func(context.Context, Origin) (string, error) // for tests
}

// reading is one of them.
type reading struct {
	turn chan struct{} // held by who uses what follows
	lastRead
}

// lastRead is what the last time brought.
type lastRead struct {
	from  string // of which origin
	known bool   // the value was read
	value string
	err   error     // of the last time
	until time.Time // when it may be read again
	wait  time.Duration
}

// Value returns the secret of a name. One that could not be read is not tried again for a while.
func (r *Readings) Value(ctx context.Context, name string, from Origin) (value string, err error) {
	e, err := r.enter(ctx, name, from)
	if err != nil {
		return "", err
	}
	defer e.leave()
	if e.known {
		return e.value, nil
	}
	if now := r.time(); now.Before(e.until) {
		return "", fmt.Errorf("%w (tried again from %s on)", e.err, e.until.Format(time.RFC3339))
	}
	if _, err = r.again(ctx, e, from); err == nil {
		e.until, e.wait = time.Time{}, 0 // that it is read anew is another matter
	}
	return e.value, err
}

// Renew reads a secret anew that was refused, unless it was read lately, and reports whether it is another one. That is
// noted by note, before other callers who have waited meanwhile are told that it was read lately.
func (r *Readings) Renew(ctx context.Context, name string, from Origin, note func()) (changed bool, err error) {
	e, err := r.enter(ctx, name, from)
	if err != nil {
		return false, err
	}
	defer e.leave()
	if r.time().Before(e.until) {
		return false, nil
	}
	if changed, err = r.again(ctx, e, from); changed {
		note()
	}
	return changed, err
}

// Forget has a secret read at once when it is next wanted: it was set anew, or removed.
func (r *Readings) Forget(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.byName, name)
}

// again reads; the turn is held. A caller who goes away leaves things as they were.
func (r *Readings) again(ctx context.Context, e *reading, from Origin) (changed bool, err error) {
	read := r.read
	if read == nil {
		read = func(ctx context.Context, o Origin) (string, error) { return o.Read(ctx) }
	}
	value, err := read(ctx, from)
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	e.err = err
	changed = err == nil && (!e.known || value != e.value)
	if e.wait = min(2*e.wait, lastWait); changed || e.wait == 0 {
		e.wait = firstWait
	}
	e.until = r.time().Add(e.wait)
	if changed {
		e.known, e.value = true, value
	}
	return changed, err
}

func (r *Readings) time() time.Time {
	if r.now != nil {
		return r.now()
	}
	return time.Now()
}

// enter waits for the turn to read a secret from an origin. What is known of another origin is forgotten: the secret
// was set anew while it was read.
func (r *Readings) enter(ctx context.Context, name string, from Origin) (*reading, error) {
	r.mu.Lock()
	e := r.byName[name]
	if e == nil {
		if r.byName == nil {
			r.byName = make(map[string]*reading)
		}
		e = &reading{turn: make(chan struct{}, 1)}
		r.byName[name] = e
	}
	r.mu.Unlock()
	select {
	case e.turn <- struct{}{}:
		if text := from.String(); e.from != text {
			e.lastRead = lastRead{from: text}
		}
		return e, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (e *reading) leave() { <-e.turn }
