package agent

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/pipeline"
	_ "github.com/webrace/webrace/stages/kinds"
)

// authority is one that the tests trust.
var authority *testutil.Authority

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	if authority, err = testutil.NewAuthority(); err != nil {
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

const user, password = "eleni", "hush-9a3b-hush"

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

// basicAccount is the secret of an account at a host.
func basicAccount(t *testing.T, host string, insecure bool) secrets {
	t.Helper()
	secret, err := credentials.NewSecret(credentials.KindBasic, user, password)
	if err != nil {
		t.Fatal(err)
	}
	bounds, err := credentials.NewBounds([]string{host}, insecure)
	if err != nil {
		t.Fatal(err)
	}
	return secrets{"mail": secret.Within(bounds)}
}

// quick are options with which nothing is waited for for long.
func quick() Options {
	o := Defaults
	o.AllowNetworks, o.MaxSize = []string{"loopback"}, 1<<20
	o.ConnectTimeout, o.Timeout = pipeline.Duration(300*time.Millisecond), pipeline.Duration(300*time.Millisecond)
	return o
}

// result is what came of the visits of a source.
type result struct {
	documents []webrace.Document
	visit     webrace.Visit // as it is known afterwards
	err       error         // for which it is to be made again
	reports   int           // that the host is free
	counters  map[string]int64
}

// why is what the last visit failed of; empty if it did not.
func (r *result) why() string {
	if r.err != nil {
		return r.err.Error()
	}
	return r.visit.Error
}

// read has a stage whose protocol is toy visit a source, of which something may be known, so many times.
func read(t *testing.T, o Options, s secrets, url, known string, times int) *result {
	t.Helper()
	if err := o.Validate(); err != nil {
		t.Fatal(err)
	}
	got := new(result)
	if known != "" {
		got.visit.State = []byte(known)
	}
	request := webrace.Request{URL: url, Secret: "mail", Reach: []webrace.Reach{{Crawl: "c"}}, Visit: &got.visit}
	resources := new(pipeline.Resources)
	pipeline.Provide[credentials.Open](resources, func() (credentials.Source, error) { return s, nil })
	g := pipeline.NewGraph("test")
	requests, documents := pipeline.KindOf[webrace.Request](), pipeline.KindOf[*webrace.Document]()
	g.AddStage("nothing", pipeline.Spec{Type: "nothing", Summary: "s", Out: []pipeline.Port{{Kind: requests}}}, func(*pipeline.Env) (any, error) { return nothing{}, nil })
	g.AddStage("queue", pipeline.Spec{Type: "queue", Summary: "s", In: pipeline.Kinds(requests), Out: []pipeline.Port{{Kind: requests}}, Queue: true},
		func(*pipeline.Env) (any, error) {
			return &queue{request: request, left: times, got: got, sealed: make(chan struct{}), free: make(chan struct{}, 1)}, nil
		})
	var of *pipeline.Env
	out := pipeline.Port{Kind: documents, Cases: []pipeline.Case{{Name: string(webrace.Fetched), Parts: []pipeline.Part{webrace.PartBody}}}}
	g.AddStage("toy", pipeline.Spec{Type: "toy", Summary: "s", In: pipeline.Kinds(requests), Out: []pipeline.Port{out}}, func(env *pipeline.Env) (any, error) {
		of = env
		a, err := New(o, env)
		return stage{a}, err
	})
	g.AddStage("documents", pipeline.Spec{Type: "documents", Summary: "s", In: pipeline.Kinds(documents), Needs: pipeline.NoParts}, func(*pipeline.Env) (any, error) { return taker{got}, nil })
	g.Connect("nothing", "", "queue")
	g.Connect("queue", "", "toy")
	g.Connect("toy", "", "documents")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := g.Run(ctx, pipeline.RunOptions{Resources: resources}); err != nil {
		t.Fatal(err)
	}
	got.counters = of.Counters()
	if got.reports != times {
		t.Errorf("%d reports that the host is free, of %d visits", got.reports, times)
	}
	return got
}

type nothing struct{}

func (nothing) Run(context.Context, pipeline.Emitter) error { return nil }

// queue hands one request out, one time after the other.
type queue struct {
	request webrace.Request
	left    int
	out     bool // it was handed out before
	got     *result
	sealed  chan struct{}
	free    chan struct{} // the request is done
}

func (q *queue) Put(context.Context, *pipeline.Item) error { return nil }
func (q *queue) Seal()                                     { close(q.sealed) }

func (q *queue) Take(ctx context.Context) (pipeline.Lease, error) {
	if q.left--; q.left < 0 {
		<-q.sealed
		return nil, io.EOF
	}
	if q.out {
		select {
		case <-q.free:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
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
	q.free <- struct{}{}
}

// taker takes the documents.
type taker struct{ got *result }

func (k taker) Process(_ context.Context, it *pipeline.Item, _ pipeline.Emitter) error {
	d := *it.Value.(*webrace.Document)
	d.Body = nil // which may be large
	k.got.documents = append(k.got.documents, d)
	return nil
}

// stage speaks toy, a protocol of lines that has what those of agents have: a server greets, lets an account in,
// lists what is new, and sends it; and by its scheme, the connection is secure from the beginning or not.
type stage struct{ agent *Agent }

var toyPorts = map[string]string{"imap": "143", "imaps": "993"}

func (s stage) Process(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
	return s.agent.Run(ctx, it, []string{"imap", "imaps"}, func(v *Visit) ([]byte, error) {
		over, conn, err := v.Dial(ctx, toyPorts)
		if err != nil {
			return nil, err
		}
		defer over.Close()
		defer context.AfterFunc(ctx, func() { conn.Conn.Close() })()
		c := &toyClient{v, over, conn, bufio.NewReader(over)}
		return c.visit(ctx, out)
	})
}

type toyClient struct {
	*Visit
	over  net.Conn
	conn  *Conn
	lines *bufio.Reader
}

// listed is how many bytes an answer may have.
const listed = 70_000

// ask sends a command, and returns the line of its answer; of none, the greeting.
func (c *toyClient) ask(command string) (answer string, err error) {
	name, _, _ := strings.Cut(command, " ")
	if command == "" {
		name = "the greeting"
	} else {
		if err := c.conn.Expect(listed); err != nil {
			return "", err
		}
		if _, err := fmt.Fprintf(c.over, "%s\r\n", command); err != nil {
			return "", fmt.Errorf("%s: %w", name, c.conn.Explain(err))
		}
	}
	line, err := c.lines.ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, c.conn.Explain(err))
	}
	line = strings.TrimSpace(line)
	if answer, ok := strings.CutPrefix(line, "+"); ok {
		return strings.TrimSpace(answer), nil
	}
	if later, ok := strings.CutPrefix(line, "~"); ok {
		return "", errors.New(later)
	}
	return "", c.Said(name, errors.New(line))
}

// visit reads what is new: LIST is answered by how many documents there are and what is known then, and GET by the
// size of the next, which follows.
func (c *toyClient) visit(ctx context.Context, out pipeline.Emitter) (known []byte, err error) {
	if _, err := c.ask(""); err != nil {
		return nil, err
	}
	err = c.LogIn(ctx, c.Scheme == "imaps", func(user, password string) (accepted bool, err error) {
		_, err = c.ask("LOGIN " + user + " " + password)
		var refused *Failure
		if errors.As(err, &refused) && strings.HasSuffix(refused.Why, ": -") {
			return false, nil
		}
		return err == nil, err
	})
	if err != nil {
		return nil, err
	}
	list, err := c.ask("LIST " + c.Path)
	if err != nil {
		return nil, err
	}
	count, state, _ := strings.Cut(list, " ")
	n, err := strconv.Atoi(count)
	if err != nil || n < 0 {
		return nil, Failf("%.40q is no list", list)
	}
	for range n {
		if err := c.get(ctx, out); err != nil {
			return nil, err
		}
	}
	return []byte(state), nil
}

// get reads the next document.
func (c *toyClient) get(ctx context.Context, out pipeline.Emitter) error {
	answer, err := c.ask("GET")
	if err != nil {
		return err
	}
	size, at, _ := strings.Cut(answer, " ")
	n, err := strconv.ParseInt(size, 10, 64)
	if err != nil || n < 0 {
		return Failf("%.40q is no size", answer)
	}
	d := &webrace.Document{URL: "mid:" + c.Path + "@a.example", MediaType: "message/rfc822"}
	if d.At, err = time.Parse(time.RFC3339, at); at != "" && err != nil {
		return Failf("%.40q is no time", at)
	}
	most := int64(c.agent.options.MaxSize)
	d.Truncated, n = n > most, min(n, most)
	if err := c.conn.Expect(n); err != nil {
		return err
	}
	if d.Body, err = io.ReadAll(io.LimitReader(c.lines, n)); err == nil && int64(len(d.Body)) < n {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return fmt.Errorf("GET: %w", c.conn.Explain(err))
	}
	return c.Document(ctx, out, d)
}

// peer is a client, as a server of a test sees it.
type peer struct {
	net.Conn
	lines *bufio.Reader
}

// say sends texts, each when a line has come, but for the first; and reports whether all were taken.
func (p peer) say(texts ...string) bool {
	for i, text := range texts {
		if i > 0 {
			if _, err := p.lines.ReadString('\n'); err != nil {
				return false
			}
		}
		if _, err := io.WriteString(p, text); err != nil {
			return false
		}
	}
	return true
}

// flood sends a text again and again, as long as it is taken.
func (p peer) flood(text string) {
	piece := strings.Repeat(text, 1+4096/len(text))
	for {
		if _, err := io.WriteString(p, piece); err != nil {
			return
		}
	}
}

// stall sends nothing more, until the client goes.
func (p peer) stall() { io.Copy(io.Discard, p.lines) }

// serve starts a server that speaks with each client as a function does, by TLS if it has a configuration.
func serve(t *testing.T, secure *tls.Config, speak func(peer)) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			conn.SetDeadline(time.Now().Add(10 * time.Second))
			over := conn
			if secure != nil {
				over = tls.Server(conn, secure)
			}
			speak(peer{over, bufio.NewReader(over)})
			conn.Close() // without a word of TLS
		}
	}()
	t.Cleanup(func() { l.Close(); <-ended })
	return l.Addr().String()
}

// certified is a configuration with a certificate for a host.
func certified(t *testing.T, by *testutil.Authority, host string) *tls.Config {
	t.Helper()
	c, err := by.Issue(host)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{c}}
}
