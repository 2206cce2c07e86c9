package storecmd

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/cmd/internal/remote"
	"github.com/webrace/webrace/internal/suggest"
	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/pipeline/config"
	"github.com/webrace/webrace/storage/cluster"
	"github.com/webrace/webrace/storage/control"
)

// parts are the partitions of a cluster, of which a command is asked: each where it is.
type parts struct {
	c       *cobra.Command
	globals *cli.Globals
	place   cli.Place
	cluster *config.Cluster
	where   cluster.Where
	control func() (*control.Store, error) // for partitions at rest, opened once
	tls     func() (*tls.Config, error)    // by which other nodes are asked
	running *Node                          // that asks; nil: the command does

	fills bool            // the command may be the first to store something
	ask   json.RawMessage // what is asked for beside the command; nil: nothing

	mu   sync.Mutex
	away map[int]error // nodes that cannot be asked
}

// inParts are the commands that are asked of the partitions of a node, and not of its own directory.
var inParts = []string{"cache", "search", "explain", "rematch", "why", "frontier", "scope", "gc"}

// isInParts reports whether a command is one of these, or lists how crawls stand.
func isInParts(c *cobra.Command) bool {
	return slices.Contains(inParts, groupOf(c)) || groupOf(c) == "urd" && c.Name() == "list"
}

// asksParts reports whether a command is one of these, over the data directory of a node.
func asksParts(c *cobra.Command, globals *cli.Globals) bool {
	if globals.Shared != nil || partOf(c) != nil || !isInParts(c) {
		return false
	}
	place, err := globals.Place()
	return err == nil && place.Node // else it is found out when the directory is opened
}

// groupOf returns the first word of a command.
func groupOf(c *cobra.Command) string {
	for c.HasParent() && c.Parent().HasParent() {
		c = c.Parent()
	}
	return c.Name()
}

// withParts runs f on the partitions, if the command is asked of these, and reports whether it is.
func withParts(c *cobra.Command, globals *cli.Globals, f func(*parts) error) (asked bool, err error) {
	if n := nodeOf(c); n != nil {
		p, err := n.parts(c, globals)
		if err != nil {
			return true, err
		}
		return true, f(p)
	}
	if !asksParts(c, globals) {
		return false, nil
	}
	loaded, err := globals.Load(config.LoadOptions{Run: []string{}})
	if err != nil {
		return true, err
	}
	p := &parts{c: c, globals: globals, place: cli.PlaceOf(loaded), cluster: loaded.Cluster, tls: clientTLS(loaded.Cluster), away: make(map[int]error)}
	if p.where, err = cluster.WhereOf(c.Context(), p.cluster.Database); err != nil {
		return true, &cli.Error{Status: cli.Environment, Err: err}
	}
	var opened *control.Store
	p.control = sync.OnceValues(func() (_ *control.Store, err error) {
		opened, err = p.place.OpenControl(groupOf(c) != "gc")
		return opened, err
	})
	err = f(p)
	if opened != nil {
		err = errors.Join(err, opened.Close())
	}
	return true, err
}

// atHome runs the command in the partition of a host, as if it were all there is.
func atHome(c *cobra.Command, globals *cli.Globals, host string, more ...string) (asked bool, err error) {
	return withParts(c, globals, func(p *parts) error {
		call := remote.Call{In: c.InOrStdin(), Out: cli.Exact(c.OutOrStdout()), Err: cli.Exact(c.ErrOrStderr())}
		call.Stdin, call.Stdout, call.Stderr = screen(c.InOrStdin()), screen(c.OutOrStdout()), screen(c.ErrOrStderr())
		call.Args = with(globals.Args, more...)
		call.Part = &remote.Part{Partition: cluster.PartitionOf(host, p.where.Partitions)}
		status, err := p.run(c.Context(), call)
		if err != nil {
			return errors.Join(err, p.lacking())
		}
		if status != cli.OK {
			return &cli.Error{Status: status}
		}
		return nil
	})
}

// atHomeOf is atHome for the host of a URL.
func atHomeOf(c *cobra.Command, globals *cli.Globals, url string) (asked bool, err error) {
	return atHome(c, globals, urlnorm.Host(url))
}

// wholeFromHome is atHomeOf for a command that writes a file, which is to be here: it sends what is in it.
func wholeFromHome(c *cobra.Command, globals *cli.Globals, url, path string) (asked bool, err error) {
	if !asksParts(c, globals) || path == "-" {
		return atHomeOf(c, globals, url)
	}
	return true, cli.WriteWhole(path, 0o644, func(w io.Writer) error {
		out := c.OutOrStdout()
		defer c.SetOut(out)
		c.SetOut(w)
		_, err := atHome(c, globals, urlnorm.Host(url), "--output", "-")
		return err
	})
}

// with returns a command line with more flags.
func with(args []string, more ...string) []string {
	end := slices.Index(args, "--")
	if end < 0 {
		end = len(args)
	}
	return slices.Insert(slices.Clone(args), end, more...)
}

// partKey is where the context of a command has the part that is asked.
type partKey struct{}

// partOf returns the part that a command is asked of; nil: of all that there is.
func partOf(c *cobra.Command) *remote.Part {
	part, _ := c.Context().Value(partKey{}).(*remote.Part)
	return part
}

// run runs a command in a partition, and returns the status that it ends with, or a [unreachable].
func (p *parts) run(ctx context.Context, call remote.Call) (status int, err error) {
	conn, err := p.connect(ctx, call.Part)
	if err != nil {
		return 0, err
	}
	if conn == nil {
		partition := call.Part.Partition
		return p.atRest(ctx, cli.PartitionDir(p.dirOf(p.where.Node[partition]), partition), call)
	}
	return p.runOn(ctx, conn, call)
}

// connect connects to the process that has a partition open; nil if it is on this machine, and none has.
func (p *parts) connect(ctx context.Context, part *remote.Part) (net.Conn, error) {
	node := p.where.Node[part.Partition]
	data := p.dirOf(node)
	if data == "" {
		conn, err := p.dial(ctx, node)
		if err != nil {
			return nil, p.cannotAsk(node, err)
		}
		return conn, nil
	}
	conn, err := dialOwner(ctx, cli.PartitionDir(data, part.Partition))
	if err != nil {
		return nil, nil
	}
	return conn, nil
}

// runOn runs a command over a connection to who has its partition.
func (p *parts) runOn(ctx context.Context, conn net.Conn, call remote.Call) (status int, err error) {
	if call.Dir, err = os.Getwd(); err != nil {
		conn.Close()
		return 0, err
	}
	client := remote.Client{In: call.In, Out: call.Out, Err: call.Err}
	if status, err = client.Run(ctx, conn, call.Request); err != nil && ctx.Err() == nil {
		err = p.cannotAsk(p.where.Node[call.Part.Partition], err)
	}
	return status, err
}

// dirOf returns the data directory of a node that is on this machine; empty for another's.
func (p *parts) dirOf(node int) string {
	if node < 0 {
		return "" // it is on its way
	}
	if node == p.cluster.Node {
		return p.place.Data
	}
	machine, dir, _ := strings.Cut(p.where.Nodes[node].Place, ":")
	if here, err := os.Hostname(); err != nil || here != machine {
		return ""
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return ""
	}
	return dir
}

// answersWithin is how long a node may take to answer that it is there.
const answersWithin = 5 * time.Second

// dial connects to a node on another machine.
func (p *parts) dial(ctx context.Context, node int) (net.Conn, error) {
	dial, err := p.dialer(node)
	if err != nil {
		return nil, err
	}
	return dial(ctx)
}

// dialer returns what connects to a node on another machine.
func (p *parts) dialer(node int) (func(context.Context) (net.Conn, error), error) {
	if node < 0 {
		return nil, errors.New("webrace-store cluster move PARTITION --from BACKUP, there, takes it in")
	}
	home := p.where.Nodes[node]
	switch {
	case home.Place == "":
		return nil, errors.New("it never ran")
	case home.Address == "":
		return nil, errors.New("it has no address in its [cluster]")
	case p.cluster.TLS.CA == "":
		return nil, errors.New("the configuration's [cluster] has no address and tls to ask it with")
	}
	config, err := p.tls()
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (net.Conn, error) {
		dialer := tls.Dialer{NetDialer: &net.Dialer{Timeout: answersWithin}, Config: config}
		ctx, cancel := context.WithTimeout(ctx, answersWithin)
		defer cancel()
		return dialer.DialContext(ctx, "tcp", home.Address)
	}, nil
}

// clientTLS returns ClusterTLS, read once, for who asks nodes several times.
func clientTLS(c *config.Cluster) func() (*tls.Config, error) {
	return sync.OnceValues(func() (*tls.Config, error) {
		config, err := ClusterTLS(c)
		if err == nil {
			config.ClientSessionCache = tls.NewLRUClientSessionCache(0) // who is asked again is known
		}
		return config, err
	})
}

// ClusterTLS returns by what a node shows who it is, and knows the others: all that one authority has signed.
func ClusterTLS(c *config.Cluster) (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(c.TLS.Cert, c.TLS.Key)
	if err != nil {
		return nil, fmt.Errorf("tls in [cluster]: %w", err)
	}
	text, err := os.ReadFile(c.TLS.CA)
	if err != nil {
		return nil, fmt.Errorf("tls in [cluster]: %w", err)
	}
	ca := x509.NewCertPool()
	if !ca.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("tls in [cluster]: %s has no certificate in PEM", c.TLS.CA)
	}
	return &tls.Config{
		Certificates: []tls.Certificate{pair}, RootCAs: ca, ClientCAs: ca, ClientAuth: tls.RequireAndVerifyClientCert,
		NextProtos: []string{"http/1.1"}, MinVersion: tls.VersionTLS13,
	}, nil
}

// atRest runs a command over a partition that no process has open. One that is not there yet holds nothing.
func (p *parts) atRest(ctx context.Context, dir string, call remote.Call) (status int, err error) {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) && !p.fills {
		empty, err := os.MkdirTemp("", "webrace-look-")
		if err != nil {
			return 0, err
		}
		defer os.RemoveAll(empty)
		dir = cli.PartitionDir(empty, call.Part.Partition)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return 0, err
		}
	}
	store, err := p.control()
	if err != nil {
		return 0, err
	}
	globals := &cli.Globals{WorkDir: p.globals.WorkDir, Outside: store}
	given := func(*cobra.Command) error {
		globals.Data = dir
		return nil
	}
	return runCall(ctx, globals, given, call), nil
}

// unreachable is the error of who needs a node that cannot be asked.
type unreachable struct {
	node int
	err  error
}

func (u *unreachable) Error() string {
	if u.node < 0 {
		return fmt.Sprintf("on its way to node %d: %v", cluster.OnWay(u.node), u.err)
	}
	return fmt.Sprintf("node %d: %v", u.node, u.err)
}
func (u *unreachable) Unwrap() error { return u.err }

// cannotAsk notes that a node cannot be asked.
func (p *parts) cannotAsk(node int, err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.away[node] == nil {
		p.away[node] = err
	}
	return &unreachable{node, err}
}

// lacking returns what of an answer is missing because nodes cannot be asked; nil if nothing is.
func (p *parts) lacking() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []error
	for node := range p.where.Nodes {
		if why := p.away[node]; why != nil {
			all = append(all, fmt.Errorf("node %d%s cannot be asked: %w: missing is what %s",
				node, reachedAt(p.where.Nodes[node]), why, p.partitionsOf(node)))
		}
		if onWay := cluster.OnWay(node); p.away[onWay] != nil {
			all = append(all, fmt.Errorf("on the way to node %d: %w: missing is what %s", node, p.away[onWay], p.partitionsOf(onWay)))
		}
	}
	if len(all) == 0 {
		return nil
	}
	return &cli.Error{Status: cli.Environment, Err: errors.Join(all...)}
}

func reachedAt(h cluster.Home) string {
	if h.Address == "" {
		return ""
	}
	return " (https://" + h.Address + ")"
}

// partitionsOf names the partitions of a node, as "partitions 1 and 4 have".
func (p *parts) partitionsOf(node int) string {
	var names []string
	for partition, of := range p.where.Node {
		if of == node {
			names = append(names, cli.PartitionName(partition))
		}
	}
	if len(names) == 1 {
		return "partition " + names[0] + " has"
	}
	return "partitions " + suggest.And(names) + " have"
}
