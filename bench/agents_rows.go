package main

import (
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"strings"

	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/webrace/webrace/internal/testutil/postgres"
	"github.com/webrace/webrace/xmlschema"
)

const (
	rowLimit     = 2 // of sql > drop, over SELECT and scan
	changedLimit = 5 // s of wall time
	rowsAccount  = "postgres"
)

// rows measures what a row of PostgreSQL costs.
func (b *bench) rows(h *harness, programs agentPrograms) error {
	rows, compared, rounds := 100_000, 50_000, 5
	if b.quick {
		rows, compared, rounds = 20_000, 10_000, 2
	}
	server := postgres.New(h, postgres.Options{Fsync: true})
	address := server.Database(h)
	db, err := sql.Open("pgx", address)
	if err != nil {
		return err
	}
	defer db.Close()
	for _, statement := range []string{
		"CREATE TABLE boat (id integer PRIMARY KEY, name text)",
		fmt.Sprintf("INSERT INTO boat SELECT i, 'boat number ' || i FROM generate_series(1, %d) i", rows),
		"CREATE TABLE price (id integer PRIMARY KEY, name text, harbour text, price numeric(12,2), noted text)",
		fmt.Sprintf("INSERT INTO price SELECT i, 'boat ' || i, 'pier ' || i %% 40, i * 1.25, 'seen' FROM generate_series(1, %d) i", compared),
	} {
		if _, err := db.Exec(statement); err != nil {
			return err
		}
	}
	host, _, _ := strings.Cut(strings.TrimPrefix(address, "postgres://postgres@"), "/")
	source := func(name, query string) string {
		return fmt.Sprintf("[pipeline.bench.stage.sql.sources.%s]\ndriver = \"postgres\"\naddress = %q\nsecret = \"bench\"\nquery = %q\nkey = [\"id\"]\n",
			name, strings.Replace(address, "postgres@", "", 1), query)
	}
	secret, err := newLent(rowsAccount, "any-will-do", host)
	if err != nil {
		return err
	}
	options := fmt.Sprintf("max_rows = %d\n", rows) + source("boats", "SELECT id, name FROM boat")
	costs, err := race(rounds, []contestant{
		{"sql > drop", func() error {
			n, err := visits("sql", options, secret, "db://boats")
			if err == nil && n != 1 {
				err = fmt.Errorf("%d answers came", n)
			}
			return err
		}},
		{"scan", func() error { return scanLoop(db, "SELECT id, name FROM boat", rows) }},
	})
	if err != nil {
		return err
	}
	each := func(name string) float64 { return micros(best(costs[name], cpuOf)) / float64(rows) }
	b.table.against(fmt.Sprintf("sql > drop, a row of two columns of %s, CPU min", grouped(rows)), each("sql > drop"), "µs", "SELECT and scan", each("scan"), atMost(rowLimit))
	return b.changed(db, programs, host, strings.Replace(source("prices", "SELECT id, name, harbour, price, noted FROM price"), "pipeline.bench.", "pipeline.dbrace.", 1), compared)
}

// scanLoop is the loop that one would write.
func scanLoop(db *sql.DB, query string, rows int) error {
	found, err := db.Query(query)
	if err != nil {
		return err
	}
	defer found.Close()
	n := 0
	for found.Next() {
		var id int64
		var name string
		if err := found.Scan(&id, &name); err != nil {
			return err
		}
		n++
	}
	if n != rows && found.Err() == nil {
		return fmt.Errorf("%d of %d rows came", n, rows)
	}
	return found.Err()
}

// changed measures the shipped pipeline, for three owners, where one row in a hundred has changed since the last visit.
func (b *bench) changed(db *sql.DB, programs agentPrograms, host, source string, rows int) error {
	shipped, err := os.ReadFile("../pipelines.toml")
	if err != nil {
		return err
	}
	config, err := programs.file("rows.toml", append(shipped, "\n"+source...))
	if err != nil {
		return err
	}
	urds, err := programs.file("rows.xml", owners(xmlschema.ProtocolDB, "db://prices"))
	if err != nil {
		return err
	}
	data, err := programs.data(rowsAccount, "any-will-do", host)
	if err != nil {
		return err
	}
	run := func() (usage, error) {
		return runProcess(exec.Command(programs.run, "dbrace", "--data", data, "--urds", urds, "--config", config, "--set", "frontier.fresh=0s"))
	}
	if _, err := run(); err != nil {
		return err
	}
	if _, err := db.Exec("UPDATE price SET noted = 'the ferry is seen' WHERE id % 100 = 0"); err != nil {
		return err
	}
	used, err := run()
	if err != nil {
		return err
	}
	name := fmt.Sprintf("dbrace, three owners, 1 %% of %s rows changed", grouped(rows))
	b.table.value(name+", wall", used.Wall.Seconds(), "s", atMost(changedLimit))
	b.table.value(name+", peak RSS", float64(used.PeakRSS)/1e6, "MB", nil)
	return nil
}
