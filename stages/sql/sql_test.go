package sql

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace"
)

const orders = `CREATE TABLE orders (id INTEGER PRIMARY KEY, region TEXT, customer TEXT, price REAL)`

// TestAQueryIsOneDocument: a list of its rows, at the address of the source, whose visit goes with it.
func TestAQueryIsOneDocument(t *testing.T) {
	t.Parallel()
	f := newFile(t, orders, `INSERT INTO orders VALUES (10, 'eu', 'Ann "A"', 1.5), (9, 'eu', NULL, 2), (3, 'us', 'Ben', 3)`)
	s := f.source("SELECT id, customer, price FROM orders WHERE region = $region ORDER BY id DESC;", "id")
	s.Parameters = map[string]string{"region": "text"}
	a := newAsker(t, s)
	first := a.ask("db://orders?region=eu", nil)
	if got, want := first.bodies(), "?region=eu [\n"+`{"id":9,"customer":null,"price":2},`+"\n"+`{"id":10,"customer":"Ann \"A\"","price":1.5}`+"\n]\n"; got != want {
		t.Fatalf("the first visit brings\n%s\nwant\n%s\n%s, %v", got, want, first.Visit.Error, first.Err)
	}
	d := first.Documents[0]
	if d.Status != 0 || d.Outcome != webrace.Fetched || d.MediaType != "application/json" || d.Secret != "" || d.Visit != nil || len(d.Reach) != 1 || d.Truncated ||
		time.Since(d.At) > time.Minute || first.Visit.At.IsZero() || first.Visit.Error != "" || first.Visit.State != nil || first.Visit.Digest != (webrace.Digest{}) {
		t.Errorf("%+v, %+v", d, first.Visit)
	}
	second := a.ask("db://orders?region=eu", first)
	if second.bodies() != first.bodies() || second.Documents[0].Visit == nil {
		t.Errorf("the second brings %s", second.bodies())
	}
	stored := known(second.Visit)
	stored.Visit.Digest, stored.Visit.Version = sha256.Sum256(d.Body), 3 // as the cache learns
	if d := a.ask("db://orders?region=eu", stored).Documents[0]; d.Outcome != webrace.NotModified || d.Version != 3 || d.Digest != stored.Visit.Digest || d.Body != nil {
		t.Errorf("what is stored comes as %+v", d)
	}
	f.exec(`UPDATE orders SET price = 3 WHERE id = 9`)
	if d := a.ask("db://orders?region=eu", stored).Documents[0]; d.Outcome != webrace.Fetched || d.Version != 0 || !strings.Contains(string(d.Body), `"price":3}`) {
		t.Errorf("another comes as %+v", d)
	}
	if got := a.ask("db://orders?region=none", nil); got.bodies() != "?region=none []\n" {
		t.Errorf("no row: %s", got.bodies())
	}
	if got := a.ask("db://orders?region=eu'%20OR%20'1'%3D'1", nil); !strings.HasSuffix(got.bodies(), " []\n") {
		t.Errorf("a value that looks like SQL: %s", got.bodies())
	}
}

// TestRowsAreKnownByTheirKey.
func TestRowsAreKnownByTheirKey(t *testing.T) {
	t.Parallel()
	f := newFile(t, orders, `INSERT INTO orders VALUES (10, 'eu', 'Ann', 1.5), (9, 'a/b', 'Ben', 2)`)
	query := "SELECT customer, region, id AS n FROM orders"
	for name, c := range map[string]struct {
		query, key, want string
	}{
		"another column": {query, "customer", `{"id":"Ann","customer":"Ann","region":"eu","n":10},` + "\n" + `{"id":"Ben","customer":"Ben"`},
		"two columns":    {query, "n region", `{"id":"10/eu","customer":"Ann"`},
		"escaped":        {query, "n region", `{"id":"9/a%2Fb","customer":"Ben"`},
		"a column id":    {"SELECT id, region FROM orders", "region", "the column id of query orders is not its key"},
		"the same":       {"SELECT 1 AS id, region FROM orders", "id", `two rows of query orders have the key "1"`},
		"NULL":           {"SELECT NULL AS id, region FROM orders", "id", "has no key: id is NULL"},
		"none":           {"SELECT id AS idd, region FROM orders", "id", `has no column "id" (did you mean idd?)`},
		"called alike":   {"SELECT id, region AS id FROM orders", "id", `columns 1 and 2 of query orders are both called "id"`},
	} {
		got := newAsker(t, f.source(c.query, strings.Fields(c.key)...)).ask("db://orders", nil)
		if got.Err != nil || !strings.Contains(got.bodies()+got.Visit.Error, c.want) {
			t.Errorf("%s: %s %s, %v", name, got.bodies(), got.Visit.Error, got.Err)
		}
	}
}

// TestLimits: an answer that is too large is an outcome that tells what to do, and nothing of it is passed on.
func TestLimits(t *testing.T) {
	t.Parallel()
	f := newFile(t, orders, `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) INSERT INTO orders SELECT i, 'eu', 'Ann', i FROM n`)
	for want, set := range map[string]func(*Options){
		"more than 299 rows (option max_rows)":     func(o *Options) { o.MaxRows = 299 },
		"larger than 1000 bytes (option max_size)": func(o *Options) { o.MaxSize = 1000 },
		"":                                       func(o *Options) { o.MaxRows = 300 },
		"took longer than 50ms (option timeout)": func(o *Options) { o.Timeout = 50e6; o.Sources["orders"] = endless(f) },
		"has more than 262144 values":            func(o *Options) { o.Sources["orders"] = wide(f) },
	} {
		a := newAsker(t, f.source("SELECT * FROM orders", "id"))
		set(&a.options)
		got := a.ask("db://orders", nil)
		if want == "" && (len(got.Documents) != 1 || got.Visit.Error != "") || want != "" && (len(got.Documents) != 0 || !strings.Contains(got.Visit.Error, want) || !got.Visit.Refused) || got.Err != nil {
			t.Errorf("%q: %d documents, %s, %v", want, len(got.Documents), got.Visit.Error, got.Err)
		}
	}
}

func endless(f *file) Source {
	return f.source("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) AS id FROM n", "id")
}

func wide(f *file) Source {
	return f.source("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000) SELECT i AS id"+columns(9)+" FROM n", "id")
}

func columns(n int) (all string) {
	for i := range n {
		all += fmt.Sprintf(", 1 AS c%d", i)
	}
	return all
}

// TestMarksThatAreNone are outcomes, and what was known stays.
func TestMarksThatAreNone(t *testing.T) {
	t.Parallel()
	f := newFile(t, `CREATE TABLE orders (id INTEGER PRIMARY KEY, word TEXT, number INTEGER, empty TEXT)`, `INSERT INTO orders VALUES (1, 'soon', 7, NULL)`)
	for want, c := range map[string]struct{ mark, overlap string }{
		"neither a time nor a number, but soon":                      {"word", ""},
		"neither a time nor a number, but NULL":                      {"empty", ""},
		"the overlap is the duration 5m0s, and the mark is a number": {"number", "5m"},
	} {
		s := f.source("SELECT * FROM orders WHERE "+c.mark+" > $mark OR "+c.mark+" IS NULL", "id")
		s.Mark, s.Overlap = c.mark, c.overlap
		if got := newAsker(t, s).ask("db://orders", nil); !strings.Contains(got.Visit.Error, want) || got.Visit.State != nil || got.Err != nil || len(got.Documents) != 0 {
			t.Errorf("want %s: %s, %v, %s", want, got.Visit.Error, got.Err, got.keys())
		}
	}
}
