package control

import (
	"context"
	"database/sql/driver"
	"errors"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// connector opens connections to PostgreSQL that take the statements of this package.
type connector struct {
	driver.Connector
	texts *texts
}

func newConnector(config *pgx.ConnConfig) connector {
	return connector{stdlib.GetConnector(*config), new(texts)}
}

func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	opened, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &connection{opened.(*stdlib.Conn), c.texts}, nil
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
	texts *texts
}

func (c *connection) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	return c.Conn.ExecContext(ctx, c.texts.of(query), args)
}

func (c *connection) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	return c.Conn.QueryContext(ctx, c.texts.of(query), args)
}

// PrepareContext prepares nothing: a statement would be bound to a connection of the server, which what pools these in
// between may give to another. The driver keeps what it has learned of a text.
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
