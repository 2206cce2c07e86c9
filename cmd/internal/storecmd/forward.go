package storecmd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/cmd/internal/remote"
	"github.com/webrace/webrace/pipeline/admin"
	"github.com/webrace/webrace/storage"
)

// Answer returns what runs a command for another process over a data directory that this one has open.
func Answer(dir *storage.Dir) func(context.Context, remote.Call) int {
	return func(ctx context.Context, call remote.Call) int {
		return runCall(ctx, &cli.Globals{Shared: dir, WorkDir: call.Dir}, nil, call)
	}
}

// runCall runs a command for another, after given has put right what its flags say, unless that is nil.
func runCall(ctx context.Context, globals *cli.Globals, given func(c *cobra.Command) error, call remote.Call) int {
	root := newRoot(globals)
	if given != nil {
		root.PersistentPreRunE = func(c *cobra.Command, _ []string) error { return given(c) }
	}
	root.SetArgs(call.Args)
	root.SetIn(call.In)
	root.SetOut(call.Out)
	root.SetErr(call.Err)
	if call.Part != nil {
		ctx = context.WithValue(ctx, partKey{}, call.Part)
	}
	return cli.Execute(ctx, root, call.Err)
}

// askOwner has the process that owns the data directory run the command, if there is one that answers. The
// command is not run here then: what it returns has the status that it ended with. Whatever else keeps the
// owner from being asked, the command finds out for itself.
func askOwner(c *cobra.Command, globals *cli.Globals, args []string, path string) error {
	data, err := globals.DataDir()
	if err != nil {
		return nil
	}
	conn, err := dialOwner(c.Context(), data)
	if err != nil {
		return nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	client := remote.Client{Path: path, In: c.InOrStdin(), Out: cli.Exact(c.OutOrStdout()), Err: cli.Exact(c.ErrOrStderr())} // the owner knows what is a terminal
	status, err := client.Run(c.Context(), conn, remote.Request{
		Args: args, Dir: dir, Stdin: screen(c.InOrStdin()), Stdout: screen(c.OutOrStdout()), Stderr: screen(c.ErrOrStderr()),
	})
	switch {
	case path == remote.ClusterPath && (status == remote.NotHere || errors.As(err, new(*remote.RefusedError))):
		return nil
	case err != nil:
		return &cli.Error{Status: cli.Environment, Err: fmt.Errorf("ask the process that has %s open: %w", data, err)}
	}
	return &cli.Error{Status: status}
}

const (
	startsWithin = 10 * time.Second // in which a process that has taken its data directory should answer
	startsPoll   = 10 * time.Millisecond
)

// dialOwner connects to the process that owns a data directory, if one does and answers. One that has just begun has
// the directory before it answers, so it is waited for.
func dialOwner(ctx context.Context, data string) (net.Conn, error) {
	for began := time.Now(); ; {
		conn, err := admin.Dial(ctx, filepath.Join(data, storage.SocketName))
		if err == nil {
			return conn, nil
		}
		owner, owned := storage.OwnerOf(data)
		since := began // of one that has not said yet which it is
		if owner.Since.Before(began) && owner.PID != 0 {
			since = owner.Since
		}
		if !owned || time.Since(since) > startsWithin {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(startsPoll):
		}
	}
}

func screen(stream any) remote.Screen {
	if !cli.IsTerminal(stream) {
		return remote.Screen{}
	}
	return remote.Screen{Terminal: true, Columns: cli.Width(stream)}
}
