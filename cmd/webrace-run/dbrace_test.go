package main

import (
	"database/sql"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/internal/testutil/mariadb"
	"github.com/webrace/webrace/internal/testutil/postgres"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// database is one that is read by the pipeline dbrace.
type database struct {
	*world
	db       *sql.DB
	source   string // the lines of a source that say where it is
	secret   string // that URDs name
	password string
	config   string // pipelines.toml, with the sources of the test
}

const (
	wordOfPostgres = "hunter2-postgres" // whose server lets everyone in
	nameOfTest     = "test"             // by which PostgreSQL knows the test's own sessions
)

// databases are one of each sort.
var databases = map[string]func(*testing.T) *database{
	"postgres": func(t *testing.T) *database {
		address := postgres.Database(t)
		host, _, _ := strings.Cut(strings.TrimPrefix(address, "postgres://postgres@"), "/")
		d := openDatabase(t, "pgx", address+"&application_name="+nameOfTest)
		d.source = fmt.Sprintf("driver = \"postgres\"\naddress = %q\nsecret = \"shop\"\n", strings.Replace(address, "postgres@", "", 1))
		d.account(host, "postgres", wordOfPostgres)
		return d
	},
	"mariadb": func(t *testing.T) *database {
		s := mariadb.New(t)
		d := &database{world: newWorld(t), db: s.DB}
		d.source = fmt.Sprintf("driver = \"mariadb\"\naddress = %q\nsecret = \"shop\"\n", s.URL())
		d.account(s.Address, mariadb.User, mariadb.Password)
		return d
	},
	"sqlite": func(t *testing.T) *database {
		file := filepath.Join(t.TempDir(), "shop.db")
		d := openDatabase(t, "sqlite", file)
		d.source = fmt.Sprintf("driver = \"sqlite\"\naddress = %q\n", file)
		return d
	},
}

func openDatabase(t *testing.T, driver, address string) *database {
	t.Helper()
	db, err := sql.Open(driver, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return &database{world: newWorld(t), db: db}
}

// account stores the secret of an account, which is for a host alone.
func (d *database) account(host, user, password string) {
	d.t.Helper()
	d.secret, d.password = "shop", password
	secret, err := credentials.NewSecret(credentials.KindBasic, user, password)
	if err != nil {
		d.t.Fatal(err)
	}
	bounds, err := credentials.NewBounds([]string{host}, true)
	if err != nil {
		d.t.Fatal(err)
	}
	store, closeDir := openControl(d.t, d.data)
	defer closeDir()
	if err := store.SetSecret(d.t.Context(), "shop", secret.Within(bounds)); err != nil {
		d.t.Fatal(err)
	}
}

func (d *database) exec(statement string, args ...any) {
	d.t.Helper()
	if _, err := d.db.ExecContext(d.t.Context(), fmt.Sprintf(statement, args...)); err != nil {
		d.t.Fatalf("%s: %v", fmt.Sprintf(statement, args...), err)
	}
}

// declare declares a query in a configuration of its own, beside the pipelines that ship.
func (d *database) declare(name, lines string) {
	d.t.Helper()
	if d.config == "" {
		d.config = filepath.Join(d.t.TempDir(), "pipelines.toml")
		writeFile(d.t, d.config, string(webrace.Pipelines))
	}
	writeFile(d.t, d.config, readFile(d.t, d.config)+fmt.Sprintf("\n[pipeline.dbrace.stage.sql.sources.%s]\n%s%s\n", name, d.source, lines))
}

// ask is a URD of a query.
func (d *database) ask(owner, uri string) *xmlschema.URD {
	u := xmlschema.NewURD(owner, uri)
	u.ID, u.Protocol, u.Secret, u.Depth = owner, xmlschema.ProtocolDB, d.secret, 1
	return u
}

// dbrace runs the pipeline for these URDs, and returns what was told by it.
func (d *database) dbrace(urds ...*xmlschema.URD) []control.ACI {
	d.t.Helper()
	file := filepath.Join(d.t.TempDir(), "urds.xml")
	writeFile(d.t, file, string(xmlschema.URDs(urds).Canonical()))
	args := []string{"dbrace", "--urds", file, "--data", d.data, "--config", d.config, "--set", "frontier.fresh=0s"}
	out, complaints, err := webraceRun(args...)
	if err != nil {
		d.t.Fatalf("%v: %v\n%s%s", args, err, out, complaints)
	}
	d.t.Logf("%s%s", out, complaints)
	return d.acis()
}

// rowsOf are the rows of the orders of a region, as the oracle reads them: by its own statement.
func (d *database) rowsOf(region string) map[int]string {
	d.t.Helper()
	rows, err := d.db.QueryContext(d.t.Context(), "SELECT id, name, price FROM orders WHERE region = '"+region+"'")
	if err != nil {
		d.t.Fatal(err)
	}
	defer rows.Close()
	all := map[int]string{}
	for rows.Next() {
		var id int
		var name, price string
		if err := rows.Scan(&id, &name, &price); err != nil {
			d.t.Fatal(err)
		}
		all[id] = name + " " + price
	}
	if err := rows.Err(); err != nil {
		d.t.Fatal(err)
	}
	return all
}

// rowNews is what is new or changed between two answers, and whether anything differs at all.
func rowNews(before, after map[int]string) (names []string, differs bool) {
	for id, row := range after {
		if before[id] != row {
			names = append(names, row[:strings.LastIndexByte(row, ' ')])
		}
	}
	return names, !maps.Equal(before, after)
}

// TestDbrace holds that rows that are added, changed and gone are told to those who ask for them, as an oracle finds
// that reads the database itself.
func TestDbrace(t *testing.T) {
	t.Parallel()
	for name, open := range databases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := open(t)
			d.exec("CREATE TABLE orders (id INT PRIMARY KEY, region VARCHAR(10), name VARCHAR(100), price DECIMAL(10,2))")
			d.declare("orders", "query = \"SELECT id, name, price FROM orders WHERE region = $region\"\nkey = [\"id\"]\nparameters = { region = \"text\" }")
			changed, page, ferry := d.ask("changed", "db://orders?region=eu"), d.ask("page", "db://orders?region=eu"), d.ask("ferry", "db://orders?region=eu")
			changed.ProcessType, page.ProcessType, page.Change = xmlschema.ProcessNonFilter, xmlschema.ProcessNonFilter, xmlschema.ChangePage
			ferry.Keywords = xmlschema.Keywords{Threshold: 1, Keywords: []xmlschema.Keyword{{Key: "ferry", Weight: 5}}}
			rng := rand.New(rand.NewPCG(7, 7))
			next, before := 1, map[int]string{}
			for step := range 12 {
				for range rng.IntN(3) + 1 - min(step%4, 1) { // now and then nothing happens
					next++
					word := []string{"Boat", "Ferry ticket"}[rng.IntN(2)]
					switch existing := slices.Sorted(maps.Keys(before)); {
					case rng.IntN(3) == 0 || len(existing) < 3 || step == 0:
						d.exec("INSERT INTO orders VALUES (%d, '%s', '%s %[1]d', %[1]d)", next, []string{"eu", "eu", "us"}[rng.IntN(3)], word)
					case rng.IntN(2) == 0:
						d.exec("UPDATE orders SET price = %d.5 WHERE id = %d", next, existing[rng.IntN(len(existing))])
					default:
						d.exec("DELETE FROM orders WHERE id = %d", existing[rng.IntN(len(existing))])
					}
				}
				after := d.rowsOf("eu")
				names, differs := rowNews(before, after)
				want := map[string]bool{"page": differs && len(after) > 0, "changed": len(names) > 0, "ferry": strings.Contains(fmt.Sprint(names), "Ferry")}
				told := map[string]string{}
				for _, a := range d.dbrace(changed, page, ferry) {
					if _, twice := told[a.Owner]; twice || a.URI != "db://orders?region=eu" {
						t.Errorf("step %d: %s is told of %s", step, a.Owner, a.URI)
					}
					told[a.Owner] = a.Summary
				}
				for owner, is := range want {
					if _, was := told[owner]; was != is {
						t.Errorf("step %d: %s is told: %v (%s), and the oracle: %v; %v, then %v", step, owner, was, told[owner], is, before, after)
					}
				}
				for _, name := range names {
					if step > 0 && !strings.Contains(told["changed"], name) {
						t.Errorf("step %d: %q is new or changed, and the summary is %q", step, name, told["changed"])
					}
				}
				t.Logf("step %d: %v; %q", step, names, told)
				before = after
			}
			late := d.ask("late", "db://orders?region=eu")
			late.ProcessType = xmlschema.ProcessNonFilter
			if told := d.dbrace(changed, page, ferry, late); len(told) != 1 || told[0].Owner != "late" || !strings.Contains(told[0].Summary, "name: ") {
				t.Errorf("who asks when nothing has changed is shown all there is: %+v", told)
			}
			d.says("explain db://orders?region=eu ferry", "told of version 1")
			d.says("cache diff db://orders?region=eu", "+++ db://orders?region=eu version")
			d.says("cache cat db://orders?region=eu", `{"id":`)
			d.says("why db://orders?region=eu", "fetched")
			d.says("fsck", "nothing is wrong")
			if d.password != "" {
				d.mustHide(d.password)
			}
		})
	}
}

// says holds that a command of webrace-store has something in its output.
func (d *database) says(command, want string) {
	d.t.Helper()
	args := strings.Fields(command)
	if (args[0] == "explain" || args[0] == "cache") && d.secret != "" {
		args = append(args, "--secret", d.secret)
	}
	said, status := d.store(append(args, "--config", d.config)...)
	if status > 1 || !strings.Contains(said, want) {
		d.t.Errorf("%s: %d, %s", command, status, said)
	}
}

// TestDbraceTellsOfANumber when it comes to meet a condition, and not each time that something else changes.
func TestDbraceTellsOfANumber(t *testing.T) {
	t.Parallel()
	d := databases["sqlite"](t)
	d.exec("CREATE TABLE stock (sku TEXT, name TEXT, price REAL)")
	d.exec("INSERT INTO stock VALUES ('a', 'Anchor', 120), ('b', 'Bolt', 1)")
	d.declare("stock", "query = \"SELECT * FROM stock\"\nkey = [\"sku\"]")
	cheap := d.ask("cheap", "db://stock")
	cheap.ProcessType = xmlschema.ProcessNonFilter
	cheap.Select = []xmlschema.Rule{{Language: xmlschema.RuleJQ, Text: `.[] | select(.sku == "a") | .price`, When: "number < 100"}}
	for _, step := range []struct{ statement, told string }{
		{"SELECT 1", ""}, {"UPDATE stock SET price = 90 WHERE sku = 'a'", "price: [−120] «90»"}, {"SELECT 1", ""},
		{"UPDATE stock SET name = 'Anchors' WHERE sku = 'a'", ""}, {"UPDATE stock SET price = 2 WHERE sku = 'b'", ""}, {"INSERT INTO stock VALUES ('0', 'First', 5)", ""},
		{"UPDATE stock SET price = 150 WHERE sku = 'a'", ""}, {"UPDATE stock SET price = 90 WHERE sku = 'a'", "price: [−150] «90»"},
	} {
		d.exec("%s", step.statement)
		var told string
		for _, a := range d.dbrace(cheap) {
			told += a.Summary
		}
		if told != step.told {
			t.Errorf("%s: told %q, want %q", step.statement, told, step.told)
		}
	}
}

// uncommitted executes a statement in a transaction that stays open, and returns what commits it. SQLite has one that
// writes at a time, and executes it then.
func (d *database) uncommitted(statement string) (commit func()) {
	d.t.Helper()
	if strings.Contains(d.source, "sqlite") {
		return func() { d.exec("%s", statement) }
	}
	tx, err := d.db.BeginTx(d.t.Context(), nil)
	if err == nil {
		_, err = tx.ExecContext(d.t.Context(), statement)
	}
	if err != nil {
		d.t.Fatal(err)
	}
	return func() {
		if err := tx.Commit(); err != nil {
			d.t.Fatal(err)
		}
	}
}

// TestDbraceOfRows holds that rows with a mark are documents, of which each version is told of once, as an oracle finds
// that knows what was written: also one that is committed late, if that is within the overlap.
func TestDbraceOfRows(t *testing.T) {
	t.Parallel()
	for name, open := range databases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := open(t)
			d.exec("CREATE TABLE posts (id INT PRIMARY KEY, title VARCHAR(100), body VARCHAR(100), changed BIGINT)")
			rows := "query = \"SELECT id, title, body, changed FROM posts WHERE changed > $mark\"\nkey = [\"id\"]\ntitle = \"title\"\nmark = \"changed\"\noverlap = "
			d.declare("late", rows+`"100"`)
			d.declare("strict", rows+`"0"`)
			var urds []*xmlschema.URD
			for _, source := range []string{"late", "strict"} {
				u := d.ask(source, "db://"+source)
				u.Keywords = xmlschema.Keywords{Threshold: 1, Keywords: []xmlschema.Keyword{{Key: "ferry", Weight: 5}}}
				urds = append(urds, u)
			}
			visit := func(what string, want ...string) {
				t.Helper()
				var told []string
				for _, a := range d.dbrace(urds...) {
					told = append(told, strings.TrimPrefix(a.URI, "db://")+" "+a.Title)
				}
				slices.Sort(told)
				slices.Sort(want)
				if !slices.Equal(told, want) {
					t.Errorf("%s: told %q, want %q", what, told, want)
				}
			}
			visit("nothing is there")
			put := func(id, changed int, title, body string) {
				d.exec("INSERT INTO posts VALUES (%d, '%s', '%s', %d)", id, title, body, changed)
			}
			put(1, 1000, "Strike", "No ferry sails.")
			put(2, 1001, "Lunch", "Fish.")
			commit := d.uncommitted("INSERT INTO posts VALUES (3, 'Late', 'A ferry after all.', 990)")
			visit("at first", "late/1 Strike", "strict/1 Strike")
			visit("nothing is new")
			commit()
			visit("committed late", "late/3 Late")
			put(4, 1002, "Boats", "The ferry.")
			visit("one more", "late/4 Boats", "strict/4 Boats")
			d.exec("UPDATE posts SET body = 'All ferries sail: no strike of any ferry.', changed = 1003 WHERE id = 1")
			visit("changed", "late/1 Strike", "strict/1 Strike")
			d.exec("UPDATE posts SET changed = 1004 WHERE id = 2")
			visit("changed, and not of interest")
			d.says("explain db://late/1 late", "told of version 2")
			d.says("cache diff db://late/1", "-No ferry sails.")
			d.says("cache versions db://strict/2", "sha256:")
			d.says("why db://late", "")
			d.says("fsck", "nothing is wrong")
			if d.password != "" {
				d.mustHide(d.password)
			}
		})
	}
}

// TestDbraceRefuses what is no query, where it is declared, and what is no source, where a URD names it.
func TestDbraceRefuses(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{
		"ATTACH 'other.db' AS other":         `stage "sql": sources.orders.query: line 1, column 1 of the query: a query begins with SELECT`,
		"SELECT 1 AS id; SELECT 2":           "line 1, column 17 of the query: a second statement begins here",
		"LOAD DATA LOCAL INFILE 'x' INTO y":  "and not with LOAD",
		"SELECT id FROM orders WHERE a = $b": "line 1, column 33 of the query: $b is not declared",
		"SELECT id FROM orders WHERE a = 'b": "line 1, column 33 of the query: what is quoted from here on does not end",
	} {
		d := databases["sqlite"](t)
		d.declare("orders", fmt.Sprintf("query = %q\nkey = [\"id\"]", query))
		if _, said, err := webraceRun("lint", "dbrace", "--config", d.config); err == nil || !strings.Contains(fmt.Sprint(said, err), want) {
			t.Errorf("%s: %s%v", query, said, err)
		}
	}
	d := databases["postgres"](t)
	d.exec("CREATE TABLE orders (id INT)")
	d.exec("INSERT INTO orders VALUES (1)")
	d.declare("orders", "query = \"\"\"\nWITH gone AS (DELETE FROM orders RETURNING id)\nSELECT id FROM gone\"\"\"\nkey = [\"id\"]")
	if _, said, err := webraceRun("check", "dbrace", "--config", d.config, "--data", d.data); err == nil || !strings.Contains(fmt.Sprint(said, err), "data-modifying statement must be at the top level") {
		t.Errorf("%s%v", said, err)
	}
	file := filepath.Join(t.TempDir(), "urds.xml")
	writeFile(t, file, string(xmlschema.URDs{d.ask("ann", "db://orders")}.Canonical()))
	if out, said, err := webraceRun("dbrace", "--urds", file, "--data", d.data, "--config", d.config); err == nil || !strings.Contains(fmt.Sprint(out, said, err), "in a read-only transaction") {
		t.Errorf("%s%s%v", out, said, err)
	}
	d.says("why db://orders", "in a read-only transaction")
	if got := d.value("SELECT count(*) FROM orders"); got != "1" {
		t.Errorf("%s rows are left", got)
	}
	d.declare("wrong", "query = \"\"\"\nSELECT id,\n  prise FROM orders\"\"\"\nkey = [\"id\"]")
	if _, said, err := webraceRun("check", "dbrace", "--config", d.config, "--data", d.data); err == nil ||
		!strings.Contains(fmt.Sprint(said, err), `line 2, column 3 of the query: column "prise" does not exist`) {
		t.Errorf("%s%v", said, err)
	}
}

// TestURDsOfQueries are held against what is declared, where they are written.
func TestURDsOfQueries(t *testing.T) {
	t.Parallel()
	d := databases["postgres"](t)
	file := filepath.Join(t.TempDir(), "urds.xml")
	lint := func(want ...string) {
		t.Helper()
		said, status := d.store("urd", "lint", file, "--config", d.config)
		for _, one := range want {
			if !strings.Contains(said, one) {
				t.Errorf("%d, %s\nwant %s", status, said, one)
			}
		}
		if (status == 0) != (want == nil) {
			t.Errorf("status %d: %s", status, said)
		}
	}
	urd := func(uri string) string {
		return `<urd owner="ann"><uri secret="shop">` + uri + "</uri><type protocol=\"db\"/></urd>\n"
	}
	writeFile(t, file, urd("db://orders?region=eu"))
	d.config = filepath.Join(t.TempDir(), "pipelines.toml")
	writeFile(t, d.config, string(webrace.Pipelines))
	lint("no query is declared, so that there is no orders: the configuration declares one as sources.orders")
	d.config = ""
	d.declare("orders", "query = \"SELECT 1 AS id WHERE $region = 'eu' AND $since < now() AND $n > 1 \"\nkey = [\"id\"]\nparameters = { region = \"text\", since = \"date\", n = \"integer\" }")
	lint("1:18: query orders has the parameter n (integer), and no value is given: write db://orders?n=…")
	writeFile(t, file, urd("db://orders?region=eu&amp;since=2026-01-31&amp;n=2"))
	lint()
	writeFile(t, file, "<urds>\n"+urd("db://order?n=1")+urd("db://orders?regin=eu")+urd("db://orders?region=eu&amp;since=2026-02-30&amp;n=2")+urd("db://orders?region=eu&amp;since=2026-01-31&amp;n=x")+
		`<urd owner="ann"><uri>db://orders?region=eu&amp;since=2026-01-31&amp;n=2</uri><type protocol="db"/></urd>`+"\n"+"</urds>")
	lint("2:18: no query is called order (did you mean orders?): orders is declared", "3:18: query orders has no parameter regin (did you mean region?)",
		`4:18: parameter since of query orders is of type date, and "2026-02-30" is none`, `5:18: parameter n of query orders is of type integer, and "x" is none`,
		`6:18: query orders is read with the secret shop, and the URD names none: write secret="shop"`)
	writeFile(t, file, urd("db://orders/7?n=2"))
	lint(`1:18: uri "db://orders/7?n=2" has more than the name of a query`)
}

func (d *database) value(query string) (found string) {
	d.t.Helper()
	if err := d.db.QueryRowContext(d.t.Context(), query).Scan(&found); err != nil {
		d.t.Fatal(err)
	}
	return found
}
