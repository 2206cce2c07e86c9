package agent

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/agent/agenttest"
	_ "github.com/webrace/webrace/stages/kinds"
)

func TestMain(m *testing.M) { agenttest.Main(m) }

const user, password = "eleni", "hush-9a3b-hush"

type secrets = agenttest.Secrets

// basicAccount is the secret of an account at a host.
func basicAccount(t *testing.T, host string, insecure bool) secrets {
	t.Helper()
	return secrets{"mail": agenttest.Account(t, user, password, host, insecure)}
}

// quick are options with which nothing is waited for for long.
func quick() Options {
	o := Defaults
	o.AllowNetworks, o.MaxSize = []string{"loopback"}, 1<<20
	o.ConnectTimeout, o.Timeout = pipeline.Duration(300*time.Millisecond), pipeline.Duration(300*time.Millisecond)
	return o
}

// read has a stage whose protocol is toy visit a source, of which something may be known, so many times. It returns
// what came of the last visit.
func read(t *testing.T, o Options, s secrets, url, known string, times int) *agenttest.Result {
	t.Helper()
	if err := o.Validate(); err != nil {
		t.Fatal(err)
	}
	requests := slices.Repeat([]webrace.Request{{URL: url, Secret: "mail", Reach: []webrace.Reach{{Crawl: "c"}}}}, times)
	if known != "" {
		requests[0].Visit = &webrace.Visit{State: []byte(known)}
	}
	toy := func(g *pipeline.Graph) *pipeline.Stage {
		out := pipeline.Port{Kind: pipeline.KindOf[*webrace.Document](), Cases: []pipeline.Case{{Name: string(webrace.Fetched), Parts: []pipeline.Part{webrace.PartBody}}}}
		in := pipeline.Kinds(pipeline.KindOf[webrace.Request]())
		return g.AddStage("toy", pipeline.Spec{Type: "toy", Summary: "s", In: in, Out: []pipeline.Port{out}}, func(env *pipeline.Env) (any, error) {
			a, err := New(o, env)
			return stage{a}, err
		})
	}
	came := agenttest.Frontier{Stage: toy, Secrets: s, Hidden: password, Bodiless: true}.Visits(t, requests...)
	return came[len(came)-1]
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
	return agenttest.Listen(t, "127.0.0.1:0", func(conn net.Conn) { // which is closed without a word of TLS
		conn.SetDeadline(time.Now().Add(10 * time.Second))
		over := conn
		if secure != nil {
			over = tls.Server(conn, secure)
		}
		speak(peer{over, bufio.NewReader(over)})
	})
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
