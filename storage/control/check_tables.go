package control

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// schema is the tables and indexes of a database: the statement that made each, by its name.
type schema map[string]string

func readSchema(ctx context.Context, db interface {
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
}) (schema, error) {
	found, err := db.QueryContext(ctx, "SELECT name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'")
	if err != nil {
		return nil, err
	}
	defer found.Close()
	all := make(schema)
	for found.Next() {
		var name, made string
		if err := found.Scan(&name, &made); err != nil {
			return nil, err
		}
		all[name] = made
	}
	return all, found.Err()
}

// schemas returns what each version's schema is, from 1 on, by making it.
func schemas(ctx context.Context) (all []schema, err error) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // another would have a memory of its own
	for _, m := range migrations {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return nil, err
		}
		if err := m.run(ctx, tx); err != nil {
			return nil, err
		}
		made, err := readSchema(ctx, tx)
		if err != nil {
			return nil, err
		}
		if err := tx.Commit(); err != nil {
			return nil, err
		}
		all = append(all, made)
	}
	return all, nil
}

// trueVersion returns which version's schema a database has, and 0 when it is that of none.
func trueVersion(ctx context.Context, tx *sql.Tx) (int, error) {
	have, err := readSchema(ctx, tx)
	if err != nil {
		return 0, err
	}
	all, err := schemas(ctx)
	if err != nil {
		return 0, err
	}
	return 1 + slices.IndexFunc(all, func(s schema) bool { return maps.Equal(s, have) }), nil
}

// tables compares the tables and indexes with those that this program makes, and reports whether they are
// whole in the end.
func (c *checker) tables() (whole bool, err error) {
	all, err := schemas(c.ctx)
	if err != nil {
		return false, err
	}
	have, err := readSchema(c.ctx, c.store.readers)
	if err != nil {
		return false, err
	}
	want := all[len(all)-1]
	const kind = "half-applied migration"
	if earlier := slices.IndexFunc(all, func(s schema) bool { return maps.Equal(s, have) }); earlier >= 0 && earlier < len(all)-1 {
		detail := fmt.Sprintf("the tables are of version %d, and are said to be of version %d", earlier+1, len(all))
		return c.found(kind, c.store.name, detail, func(tx *sql.Tx) error { return migrateFrom(c.ctx, tx, earlier+1) })
	}
	whole = true
	for _, name := range slices.SortedFunc(maps.Keys(want), func(a, b string) int { return strings.Compare(want[b], want[a]) }) { // tables before indexes
		made := want[name]
		if have[name] == made {
			continue
		}
		repaired, err := c.found(kind, name, fmt.Sprintf("there is %q instead of %q", have[name], made), c.remake(name, have[name], made)...)
		if err != nil {
			return false, err
		}
		whole = whole && repaired
	}
	left, err := c.leftOver(have)
	return whole && left, err
}

// remake makes an index or a table that is missing, or an index that is another: what is in a table is
// derived again by the rest of the check, or lost.
func (c *checker) remake(name, had, made string) []func(*sql.Tx) error {
	switch {
	case strings.HasPrefix(made, "CREATE INDEX"), strings.HasPrefix(made, "CREATE UNIQUE INDEX"):
		return []func(*sql.Tx) error{c.execute("DROP INDEX IF EXISTS " + name + ";" + made)}
	case had == "":
		return []func(*sql.Tx) error{c.execute(made)}
	}
	return nil
}

// leftOver finds the table that a migration reads from and then drops, and has what is missing read again.
func (c *checker) leftOver(have schema) (repaired bool, err error) {
	const name = "urd_1"
	if have[name] == "" {
		return true, nil
	}
	return c.found("half-applied migration", name, "a migration has not removed what it read", func(tx *sql.Tx) error {
		p, err := c.store.newPutter(c.ctx, tx, nil)
		if err != nil {
			return err
		}
		err = each(c.ctx, tx, "SELECT xml, 0, 0, 0 FROM urd_1 WHERE id NOT IN (SELECT id FROM urd UNION SELECT id FROM removed)", func(r record) error {
			u, err := decodeURD(r.document)
			if err == nil {
				err = p.add(u)
			}
			return err
		})
		if err == nil {
			_, err = p.finish()
		}
		if err != nil {
			return err
		}
		return c.execute("DROP TABLE urd_1")(tx)
	})
}
