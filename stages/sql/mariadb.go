package sql

import (
	"context"
	dbsql "database/sql"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

var mariadbEngine = &engine{
	lexis:   lexis{backslashes: true, hashComments: true, dashNeedsSpace: true, runsComments: true, backticks: true, questionMarks: true},
	example: "mariadb://USER@HOST/DATABASE",
	quote:   '`',
	times:   true,
	locate:  locateMariaDB,
	kindOf: func(databaseType string) kind {
		switch strings.TrimPrefix(databaseType, "UNSIGNED ") {
		case "DECIMAL", "BIGINT": // the driver gives one that is larger than an int64 as a text
			return exact
		case "JSON":
			return embedded
		case "FLOAT":
			return single
		case "DATE":
			return date
		case "DATETIME":
			return local
		}
		return plain
	},
	lowest: func(databaseType string) (any, bool) {
		switch strings.TrimPrefix(databaseType, "UNSIGNED ") {
		case "DATE", "DATETIME", "TIMESTAMP":
			return time.Date(1000, 1, 1, 0, 0, 0, 0, time.UTC), true
		case "TINYINT", "SMALLINT", "MEDIUMINT", "INT", "BIGINT", "DECIMAL", "FLOAT", "DOUBLE":
			return int64(-1 << 63), true
		}
		return nil, false
	},
	begin: beginMariaDB,
	check: prepare,
	fault: faultOfMariaDB,
	where: func(f fault, text string) int { return indexOf(near, f.says, text) },
}

// locateMariaDB reads an address: mariadb://USER@HOST:PORT/DATABASE, with tls=true (the default), skip-verify,
// preferred or false, and socket in the place of a host.
func locateMariaDB(address string) (*location, error) {
	u, err := locateURL(address, "mariadb", "mysql")
	if err != nil {
		return nil, err
	}
	c := mysql.NewConfig()
	c.User, c.DBName = u.User.Username(), strings.Trim(u.Path, "/")
	c.ParseTime, c.Loc = true, time.UTC
	c.TLSConfig = "true"
	l := &location{secure: true}
	for name, values := range u.Query() {
		switch value := values[0]; name {
		case "tls":
			switch value {
			case "true":
			case "false", "skip-verify", "preferred":
				c.TLSConfig, l.secure = value, false
			default:
				return nil, fmt.Errorf("tls=%.30s is none of true, skip-verify, preferred, false", value)
			}
		case "socket":
			c.Net, c.Addr = "unix", value
		default:
			return nil, fmt.Errorf("%.30q is none of what can stand in it, which is tls and socket", name)
		}
	}
	switch {
	case c.Net == "unix":
		c.TLSConfig, l.host, l.secure = "false", "localhost", true
	case u.Hostname() == "":
		return nil, errors.New("it names no server")
	default:
		port := u.Port()
		if port == "" {
			port = "3306"
		}
		l.host = hostOf(u.Hostname(), port, "3306")
		c.Net, c.Addr = "tcp", hostOf(u.Hostname(), port, "")
	}
	if c.DBName == "" {
		return nil, errors.New("it names no database")
	}
	// What a text is, and what time it is, is not left to the server. Statements that end a transaction, as those do
	// that make tables, are not executed outside one, either.
	c.Params = map[string]string{"tx_read_only": "1", "time_zone": "'+00:00'", "sql_mode": "'STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'"}
	c.Logger = quiet{}
	l.open = func(user, password string) (*dbsql.DB, error) {
		c := c.Clone()
		if user != "" {
			c.User, c.Passwd = user, password
		}
		connector, err := mysql.NewConnector(c)
		if err != nil {
			return nil, err
		}
		return dbsql.OpenDB(connector), nil
	}
	return l, nil
}

// quiet keeps the driver from writing to standard error what it returns as an error, too.
type quiet struct{}

func (quiet) Print(...any) {}

// beginMariaDB begins a transaction that can change nothing, in which a statement may take so long.
func beginMariaDB(ctx context.Context, c *dbsql.Conn, within time.Duration) (reader, func() error, error) {
	if _, err := c.ExecContext(ctx, "SET max_statement_time = "+strconv.FormatFloat(within.Seconds(), 'f', 3, 64)); err != nil {
		return nil, nil, err
	}
	tx, err := c.BeginTx(ctx, &dbsql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, nil, err
	}
	return tx, tx.Rollback, nil
}

// near is how MariaDB tells the place of an error: by what stands there, or by a name that it does not know.
var near = regexp.MustCompile(`(?s)near '(.+)' at line \d+ \(|^Unknown column '(?:[^']*\.)?([^'.]+)'|^Table '[^']*\.([^'.]+)' doesn't exist`)

func faultOfMariaDB(err error) (fault, bool) {
	told, ok := errors.AsType[*mysql.MySQLError](err)
	switch {
	case errors.Is(err, mysql.ErrNoTLS):
		return fault{says: "the server speaks no TLS, which the address asks for: tls=false in it does without"}, true
	case errors.Is(err, mysql.ErrCleartextPassword), errors.Is(err, mysql.ErrOldPassword), errors.Is(err, mysql.ErrNativePassword):
		return fault{says: err.Error()}, true
	case err != nil && strings.Contains(err.Error(), "is not registered"): // a file that the server asks for
		return fault{says: "the server asks for a file of this machine: " + err.Error()}, true
	case !ok:
		return fault{}, false
	}
	f := fault{says: fmt.Sprintf("%s (%d)", told.Message, told.Number)}
	switch told.Number {
	case 1045, 1698, 1251, 1862: // access denied, and an account that is locked or cannot log in so
		f.login = true
	case 1969, 3024:
		f.tooLong = true
	case 1040, 1053, 1203, 1205, 1213, 1226, 1927, 2006, 2013: // too many connections, shutting down, locks
		f.later = true
	}
	return f, true
}
