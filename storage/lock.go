package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// LockedError means that another opener owns a data directory, or that others read it.
type LockedError struct {
	Dir     string
	Owner   Owner
	Readers bool // processes hold it that only read; there is no owner
}

// Owner is the process that holds a data directory; zero while it has not said which it is, as readers never do.
type Owner struct {
	PID     int
	Host    string
	Since   time.Time
	Command string // the command line
}

func (e *LockedError) Error() string {
	if e.Readers {
		return fmt.Sprintf("data directory %s is being read by another process, as webrace-store does: try again when that has ended, or choose another --data", e.Dir)
	}
	return fmt.Sprintf("data directory %s is in use by %s: one process runs all pipelines of a directory, so name them in one command, stop that process, or choose another --data; webrace-store works meanwhile if that process runs pipelines", e.Dir, e.Owner)
}

// String names the owner for a person: process 12 on host (webrace-run webrace) since 12:30.
func (o Owner) String() string {
	if o.PID == 0 {
		return "another process"
	}
	s := fmt.Sprintf("process %d", o.PID)
	if o.Host != "" {
		s += " on " + o.Host
	}
	if o.Command != "" {
		s += " (" + o.Command + ")"
	}
	if !o.Since.IsZero() {
		s += " since " + o.Since.Local().Format("2006-01-02 15:04:05")
	}
	return s
}

const lockFile = "lock"

// lock is the ownership of a data directory. The kernel holds it for the open file, and lets go of it
// however the process ends; the file itself stays, because removing it would let two owners lock two
// files of one name. A process that only reads shares it with others that do.
type lock struct {
	file   *os.File // nil where there is none to be shared: on read-only media
	shared bool
}

const (
	readersPatience = 3 * time.Second        // how long an opener waits for readers to end
	readersNotice   = 200 * time.Millisecond // after which it tells that
	readersPoll     = 10 * time.Millisecond
)

// acquire locks a data directory. Commands that only read hold it for a moment: an owner waits for them.
func acquire(dir string, shared bool) (*lock, error) {
	said := false
	for began := time.Now(); ; time.Sleep(readersPoll) {
		l, err := tryAcquire(dir, shared)
		var locked *LockedError
		if !errors.As(err, &locked) || !locked.Readers || time.Since(began) >= readersPatience {
			return l, err
		}
		if !said && time.Since(began) >= readersNotice {
			said = true
			slog.Warn("the data directory is being read by another process: waiting for that to end", "dir", dir, "at_most", readersPatience)
		}
	}
}

func tryAcquire(dir string, shared bool) (*lock, error) {
	path := filepath.Join(dir, lockFile)
	flags := os.O_RDWR | os.O_CREATE
	if shared {
		flags = os.O_RDONLY
	}
	f, err := os.OpenFile(path, flags, 0o600)
	if shared && errors.Is(err, fs.ErrNotExist) {
		return &lock{shared: true}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("lock data directory: %w", err)
	}
	ours, err := tryLock(f, shared)
	if !ours && err == nil {
		refused, err := whoHolds(f, dir, path)
		return nil, errors.Join(err, refused, f.Close())
	}
	if err == nil && !shared {
		err = writeOwner(f)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock data directory %s: %w", dir, err), f.Close())
	}
	return &lock{f, shared}, nil
}

// OwnerOf returns which process owns a data directory, or false if none does. Who may not look is told that none does.
func OwnerOf(dir string) (owner Owner, owned bool) {
	l, err := tryAcquire(dir, true)
	if locked := new(LockedError); errors.As(err, &locked) {
		return locked.Owner, !locked.Readers
	}
	if err == nil {
		_ = l.release() // it ends with the file, which is closed
	}
	return Owner{}, false
}

// whoHolds returns by whom a directory is held that could not be locked. An owner that was killed is still named in the
// file: readers are told from an owner by sharing the lock with them.
func whoHolds(f *os.File, dir, path string) (*LockedError, error) {
	readers, err := tryLock(f, true)
	if !readers || err != nil {
		return &LockedError{Dir: dir, Owner: readOwner(path)}, err
	}
	return &LockedError{Dir: dir, Readers: true}, unlock(f)
}

// writeOwner writes who holds the lock, for the message that a second opener gets: a line for process and
// host, one for the time, one for the command.
func writeOwner(f *os.File) error {
	host, err := os.Hostname()
	if err != nil {
		host = ""
	}
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err = f.WriteAt(fmt.Appendf(nil, "%d %s\n%s\n%s\n", os.Getpid(), host, time.Now().UTC().Format(time.RFC3339), commandLine(os.Args)), 0)
	return err
}

// password finds the password in a URL.
var password = regexp.MustCompile(`(://[^\s/:@]*:)\S+@`)

// commandLine is how a person would write a command, in a line that is not too long, and without passwords.
func commandLine(args []string) string {
	words := append([]string{filepath.Base(args[0])}, args[1:]...)
	line := strings.ToValidUTF8(strings.Join(strings.Fields(strings.Join(words, " ")), " "), "?")
	line = password.ReplaceAllString(line, "${1}…@")
	const longest = 200
	if len(line) > longest {
		line = strings.ToValidUTF8(line[:longest], "") + "…"
	}
	return line
}

func readOwner(path string) (o Owner) {
	content, err := os.ReadFile(path)
	if err != nil {
		return o
	}
	lines := strings.SplitN(strings.TrimSpace(string(content)), "\n", 3)
	first, host, _ := strings.Cut(lines[0], " ")
	if o.PID, err = strconv.Atoi(first); err != nil {
		return Owner{}
	}
	o.Host = strings.TrimSpace(host)
	if len(lines) == 3 {
		o.Since, _ = time.Parse(time.RFC3339, lines[1]) // zero is a time that is not known
		o.Command = lines[2]
	}
	return o
}

// release unlocks before it closes: a program that is just being started may have the file as well.
func (l *lock) release() error {
	switch {
	case l.file == nil:
		return nil
	case l.shared:
		return errors.Join(unlock(l.file), l.file.Close())
	}
	return errors.Join(l.file.Truncate(0), unlock(l.file), l.file.Close())
}
