package control

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/webrace/webrace/internal/pointer"
)

// Counts is how much of what a store holds.
type Counts struct {
	URDs, ACIs, Withheld, Secrets, DeadLetters, Cursors int
}

// NotEmptyError means that a store cannot take a copy of another, because it holds something.
type NotEmptyError struct{ Store, Table string }

func (e *NotEmptyError) Error() string {
	return fmt.Sprintf("%s is not empty: it has rows in its table %s; a copy is made into an empty one, createdb makes another", e.Store, e.Table)
}

// CopyAll copies all that is in a store to one that is empty, which may be of another engine: as it is at one moment,
// and all of it or nothing. Secrets stay encrypted under their key.
func CopyAll(ctx context.Context, from, to *Store) (Counts, error) {
	source, err := from.readers.BeginTx(ctx, from.snapshot())
	if err != nil {
		return Counts{}, from.explain("copy", err)
	}
	defer source.Rollback() // it has only read
	rows := make(map[string]int)
	err = to.write(ctx, everything, "copy from "+from.name, func(tx *sql.Tx) error {
		c := copying{ctx, source, tx, to}
		if err := c.mustBeEmpty(); err != nil {
			return err
		}
		for _, table := range contents {
			if rows[table], err = c.table(table); err != nil {
				return fmt.Errorf("table %s: %w", table, err)
			}
		}
		return c.counters()
	})
	pointer.Store(&to.budgets, nil)
	if err != nil {
		return Counts{}, err
	}
	to.wake(&to.changed)
	to.wake(&to.told)
	return Counts{rows["urd"], rows["aci"], rows["withheld"], rows["secret"], rows["dead_letter"], rows["cursor"]}, nil
}

// CanReadSecrets refuses secrets of a store that cannot be read with the key file of another, to which they
// are to be copied.
func CanReadSecrets(ctx context.Context, of, by *Store) error {
	for sealed, err := range rows(ctx, of, "list secrets", scanSecret, "SELECT "+secretColumns+" FROM secret ORDER BY name") {
		var keys []secretKey
		if err == nil {
			keys, err = readKeys(by.keyFile)
		}
		if err == nil {
			_, err = sealed.open(keys)
		}
		if err != nil {
			return fmt.Errorf("secret %s of %s: %w", sealed.Name, of.name, err)
		}
	}
	return nil
}

// copying is the copying of a store in a transaction of each side.
type copying struct {
	ctx      context.Context
	from, to *sql.Tx
	target   *Store
}

// copiedTogether is how many rows are read before they are written.
const copiedTogether = 64

func (c *copying) mustBeEmpty() error {
	for _, table := range contents {
		var filled bool
		if err := c.to.QueryRowContext(c.ctx, "SELECT EXISTS (SELECT 1 FROM "+table+")").Scan(&filled); err != nil {
			return err
		}
		if filled {
			return &NotEmptyError{c.target.name, table}
		}
	}
	return nil
}

// table copies the rows of a table, and returns how many.
func (c *copying) table(table string) (n int, err error) {
	found, err := c.from.QueryContext(c.ctx, "SELECT * FROM "+table)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, found.Close()) }()
	columns, err := found.Columns()
	if err != nil {
		return 0, err
	}
	writer := c.target.newStatements(c.ctx, c.to)
	into := table + " (" + strings.Join(columns, ", ") + ")"
	var values []any
	for found.Next() {
		row, err := c.row(found, table, columns)
		if err != nil {
			return n, err
		}
		values = append(values, row...)
		if n++; n%copiedTogether == 0 {
			if err := writer.insertRows(into, len(columns), values); err != nil {
				return n, err
			}
			values = values[:0]
		}
	}
	if err := found.Err(); err != nil {
		return n, err
	}
	return n, writer.insertRows(into, len(columns), values)
}

// row reads a row as the other side takes it.
func (c *copying) row(found *sql.Rows, table string, columns []string) ([]any, error) {
	row, into := make([]any, len(columns)), make([]any, len(columns))
	for i := range row {
		into[i] = &row[i]
	}
	if err := found.Scan(into...); err != nil {
		return nil, err
	}
	letter := table == "dead_letter" && c.target.postgres != nil
	for i, v := range row {
		switch v := v.(type) {
		case []byte:
			if len(v) == 0 {
				row[i] = []byte{} // nil would be NULL
			}
		case string:
			if letter {
				row[i] = storable(v)
			}
		case int64:
			if letter && columns[i] == "replay" {
				row[i] = v != 0
			}
		}
	}
	return row, nil
}

// ownCounters are those that tell of a database, and not of what is in it.
var ownCounters = []string{"version", "identity", "generation", copiedFrom["identity"], copiedFrom["generation"],
	string(allACIs), string(allSecrets), string(allAccounts), string(allOutbox)}

// copiedFrom are the counters that tell which SQLite database a store was copied from, and after how many commits, by
// those that tell it there.
var copiedFrom = map[string]string{"identity": "copied_from", "generation": "copied_at"}

// counters copies the counters, and the last numbers that were given.
func (c *copying) counters() error {
	values, err := c.readCounters()
	if err != nil {
		return err
	}
	for name, value := range values {
		if copied := copiedFrom[name]; copied != "" && c.target.postgres != nil {
			name = copied
		} else if slices.Contains(ownCounters, name) {
			continue
		}
		if err := c.setCounter(name, value); err != nil {
			return err
		}
	}
	var last int64
	if err := c.from.QueryRowContext(c.ctx, lastACI).Scan(&last); err != nil {
		return err
	}
	statements := []string{"DELETE FROM sqlite_sequence WHERE name = 'aci'", fmt.Sprintf("INSERT INTO sqlite_sequence VALUES ('aci', %d)", last)}
	if c.target.postgres != nil {
		statements = []string{fmt.Sprintf("UPDATE counter SET value = %d WHERE name = 'aci'", last)}
		for _, table := range []string{"mirror", "dead_letter", "channel", "outbox"} {
			statements = append(statements, fmt.Sprintf("SELECT setval(pg_get_serial_sequence('%s.%s', 'n'), coalesce(max(n), 0) + 1, FALSE) FROM %[2]s", schemaName, table))
		}
	}
	for _, statement := range statements {
		if _, err := c.to.ExecContext(c.ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

func (c *copying) readCounters() (map[string]int64, error) {
	found, err := c.from.QueryContext(c.ctx, "SELECT name, value FROM counter")
	if err != nil {
		return nil, err
	}
	defer found.Close()
	values := make(map[string]int64)
	for found.Next() {
		var name string
		var value int64
		if err := found.Scan(&name, &value); err != nil {
			return nil, err
		}
		values[name] = value
	}
	return values, found.Err()
}

func (c *copying) setCounter(name string, value int64) error {
	_, err := c.to.ExecContext(c.ctx, "INSERT INTO counter VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value", name, value)
	return err
}

// IsCopyOf reports whether a store was copied from the one in a file of SQLite, which has not changed since.
func IsCopyOf(ctx context.Context, s *Store, path string) (bool, error) {
	from, err := Open(path, Options{ReadOnly: true})
	if err != nil {
		return false, err
	}
	defer from.Close()
	const doing, query = "read what was copied", "SELECT sum(value) FROM counter WHERE name = ?"
	for there, here := range copiedFrom {
		var is, was sql.NullInt64
		err := from.readRow(ctx, doing, query, []any{there}, &is)
		if err == nil {
			err = s.readRow(ctx, doing, query, []any{here}, &was)
		}
		if err != nil || !is.Valid || is != was {
			return false, err
		}
	}
	return true, nil
}
