package control

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/testutil"
)

// The tables of a new store are made in one go, and are those that a store has which came through all versions: to the
// letter of their statements, as fsck compares them.
func TestNewTables(t *testing.T) {
	t.Parallel()
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	if err := migrateFrom(t.Context(), tx, 0); err != nil {
		t.Fatal(err)
	}
	testutil.Golden(t, "tables.sql", statementsOf(t, tx))
}

// statementsOf returns statements that make the tables, the indexes and the rows of a database which has been made, and
// into which nothing was written yet.
func statementsOf(t *testing.T, tx *sql.Tx) string {
	t.Helper()
	var made strings.Builder
	fmt.Fprintln(&made, "-- Written by go test -run TestNewTables -update: what the migrations come to.")
	for _, table := range stringsOf(t, tx, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name") {
		for _, statement := range stringsOf(t, tx, "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND tbl_name = ? ORDER BY type = 'index', name", table) {
			fmt.Fprintf(&made, "\n%s;\n", statement)
		}
		if table == "counter" {
			for _, row := range stringsOf(t, tx, "SELECT format('(%Q, %d)', name, value) FROM counter ORDER BY name") {
				fmt.Fprintf(&made, "INSERT INTO counter VALUES %s;\n", row)
			}
			continue
		}
		if rows := stringsOf(t, tx, "SELECT count(*) FROM "+table); rows[0] != "0" {
			t.Errorf("%s has %s rows, which this test does not know to write", table, rows[0])
		}
	}
	return made.String()
}

func stringsOf(t *testing.T, tx *sql.Tx, query string, args ...any) (all []string) {
	t.Helper()
	rows, err := tx.QueryContext(context.Background(), query, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}
