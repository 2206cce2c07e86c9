package sql

import (
	"context"
	dbsql "database/sql"
	"errors"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

var postgresEngine = &engine{
	lexis:   lexis{dollarQuotes: true, escapeStrings: true, nestedComments: true},
	example: "postgres://USER@HOST/DATABASE",
	quote:   '"',
	locate:  locatePostgres,
	kindOf: func(databaseType string) kind {
		switch databaseType {
		case "NUMERIC":
			return exact
		case "JSON", "JSONB":
			return embedded
		case "FLOAT4":
			return single
		case "DATE":
			return date
		case "TIMESTAMP":
			return local
		}
		return plain
	},
	lowest: func(databaseType string) (any, bool) {
		switch databaseType {
		case "DATE", "TIMESTAMP", "TIMESTAMPTZ":
			return "-infinity", true
		case "INT2":
			return "-32768", true
		case "INT4":
			return "-2147483648", true
		case "INT8", "NUMERIC", "FLOAT4", "FLOAT8":
			return "-9223372036854775808", true
		}
		return nil, false
	},
	begin: beginPostgres,
	check: prepare,
	fault: faultOfPostgres,
	where: func(f fault, text string) int {
		if f.character == 0 {
			return -1
		}
		at, left := 0, f.character-1
		for ; left > 0 && at < len(text); left-- {
			_, size := utf8.DecodeRuneInString(text[at:])
			at += size
		}
		return at
	},
}

// locatePostgres reads an address as libpq does, but that TLS is as it has to be for a password, unless the address
// tells otherwise by sslmode.
func locatePostgres(address string) (*location, error) {
	u, err := locateURL(address, "postgres", "postgresql")
	if err != nil {
		return nil, err
	}
	given := u.Query()
	if host := given.Get("host"); !given.Has("sslmode") && !strings.HasPrefix(host, "/") {
		given.Set("sslmode", "verify-full")
		u.RawQuery = given.Encode()
	}
	c, err := pgx.ParseConfig(u.String())
	if err != nil {
		return nil, err // which holds no password, since the address has none
	}
	c.DefaultQueryExecMode = pgx.QueryExecModeDescribeExec // a statement that is kept would outlive a change of its tables
	l := &location{host: hostOf(c.Host, strconv.Itoa(int(c.Port)), "5432")}
	l.secure = c.TLSConfig != nil && !c.TLSConfig.InsecureSkipVerify && len(c.Fallbacks) == 0
	if strings.HasPrefix(c.Host, "/") {
		l.host, l.secure = "localhost", true
	}
	l.open = func(user, password string) (*dbsql.DB, error) {
		c := c.Copy()
		if user != "" {
			c.User, c.Password = user, password
		}
		return stdlib.OpenDB(*c), nil
	}
	return l, nil
}

// beginPostgres begins a transaction that can change nothing, in which a statement may take so long. A query that has
// begun cannot make it another one.
func beginPostgres(ctx context.Context, c *dbsql.Conn, within time.Duration) (reader, func() error, error) {
	tx, err := c.BeginTx(ctx, &dbsql.TxOptions{ReadOnly: true, Isolation: dbsql.LevelRepeatableRead})
	if err != nil {
		return nil, nil, err
	}
	var said [2]string
	err = tx.QueryRowContext(ctx, "SELECT set_config('statement_timeout', $1, true), set_config('standard_conforming_strings', 'on', true)",
		strconv.FormatInt(within.Milliseconds(), 10)).Scan(&said[0], &said[1])
	if err != nil {
		return nil, nil, errors.Join(err, tx.Rollback())
	}
	return tx, tx.Rollback, nil
}

// prepare has a database prepare a statement, which it does not execute.
func prepare(ctx context.Context, _ *dbsql.Conn, r reader, st *statement) error {
	prepared, err := r.(*dbsql.Tx).PrepareContext(ctx, st.text)
	if err != nil {
		return err
	}
	return prepared.Close()
}

func faultOfPostgres(err error) (fault, bool) {
	told, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		if text := err.Error(); strings.Contains(text, "server refused TLS connection") {
			return fault{says: "the server speaks no TLS, which the address asks for: sslmode=disable in it does without"}, true
		}
		return fault{}, false
	}
	f := fault{says: told.Message}
	for _, more := range []string{told.Detail, told.Hint} {
		if more != "" {
			f.says += ". " + strings.TrimSuffix(more, ".")
		}
	}
	f.says += " (" + told.Code + ")"
	if told.Position > 0 {
		f.character = int(told.Position)
	}
	switch class := told.Code[:min(2, len(told.Code))]; {
	case class == "28":
		f.login = true
	case told.Code == "57014":
		f.tooLong = true
	case class == "08", class == "40", class == "53", class == "57", class == "58":
		f.later = true
	}
	return f, true
}
