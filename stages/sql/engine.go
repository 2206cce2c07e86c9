package sql

import (
	"context"
	dbsql "database/sql"
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// engine is what the stage has to know of a sort of database.
type engine struct {
	lexis   lexis
	example string
	quote   byte // around the name of a column
	times   bool // times are values of their own, and no texts
	floats  bool // numbers that are no integers are floats, and no decimal texts

	locate func(address string) (*location, error)
	kindOf func(databaseType string) kind
	lowest func(databaseType string) (mark any, ok bool) // what is before all marks of a column
	begin  func(ctx context.Context, c *dbsql.Conn, within time.Duration) (reader, func() error, error)
	check  func(ctx context.Context, c *dbsql.Conn, r reader, st *statement) error // whether the database would execute it
	fault  func(err error) (f fault, ours bool)
	where  func(f fault, text string) int // at which byte of the text a fault is; -1 where that is not known
}

// reader executes a query.
type reader interface {
	QueryContext(ctx context.Context, query string, args ...any) (*dbsql.Rows, error)
}

// location is where a database is.
type location struct {
	host   string // with a port that is not the usual one, as the bounds of secrets have it
	secure bool   // nobody in between reads what is sent
	open   func(user, password string) (*dbsql.DB, error)
}

// fault is an error that a database has told.
type fault struct {
	says    string // in its words, with its code
	login   bool   // it does not let the account in
	later   bool   // it may be otherwise later: it is starting, or has too much to do
	tooLong bool   // it has taken longer than it may

	character int // of the text it was given, from 1; 0 where it does not say
}

var engines = map[string]*engine{"postgres": postgresEngine, "mariadb": mariadbEngine, "sqlite": sqliteEngine}

// locateURL takes an address apart, and refuses one that holds a password.
func locateURL(address string, schemes ...string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("it cannot be read") // not what it is: it may hold a password
	}
	known := false
	for _, s := range schemes {
		known = known || u.Scheme == s
	}
	if !known {
		return nil, fmt.Errorf("it does not begin with %s://", schemes[0])
	}
	if _, has := u.User.Password(); has {
		return nil, errNoPassword
	}
	for name := range u.Query() {
		if strings.Contains(strings.ToLower(name), "pass") {
			return nil, errNoPassword
		}
	}
	if strings.Contains(u.Host, ",") {
		return nil, errors.New("it names several servers, and a query is asked of one")
	}
	return u, nil
}

var errNoPassword = errors.New("it holds a password, which belongs to a secret: webrace-store secret set NAME --kind basic --user USER --host HOST stores one, " +
	"secret names it here, and so do the URDs; set another password, since this one was written down")

// hostOf is a server as bounds name it.
func hostOf(host, port, usual string) string {
	if port == "" || port == usual {
		if strings.Contains(host, ":") {
			return "[" + host + "]"
		}
		return host
	}
	return net.JoinHostPort(host, port)
}

// indexOf finds in a text what one of the groups of an expression finds in the words of a database; -1 if it does not.
func indexOf(e *regexp.Regexp, says, text string) int {
	for i, group := range e.FindStringSubmatch(says) {
		if i > 0 && group != "" {
			return strings.Index(text, group)
		}
	}
	return -1
}
