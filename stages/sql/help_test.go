package sql

import (
	"bytes"
	"context"
	dbsql "database/sql"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/internal/testutil/mariadb"
	"github.com/webrace/webrace/internal/testutil/postgres"
	"github.com/webrace/webrace/pipeline"
)

func TestMain(m *testing.M) {
	status := mariadb.Main(func() int { return postgres.Main(m) })
	if err := goleak.Find(); status == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		status = 1
	}
	os.Exit(status)
}

// secrets are those that a test lends to the stage.
type secrets map[string]credentials.Secret

func (s secrets) Secret(_ context.Context, name string) (credentials.Secret, error) {
	if secret, ok := s[name]; ok {
		return secret, nil
	}
	return credentials.Secret{}, credentials.ErrNotFound
}
func (secrets) SecretVersion(string) uint64                     { return 1 }
func (secrets) StartOf(context.Context, string) (string, error) { return "", credentials.ErrNotFound }

// account is the secret of an account at a host.
func account(t *testing.T, host, user, password string) credentials.Secret {
	t.Helper()
	secret, err := credentials.NewSecret(credentials.KindBasic, user, password)
	if err != nil {
		t.Fatal(err)
	}
	bounds, err := credentials.NewBounds([]string{host}, true)
	if err != nil {
		t.Fatal(err)
	}
	return secret.Within(bounds)
}

// result is what came of a visit.
type visited struct {
	documents []webrace.Document
	visit     webrace.Visit // as it is known afterwards
	err       error         // for which it is to be made again
	reports   int           // that the host is free
	counters  map[string]int64
}

// asker visits sources, one after the other.
type asker struct {
	t       *testing.T
	options Options
	secrets secrets
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
	got := new(visited)
	request := webrace.Request{URL: url, Secret: a.secret, Reach: []webrace.Reach{{Crawl: "c"}}}
	if last != nil {
		got.visit = last.visit
		request.Visit = &last.visit
	}
	resources := new(pipeline.Resources)
	provide(resources, a.secrets)
	g := pipeline.NewGraph("test")
	requests, documents := pipeline.KindOf[webrace.Request](), pipeline.KindOf[*webrace.Document]()
	g.AddStage("nothing", pipeline.Spec{Type: "nothing", Summary: "s", Out: []pipeline.Port{{Kind: requests}}},
		func(*pipeline.Env) (any, error) { return nothing{}, nil })
	g.AddStage("queue", pipeline.Spec{Type: "queue", Summary: "s", In: pipeline.Kinds(requests), Out: []pipeline.Port{{Kind: requests}}, Queue: true},
		func(*pipeline.Env) (any, error) {
			return &queue{request: request, got: got, sealed: make(chan struct{})}, nil
		})
	read := g.Add("sql", a.options)
	var env *pipeline.Env
	mk := read.Make
	read.Make = func(e *pipeline.Env) (any, error) {
		env = e
		return mk(e)
	}
	g.AddStage("documents", pipeline.Spec{Type: "documents", Summary: "s", In: pipeline.Kinds(documents), Needs: pipeline.NoParts},
		func(*pipeline.Env) (any, error) { return taker{got}, nil })
	g.Connect("nothing", "", "queue")
	g.Connect("queue", "", "sql")
	g.Connect("sql", "", "documents")
	g.Connect("sql", "rows", "documents")
	ctx, cancel := context.WithTimeout(a.t.Context(), time.Minute)
	defer cancel()
	if _, err := g.Run(ctx, pipeline.RunOptions{Resources: resources}); err != nil {
		a.t.Fatal(err)
	}
	got.counters = env.Counters()
	if got.reports != 1 {
		a.t.Errorf("%d reports that the host is free", got.reports)
	}
	return got
}

func provide(resources *pipeline.Resources, s secrets) {
	pipeline.Provide[credentials.Open](resources, func() (credentials.Source, error) { return s, nil })
}

// bodies are those of the documents, by the ends of their addresses.
func (v *visited) bodies() string {
	var all []string
	for _, d := range v.documents {
		all = append(all, strings.TrimPrefix(d.URL, "db://orders")+" "+string(d.Body))
	}
	return strings.Join(all, "\n")
}

// keys are those of the documents of rows, in their order.
func (v *visited) keys() string {
	var all []string
	for _, d := range v.documents {
		key, _, _ := strings.Cut(strings.TrimPrefix(d.URL, "db://orders/"), "?")
		all = append(all, key)
	}
	return strings.Join(all, " ")
}

type nothing struct{}

func (nothing) Run(context.Context, pipeline.Emitter) error { return nil }

// queue hands one request out.
type queue struct {
	request webrace.Request
	got     *visited
	out     bool
	sealed  chan struct{}
}

func (q *queue) Put(context.Context, *pipeline.Item) error { return nil }
func (q *queue) Seal()                                     { close(q.sealed) }

func (q *queue) Take(context.Context) (pipeline.Lease, error) {
	if q.out {
		<-q.sealed
		return nil, io.EOF
	}
	q.out = true
	return q, nil
}

func (q *queue) Item() *pipeline.Item { return &pipeline.Item{Value: q.request} }
func (q *queue) Release(any)          { q.got.reports++ }

func (q *queue) Done(o pipeline.Outcome) {
	q.got.err = o.Err
	for _, what := range o.Learned {
		what.(webrace.Learned)(&q.got.visit)
	}
}

// taker takes the documents.
type taker struct{ got *visited }

func (k taker) Process(_ context.Context, it *pipeline.Item, _ pipeline.Emitter) error {
	d := *it.Value.(*webrace.Document)
	d.Body = bytes.Clone(d.Body)
	k.got.documents = append(k.got.documents, d)
	return nil
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
