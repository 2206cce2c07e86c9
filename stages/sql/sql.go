// Package sql is the stage that reads databases: PostgreSQL, MariaDB and SQLite. What is asked of them is declared by
// the operator; the address of a source, db://NAME?parameter=value, names a query and gives its parameters their
// values, which become values of the driver's parameters and never text.
//
// It guarantees: nothing in a database is changed. A query is one statement, begins as one that reads, and is executed
// in a transaction that cannot write; SQLite's file is opened to be read, and no other. A statement takes no longer
// than timeout, its answer no more than max_rows and max_size. The password of an account goes where its secret is
// for, and stands in no address and no error.
//
// A query without a mark is one document, a list in JSON whose entries are the rows: what is new, changed and gone of
// them is found as of every list. With a mark, each row is a document, read when its mark is a later one, or was
// committed late (overlap).
package sql

import (
	"context"
	dbsql "database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/agent"
	_ "github.com/webrace/webrace/stages/kinds" // documents and requests
)

// Options of the stage.
type Options struct {
	Sources           map[string]Source `toml:"sources" doc:"the queries that URDs may name, by their names: letters, digits, - and _"`
	Backlog           int               `toml:"backlog" doc:"how many rows the first visit of a source with a mark takes, the newest; 0 takes all that there are"`
	MaxRows           int               `toml:"max_rows" doc:"the most rows of an answer; more fail the visit"`
	MaxSize           pipeline.Size     `toml:"max_size" doc:"the largest answer, as the documents that are made of it; more fails the visit. Without a mark it is 12MB at most, since of a larger list not all is compared"`
	ConnectTimeout    pipeline.Duration `toml:"connect_timeout" doc:"the longest that connecting and logging in may take"`
	Timeout           pipeline.Duration `toml:"timeout" doc:"the longest that a query may take, from when it is asked to its last row"`
	Backoff           pipeline.Duration `toml:"backoff" doc:"how long after a failure of the network a source is asked again, four times as long after each further one"`
	MaxBackoff        pipeline.Duration `toml:"max_backoff" doc:"the longest of these"`
	MaxUnauthorized   int               `toml:"max_unauthorized" doc:"how often in a row a server may refuse a secret, before it is not sent there for unauthorized_pause"`
	UnauthorizedPause pipeline.Duration `toml:"unauthorized_pause" doc:"for how long a secret is not sent to a server that refused it too often, unless it is set anew"`
}

// How large a list is, and how many values it has, at most: of more, not all would be compared, since a text is cut at
// 16 MiB, and at so many blocks.
const (
	mostSize  = 12_000_000
	mostCells = 262_144
)

var defaults = Options{
	Backlog: agent.Defaults.Backlog, MaxRows: 50_000, MaxSize: 32e6,
	ConnectTimeout: agent.Defaults.ConnectTimeout, Timeout: agent.Defaults.Timeout,
	Backoff: agent.Defaults.Backoff, MaxBackoff: agent.Defaults.MaxBackoff,
	MaxUnauthorized: agent.Defaults.MaxUnauthorized, UnauthorizedPause: agent.Defaults.UnauthorizedPause,
}

var schemes = []string{"db"}

// portRows is where rows go that are documents of their own.
const portRows = "rows"

func init() {
	fetched := []pipeline.Case{{Name: string(webrace.Fetched), Parts: []pipeline.Part{webrace.PartBody}}}
	pipeline.Register(pipeline.Spec{
		Type:    "sql",
		Single:  true,
		Summary: "reads the answers to declared queries of databases, and changes nothing there",
		Doc: "A query without a mark is one document, at the address of the source: a list in JSON whose entries are the rows. With a mark, each row that is new " +
			"or changed since the last visit is a document of its own, at the port rows, whose address is that of the source with the row's key; " +
			"what is learned of it must end at a stage `queue`, so that it is not taken for what is known of the source.",
		In: pipeline.Kinds(pipeline.KindOf[webrace.Request]()),
		Out: []pipeline.Port{
			{
				Kind: pipeline.KindOf[*webrace.Document](), Doc: "the answers to queries without a mark, which are as they are stored or others",
				Cases: append(slices.Clone(fetched), pipeline.Case{Name: string(webrace.NotModified), Queued: true}),
			},
			{Name: portRows, Kind: pipeline.KindOf[*webrace.Document](), Doc: "the rows of queries with one, in the order of their marks", Cases: fetched},
		},
		Workers: 8, PerProcess: true,
	}, defaults, newStage)
}

// Validate refuses limits that let nothing through, and sources that cannot be read.
func (o Options) Validate() error {
	if err := o.forAgent().Validate(); err != nil {
		return err
	}
	switch {
	case o.MaxRows <= 0:
		return &pipeline.OptionError{Option: "max_rows", Err: errors.New("must be more than 0")}
	case o.MaxSize > 1e9:
		return &pipeline.OptionError{Option: "max_size", Err: fmt.Errorf("%d is more than an answer can have, which is 1GB", o.MaxSize)}
	}
	for _, name := range slices.Sorted(maps.Keys(o.Sources)) {
		if !names.MatchString(name) {
			return &pipeline.OptionError{Option: "sources", Err: fmt.Errorf("%q is no name of a source: small letters, digits, - and _ are, from a letter on", name)}
		}
		if err := o.Sources[name].validate(); err != nil {
			option, _ := errors.AsType[*pipeline.OptionError](err)
			return &pipeline.OptionError{Option: "sources." + name + "." + option.Option, Err: option.Err}
		}
	}
	return nil
}

// forAgent returns the options of all agents.
func (o Options) forAgent() agent.Options {
	return agent.Options{
		Backlog: o.Backlog, MaxSize: o.MaxSize, ConnectTimeout: o.ConnectTimeout, Timeout: o.Timeout, Backoff: o.Backoff, MaxBackoff: o.MaxBackoff,
		MaxUnauthorized: o.MaxUnauthorized, UnauthorizedPause: o.UnauthorizedPause,
	}
}

type stage struct {
	options Options
	env     *pipeline.Env
	agent   *agent.Agent

	mu    sync.Mutex
	pools map[string]*pool // by the name of their source
}

var (
	_ pipeline.Processor = (*stage)(nil)
	_ pipeline.Checker   = (*stage)(nil)
	_ pipeline.Closer    = (*stage)(nil)
)

func newStage(o Options, env *pipeline.Env) (any, error) {
	a, err := agent.New(o.forAgent(), env)
	return &stage{options: o, env: env, agent: a, pools: make(map[string]*pool)}, err
}

// Process visits one source.
func (s *stage) Process(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
	return s.agent.Run(ctx, it, schemes, func(v *agent.Visit) ([]byte, error) { return s.visit(ctx, v, it, out) })
}

// visit asks a query, and passes on what its answer has of what is new. It returns what is known of the source then.
func (s *stage) visit(ctx context.Context, v *agent.Visit, it *pipeline.Item, out pipeline.Emitter) ([]byte, error) {
	r, err := s.options.resolve(v.Request.URL, v.Request.Secret)
	if err != nil {
		return nil, &agent.Failure{Why: err.Error()}
	}
	on, err := s.connect(ctx, v, r)
	if err != nil {
		return nil, err
	}
	if r.source.Mark == "" {
		return nil, s.list(ctx, v, it, out, on)
	}
	return s.rows(ctx, v, it, out, on)
}

// Close ends all connections.
func (s *stage) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []error
	for _, p := range s.pools {
		all = append(all, p.db.Close())
	}
	clear(s.pools)
	return errors.Join(all...)
}

// pool holds the connections to the database of a source.
type pool struct {
	db             *dbsql.DB
	user, password string
}

// How many connections to the database of a source are kept between visits, and for how long.
const (
	mostIdle    = 2
	longestIdle = 10 * time.Minute
)

// pool returns the connections of a source for an account; those of one whose password was changed are closed.
func (s *stage) pool(name string, l *location, user, password string) (*dbsql.DB, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pools[name]
	if p != nil && p.user == user && p.password == password {
		return p.db, nil
	}
	db, err := l.open(user, password)
	if err != nil {
		return nil, err
	}
	db.SetMaxIdleConns(mostIdle)
	db.SetConnMaxIdleTime(longestIdle)
	s.pools[name] = &pool{db, user, password}
	if p != nil {
		return db, p.db.Close() // waits for queries of the old account
	}
	return db, nil
}
