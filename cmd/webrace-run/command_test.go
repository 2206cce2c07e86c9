package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/webrace/webrace/internal/testutil"
)

// patience is how long anything may take that is waited for.
const patience = time.Minute

// command is the program, in a process of its own.
type command struct {
	*exec.Cmd
	t      *testing.T
	output testutil.Buffer // what it has said so far
}

// newCommand returns the command with these arguments, to be started.
func newCommand(t *testing.T, args ...string) *command {
	p := &command{Cmd: exec.Command("webrace-run", args...), t: t} // which TestMain has put into the PATH
	p.Stdout, p.Stderr = &p.output, &p.output
	return p
}

// startCommand starts the command with these arguments, and kills it when the test ends.
func startCommand(t *testing.T, args ...string) *command {
	t.Helper()
	p := newCommand(t, args...)
	p.begin()
	return p
}

func (p *command) begin() {
	p.t.Helper()
	if err := p.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { p.Process.Kill() })
}

func (p *command) said() string { return p.output.String() }

func (p *command) signal(s os.Signal) {
	p.t.Helper()
	if err := p.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// waitUntil waits until the process has said something.
func (p *command) waitUntil(says string) {
	p.t.Helper()
	p.waitUntilSaid(says, 1)
}

// waitUntilSaid waits until the process has said something so many times.
func (p *command) waitUntilSaid(what string, times int) {
	p.t.Helper()
	waitFor(p.t, func() bool { return strings.Count(p.said(), what) >= times }, func() string {
		return fmt.Sprintf("it does not say %q %d times, but:\n%s", what, times, p.said())
	})
}

// waitFor waits until something is so, and fails with what it is otherwise.
func waitFor(t *testing.T, is func() bool, otherwise func() string) {
	t.Helper()
	for deadline := time.Now().Add(patience); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal(otherwise())
		}
	}
}

// mustExit waits for the end of the process.
func (p *command) mustExit(status int) {
	p.t.Helper()
	ended := make(chan struct{})
	go func() {
		p.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(patience):
		p.signal(syscall.SIGQUIT) // shows what it hangs in
		<-ended
		p.t.Fatalf("it does not end:\n%s", p.said())
	}
	if got := p.ProcessState.ExitCode(); got != status {
		p.t.Fatalf("exit status %d, want %d:\n%s", got, status, p.said())
	}
}

// isKilled waits for the end of the process, and reports whether it was killed by a signal. Otherwise it is to have
// succeeded.
func (p *command) isKilled() bool {
	p.t.Helper()
	err := p.Wait()
	if status := p.ProcessState.Sys().(syscall.WaitStatus); status.Signaled() && status.Signal() == syscall.SIGKILL {
		return true
	}
	if err != nil {
		p.t.Fatalf("%v\n%s", err, p.said())
	}
	return false
}
