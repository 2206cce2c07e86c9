package sql

import (
	"context"
	dbsql "database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/agent"
)

// session is a connection to the database of a source, for one visit.
type session struct {
	*request
	conn  *dbsql.Conn
	visit *agent.Visit // nil of a check
}

// connect connects to the database of a source, by the account of its secret if it has one.
func (s *stage) connect(ctx context.Context, v *agent.Visit, r *request) (*session, error) {
	l, err := r.engine.locate(r.source.Address)
	if err != nil {
		return nil, err
	}
	v.Scheme, v.Host = r.source.Driver, l.host // for the bounds of the secret
	on := &session{request: r, visit: v}
	if r.source.Secret == "" {
		accepted, err := on.open(ctx, s, l, "", "")
		if err == nil && !accepted {
			err = agent.Failf("%s does not let the user of its address in, and asks for an account: secret of the source names one", l.host)
		}
		return on, err
	}
	return on, v.LogIn(ctx, l.secure, func(user, password string) (bool, error) { return on.open(ctx, s, l, user, password) })
}

// open takes a connection of the pool, or makes one, and reports whether the account was let in.
func (on *session) open(ctx context.Context, s *stage, l *location, user, password string) (accepted bool, err error) {
	db, err := s.pool(on.name, l, user, password)
	if err != nil {
		return false, on.failed(err, nil)
	}
	within, cancel := context.WithTimeout(ctx, time.Duration(s.options.ConnectTimeout))
	defer cancel()
	on.conn, err = db.Conn(within)
	if err == nil {
		return true, nil
	}
	if f, ours := on.engine.fault(err); ours && f.login {
		return false, nil
	}
	return false, on.failed(err, nil)
}

// failed makes of an error what came of the visit, if it is one that the database tells; st is the statement that it is
// about, if it is about one. Others are of the network, or of the visit itself.
func (on *session) failed(err error, st *statement) error {
	var failure *agent.Failure
	if err == nil || errors.As(err, &failure) {
		return err
	}
	f, ours := on.engine.fault(err)
	switch {
	case !ours:
		return agent.Untrusted(err)
	case f.later:
		return errors.New(f.says)
	case f.tooLong:
		return agent.Failf("the database was not done with query %s in time (option timeout): %s", on.name, f.says)
	}
	said := f.says
	if st != nil {
		if place := st.place(on.engine.where(f, st.text)); place != "" {
			said = place + ": " + said
		}
	}
	if on.visit == nil {
		return errors.New(said)
	}
	return on.visit.Said("query "+on.name, errors.New(said))
}

// read asks a statement in a transaction that cannot write, and gives what it answers to a function.
func (on *session) read(ctx context.Context, within time.Duration, f func(context.Context, reader) error) error {
	limited, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	r, end, err := on.engine.begin(limited, on.conn, within)
	if err == nil {
		err = f(limited, r)
		_ = end() // nothing was written, and a connection that is broken is not used again
	}
	_ = on.conn.Close() // gives it back
	if limited.Err() != nil && ctx.Err() == nil {
		return agent.Failf("query %s took longer than %v (option timeout)", on.name, within)
	}
	return err
}

// arguments are the values of a statement's parameters.
func (on *session) arguments(st *statement, mark any) []any {
	args := make([]any, 0, len(st.values))
	for _, name := range st.values {
		if name == parameterMark {
			args = append(args, mark)
		} else {
			args = append(args, on.argument(on.values[name]))
		}
	}
	return args
}

// argument is a value as the database takes it. What it has to be there, the database knows: it reads a text as that.
func (on *session) argument(value any) any {
	if on.engine == postgresEngine {
		return fmt.Sprint(value)
	}
	return value
}

// Check connects to the databases of all sources, and has them prepare their queries.
func (s *stage) Check(ctx context.Context) error {
	if len(s.options.Sources) == 0 {
		return pipeline.Untried("no query is declared: sources.NAME of this stage does so (docs/databases.md)")
	}
	return s.checkAll(ctx)
}
