// Package sparql is the endpoint that answers queries in SPARQL 1.1 over what documents state, by the SPARQL 1.1
// Protocol.
//
// What it guarantees: each answer is of one state of the store; a query ends within its limits of time and memory, and
// neither it nor a client that goes away leaves anything open; so many queries run at once and so many wait, and others
// are told to come again; and an answer that cannot be finished is seen not to be whole: by its status as long as no
// more than 64 KiB of it are there, and afterwards because its last part is missing. On an address that other machines
// can reach it does not begin to listen without a token.
package sparql

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/webrace/webrace/internal/sparql"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/admin"
	_ "github.com/webrace/webrace/stages/kinds" // whose values it gives
	"github.com/webrace/webrace/storage"
)

// Options of the stage.
type Options struct {
	Listen  string            `toml:"listen" doc:"the address to listen on: HOST:PORT; no host is all addresses of the machine"`
	Path    string            `toml:"path" doc:"the path of the URL that queries are sent to"`
	Token   pipeline.Secret   `toml:"token" doc:"what requests identify themselves with, as Authorization: Bearer TOKEN; without one, they are taken from this machine alone"`
	Queries int               `toml:"queries" doc:"queries that run at once"`
	Waiting int               `toml:"waiting" doc:"queries that wait while so many run; others give 503, and Retry-After"`
	Timeout pipeline.Duration `toml:"timeout" doc:"how long a query may take, from its beginning until the last of its answer is written"`
	Memory  pipeline.Size     `toml:"memory" doc:"how much a query may keep in memory: what it sorts, groups and joins"`
}

var defaults = Options{
	Listen: "127.0.0.1:8482", Path: "/sparql", Queries: 4, Waiting: 16,
	Timeout: pipeline.Duration(sparql.DefaultTime), Memory: pipeline.Size(sparql.DefaultMemory),
}

func init() {
	pipeline.Register(pipeline.Spec{
		Type:       "sparql",
		PerProcess: true,
		Whole:      "it would answer of the documents of one partition alone",
		Summary:    "answers queries in SPARQL over what documents say, by the SPARQL 1.1 Protocol",
		Doc: "GET and both POSTs of the protocol; without a query the answer describes the endpoint, and what is said, in VoID. The stage goes on until the run is told to " +
			"end: queries that run by then are answered, and those that wait get 503. It gives a record of each query: `query`, `form`, `status`, `format`, " +
			"`rows`, `bytes`, `seconds`, `kept` (bytes of memory), and `error`. The counters `answered`, `unchanged` (304), `wrong` (4xx), `failed` (5xx), `cut` (an answer that " +
			"lacks its end, as its client has seen), `gone` (a client that did not wait) and `busy` (503) say what became of them, and `unrecorded` counts records that nobody took in time; `running` and `waiting` are how many there " +
			"are. TLS is for a proxy in front of it.",
		Out: []pipeline.Port{{Kind: pipeline.KindOf[pipeline.Record](), Doc: "each query, and what became of it"}},
	}, defaults, newStage)
}

// recordsWaiting is how many records wait while nobody takes them, as in a run that is paused. Beyond, they are counted
// alone.
const recordsWaiting = 256

// leastMemory is what a query needs at least to be of any use.
const leastMemory = 1 << 20

// Validate refuses limits of nothing, and addresses that others can reach without a token. A name is not looked up
// before the stage is opened.
func (o Options) Validate() error {
	host, port, err := net.SplitHostPort(o.Listen)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	if err != nil {
		return &pipeline.OptionError{Option: "listen", Err: fmt.Errorf("%q is not HOST:PORT: %w", o.Listen, err)}
	}
	if host == "" || net.ParseIP(host) != nil {
		if _, err := o.endpoint(); err != nil {
			return err
		}
	}
	if !strings.HasPrefix(o.Path, "/") {
		return &pipeline.OptionError{Option: "path", Err: fmt.Errorf("%q does not begin with /", o.Path)}
	}
	for option, n := range map[string]int64{"queries": int64(o.Queries), "timeout": int64(o.Timeout)} {
		if n < 1 {
			return &pipeline.OptionError{Option: option, Err: errors.New("must be more than 0")}
		}
	}
	switch {
	case o.Waiting < 0:
		return &pipeline.OptionError{Option: "waiting", Err: fmt.Errorf("%d is negative; with 0 none waits", o.Waiting)}
	case o.Memory < leastMemory:
		return &pipeline.OptionError{Option: "memory", Err: errors.New("must be at least 1MiB")}
	}
	return nil
}

// endpoint returns the address, and who may come in there.
func (o Options) endpoint() (*admin.Endpoint, error) {
	e, err := admin.NewEndpoint(o.Listen, o.Token.Reveal())
	switch {
	case errors.Is(err, admin.ErrTokenNeeded):
		return nil, &pipeline.OptionError{Option: "listen", Err: fmt.Errorf("%w: set the option token (as ${WEBRACE_SPARQL_TOKEN}), or listen on 127.0.0.1", err)}
	case err != nil && !o.Token.IsZero() && strings.Contains(err.Error(), "the token has"):
		return nil, &pipeline.OptionError{Option: "token", Err: err}
	case err != nil:
		return nil, &pipeline.OptionError{Option: "listen", Err: err}
	}
	return e, nil
}

func (o Options) limits() sparql.Limits {
	return sparql.Limits{Time: time.Duration(o.Timeout), Memory: int64(o.Memory)}
}

var (
	_ pipeline.Source  = (*stage)(nil)
	_ pipeline.Opener  = (*stage)(nil)
	_ pipeline.Closer  = (*stage)(nil)
	_ pipeline.Checker = (*stage)(nil)
)

func newStage(o Options, env *pipeline.Env) (any, error) {
	dir, err := pipeline.Resource[*storage.Dir](env)
	if err != nil {
		return nil, err
	}
	store, err := dir.Quads()
	if err != nil {
		return nil, err
	}
	return &stage{
		options: o, env: env, quads: store, records: make(chan pipeline.Record, recordsWaiting),
		places: make(chan struct{}, o.Queries+o.Waiting), turns: make(chan struct{}, o.Queries),
		described: description{turn: make(chan struct{}, 1)},
	}, nil
}

// Check finds out whether the address can be listened on; it does not, since another program may do so until this
// pipeline is started.
func (s *stage) Check(context.Context) error {
	_, err := s.options.endpoint()
	return err
}

// Open begins to listen. Queries are answered when the run has begun.
func (s *stage) Open(ctx context.Context) error {
	e, err := s.options.endpoint()
	if err != nil {
		return err
	}
	listener, err := s.env.Listen("tcp", s.options.Listen)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.run, s.door, s.listener = ctx, e, listener
	s.env.Logger.Info("queries are answered", "url", "http://"+listener.Addr().String()+s.options.Path)
	return nil
}
