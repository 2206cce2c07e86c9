// Package cli is what the commands share: the meaning of exit statuses, how errors reach a person, and
// where the configuration and the data directory are found.
package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
	"github.com/spf13/cobra"
	"github.com/webrace/webrace/internal/terminal"
	"github.com/webrace/webrace/pipeline/finding"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/fsck"
	"github.com/webrace/webrace/storage/fulltext"
	"github.com/webrace/webrace/xmlschema"
	"golang.org/x/term"
)

// The exit statuses of every command.
const (
	OK          = 0
	Failed      = 1   // the run failed
	Usage       = 2   // bad configuration, bad input or wrong usage: nothing was started
	Environment = 3   // the data directory is in use or damaged, a port is taken
	Interrupted = 130 // stopped by a second signal before everything in flight was finished
)

// Error is an error with the exit status that it ends the program with. Where Err is nil the status is
// everything, and nothing is reported.
type Error struct {
	Status int
	Err    error
}

func (e *Error) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit status %d", e.Status)
	}
	return e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// Wrong marks an error as one of what was given: configuration, input or usage.
func Wrong(err error) error { return &Error{Usage, err} }

// Wrongf is [Wrong] with a message.
func Wrongf(format string, args ...any) error { return Wrong(fmt.Errorf(format, args...)) }

// Main runs a command, reports its error on stderr and returns the exit status.
func Main(root *cobra.Command) int { return Execute(context.Background(), root, os.Stderr) }

// Execute is Main for a command whose errors go elsewhere, as to the process that asked this one to run it.
func Execute(ctx context.Context, root *cobra.Command, stderr io.Writer) int {
	root.SilenceErrors, root.SilenceUsage = true, true
	stdout, stderr := visible(root.OutOrStdout()), visible(stderr)
	defer Exact(stdout)
	defer Exact(stderr)
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetFlagErrorFunc(wrongFlag)
	Helpful(root)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return OK
	}
	var exit *Error
	if !errors.As(err, &exit) || exit.Err != nil {
		Report(stderr, err)
	}
	return StatusOf(err)
}

// visible returns what a command writes to instead of w, so that a terminal obeys nothing of what the command read
// from the web.
func visible(w io.Writer) io.Writer {
	if IsTerminal(w) {
		return terminal.NewWriter(w)
	}
	return w
}

// Exact returns where an output of a command leads, for what a terminal is to obey, and for bytes that are asked for
// as they are. Nothing of what was read from the web may be in the former unless [terminal.Visible] has seen it.
func Exact(w io.Writer) io.Writer {
	if t, ok := w.(*terminal.Wrapper); ok {
		return Exact(t.Unwrap())
	}
	if t, ok := w.(interface{ Exact() io.Writer }); ok {
		return t.Exact()
	}
	return w
}

// StatusOf returns the exit status that an error ends a program with.
func StatusOf(err error) int {
	var exit *Error
	var locked *storage.LockedError
	var damaged *fsck.Error
	var findings finding.List
	var problems xmlschema.Problems
	switch {
	case errors.As(err, &exit):
		return exit.Status
	case errors.As(err, &locked), errors.As(err, &damaged), errors.Is(err, fulltext.ErrCorrupt), errors.Is(err, fulltext.ErrFormat),
		pebble.IsCorruptionError(err), errors.Is(err, syscall.ENOSPC):
		return Environment
	case errors.As(err, &findings), errors.As(err, &problems):
		return Usage
	}
	return Failed
}

// Report writes an error for a person. Findings come with the lines that they are about.
func Report(w io.Writer, err error) {
	var findings finding.List
	if errors.As(err, &findings) {
		WriteFindings(w, findings)
		return
	}
	var problems xmlschema.Problems
	w = Prose(w)
	if errors.As(err, &problems) && problems[0].Line > 0 {
		for line := range strings.SplitSeq(err.Error(), "\n") { // a place in a file a line
			if IsTerminal(w) {
				line = "error: " + line
			}
			fmt.Fprintln(w, line)
		}
		return
	}
	fmt.Fprintln(w, "error:", err)
	if errors.Is(err, syscall.ENOSPC) {
		fmt.Fprintln(w, nothingLost)
	}
	if pebble.IsCorruptionError(err) {
		fmt.Fprintln(w, "a store is damaged: webrace-store fsck says where, and fsck --repair repairs what can be")
	}
}

// WriteFindings writes what is wrong with a configuration for a person, on a terminal like all errors there.
func WriteFindings(w io.Writer, findings finding.List) {
	if IsTerminal(w) {
		findings.FormatOn(Exact(w), Columns(w))
		return
	}
	findings.Format(w, false)
}

// narrowest is the least that lines are broken to.
const narrowest = 40

// Columns returns how many columns text for a person may take: those of a terminal, and 0, without an end, elsewhere.
func Columns(w any) int {
	if !IsTerminal(w) {
		return 0
	}
	return max(Width(w), narrowest)
}

// Each is a sequence of values that are all there.
func Each[T any](values []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, v := range values {
			if !yield(v, nil) {
				return
			}
		}
	}
}

// NewEncoder writes JSON for programs, a value a line, with < and & as they are.
func NewEncoder(w io.Writer) *json.Encoder {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return encoder
}

// Prose returns what text for a person is written to, in whole lines: a terminal gets them broken between words.
func Prose(w io.Writer) io.Writer {
	if _, ok := w.(*terminal.Wrapper); ok || !IsTerminal(w) {
		return w
	}
	return &terminal.Wrapper{Out: w, Columns: Columns(w)}
}

// IsTerminal reports whether w is a terminal, here or at the other end of a socket.
func IsTerminal(w any) bool {
	switch f := w.(type) {
	case interface{ Unwrap() io.Writer }:
		return IsTerminal(f.Unwrap())
	case *os.File:
		return term.IsTerminal(int(f.Fd()))
	case interface{ IsTerminal() bool }:
		return f.IsTerminal()
	}
	return false
}

// Width returns how many columns the terminal w has; 80 when that is not known.
func Width(w any) int {
	switch f := w.(type) {
	case interface{ Unwrap() io.Writer }:
		return Width(f.Unwrap())
	case *os.File:
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 {
			return columns
		}
	case interface{ Width() int }:
		if columns := f.Width(); columns > 0 {
			return columns
		}
	}
	return 80
}
