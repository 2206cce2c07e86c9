package exec

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	osexec "os/exec"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/webrace/webrace/internal/subprocess"
	"github.com/webrace/webrace/pipeline"
)

// process is a program that runs, from its start until it is gone.
type process struct {
	programs *programs
	place    place
	log      *stderrLog
	fields   []string // of an item that the program wants
	answered atomic.Bool

	cmd            *osexec.Cmd
	group          *subprocess.Group // of the program and all that it starts
	stdin          *os.File
	stdout, stderr *os.File
	reader         *bufio.Reader
	ready          chan struct{} // closed when hands have been shaken, or not
	heard          chan struct{} // closed when its standard error has been read to the end
	exited         chan struct{} // closed when it has ended, and how is known
	ended          chan struct{} // closed when nothing of it is left
	status         error         // how it ended

	writing   sync.Mutex
	unwritten []byte // frames, whose memory is used again

	mu       sync.Mutex
	err      error // why nothing more can be expected of it
	leaving  bool  // its input has been closed, so that it ends
	calls    map[uint64]*call
	order    []uint64 // of the calls, oldest first; those that have ended may still stand in it
	last     uint64   // the id that was given last
	oldest   uint64   // the call whose time runs
	since    time.Time
	alone    time.Time // since when there is one call, and no other; zero while there are more, or none
	deadline *time.Timer
}

// exitWait is how long is waited for a process to end, to learn why a pipe to it has broken.
const exitWait = time.Second

// launch starts the program at a place and shakes hands with it.
func (s *programs) launch(at place) (*process, error) {
	p := &process{
		programs: s, place: at, log: newStderrLog(s.loggerAt(at), s.env.Counter("stderr_lines_left_out")),
		ready: make(chan struct{}), heard: make(chan struct{}), exited: make(chan struct{}), ended: make(chan struct{}),
		calls: make(map[uint64]*call),
	}
	if err := p.start(); err != nil {
		return nil, &pipeline.OptionError{Option: at.option(), Err: at.named(fmt.Errorf("start the program: %w", err))}
	}
	ready := time.AfterFunc(time.Duration(s.options.Ready), func() {
		p.fail(fmt.Errorf("it was not ready within %v", s.options.Ready), 0)
	})
	stop := context.AfterFunc(s.ctx, func() { p.fail(errClosed, 0) })
	err := p.shakeHands()
	ready.Stop()
	stop()
	if err == nil {
		err = p.failure()
	}
	if err != nil {
		p.fail(err, 0)
		close(p.ready)
		<-p.ended
		return nil, at.unfit(p.failure(), p.log.said())
	}
	close(p.ready)
	return p, nil
}

// start starts the program and what watches it. The goroutine that has started it keeps its thread for as
// long as it runs, because that it is killed when this process dies is bound to the thread.
func (p *process) start() error {
	o := p.programs.options
	group, err := subprocess.NewGroup()
	if err != nil {
		return err
	}
	theirs := make([]*os.File, 3)
	var errs [3]error
	theirs[0], p.stdin, errs[0] = os.Pipe()
	p.stdout, theirs[1], errs[1] = os.Pipe()
	p.stderr, theirs[2], errs[2] = os.Pipe()
	command := p.place.command()
	p.cmd = osexec.Command(command[0], command[1:]...)
	p.cmd.Dir, p.cmd.Env = o.Dir, subprocess.Environment(o.environment())
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = theirs[0], theirs[1], theirs[2]
	p.group = group
	group.Add(p.cmd)
	started := make(chan error)
	if err := errors.Join(errs[:]...); err != nil {
		closeAll(append(theirs, p.stdin, p.stdout, p.stderr)...)
		group.Close()
		return err
	}
	p.programs.tasks.Go(func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		closeAll(theirs...)
		started <- err
		if err == nil {
			p.wait()
		}
	})
	if err := <-started; err != nil {
		closeAll(p.stdin, p.stdout, p.stderr)
		group.Close()
		return err
	}
	p.reader = bufio.NewReaderSize(p.stdout, 64<<10)
	p.programs.tasks.Go(p.supervise)
	return nil
}

func closeAll(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}

// wait waits until the process has ended, and ends what it has started. A process that still holds its
// pipes then is none of them, and is not waited for.
func (p *process) wait() {
	p.status = p.cmd.Wait()
	p.group.Close()
	soon := time.Now().Add(exitWait)
	_ = p.stdout.SetReadDeadline(soon)
	_ = p.stderr.SetReadDeadline(soon)
	close(p.exited)
}

// supervise reads what the process sends until it is gone.
func (p *process) supervise() {
	p.programs.tasks.Go(func() {
		defer close(p.heard)
		p.log.keep(p.stderr)
	})
	<-p.ready // the one who shakes hands is the first to read
	for p.failure() == nil {
		header, body, err := readFrame(p.reader, int64(p.programs.options.MaxFrame))
		if err == nil {
			err = p.programs.env.Try(func() error { return p.take(header, body) })
		}
		if err != nil {
			p.lose(err)
		}
	}
	<-p.exited
	<-p.heard
	closeAll(p.stdin, p.stdout, p.stderr)
	close(p.ended)
}

// lose finds out why nothing more can be read.
func (p *process) lose(err error) {
	if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, os.ErrDeadlineExceeded) {
		err = fmt.Errorf("it broke the protocol: %w", err)
		p.fail(err, 0)
		p.programs.noteBroken(p.place.named(err))
		return
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		p.fail(p.ending(err), 0)
		return
	}
	p.fail(p.ending(errors.New("it closed its standard output")), 0)
}

// ending returns how the process ended, once its last words have been heard, or the error that is all there
// is to say if it goes on.
func (p *process) ending(otherwise error) error {
	select {
	case <-p.exited:
		<-p.heard // soon: what other processes write is not waited for
	case <-time.After(exitWait):
		return otherwise
	}
	if p.status == nil {
		return errors.New("it ended by itself, with status 0")
	}
	return fmt.Errorf("it ended: %w", p.status)
}

// stop ends the process: politely, then less so. One that has work left is not wanted any more.
func (p *process) stop() {
	p.mu.Lock()
	p.leaving = true
	busy := len(p.calls) > 0
	p.mu.Unlock()
	_ = p.stdin.Close()
	grace := time.Duration(p.programs.options.Grace)
	if busy {
		grace = min(grace, exitWait)
	}
	for _, step := range []struct {
		wait time.Duration
		then func()
	}{{grace, p.group.Terminate}, {exitWait, p.kill}} {
		select {
		case <-p.ended:
			return
		case <-time.After(step.wait):
			step.then()
		}
	}
	<-p.ended
}
