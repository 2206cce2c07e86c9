package credentials

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/webrace/webrace/internal/secretfile"
	"github.com/webrace/webrace/internal/subprocess"
)

// Origin is where a secret comes from that is not stored itself. The zero Origin is that of one that is.
//
// Who names an origin has the process read any file of its user, or run any program: so only the user of the process
// does, by a command at its own socket, and no text that comes from elsewhere is ever read as one.
type Origin struct {
	File    string   `json:"file,omitempty"`    // its path, in full
	Command []string `json:"command,omitempty"` // a program and its arguments, which no shell reads
}

// IsZero reports whether the secret is stored itself.
func (o Origin) IsZero() bool { return o.File == "" && len(o.Command) == 0 }

// String returns what [Secret.From] was given.
func (o Origin) String() string {
	switch {
	case o.File != "":
		return "file " + o.File
	case len(o.Command) > 0:
		return "command " + JoinWords(o.Command)
	}
	return "stored"
}

// Check returns why nothing can come from there.
func (o Origin) Check() error {
	control := func(text string) bool {
		return strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f })
	}
	switch {
	case o.File != "" && len(o.Command) > 0:
		return errors.New("a secret comes from a file or from a command, not from both")
	case o.File != "" && !filepath.IsAbs(o.File):
		return fmt.Errorf("the path %s is not in full", o.File)
	case len(o.Command) > 0 && o.Command[0] == "":
		return errors.New("the command names no program")
	case control(o.File) || slices.ContainsFunc(o.Command, control):
		return errors.New("a path or command with line breaks or other control characters is not taken")
	}
	return nil
}

// commandLimit is how long a command may take.
const commandLimit = 30 * time.Second

// Read returns the secret. The error never holds anything of it, nor of what the command said.
func (o Origin) Read(ctx context.Context) (string, error) {
	if o.File != "" {
		return secretfile.Read(o.File)
	}
	said, err := o.run(ctx, commandLimit)
	if err == nil {
		var value string
		if value, err = secretfile.Parse(said); err == nil {
			return value, nil
		}
		err = fmt.Errorf("its output %w", err)
	}
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	return "", fmt.Errorf("the command %s fails: %w", o.Command[0], err)
}

// run returns what the command prints. It and all that it has started have ended then.
func (o Origin) run(ctx context.Context, limit time.Duration) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	group, err := subprocess.NewGroup()
	if err != nil {
		return nil, err
	}
	defer group.Close()
	said := &bounded{stop: cancel}
	c := exec.CommandContext(ctx, o.Command[0], o.Command[1:]...)
	c.Env, c.Stdout, c.WaitDelay = subprocess.Environment(nil), said, time.Second
	c.Cancel = func() error {
		group.Kill()
		return c.Process.Kill()
	}
	group.Add(c)
	runtime.LockOSThread() // for as long as the command runs: [subprocess.Group.Add]
	defer runtime.UnlockOSThread()
	err = c.Run()
	switch {
	case said.over:
		return nil, fmt.Errorf("it says more than %d KB", secretfile.Max>>10)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, fmt.Errorf("it takes longer than %v", limit)
	case err != nil && !errors.Is(err, exec.ErrWaitDelay): // what it has left behind holds its output, and was given up
		return nil, err
	}
	return said.text.Bytes(), nil
}

// bounded keeps as much as a secret may have, and stops a command that prints more.
type bounded struct {
	text bytes.Buffer
	over bool
	stop func()
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.text.Len()+len(p) > secretfile.Max {
		b.over = true
		b.stop()
		return 0, errors.New("too much")
	}
	return b.text.Write(p)
}
