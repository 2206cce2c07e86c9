package sql

import (
	"context"
	dbsql "database/sql"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/internal/testutil/mariadb"
	"github.com/webrace/webrace/internal/testutil/postgres"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/agent/agenttest"
)

// place is a database to be read, and how it is written.
type place struct {
	Source
	asker func(t *testing.T, s Source) *asker
	exec  func(statement string)
}

// onPostgres makes a database of PostgreSQL.
func onPostgres(t *testing.T) *place {
	t.Helper()
	address := postgres.Database(t)
	db, err := dbsql.Open("pgx", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return newPlace(t, Source{Driver: "postgres", Address: address}, db)
}

// onMariaDB makes a database of MariaDB.
func onMariaDB(t *testing.T) *place {
	t.Helper()
	s := mariadb.New(t)
	p := newPlace(t, Source{Driver: "mariadb", Address: s.URL(), Secret: "shop"}, s.DB)
	p.asker = func(t *testing.T, source Source) *asker {
		a := newAsker(t, source)
		a.secrets = agenttest.Secrets{"shop": agenttest.Account(t, mariadb.User, mariadb.Password, s.Address, true)}
		return a
	}
	return p
}

func onSQLite(t *testing.T) *place {
	t.Helper()
	f := newFile(t)
	return newPlace(t, f.source("", "id"), f.db)
}

func newPlace(t *testing.T, s Source, db *dbsql.DB) *place {
	s.Key = []string{"id"}
	return &place{
		Source: s, asker: newAsker,
		exec: func(statement string) {
			t.Helper()
			if _, err := db.Exec(statement); err != nil {
				t.Fatalf("%s: %v", statement, err)
			}
		},
	}
}

// query is the place with a query.
func (p *place) query(query string) Source {
	s := p.Source
	s.Query = query
	return s
}

// value is an expression, and what a list has of it.
type value struct{ expression, json string }

// valuesAre holds that values are given as they are.
func (p *place) valuesAre(t *testing.T, all ...value) {
	t.Helper()
	query, want := "SELECT 1 AS id", "[\n"+`{"id":1`
	for i, v := range all {
		query += fmt.Sprintf(", %s AS c%d", v.expression, i)
		want += fmt.Sprintf(`,"c%d":%s`, i, v.json)
	}
	want += "}\n]\n"
	asked := p.query(query + " WHERE 1 = $one") // with a parameter, drivers speak another protocol
	asked.Parameters = map[string]string{"one": "integer"}
	for address, s := range map[string]Source{"db://orders": p.query(query), "db://orders?one=1": asked} {
		got := p.asker(t, s).ask(address, nil)
		if len(got.Documents) != 1 || string(got.Documents[0].Body) != want {
			t.Errorf("%s: got  %s%s %v\nwant  %s", address, got.bodies(), got.Visit.Error, got.Err, want)
		}
	}
}

func TestValuesOfPostgres(t *testing.T) {
	t.Parallel()
	onPostgres(t).valuesAre(t,
		value{"9223372036854775807::bigint", "9223372036854775807"}, value{"123456789012345678901234567890.1200::numeric", "123456789012345678901234567890.1200"},
		value{"1.50::numeric", "1.50"}, value{"'NaN'::numeric", `"NaN"`}, value{"0.1::real", "0.1"}, value{"0.1::float8", "0.1"}, value{"'Infinity'::float8", `"+Inf"`},
		value{"1e300::float8", "1e+300"}, value{"NULL::text", "null"}, value{"true", "true"}, value{"E'a\\n\"b\"\\\\ é\\u2028\\x01'", `"a\n\"b\"\\ é` + "\u2028" + `\u0001"`},
		value{"'{\"a\": [1, 2.50]}'::json", `{"a": [1, 2.50]}`}, value{"'{\"a\":1}'::jsonb", `{"a": 1}`}, value{"'\\x6869'::bytea", `"hi"`}, value{"'\\xff00'::bytea", `"/wA="`},
		value{"'2026-01-31'::date", `"2026-01-31"`}, value{"'2026-01-31 10:00:00.25+02'::timestamptz", `"2026-01-31T08:00:00.25Z"`},
		value{"'2026-01-31 10:00'::timestamp", `"2026-01-31T10:00:00"`}, value{"'infinity'::timestamptz", `"infinity"`}, value{"'{1,2}'::int[]", `"{1,2}"`},
		value{"'6f1e3c9e-0000-4000-8000-000000000001'::uuid", `"6f1e3c9e-0000-4000-8000-000000000001"`}, value{"'1 day'::interval", `"1 day"`},
	)
}

func TestValuesOfMariaDB(t *testing.T) {
	t.Parallel()
	p := onMariaDB(t)
	p.exec("CREATE TABLE v (i BIGINT UNSIGNED, d DECIMAL(40,4), f FLOAT, g DOUBLE, t TEXT, b VARBINARY(10), c VARBINARY(10), dt DATETIME(2), ts TIMESTAMP, da DATE, ti TIME, y YEAR, n TEXT)")
	p.exec(`INSERT INTO v VALUES (18446744073709551615, 12345678901234567890.1200, 0.1, 1e300, 'a\n"b"\\ é', 'hi', X'ff00', '2026-01-31 10:00:00.25', '2026-01-31 13:45:00', '2026-01-31', '10:00', 2026, NULL)`)
	values := []value{
		{"(SELECT i FROM v)", "18446744073709551615"}, {"(SELECT d FROM v)", "12345678901234567890.1200"}, {"(SELECT f FROM v)", "0.1"}, {"(SELECT g FROM v)", "1e+300"},
		{"(SELECT t FROM v)", `"a\n\"b\"\\ é"`}, {"(SELECT b FROM v)", `"hi"`}, {"(SELECT c FROM v)", `"/wA="`}, {"(SELECT dt FROM v)", `"2026-01-31T10:00:00.25"`},
		{"(SELECT ts FROM v)", `"2026-01-31T08:00:00Z"`}, // the server's zone is +05:45
		{"(SELECT da FROM v)", `"2026-01-31"`}, {"(SELECT ti FROM v)", `"10:00:00"`}, {"(SELECT y FROM v)", "2026"}, {"(SELECT n FROM v)", "null"}, {"1.50", "1.50"},
	}
	p.valuesAre(t, values...)
}

func TestValuesOfSQLite(t *testing.T) {
	t.Parallel()
	p := onSQLite(t)
	p.exec("CREATE TABLE v (d DATE, dt DATETIME, b BLOB, s TEXT)")
	p.exec(`INSERT INTO v VALUES ('2026-01-31', '2026-01-31 10:00:00', X'ff00', CAST(X'61ff' AS TEXT))`)
	p.valuesAre(t,
		value{"9223372036854775807", "9223372036854775807"}, value{"1.5", "1.5"}, value{"1e300", "1e+300"}, value{"NULL", "null"}, value{"'é\"'", `"é\""`},
		value{"(SELECT b FROM v)", `"/wA="`}, value{"(SELECT s FROM v)", `"Yf8="`}, value{"9e999", `"+Inf"`},
	)
	got := p.asker(t, p.query("SELECT 1 AS id, d, dt FROM v")).ask("db://orders", nil)
	if want := `{"id":1,"d":"2026-01-31","dt":"2026-01-31T10:00:00Z"}`; !strings.Contains(got.bodies(), want) {
		t.Errorf("%s %s", got.bodies(), got.Visit.Error)
	}
}

// raw executes a text as if it were a query that was found to be one.
func (p *place) raw(t *testing.T, text string) error {
	t.Helper()
	a := p.asker(t, p.query("SELECT 1 AS id"))
	resources := new(pipeline.Resources)
	pipeline.Provide[credentials.Open](resources, func() (credentials.Source, error) { return a.secrets, nil })
	made, err := newStage(a.options, pipeline.NewEnv("p", "sql", resources))
	if err != nil {
		t.Fatal(err)
	}
	s := made.(*stage)
	defer s.Close()
	q := &query{text: text, parts: []part{{text: text}}}
	v, end := s.agent.Try(p.Secret)
	defer end()
	on, err := s.connect(t.Context(), v, &request{name: "orders", source: a.options.Sources["orders"], query: q, engine: engines[p.Driver]})
	if err != nil {
		t.Fatal(err)
	}
	return on.read(t.Context(), time.Minute, func(ctx context.Context, r reader) error {
		st := q.render(on.engine.lexis, "", "")
		_, err := on.collect(ctx, r, st, nil, false, limits{100, 1e6, func(int) error { return nil }})
		return err
	})
}

// TestNothingIsWritten holds that it is the database that refuses, and not the look at the query alone.
func TestNothingIsWritten(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(os.TempDir(), fmt.Sprintf("webrace-sql-%d", os.Getpid()))
	t.Cleanup(func() { os.Remove(outside) })
	for name, c := range map[string]struct {
		make func(*testing.T) *place
		all  map[string]string // statements, and what is said of them
	}{
		"postgres": {onPostgres, map[string]string{
			"SELECT 1 AS id; DELETE FROM orders":                                 "cannot insert multiple commands",
			"WITH gone AS (DELETE FROM orders RETURNING id) SELECT id FROM gone": "in a read-only transaction",
			"INSERT INTO orders VALUES (2) RETURNING id":                         "cannot execute INSERT in a read-only transaction",
			"SELECT nextval('s') AS id":                                          "cannot execute nextval() in a read-only transaction",
			"SELECT set_config('transaction_read_only', 'off', true) AS id":      "transaction read-write mode must be set before any query",
			"SELECT id INTO copied FROM orders":                                  "read-only transaction",
		}},
		"mariadb": {onMariaDB, map[string]string{
			"SELECT 1 AS id; DELETE FROM orders":                     "error in your SQL syntax",
			"DELETE FROM orders RETURNING id":                        "READ ONLY transaction",
			"INSERT INTO orders VALUES (2)":                          "READ ONLY transaction",
			"CREATE TABLE other (id INT)":                            "READ ONLY transaction",
			"LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE orders": "READ ONLY transaction",
		}},
		"sqlite": {onSQLite, map[string]string{
			"ATTACH '" + outside + "' AS other":                       "too many attached databases",
			"VACUUM INTO '" + outside + "'":                           "",
			"DELETE FROM orders RETURNING id":                         "readonly database",
			"WITH n AS (SELECT 2) INSERT INTO orders SELECT * FROM n": "readonly database",
			"SELECT 1 AS id; DELETE FROM orders":                      "readonly database",
			"PRAGMA query_only = 0; DELETE FROM orders":               "readonly database",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := c.make(t)
			p.exec("CREATE TABLE orders (id INT)")
			p.exec("INSERT INTO orders VALUES (1)")
			if name == "postgres" {
				p.exec("CREATE SEQUENCE s")
			}
			for statement, want := range c.all {
				err := p.raw(t, statement)
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%s: %v", statement, err)
				}
				t.Logf("%s: %v", statement, err)
			}
			if got := p.asker(t, p.query("SELECT count(*) AS id FROM orders")).ask("db://orders", nil); !strings.Contains(got.bodies(), `{"id":1}`) {
				t.Errorf("then there are %s %s", got.bodies(), got.Visit.Error)
			}
			if _, err := os.Stat(outside); err == nil {
				t.Errorf("%s was made", outside)
			}
		})
	}
}

// TestOutcomes: what the database tells is what came of the visit.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		make   func(*testing.T) *place
		column string // what is said of one that is not there
		sleep  string
	}{
		"postgres": {onPostgres, `line 2, column 2 of the query: column "prise" does not exist`, "SELECT pg_sleep(30)::text AS id"},
		"mariadb":  {onMariaDB, "line 2, column 2 of the query: Unknown column 'prise'", "SELECT count(*) AS id FROM seq_1_to_1000000 a, seq_1_to_1000000 b"},
		"sqlite":   {onSQLite, "line 2, column 2 of the query: SQL logic error: no such column: prise", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := c.make(t)
			p.exec("CREATE TABLE orders (id INT, price INT)")
			got := p.asker(t, p.query("SELECT id,\n\tprise FROM orders")).ask("db://orders", nil)
			if !strings.Contains(got.Visit.Error, c.column) || !got.Visit.Refused || got.Err != nil {
				t.Errorf("%s, %v", got.Visit.Error, got.Err)
			}
			if c.sleep != "" {
				a := p.asker(t, p.query(c.sleep))
				a.options.Timeout = 5e8
				if got := a.ask("db://orders", nil); !strings.Contains(got.Visit.Error, "(option timeout)") || got.Err != nil {
					t.Errorf("%s, %v", got.Visit.Error, got.Err)
				}
			}
			nowhere := p.query("SELECT 1 AS id")
			nowhere.Address = strings.Replace(nowhere.Address, "127.", "127.0.0.1:1/", 1)
			if u, err := url.Parse(p.Address); err == nil && u.Host != "" {
				u.Host = "127.0.0.1:1"
				nowhere.Address, nowhere.Secret = u.String(), ""
				if got := newAsker(t, nowhere).ask("db://orders", nil); got.Err == nil || !strings.Contains(got.Err.Error(), "connection refused") || got.Visit.Error != "" {
					t.Errorf("nobody listens: %q, %v", got.Visit.Error, got.Err)
				}
			} else if nowhere.Address += ".gone"; true {
				if got := newAsker(t, nowhere).ask("db://orders", nil); got.Err != nil || !strings.Contains(got.Visit.Error, "no such file") {
					t.Errorf("no file: %q, %v", got.Visit.Error, got.Err)
				}
			}
		})
	}
}

// TestAccounts: the password goes where the secret is for, by the transport that it may go, and stands in no error.
func TestAccounts(t *testing.T) {
	t.Parallel()
	p := onMariaDB(t)
	s := p.query("SELECT current_user() AS id")
	u, err := url.Parse(p.Address)
	if err != nil {
		t.Fatal(err)
	}
	secure := s
	secure.Address = strings.Replace(s.Address, "?tls=false", "", 1)
	for want, c := range map[string]struct {
		source Source
		secret string // that the URD names
		host   string
		word   string
		plain  bool
	}{
		`{"id":"reader@%"}`:                        {source: s, secret: "shop", host: u.Host, word: mariadb.Password, plain: true},
		"does not accept secret shop (basic)":      {source: s, secret: "shop", host: u.Host, word: "wrong-word", plain: true},
		"secret shop is not for " + u.Host:         {source: s, secret: "shop", host: "db.example.org", word: mariadb.Password, plain: true},
		"secret shop is not sent by plain mariadb": {source: s, secret: "shop", host: u.Host, word: mariadb.Password},
		"the server speaks no TLS":                 {source: secure, secret: "shop", host: u.Host, word: mariadb.Password},
		`the URD names none: write secret="shop"`:  {source: s, host: u.Host, word: mariadb.Password, plain: true},
		`the URD names other: write secret="shop"`: {source: s, secret: "other", host: u.Host, word: mariadb.Password, plain: true},
	} {
		a := newAsker(t, c.source)
		one := agenttest.Account(t, mariadb.User, c.word, c.host, true)
		if !c.plain {
			b := one.Bounds()
			b.Insecure = false
			one = one.Within(b)
		}
		a.secrets, a.secret = agenttest.Secrets{"shop": one}, c.secret
		got := a.ask("db://orders", nil)
		said := fmt.Sprint(got.bodies(), got.Visit.Error, got.Err)
		if !strings.Contains(said, want) || strings.Contains(said, c.word) {
			t.Errorf("want %s: %s", want, said)
		}
	}
	a := p.asker(t, s)
	delete(a.options.Sources, "orders")
	s.Secret = ""
	a.options.Sources["orders"] = s
	a.secret = "shop"
	if got := a.ask("db://orders", nil); !strings.Contains(got.Visit.Error, "is read without a secret") {
		t.Errorf("%s", got.Visit.Error)
	}
	a.secret = ""
	if got := a.ask("db://orders", nil); !strings.Contains(got.Visit.Error, "does not let the user of its address in") {
		t.Errorf("%s, %v", got.Visit.Error, got.Err)
	}
}

// TestMarks: rows are read from the last mark on, and one that is committed late is read within the overlap.
func TestMarks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		make    func(*testing.T) *place
		typ     string
		at      func(seconds int) string
		overlap string
	}{
		"postgres/timestamptz": {onPostgres, "timestamptz", clock("2006-01-02 15:04:05Z"), "60s"},
		"postgres/timestamp":   {onPostgres, "timestamp", clock("2006-01-02 15:04:05"), "60s"},
		"postgres/bigint":      {onPostgres, "bigint", whole, "60"},
		"postgres/numeric":     {onPostgres, "numeric", fraction, "60"},
		"postgres/int":         {onPostgres, "int", whole, "60"},
		"mariadb/datetime":     {onMariaDB, "datetime", clock("2006-01-02 15:04:05"), "60s"},
		"sqlite/datetime":      {onSQLite, "datetime", clock("2006-01-02 15:04:05"), "60s"},
		"sqlite/text":          {onSQLite, "text", clock("2006-01-02T15:04:05Z"), "60s"},
		"sqlite/real":          {onSQLite, "real", fraction, "60"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := c.make(t)
			p.exec("CREATE TABLE orders (id INT PRIMARY KEY, name VARCHAR(100), changed " + c.typ + ")")
			s := p.query("SELECT id, name, changed FROM orders WHERE changed > $mark -- since")
			s.Mark, s.Title, s.Overlap = "changed", "name", c.overlap
			put := func(id, seconds int) {
				t.Helper()
				p.exec(fmt.Sprintf("INSERT INTO orders VALUES (%d, 'Order %[1]d', %s)", id, c.at(seconds)))
			}
			visit := func(a *asker, what, want string, last *visited) *visited {
				t.Helper()
				got := a.ask("db://orders", last)
				if got.keys() != want || got.Err != nil || got.Visit.Error != "" {
					t.Fatalf("%s: %q, want %q; %s, %v; state %s", what, got.keys(), want, got.Visit.Error, got.Err, got.Visit.State)
				}
				return got
			}
			a := p.asker(t, s)
			a.options.Backlog = 2
			none := visit(a, "nothing is there", "", nil)
			for id := range 4 {
				put(id, 1000+id)
			}
			visit(a, "after nothing, all are new", "0 1 2 3", none)
			first := visit(a, "the first visit", "2 3", nil)
			if got := string(first.Documents[0].Body); !strings.Contains(got, "<title>Order 2</title>") || !strings.Contains(got, "<dt>id</dt>\n<dd id=\"id\">2</dd>") {
				t.Errorf("%s", got)
			}
			second := visit(a, "nothing is new", "", first)
			if string(second.Visit.State) != string(first.Visit.State) || second.Visit.Digest != first.Visit.Digest {
				t.Errorf("state %s, then %s", first.Visit.State, second.Visit.State)
			}
			put(4, 1010)
			third := visit(a, "one more", "4", second)
			put(5, 1008)
			late := visit(a, "one that was committed late", "5", third)
			visit(a, "that is known then", "", late)
			put(6, 900)
			visit(a, "one that is older than the overlap", "", late)
			p.exec("UPDATE orders SET changed = " + c.at(1011) + " WHERE id = 1")
			p.exec("UPDATE orders SET name = 'Other' WHERE id = 3")
			visit(a, "rows that changed", "3 1", late)

			s.Overlap = strings.Replace(c.overlap, "60", "0", 1)
			a = p.asker(t, s)
			without := visit(a, "all, without overlap", "1", known(third.Visit))
			put(7, 1009)
			visit(a, "a late one is missed", "", without)
			put(8, 1012)
			visit(a, "and not one that comes then", "8", without)
			a.options.Backlog = 0
			if got := a.ask("db://orders", nil); len(got.Documents) != 9 {
				t.Errorf("all that there are: %s", got.keys())
			}
		})
	}
}

// clock writes seconds as a time.
func clock(layout string) func(int) string {
	return func(seconds int) string {
		return "'" + time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC).Add(time.Duration(seconds)*time.Second).Format(layout) + "'"
	}
}

func whole(seconds int) string { return fmt.Sprint(seconds) }

func fraction(seconds int) string { return fmt.Sprintf("%d.25", seconds) }

// TestMoreLateRowsThanAreKnown: those that are not told apart pass again, and none is missed; of a first visit, those
// that its backlog left out do not come later.
func TestMoreLateRowsThanAreKnown(t *testing.T) {
	t.Parallel()
	const all = mostSeen + 1000
	f := newFile(t, "CREATE TABLE orders (id INTEGER PRIMARY KEY, changed INTEGER)",
		fmt.Sprintf("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) INSERT INTO orders SELECT i, i FROM n", all))
	s := f.source("SELECT id, changed FROM orders WHERE changed > $mark", "id")
	s.Mark, s.Overlap = "changed", "100000"
	a := newAsker(t, s)
	a.options.Backlog = 3
	first := a.ask("db://orders", nil)
	if got := first.keys(); got != "5998 5999 6000" || first.Visit.Error != "" {
		t.Fatalf("%s, %s", got, first.Visit.Error)
	}
	if n := len(first.Visit.State); n > webrace.MostState {
		t.Errorf("the state has %d bytes", n)
	}
	f.exec("INSERT INTO orders VALUES (7000, 7000), (7001, 2000)")
	second := a.ask("db://orders", first)
	if got := second.keys(); got != "7001 7000" || second.Visit.Error != "" {
		t.Errorf("then %.100s, %s", got, second.Visit.Error)
	}
	f.exec("INSERT INTO orders VALUES (7002, 2001)")
	third := a.ask("db://orders", second)
	if got := third.keys(); got != "7002" {
		t.Errorf("%d rows, %.100s", len(third.Documents), got)
	}
	f.exec("INSERT INTO orders VALUES (200000, 200000)")
	if got := a.ask("db://orders", third); got.keys() != "200000" || strings.Contains(string(got.Visit.State), "since") {
		t.Errorf("when the overlap lies behind that: %.100s, %.200s", got.keys(), got.Visit.State)
	}
	f.exec("DELETE FROM orders WHERE id = 200000")
	a.options.Backlog = 0
	whole := a.ask("db://orders", nil)
	f.exec("INSERT INTO orders VALUES (7003, 3)")
	if got := a.ask("db://orders", whole); len(whole.Documents) != all+3 || !strings.Contains(" "+got.keys()+" ", " 7003 ") {
		t.Errorf("%d rows, then %d", len(whole.Documents), len(got.Documents))
	}
}
