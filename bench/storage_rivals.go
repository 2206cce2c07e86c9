package main

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"

	bolt "go.etcd.io/bbolt"
	_ "modernc.org/sqlite"
)

// boltStore keeps every table in a bucket of a bbolt database.
type boltStore struct{ *bolt.DB }

func openBolt(path string) (kvStore, error) {
	db, err := bolt.Open(path, 0o666, &bolt.Options{FreelistType: bolt.FreelistMapType, NoFreelistSync: true})
	if err != nil {
		return nil, err
	}
	err = db.Update(func(tx *bolt.Tx) error {
		for table := range kvTables {
			if _, err := tx.CreateBucket(bucketName(table)); err != nil {
				return err
			}
		}
		return nil
	})
	return boltStore{db}, err
}

func bucketName(table int) []byte { return []byte{'a' + byte(table)} }

func (s boltStore) commit(work func(kvTx) error) error {
	return s.Update(func(tx *bolt.Tx) error {
		var b boltTx
		for table := range b {
			b[table] = tx.Bucket(bucketName(table))
		}
		return work(&b)
	})
}

func (s boltStore) scan(table int, from, before []byte, visit func(key, value []byte) bool) error {
	return s.View(func(tx *bolt.Tx) error {
		c := tx.Bucket(bucketName(table)).Cursor()
		for k, v := c.Seek(from); k != nil && bytes.Compare(k, before) < 0; k, v = c.Next() {
			if !visit(k, v) {
				break
			}
		}
		return nil
	})
}

type boltTx [kvTables]*bolt.Bucket

func (t *boltTx) get(table int, key []byte) ([]byte, error) { return t[table].Get(key), nil }
func (t *boltTx) set(table int, key, value []byte) error    { return t[table].Put(key, value) }
func (t *boltTx) remove(table int, key []byte) error        { return t[table].Delete(key) }

// sqliteStore keeps every table in one of SQLite, as durable as it can be.
type sqliteStore struct {
	db    *sql.DB
	begin *sql.Stmt
	end   *sql.Stmt
	table [kvTables]struct{ get, set, remove, scan *sql.Stmt }
}

func openSQLite(path string) (_ kvStore, err error) {
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	s := &sqliteStore{db: db}
	for _, line := range []string{"PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL", "PRAGMA cache_size=-65536", "PRAGMA wal_autocheckpoint=8000"} {
		if _, err := db.Exec(line); err != nil {
			return nil, fmt.Errorf("%s: %w", line, err)
		}
	}
	prepare := func(text string, args ...any) *sql.Stmt {
		stmt, e := db.Prepare(fmt.Sprintf(text, args...))
		err = errors.Join(err, e)
		return stmt
	}
	s.begin, s.end = prepare("BEGIN IMMEDIATE"), prepare("COMMIT")
	for i := range s.table {
		if _, err := db.Exec(fmt.Sprintf("CREATE TABLE t%d (k BLOB PRIMARY KEY, v BLOB NOT NULL) WITHOUT ROWID", i)); err != nil {
			return nil, err
		}
		t := &s.table[i]
		t.get = prepare("SELECT v FROM t%d WHERE k = ?", i)
		t.set = prepare("INSERT OR REPLACE INTO t%d VALUES (?, ?)", i)
		t.remove = prepare("DELETE FROM t%d WHERE k = ?", i)
		t.scan = prepare("SELECT k, v FROM t%d WHERE k >= ? AND k < ? ORDER BY k LIMIT 16", i)
	}
	return s, err
}

func (s *sqliteStore) commit(work func(kvTx) error) error {
	if _, err := s.begin.Exec(); err != nil {
		return err
	}
	if err := work(s); err != nil {
		return err
	}
	_, err := s.end.Exec()
	return err
}

func (s *sqliteStore) get(table int, key []byte) (value []byte, err error) {
	err = s.table[table].get.QueryRow(key).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return value, err
}

func (s *sqliteStore) set(table int, key, value []byte) error {
	_, err := s.table[table].set.Exec(key, value)
	return err
}

func (s *sqliteStore) remove(table int, key []byte) error {
	_, err := s.table[table].remove.Exec(key)
	return err
}

func (s *sqliteStore) scan(table int, from, before []byte, visit func(key, value []byte) bool) error {
	rows, err := s.table[table].scan.Query(from, before)
	if err != nil {
		return err
	}
	defer rows.Close()
	for more := true; more && rows.Next(); {
		var key, value []byte
		if err := rows.Scan(&key, &value); err != nil {
			return err
		}
		more = visit(key, value)
	}
	return rows.Err()
}

func (s *sqliteStore) Close() error { return s.db.Close() }
