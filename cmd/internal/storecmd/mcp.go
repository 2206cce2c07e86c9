package storecmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/cmd/internal/mcp"
	"github.com/webrace/webrace/pipeline/admin"
	"github.com/webrace/webrace/pipeline/config"
	"github.com/webrace/webrace/stages/fetch"
	"github.com/webrace/webrace/stages/keywordfilter/explain"
	"github.com/webrace/webrace/storage"
)

// mcpFlags determine in whose name an agent acts, and what it may have done.
type mcpFlags struct {
	owner  string
	limits mcp.Limits
	call   string // one call of a tool, as JSON
}

// longestLine is how many bytes a message of the client may have.
const longestLine = 1 << 20

func newMCP(globals *cli.Globals) *cobra.Command {
	var f mcpFlags
	c := &cobra.Command{
		Use:   "mcp",
		Short: "let an agent search, read, and watch, by the Model Context Protocol over standard input and output",
		Long: `mcp is what a client of the Model Context Protocol starts, such as an assistant or an
editor. It speaks the protocol over standard input and output until that ends. Each call
of a tool opens the data directory, or asks the process that has it open, so that runs
may begin and end meanwhile.

The agent acts as the owner whom --owner names, and has what is for all and what is
theirs; without --owner it acts as the operator, to whom everything is shown. It fetches
nothing and begins no crawl unless flags allow it.`,
		Example: `  webrace-store mcp --owner eleni
  webrace-store mcp --owner eleni --fetch --crawl-pages 500 --crawl-host docs.example.org`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := f.limits.Check(""); err != nil {
				return cli.Wrong(err)
			}
			place, err := globals.Place()
			if err != nil {
				return err
			}
			if place.Node {
				return cli.Wrongf("%s is the data directory of a node: mcp does not look into the partitions of a cluster yet", place.Data)
			}
			if f.call != "" {
				return f.callOne(c, globals)
			}
			return f.serve(c, globals, place.Data)
		},
	}
	c.Flags().StringVar(&f.owner, "owner", "", "in whose name the agent acts (default the operator's)")
	f.limits.AddFlags(c.Flags(), "")
	c.Flags().StringVar(&f.call, "call", "", "")
	c.Flags().Lookup("call").Hidden = true
	return c
}

// isMCPServer reports whether a command speaks for itself, and sends its calls alone to the owner of the directory.
func isMCPServer(c *cobra.Command) bool {
	return c.Name() == "mcp" && groupOf(c) == "mcp" && !c.Flags().Changed("call")
}

// serve speaks the protocol until standard input ends, or a signal comes.
func (f *mcpFlags) serve(c *cobra.Command, globals *cli.Globals, data string) (err error) {
	o := mcp.Options{Limits: f.limits, Call: newMCPCalls(globals, data).call}
	if f.limits.Fetch {
		options, err := FetchOptions(globals, nil)
		if err != nil {
			return err
		}
		options.Sign = "" // its key is in a store that is not open
		if o.Fetch, err = mcp.NewFetcher(options, nil); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, o.Fetch.Close()) }()
	}
	if cli.IsTerminal(c.InOrStdin()) {
		note(c, "this speaks the Model Context Protocol to a client that starts it; Ctrl-D ends it")
	}
	ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	transport := &sdk.IOTransport{Reader: io.NopCloser(c.InOrStdin()), Writer: unclosed{cli.Exact(c.OutOrStdout())}, MaxLineLength: longestLine}
	if err := mcp.NewServer(o).Run(ctx, transport); err != nil && ctx.Err() == nil {
		return fmt.Errorf("the session ended: %w", err)
	}
	return nil
}

// unclosed is an output that goes on after its user.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

// mcpCall is a call of a tool, and mcpReply a line of what a command writes of it.
type mcpCall struct {
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
}

type mcpReply struct {
	Say       string          `json:"say,omitempty"`
	Answer    json.RawMessage `json:"answer,omitempty"`
	Error     string          `json:"error,omitempty"`
	NotStored string          `json:"not_stored,omitempty"` // the address
}

// mcpCalls runs calls as commands, which find out who has the data directory open.
type mcpCalls struct {
	globals *cli.Globals
	data    string
	opening sync.Mutex // a directory that nobody has open is opened for one call at a time
}

func newMCPCalls(globals *cli.Globals, data string) *mcpCalls {
	return &mcpCalls{globals: globals, data: data}
}

// call is an [mcp.Caller].
func (m *mcpCalls) call(ctx context.Context, tool string, arguments json.RawMessage, say func(string)) (json.RawMessage, error) {
	asked, err := json.Marshal(mcpCall{tool, arguments})
	if err != nil {
		return nil, err
	}
	if conn, err := admin.Dial(ctx, filepath.Join(m.data, storage.SocketName)); err == nil {
		conn.Close()
	} else {
		m.opening.Lock()
		defer m.opening.Unlock()
	}
	out, replies := io.Pipe()
	var complaints bytes.Buffer
	root := New(with(m.globals.Args, "--call", string(asked)))
	root.SetIn(strings.NewReader(""))
	root.SetOut(replies)
	root.SetErr(&complaints)
	go func() {
		cli.Execute(ctx, root, &complaints)
		replies.Close()
	}()
	answer, err := readReplies(json.NewDecoder(out), say)
	io.Copy(io.Discard, out) // until the command has ended
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, io.EOF):
		return nil, errors.New(strings.TrimPrefix(strings.TrimSpace(complaints.String()), "error: "))
	}
	return answer, err
}

// readReplies reads what a command writes of a call until that has ended.
func readReplies(decoder *json.Decoder, say func(string)) (json.RawMessage, error) {
	for {
		var r mcpReply
		if err := decoder.Decode(&r); err != nil {
			return nil, err
		}
		switch {
		case r.NotStored != "":
			return nil, &mcp.NotStoredError{URL: r.NotStored}
		case r.Error != "":
			return nil, errors.New(r.Error)
		case r.Answer != nil:
			return r.Answer, nil
		}
		say(r.Say)
	}
}

// callOne runs a call over the data directory.
func (f *mcpFlags) callOne(c *cobra.Command, globals *cli.Globals) error {
	var call mcpCall
	if err := json.Unmarshal([]byte(f.call), &call); err != nil {
		return cli.Wrong(err)
	}
	open := lookIntoDir
	if mcp.Changes(call.Tool) {
		open = withDir
	}
	return open(globals, func(dir *storage.Dir) error {
		desk := NewMCPDesk(globals, dir, f.owner, f.limits)
		desk.Running = globals.Shared != nil
		encoder := cli.NewEncoder(cli.Exact(c.OutOrStdout()))
		answer, err := desk.Call(c.Context(), call.Tool, call.Arguments, func(text string) { encoder.Encode(mcpReply{Say: text}) })
		if cli.StatusOf(err) == cli.Environment {
			return err // with what is to be done about it
		}
		reply := mcpReply{Answer: answer}
		if missing := (*mcp.NotStoredError)(nil); errors.As(err, &missing) {
			reply.NotStored = missing.URL
		} else if err != nil {
			reply.Error = err.Error()
		}
		return encoder.Encode(reply)
	})
}

// NewMCPDesk returns what runs tools over a data directory, in the name of an owner.
func NewMCPDesk(globals *cli.Globals, dir *storage.Dir, owner string, limits mcp.Limits) *mcp.Desk {
	return &mcp.Desk{
		Owner: owner, Limits: limits, Globals: globals, Dir: dir,
		Queues: func(f func(explain.Queues) error) error {
			return WithQueues(globals, dir, func(string, ...any) {}, f) // the rules of what is not set up matter to who operates it
		},
	}
}

// FetchOptions returns how the first of some pipelines fetches that does; nil are all that there are.
func FetchOptions(globals *cli.Globals, names []string) (o fetch.Options, err error) {
	if names == nil {
		all, err := globals.Load(config.LoadOptions{Run: []string{}})
		if err != nil {
			return o, err
		}
		for _, p := range all.Pipelines {
			names = append(names, p.Name)
		}
	}
	var wrong []error
	for _, name := range names {
		loaded, err := LoadWith(globals, name)
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		graph, err := loaded.Graph(name)
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		for _, s := range graph.Stages {
			if options, ok := s.Options.(fetch.Options); ok {
				return options, nil
			}
		}
	}
	if len(wrong) > 0 {
		return o, errors.Join(wrong...)
	}
	return o, cli.Wrongf("no pipeline has a stage fetch: there is no way to ask for a page")
}
