package control

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/webrace/webrace/storage/internal/private"
)

// openSQLite opens a database in a file, to be read and written.
func (s *Store) openSQLite() (err error) {
	path, o := s.name, s.options
	if err := private.Touch(path); err != nil { // SQLite gives its other files the mode of this one
		return s.explain("open", err)
	}
	if s.writer, err = connect(path, 1, "_pragma=journal_mode(WAL)&_txlock=immediate&_pragma=synchronous(FULL)&"+cacheSize(o.Cache/2)); err != nil {
		return s.explain("open", err)
	}
	if err = s.migrate(context.Background()); err == nil {
		err = s.countFrom(context.Background(), s.writer)
	}
	if err == nil {
		s.readers, err = connect(path, o.Readers, "_pragma=journal_mode(WAL)&_pragma=query_only(1)&"+cacheSize(o.Cache/2/int64(o.Readers)))
	}
	if err == nil {
		s.helper, err = connect(path, 1, "_pragma=query_only(1)")
	}
	if err != nil {
		return errors.Join(s.explain("open", err), s.writer.Close(), s.endCounting())
	}
	return nil
}

// cacheSize is the setting of a connection's cache.
func cacheSize(bytes int64) string {
	return fmt.Sprintf("_pragma=cache_size(-%d)", max(bytes>>10, 256))
}

// connect opens a pool. The order of pragmas matters: the time to wait for a lock comes first, because
// entering WAL mode may need it.
func connect(path string, connections int, settings string) (*sql.DB, error) {
	name := (&url.URL{Scheme: "file", Path: path}).String()
	db, err := sql.Open("sqlite", name+"?_pragma=busy_timeout(1000)&"+settings)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}

// sqliteAdvice returns what a person can do about an error of SQLite, and whether it is one.
func sqliteAdvice(err error) (advice string, blamed bool) {
	var failure *sqlite.Error
	if !errors.As(err, &failure) {
		return "", false
	}
	switch failure.Code() & 0xff { // the rest of the code is detail
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		advice = " (the file is damaged or not a control store: restore it from a backup)"
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		advice = " (another program has it locked: close it there first)"
	case sqlite3.SQLITE_FULL:
		advice = " (the disk is full)"
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM:
		advice = " (the file or its directory cannot be written)"
	}
	return advice, true
}
