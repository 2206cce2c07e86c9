package sql

import (
	"context"
	dbsql "database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	driver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

var sqliteEngine = &engine{
	lexis:   lexis{backticks: true, brackets: true, questionMarks: true, numbersWithMark: true},
	example: "the file of the database",
	quote:   '"',
	floats:  true,
	locate:  locateSQLite,
	kindOf: func(databaseType string) kind {
		if databaseType == "DATE" {
			return dated
		}
		return plain
	},
	lowest: func(string) (any, bool) { return int64(-1 << 63), true }, // numbers are before texts
	begin:  beginSQLite,
	check:  explain,
	fault:  faultOfSQLite,
	where:  func(f fault, text string) int { return indexOf(named, f.says, text) },
}

// locateSQLite reads the path of a file. The file is opened to be read, and a connection can be made to no other.
func locateSQLite(address string) (*location, error) {
	path := strings.TrimPrefix(address, "sqlite://")
	if strings.HasPrefix(path, "file:") || strings.Contains(path, "?") || path == "" || path == ":memory:" {
		return nil, errors.New("it is the path of a file, and nothing else")
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	dsn := (&url.URL{Scheme: "file", Path: filepath.ToSlash(absolute), RawQuery: url.Values{
		"mode": {"ro"}, "_pragma": {"query_only(1)", "trusted_schema(0)", "busy_timeout(5000)"},
	}.Encode()}).String()
	return &location{host: "localhost", secure: true, open: func(_, _ string) (*dbsql.DB, error) {
		if _, err := os.Stat(absolute); err != nil {
			return nil, err
		}
		return dbsql.Open("sqlite", dsn)
	}}, nil
}

// beginSQLite has a connection open no other file: ATTACH would make one, even of a connection that only reads. A
// query reads one state of the database, with or without a transaction.
func beginSQLite(_ context.Context, c *dbsql.Conn, _ time.Duration) (reader, func() error, error) {
	if _, err := driver.Limit(c, lib.SQLITE_LIMIT_ATTACHED, 0); err != nil {
		return nil, nil, err
	}
	return c, func() error { return nil }, nil
}

// explain has SQLite compile a statement, which it does not execute.
func explain(ctx context.Context, _ *dbsql.Conn, r reader, st *statement) error {
	rows, err := r.QueryContext(ctx, "EXPLAIN "+st.text, make([]any, len(st.values))...)
	if err != nil {
		return err
	}
	return errors.Join(rows.Close(), rows.Err())
}

// named is how SQLite tells the place of an error: by what stands there, or by a name that it does not know.
var named = regexp.MustCompile(`near "([^"]+)"|no such (?:column|table|function): (?:\S*\.)?([^\s.]+)`)

func faultOfSQLite(err error) (fault, bool) {
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission) {
		return fault{says: err.Error()}, true
	}
	told, ok := errors.AsType[*driver.Error](err)
	if !ok {
		return fault{}, false
	}
	f := fault{says: told.Error()}
	switch told.Code() & 0xff {
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED, lib.SQLITE_PROTOCOL:
		f.later = true
	case lib.SQLITE_INTERRUPT:
		f.tooLong = true
	case lib.SQLITE_CANTOPEN:
		f.says = fmt.Sprintf("%s: a database with a write-ahead log needs its folder to be writable, or the files -wal and -shm beside it", f.says)
	}
	return f, true
}
