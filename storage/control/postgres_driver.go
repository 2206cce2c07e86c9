package control

import (
	"context"
	"database/sql/driver"
	"errors"
	"slices"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// connector opens connections to PostgreSQL that take the statements of this package.
type connector struct {
	driver.Connector
	texts    *texts // nil: statements are written for PostgreSQL
	prepares bool   // what each connection executes, where it can
}

func newConnector(config *pgx.ConnConfig, texts *texts, prepares bool) connector {
	return connector{stdlib.GetConnector(*config, stdlib.OptionShouldPing(isDoubtful)), texts, prepares}
}

func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	opened, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	conn := &connection{Conn: opened.(*stdlib.Conn), texts: c.texts}
	if c.prepares {
		if conn.prepares, err = keepPlans(ctx, conn.Conn.Conn()); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	return conn, nil
}

// keyed has the server plan a statement once, and look up rows by keys: when it is planned a table may be empty that is
// large later, and what plans of an empty one do best, to read all of it, would then be kept.
const keyed = `SELECT set_config(name, 'off', FALSE) FROM unnest('{enable_seqscan,enable_hashjoin,enable_mergejoin,enable_material,jit}'::text[]) AS name
	UNION ALL SELECT set_config('plan_cache_mode', 'force_generic_plan', FALSE)`

// keepPlans has the server keep the plans of a connection's statements, which takes most of its time otherwise, and
// reports whether it does. That is so if the connection is to one process of the server for good. Of one that pools
// connections in between, another may execute what this one has prepared: there nothing is kept.
func keepPlans(ctx context.Context, conn *pgx.Conn) (prepares bool, err error) {
	if is, err := isDirect(ctx, conn); err != nil || !is {
		return false, err
	}
	_, err = conn.Exec(ctx, keyed)
	return err == nil, err
}

// isDirect reports whether a connection is to one process of the server for good. What pools connections in between
// tells of another process.
func isDirect(ctx context.Context, conn *pgx.Conn) (bool, error) {
	var process uint32
	err := conn.QueryRow(ctx, "SELECT pg_backend_pid()").Scan(&process)
	return process == conn.PgConn().PID(), err
}

// texts are the texts of statements, by that for SQLite. There are as many as this package has statements.
type texts struct {
	mu    sync.Mutex
	known map[string]string
}

func (t *texts) of(query string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text, known := t.known[query]
	if !known {
		if t.known == nil {
			t.known = make(map[string]string)
		}
		text = postgresText(query)
		t.known[query] = text
	}
	return text
}

type connection struct {
	*stdlib.Conn
	texts    *texts
	prepares bool
}

func (c *connection) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	query, args = c.given(query, args)
	return c.Conn.ExecContext(ctx, query, args)
}

func (c *connection) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	query, args = c.given(query, args)
	return c.Conn.QueryContext(ctx, query, args)
}

// given returns a statement as the driver takes it.
func (c *connection) given(query string, args []driver.NamedValue) (string, []driver.NamedValue) {
	if c.texts != nil {
		query = c.texts.of(query)
	}
	if c.prepares {
		args = slices.Insert(slices.Clone(args), 0, driver.NamedValue{Value: pgx.QueryExecModeCacheStatement})
	}
	return query, args
}

// PrepareContext prepares nothing, as [keepPlans] tells whether that may be. The driver keeps what it has learned of a
// text.
func (c *connection) PrepareContext(_ context.Context, query string) (driver.Stmt, error) {
	return &unprepared{c, query}, nil
}

// unprepared is a statement that is only its text.
type unprepared struct {
	on    *connection
	query string
}

func (u *unprepared) Close() error  { return nil }
func (u *unprepared) NumInput() int { return -1 } // the server counts

func (u *unprepared) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	return u.on.ExecContext(ctx, u.query, args)
}

func (u *unprepared) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	return u.on.QueryContext(ctx, u.query, args)
}

var errWithoutContext = errors.New("a statement wants a context")

func (u *unprepared) Exec([]driver.Value) (driver.Result, error) { return nil, errWithoutContext }
func (u *unprepared) Query([]driver.Value) (driver.Rows, error)  { return nil, errWithoutContext }
