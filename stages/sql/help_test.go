package sql

import (
	dbsql "database/sql"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/testutil/mariadb"
	"github.com/webrace/webrace/internal/testutil/postgres"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/agent/agenttest"
)

func TestMain(m *testing.M) { agenttest.Main(withServers{m}) }

// withServers are tests, with the servers that they share.
type withServers struct{ tests *testing.M }

func (w withServers) Run() int { return mariadb.Main(func() int { return postgres.Main(w.tests) }) }

// visited is what came of a visit.
type visited struct{ *agenttest.Result }

// known is what came of a visit after which this is known.
func known(v webrace.Visit) *visited { return &visited{&agenttest.Result{Visit: v}} }

// asker visits sources, one after the other.
type asker struct {
	t       *testing.T
	options Options
	secrets agenttest.Secrets
	secret  string // that URDs name
}

// newAsker returns one with a source orders.
func newAsker(t *testing.T, s Source) *asker {
	o := defaults
	o.Sources = map[string]Source{"orders": s}
	o.Timeout = pipeline.Duration(20 * time.Second)
	return &asker{t: t, options: o, secret: s.Secret}
}

// ask visits a source; last is what came of it before.
func (a *asker) ask(url string, last *visited) *visited {
	a.t.Helper()
	if err := a.options.Validate(); err != nil {
		a.t.Fatal(err)
	}
	request := webrace.Request{URL: url, Secret: a.secret, Reach: []webrace.Reach{{Crawl: "c"}}}
	if last != nil {
		request.Visit = &last.Visit
	}
	from := agenttest.Frontier{Secrets: a.secrets, Hidden: mariadb.Password, Stage: func(g *pipeline.Graph) *pipeline.Stage { return g.Add("sql", a.options) }}
	return &visited{from.Visits(a.t, request)[0]}
}

// bodies are those of the documents, by the ends of their addresses.
func (v *visited) bodies() string {
	var all []string
	for _, d := range v.Documents {
		all = append(all, strings.TrimPrefix(d.URL, "db://orders")+" "+string(d.Body))
	}
	return strings.Join(all, "\n")
}

// keys are those of the documents of rows, in their order.
func (v *visited) keys() string {
	var all []string
	for _, d := range v.Documents {
		key, _, _ := strings.Cut(strings.TrimPrefix(d.URL, "db://orders/"), "?")
		all = append(all, key)
	}
	return strings.Join(all, " ")
}

// file is a database of SQLite, which the test writes.
type file struct {
	t    *testing.T
	path string
	db   *dbsql.DB
}

func newFile(t *testing.T, statements ...string) *file {
	t.Helper()
	f := &file{t: t, path: filepath.Join(t.TempDir(), "shop.db")}
	var err error
	if f.db, err = dbsql.Open("sqlite", f.path); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.db.Close() })
	f.exec(statements...)
	return f
}

func (f *file) exec(statements ...string) {
	f.t.Helper()
	for _, s := range statements {
		if _, err := f.db.Exec(s); err != nil {
			f.t.Fatalf("%s: %v", s, err)
		}
	}
}

// source is one that reads the database.
func (f *file) source(query string, key ...string) Source {
	return Source{Driver: "sqlite", Address: f.path, Query: query, Key: slices.Concat(key)}
}
