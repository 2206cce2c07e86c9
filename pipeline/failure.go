package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/webrace/webrace/pipeline/codec"
)

// DeadLetters keeps items that could not be processed. Put returns once the letter is durable.
type DeadLetters interface {
	Put(ctx context.Context, letter DeadLetterRecord) error
	// Replays returns the letters of a pipeline that are to be processed again.
	Replays(ctx context.Context, pipeline string) ([]DeadLetterRecord, error)
	// Replayed forgets a letter whose replay has ended well.
	Replayed(ctx context.Context, id string) error
}

// DeadLetterRecord is an item that failed, with what is needed to understand and to repeat it.
type DeadLetterRecord struct {
	ID       string // given by the store
	Time     time.Time
	Pipeline string
	Stage    string   // the stage that failed
	Errors   []string // the error, then what it wraps, outermost first
	Attempts int
	Kind     string            // of the value
	Value    []byte            // the value as JSON
	Meta     map[string]string // the item's
	Key      string            // the item's, see [KeyOf]
}

// Failure is what leaves a stage's errors port: the item that could not be processed, and why.
type Failure struct {
	Stage    string // the stage that failed
	Value    any    // the item's value
	Err      error
	Attempts int
}

func (f *Failure) Error() string { return fmt.Sprintf("stage %s: %v", f.Stage, f.Err) }
func (f *Failure) Unwrap() error { return f.Err }

// Reject leaves an item to the stage's error policy, as if the stage had been given it and had failed on it: it goes
// to the port errors, or is kept as a dead letter, or is treated as on_error sets, and is counted. A source rejects
// what it cannot read, a processor one of many things in its item, and both go on. The value is what was read, and the
// error tells where. A source that has to know when that has been dealt with makes the item by [NewItem]. An error that
// is returned is for the stage to return: the run ends.
func Reject(ctx context.Context, out Emitter, it *Item, why error) error {
	return out.EmitTo(ctx, errorsPort, it.With(&Failure{Value: it.Value, Err: why, Attempts: 1}))
}

// attempts is how often a stage with on_error = "retry" is called for one item; pauses lie between.
const attempts = 3

var firstPause = 100 * time.Millisecond

// afterError applies the stage's error policy to the items that a call has failed on; again repeats the call.
// What it returns is for their lease: nil if the error was taken care of.
func (n *node) afterError(err error, its []*Item, out *emitter, again func() error) error {
	tried := 1
	for _, it := range its {
		it.undoCall()
	}
	if n.stage.Common.OnError == RetryFirst {
		if tried, err = n.tryAgain(err, its, out, again); err == nil {
			return nil
		}
	}
	if len(its) == 1 {
		return n.failed(its[0], err, tried, out)
	}
	var unhandled error
	for _, it := range its {
		unhandled = errors.Join(unhandled, n.failed(it, err, tried, out))
	}
	return unhandled
}

// tryAgain calls the stage again after a pause, as long as nothing has been emitted, because what has been
// emitted cannot be taken back.
func (n *node) tryAgain(err error, its []*Item, out *emitter, again func() error) (tried int, _ error) {
	pause := firstPause
	for tried = 1; tried < attempts && out.emitted == 0; tried++ {
		if _, ok := asRetry(err); ok {
			break
		}
		select {
		case <-time.After(pause):
			pause *= 4
		case <-n.run.ctx.Done():
			return tried, n.run.ctx.Err()
		}
		if err = n.guarded(again); err == nil {
			break
		}
		for _, it := range its {
			it.undoCall()
		}
	}
	return tried, err
}

// failed applies the stage's error policy. It may write the item's value, and the error, by code of theirs.
func (n *node) failed(it *Item, err error, tried int, out *emitter) (unhandled error) {
	defer func() {
		if v := recover(); v != nil {
			unhandled = newPanicError(n.name, v)
		}
	}()
	if ended := n.run.ctx.Err(); ended != nil {
		return ended
	}
	if _, ok := asRetry(err); ok && it.lease.queued() {
		n.stats.retried.Add(1)
		return err
	}
	n.stats.errors.Add(1)
	if trace := it.lease.trace(); trace != nil {
		trace.Failed(n.name, err)
	}
	failure := it.Branch(n.name + "." + errorsPort).With(&Failure{Stage: n.name, Value: it.Value, Err: err, Attempts: tried})
	failure.send()
	n.taps.see(failure, errorsPort)
	if port, ok := n.ports[errorsPort]; ok {
		if _, isSource := n.impl.(Source); isSource { // it has counted an error, and no item
			return out.spread(n.run.ctx, failure, port)
		}
		return out.fanOut(n.run.ctx, failure, port)
	}
	switch n.stage.Common.OnError {
	case Skip:
		it.lease.handled(fmt.Errorf("stage %s: %w", n.name, err))
		n.env.Logger.Warn("item skipped", append(about(it), "error", err)...)
		return nil
	case Stop:
		return n.stopRun(err)
	default:
		return n.bury(it, err, tried)
	}
}

func (n *node) stopRun(err error) error {
	err = fmt.Errorf("stage %s: %w: %w", n.name, ErrStopped, err)
	n.run.fail(err)
	return err
}

// bury makes a dead letter of the item. An item that cannot even be kept ends the run, because going on
// would lose it.
func (n *node) bury(it *Item, err error, tried int) error {
	store := n.run.options.DeadLetters
	if store == nil {
		return n.stopRun(err)
	}
	value, jsonErr := json.Marshal(it.Value)
	if jsonErr != nil {
		value, _ = json.Marshal(fmt.Sprintf("%+v", it.Value))
	}
	letter := DeadLetterRecord{
		Time: time.Now(), Pipeline: n.run.graph.Name, Stage: n.name, Errors: chain(err), Attempts: tried,
		Kind: fmt.Sprintf("%T", it.Value), Value: value, Meta: it.Meta, Key: KeyOf(it),
	}
	if putErr := store.Put(n.run.ctx, letter); putErr != nil {
		return n.stopRun(errors.Join(err, fmt.Errorf("keep the dead letter: %w", putErr)))
	}
	n.stats.buried.Add(1)
	it.lease.handled(fmt.Errorf("stage %s: %w", n.name, err))
	n.env.Logger.Warn("item kept as a dead letter", append(about(it), "error", err, "attempts", tried)...)
	return nil
}

// about returns for a log line what an item is about.
func about(it *Item) []any {
	if subject := codec.Subject(it.Value); subject != "" {
		return []any{"url", subject}
	}
	return nil
}

// chain returns the messages of an error and of those it wraps.
func chain(err error) []string {
	var messages []string
	for ; err != nil; err = errors.Unwrap(err) {
		messages = append(messages, err.Error())
	}
	return messages
}
