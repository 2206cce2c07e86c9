// Package fsck is what the checks of the stores have in common: how damage is reported.
package fsck

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// Finding is one thing that is not as it must be.
type Finding struct {
	Store    string // frontier, objects, control, fulltext, queues or quads
	Kind     string // what is wrong, in a few fixed words: "stranded host"
	Where    string // the file, URL or id that it is about; empty for the whole store
	Detail   string // what was found and what was expected, or what is lost
	Repaired bool
}

// String is the finding as one line for a person.
func (f Finding) String() string {
	line := f.Store + ": " + f.Kind
	if f.Where != "" {
		line += " " + f.Where
	}
	if f.Detail != "" {
		line += ": " + f.Detail
	}
	if f.Repaired {
		line += " (repaired)"
	}
	return line
}

// Error means that a store cannot be used as it is. The call that returns it has changed nothing.
type Error struct {
	Finding
	Mend string // what its owner can do
}

func (e *Error) Error() string { return e.Finding.String() + ": " + e.Mend }

// IsDamage reports whether a database could not be opened for what is in its files. What the system reports of other
// things than missing files is no damage.
func IsDamage(err error) bool {
	var number syscall.Errno
	if errors.As(err, &number) {
		return number == syscall.ENOENT
	}
	return err != nil && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, fs.ErrInvalid)
}

// Report takes a finding. It must not keep the store waiting.
type Report func(Finding)

// Reportf fills in a finding of a store.
func (r Report) Reportf(store, kind, where string, repaired bool, format string, args ...any) {
	r(Finding{Store: store, Kind: kind, Where: where, Detail: fmt.Sprintf(format, args...), Repaired: repaired})
}

// Progress is how far a check is.
type Progress struct {
	Store       string // as in a [Finding]
	Step        string // what is looked at
	Done, Total int64  // bytes or records; 0 where it is not known how many there are
}

type progressKey struct{}

// WithProgress has a check under the context that is returned tell how far it is, from one goroutine at a time. It
// is told often, and by many goroutines; what takes it must not keep the check waiting.
func WithProgress(ctx context.Context, tell func(Progress)) context.Context {
	return context.WithValue(ctx, progressKey{}, tell)
}

// Tell reports how far a check is, if its context has a listener.
func Tell(ctx context.Context, p Progress) {
	if tell, ok := ctx.Value(progressKey{}).(func(Progress)); ok {
		tell(p)
	}
}
