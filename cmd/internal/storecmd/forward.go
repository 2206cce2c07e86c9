package storecmd

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

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

// AnswerNodes is Answer for other nodes of a cluster, whose files are not here, over the partitions of this one: the
// configuration is that of this process. A search may be asked of several partitions, which answer at the same time.
func AnswerNodes(dirs map[int]*storage.Dir, config string) func(context.Context, remote.Call) int {
	return func(ctx context.Context, call remote.Call) int {
		if call.Part == nil {
			fmt.Fprintln(call.Err, "error: a node is asked for its partitions alone")
			return cli.Environment
		}
		var asked []*storage.Dir
		for _, p := range append([]int{call.Part.Partition}, call.Part.More...) {
			if dirs[p] == nil {
				fmt.Fprintf(call.Err, "error: this node does not have partition %s, which it is asked for\n", cli.PartitionName(p))
				return cli.Environment
			}
			asked = append(asked, dirs[p])
		}
		globals := &cli.Globals{Shared: asked[0]}
		return runCall(context.WithValue(ctx, togetherKey{}, asked), globals, func(c *cobra.Command) error {
			globals.Config, globals.Data = config, ""
			if !isInParts(c) {
				return fmt.Errorf("%s is no command that a node runs for others", c.CommandPath())
			}
			if len(asked) > 1 && (groupOf(c) != "search" || c.Flags().Changed("rebuild")) {
				return fmt.Errorf("%s is no command that partitions are asked together", c.CommandPath())
			}
			return nil
		}, call)
	}
}

// togetherKey is where the context of a command has the directories of the partitions that are asked together.
type togetherKey struct{}

func togetherOf(c *cobra.Command) []*storage.Dir {
	dirs, _ := c.Context().Value(togetherKey{}).([]*storage.Dir)
	return dirs
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
func askOwner(c *cobra.Command, globals *cli.Globals, args []string) error {
	data, err := globals.DataDir()
	if err != nil {
		return nil
	}
	conn, err := admin.Dial(c.Context(), filepath.Join(data, storage.SocketName))
	if err != nil {
		return nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	client := remote.Client{In: c.InOrStdin(), Out: cli.Exact(c.OutOrStdout()), Err: cli.Exact(c.ErrOrStderr())} // the owner knows what is a terminal
	status, err := client.Run(c.Context(), conn, remote.Request{
		Args: args, Dir: dir, Stdin: screen(c.InOrStdin()), Stdout: screen(c.OutOrStdout()), Stderr: screen(c.ErrOrStderr()),
	})
	if err != nil {
		return &cli.Error{Status: cli.Environment, Err: fmt.Errorf("ask the process that has %s open: %w", data, err)}
	}
	return &cli.Error{Status: status}
}

func screen(stream any) remote.Screen {
	if !cli.IsTerminal(stream) {
		return remote.Screen{}
	}
	return remote.Screen{Terminal: true, Columns: cli.Width(stream)}
}
