package imap

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/internal/testutil/imapserver"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/agent"
)

// authority is one that the tests trust, and certificate one by it for 127.0.0.1.
var (
	authority   *testutil.Authority
	certificate tls.Certificate
)

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	if authority, err = testutil.NewAuthority(); err != nil {
		log.Fatal(err)
	}
	if certificate, err = authority.Issue("127.0.0.1"); err != nil {
		log.Fatal(err)
	}
	trusted, err := authority.Write(dir)
	if err != nil {
		log.Fatal(err)
	}
	os.Setenv("SSL_CERT_FILE", trusted) // is read at the first handshake
	goleak.VerifyTestMain(m, goleak.Cleanup(func(status int) {
		os.RemoveAll(dir)
		os.Exit(status)
	}))
}

const password = imapserver.Password

// secrets are those that a test lends to the stage.
type secrets map[string]credentials.Secret

func (s secrets) Secret(_ context.Context, name string) (credentials.Secret, error) {
	if secret, ok := s[name]; ok {
		return secret, nil
	}
	return credentials.Secret{}, credentials.ErrNotFound
}

// SecretVersion grows with each secret that was replaced.
func (s secrets) SecretVersion(string) uint64 { return uint64(len(s)) }

// replace sets a secret anew. The one that stood there is found by no name that a URD has.
func (s secrets) replace(name string, by credentials.Secret) {
	s[fmt.Sprintf("%s until %d", name, len(s))], s[name] = s[name], by
}
func (secrets) StartOf(context.Context, string) (string, error) { return "", credentials.ErrNotFound }

// account is the secret of an account at a host.
func account(t *testing.T, host, password string, insecure bool) credentials.Secret {
	t.Helper()
	secret, err := credentials.NewSecret(credentials.KindBasic, "eleni", password)
	if err != nil {
		t.Fatal(err)
	}
	bounds, err := credentials.NewBounds([]string{host}, insecure)
	if err != nil {
		t.Fatal(err)
	}
	return secret.Within(bounds)
}

// result is what came of a visit.
type result struct {
	documents []webrace.Document
	visit     webrace.Visit // as it is known afterwards
	err       error         // for which it is to be made again
	reports   int           // that the host is free
	counters  map[string]int64
}

// reader visits mailboxes, one after the other, and remembers the visits.
type reader struct {
	t       *testing.T
	options Options
	secrets secrets
}

func newReader(t *testing.T, s secrets) *reader {
	o := Options{agent.Defaults}
	o.AllowNetworks = []string{"loopback"}
	o.Timeout = pipeline.Duration(20 * time.Second)
	return &reader{t, o, s}
}

// visit visits a source; last is what came of it before.
func (r *reader) visit(url string, last *result) *result {
	r.t.Helper()
	return r.visits([]string{url}, last, nil)[0]
}

// visits visits sources in one run, one after the other. What is to happen before each is done by before.
func (r *reader) visits(urls []string, last *result, before func(i int)) []*result {
	r.t.Helper()
	if err := r.options.Validate(); err != nil {
		r.t.Fatal(err)
	}
	resources := new(pipeline.Resources)
	pipeline.Provide[credentials.Open](resources, func() (credentials.Source, error) { return r.secrets, nil })
	g := pipeline.NewGraph("test")
	requests := pipeline.KindOf[webrace.Request]()
	q := &queue{urls: urls, last: last, before: before, free: make(chan struct{}, 1), sealed: make(chan struct{})}
	g.AddStage("nothing", pipeline.Spec{Type: "nothing", Summary: "s", Out: []pipeline.Port{{Kind: requests}}},
		func(*pipeline.Env) (any, error) { return nothing{}, nil })
	g.AddStage("queue", pipeline.Spec{Type: "queue", Summary: "s", In: pipeline.Kinds(requests), Out: []pipeline.Port{{Kind: requests}}, Queue: true},
		func(*pipeline.Env) (any, error) { return q, nil })
	read := g.Add("imap", r.options)
	var env *pipeline.Env
	mk := read.Make
	read.Make = func(e *pipeline.Env) (any, error) {
		env = e
		return mk(e)
	}
	g.AddStage("documents", pipeline.Spec{Type: "documents", Summary: "s", In: pipeline.Kinds(pipeline.KindOf[*webrace.Document]()), Needs: pipeline.NoParts},
		func(*pipeline.Env) (any, error) { return taker{q}, nil })
	g.Connect("nothing", "", "queue")
	g.Connect("queue", "", "imap")
	g.Connect("imap", "", "documents")
	ctx, cancel := context.WithTimeout(r.t.Context(), time.Minute)
	defer cancel()
	if _, err := g.Run(ctx, pipeline.RunOptions{Resources: resources}); err != nil {
		r.t.Fatal(err)
	}
	for _, got := range q.came {
		got.counters = env.Counters()
		if got.reports != 1 {
			r.t.Errorf("%d reports that the host is free", got.reports)
		}
		for _, text := range []string{fmt.Sprint(got.err), got.visit.Error, string(got.visit.State)} {
			if strings.Contains(text, password) {
				r.t.Errorf("the password stands in %q", text)
			}
		}
	}
	return q.came
}

// subjects are those of the documents of a visit, in order.
func (r *result) subjects() string {
	var all []string
	for _, d := range r.documents {
		_, rest, _ := strings.Cut(string(d.Body), "Subject: ")
		subject, _, _ := strings.Cut(rest, "\r\n")
		all = append(all, subject)
	}
	return strings.Join(all, " ")
}

type nothing struct{}

func (nothing) Run(context.Context, pipeline.Emitter) error { return nil }

// queue hands requests out, one after the other.
type queue struct {
	urls   []string
	last   *result // what came of the first source before; of the others it is what came before them
	before func(i int)
	came   []*result
	free   chan struct{} // the last one that was handed out has ended
	sealed chan struct{}
}

func (q *queue) Put(context.Context, *pipeline.Item) error { return nil }
func (q *queue) Seal()                                     { close(q.sealed) }

func (q *queue) Take(context.Context) (pipeline.Lease, error) {
	if len(q.came) > 0 {
		<-q.free
		q.last = q.came[len(q.came)-1]
	}
	n := len(q.came)
	if n == len(q.urls) {
		q.free <- struct{}{}
		<-q.sealed
		return nil, io.EOF
	}
	if q.before != nil {
		q.before(n)
	}
	got := new(result)
	request := webrace.Request{URL: q.urls[n], Secret: "mail", Reach: []webrace.Reach{{Crawl: "c"}}}
	if q.last != nil {
		got.visit = q.last.visit
		visit := q.last.visit
		request.Visit = &visit
	}
	q.came = append(q.came, got)
	return &lease{q, request, got}, nil
}

type lease struct {
	queue   *queue
	request webrace.Request
	got     *result
}

func (l *lease) Item() *pipeline.Item { return &pipeline.Item{Value: l.request} }
func (l *lease) Release(any)          { l.got.reports++ }

func (l *lease) Done(o pipeline.Outcome) {
	l.got.err = o.Err
	for _, what := range o.Learned {
		what.(webrace.Learned)(&l.got.visit)
	}
	l.queue.free <- struct{}{}
}

// taker takes the documents.
type taker struct{ queue *queue }

func (k taker) Process(_ context.Context, it *pipeline.Item, _ pipeline.Emitter) error {
	d := *it.Value.(*webrace.Document)
	d.Body = bytes.Clone(d.Body)
	got := k.queue.came[len(k.queue.came)-1]
	got.documents = append(got.documents, d)
	return nil
}
