package pipeline

import (
	"context"
	"errors"
	"slices"
	"time"
)

// Processor is the interface most stages implement. Process is called once for each item, by as many
// goroutines at once as the stage has workers. What it emits before it returns descends from the item;
// emitting nothing filters it; an error sends it to the stage's error policy. The emitter is valid until
// Process returns. ctx ends when the run is cancelled.
type Processor interface {
	Process(ctx context.Context, it *Item, out Emitter) error
}

// BatchProcessor gets items in groups of up to batch.count, or of batch.bytes, or those that came within batch.period
// of the first. Whatever it emits descends from all of the group, unless it emits an item it was given. The items of
// a group are acknowledged together when ProcessBatch returns; an error concerns them all, unless it is a
// [GroupError].
type BatchProcessor interface {
	ProcessBatch(ctx context.Context, its []*Item, out Emitter) error
}

// Source produces items until it is exhausted (nil) or fails. ctx ends when the run drains: Run then
// stops producing and returns nil. After an error Run may be called again ([RetryFirst]): it goes on where it stands,
// as it would after a crash, while items that it has given before may still be in work.
type Source interface {
	Run(ctx context.Context, out Emitter) error
}

// Queue stores its input before it gives it out again, which is why it alone may close a cycle: Put must never wait for
// Take. (One whose options can make it wait reports by their method Waits() (option string) which of them does, "" for
// none: then it may stand in no cycle.) The runtime calls Seal once, when everything outside the queue's own cycle that
// leads to it has ended; Take then answers [io.EOF] as soon as nothing is due in this run and no lease is out. Put may
// finish its work later by [Item.Hold].
type Queue interface {
	Put(ctx context.Context, it *Item) error
	Take(ctx context.Context) (Lease, error)
	Seal()
}

// Lease is one item on loan from a queue, which tells by [Item.From] where it comes from. The runtime calls Done
// exactly once, when everything made from the item has been dealt with; it must not wait for a disk.
type Lease interface {
	Item() *Item
	Done(Outcome)
}

// Releaser is implemented by leases whose scarce resource can be freed before they are done; see
// [Item.Release].
type Releaser interface {
	Release(note any)
}

// NoteMatcher is implemented by leases that can tell whether a note of [Item.Release] is about them. Concerns is called
// where several leases are held together, as in a batch, and one of them has been dealt with. A lease without the
// method is released with the group.
type NoteMatcher interface {
	Concerns(note any) bool
}

// Capabilities that a stage, or its options, may have besides its interface, found by type assertion. The package
// comment lists these and all others.
type (
	// Opener is called before any item flows, in the order of the flow. An error stops the run from
	// starting.
	Opener interface {
		Open(ctx context.Context) error
	}
	// Closer is called after the last item, in the reverse order, also when the run failed, and also
	// when Open was never called. It may be called twice.
	Closer interface{ Close() error }
	// Checker tries what the stage needs (a connection, a file) without changing anything: what opening it
	// would find out. It is called by [Graph.Probe] instead of Open, on a stage that nothing flows through.
	// An error that names the option at fault is an [OptionError]; several are joined.
	Checker interface {
		Check(ctx context.Context) error
	}
	// Reconfigurer takes new options in a reload; an error leaves the old ones in force. No item is in work
	// meanwhile, and Take is not called; a Source runs on.
	Reconfigurer interface {
		Reconfigure(ctx context.Context, options any) error
	}
	// OutdatedReporter is a stage that has read files which its options name. Where a reload leaves the options as they
	// are, Outdated reports, while items are in work, whether the files have changed since; the stage is then replaced,
	// as if its options had changed.
	OutdatedReporter interface{ Outdated() bool }
	// Unreloadable is a [Keeper] that holds values whose items it has acknowledged, such as an operator of go-streams.
	// A reload can neither change it nor take it out, because what it holds would be lost: the error of such a reload
	// names what the method returns.
	Unreloadable interface{ Unreloadable() (what string) }
	// LagReporter is a follower that knows how many entries of what it follows it has not dealt with yet. Lag is
	// called by any goroutine, once the stage is open, and may be when it has been closed.
	LagReporter interface {
		Lag(ctx context.Context) (int64, error)
	}
	// Validator is implemented by option structs (by value) that can be wrong in ways their types
	// do not exclude. An error may name the option at fault with [OptionError].
	Validator interface{ Validate() error }
	// PortsProvider is implemented by option structs (by value) on which a stage's output ports depend; what it
	// returns replaces the ports of the [Spec].
	PortsProvider interface{ Ports() []Port }
	// NameChecker is implemented by option structs (by value) that name fields of the values that the stage is given,
	// as expressions do. Lint calls it once it knows of which kinds these may be; errors are as those of Validator.
	NameChecker interface{ CheckNames(given []Kind) error }
	// InputKindsProvider is implemented by option structs (by value) on which it depends what a stage takes; what it
	// returns replaces the inputs of the [Spec].
	InputKindsProvider interface{ InputKinds() []Kind }
)

// Emitter hands items to the stage's output ports. It waits while the next stage is busy, and returns an
// error only when the run is being cancelled, which the stage returns in turn. Where calls take microseconds, what
// a call emits last goes when it returns.
type Emitter interface {
	Emit(ctx context.Context, it *Item) error                // to the default port
	EmitTo(ctx context.Context, port string, it *Item) error // to a named one
}

// OptionError names the option that a validation found fault with.
type OptionError struct {
	Option string
	Err    error
}

func (e *OptionError) Error() string { return e.Option + ": " + e.Err.Error() }
func (e *OptionError) Unwrap() error { return e.Err }

// GroupError is returned by a [BatchProcessor] that has failed on some items of its group, and dealt with the others:
// each error stands where its item stands in the group, and nil for those that went well. Each is for the stage's error
// policy by itself.
type GroupError struct{ Errs []error }

func (e *GroupError) Error() string { return errors.Join(e.Errs...).Error() }

// Unwrap returns the errors.
func (e *GroupError) Unwrap() []error {
	return slices.DeleteFunc(slices.Clone(e.Errs), func(err error) bool { return err == nil })
}

// Errors that callers tell from others.
var (
	// ErrUntried is wrapped by what keeps a stage from being tried, but would not keep it from running: see
	// [Graph.Probe], to which it is no finding.
	ErrUntried = errors.New("not tried")
	// ErrStopped is the error of a run that a stage with on_error = "stop" ended.
	ErrStopped = errors.New("stopped by on_error")
	// ErrEffect is the error of a run that ended because an effect failed that a stage was waiting for; see
	// [Item.Hold].
	ErrEffect = errors.New("an effect failed")
	// ErrEnded is the error of a reload that came when the run had ended, or was ending.
	ErrEnded = errors.New("the run has ended, or is ending")
)

// Untried returns an [ErrUntried] that the user is told of, because the stage runs and does not do all that it is for.
func Untried(says string) error { return untriedError(says) }

type untriedError string

func (e untriedError) Error() string      { return string(e) }
func (untriedError) Is(target error) bool { return target == ErrUntried }

// Retry marks a failure of the moment, such as a host that does not answer: the lease goes back to its
// queue, to be handed out again at the given time, and the stage's error policy is not asked. On an item
// that came from no queue it is an error like any other.
func Retry(err error, at time.Time) error { return &retryError{err, at} }

type retryError struct {
	err error
	at  time.Time
}

func (e *retryError) Error() string { return e.err.Error() }
func (e *retryError) Unwrap() error { return e.err }

func asRetry(err error) (*retryError, bool) {
	var retry *retryError
	return retry, errors.As(err, &retry)
}

// Map makes a processor of a function from one value to another: all that most stages need. A value of
// another type than In is an error, as is one from f.
func Map[In, Out any](f func(context.Context, In) (Out, error)) Processor {
	return mapper[In, Out](f)
}

type mapper[In, Out any] func(context.Context, In) (Out, error)

func (f mapper[In, Out]) Process(ctx context.Context, it *Item, out Emitter) error {
	in, err := ValueOf[In](it)
	if err != nil {
		return err
	}
	result, err := f(ctx, in)
	if err != nil {
		return err
	}
	return out.Emit(ctx, it.With(result))
}
