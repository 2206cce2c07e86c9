// Package agent is what the stages share that read a source that is not of the web, such as a mailbox: where fetch asks
// for a page, they ask what is new since the last visit.
//
// It guarantees: no connection is made to an address that stages/internal/netguard refuses; nobody in between reads a
// password, unless it was stored as one that may be sent so, and no account is locked by guessing with one that was
// changed (internal/credentials); whatever a server sends, and however slowly, a visit ends within the limits of the
// options. A visit that fails leaves what was known of the source as it was.
package agent

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/netguard"
)

// Options are those of all such stages.
type Options struct {
	Backlog           int               `toml:"backlog" doc:"how many documents the first visit of a source takes, the newest; 0 takes all that there are"`
	MaxSize           pipeline.Size     `toml:"max_size" doc:"the largest document; what is longer is cut and marked as truncated"`
	AllowNetworks     []string          `toml:"allow_networks" doc:"addresses outside the public Internet that may be asked: networks, addresses, loopback, private"`
	ConnectTimeout    pipeline.Duration `toml:"connect_timeout" doc:"the longest that looking up and connecting, and then the TLS handshake, may take"`
	Timeout           pipeline.Duration `toml:"timeout" doc:"the longest that the answer to one command may take"`
	Keep              pipeline.Duration `toml:"keep" doc:"how long a connection is kept after a visit, for the next one of the same account; 0s closes it"`
	Backoff           pipeline.Duration `toml:"backoff" doc:"how long after a failure of the network a source is asked again, four times as long after each further one"`
	MaxBackoff        pipeline.Duration `toml:"max_backoff" doc:"the longest of these"`
	MaxUnauthorized   int               `toml:"max_unauthorized" doc:"how often in a row a server may refuse a secret, before it is not sent there for unauthorized_pause"`
	UnauthorizedPause pipeline.Duration `toml:"unauthorized_pause" doc:"for how long a secret is not sent to a server that refused it too often, unless it is set anew"`
}

// Defaults of the options.
var Defaults = Options{
	Backlog: 100, MaxSize: 8e6,
	ConnectTimeout: pipeline.Duration(10 * time.Second), Timeout: pipeline.Duration(time.Minute),
	Keep:    pipeline.Duration(5 * time.Minute),
	Backoff: pipeline.Duration(time.Minute), MaxBackoff: pipeline.Duration(time.Hour),
	MaxUnauthorized: 3, UnauthorizedPause: pipeline.Duration(time.Hour),
}

// Validate refuses limits that let nothing through.
func (o Options) Validate() error {
	for _, n := range []struct {
		option string
		value  int64
	}{
		{"max_size", int64(o.MaxSize)}, {"connect_timeout", int64(o.ConnectTimeout)}, {"timeout", int64(o.Timeout)}, {"backoff", int64(o.Backoff)},
		{"max_backoff", int64(o.MaxBackoff)}, {"max_unauthorized", int64(o.MaxUnauthorized)}, {"unauthorized_pause", int64(o.UnauthorizedPause)},
	} {
		if n.value <= 0 {
			return &pipeline.OptionError{Option: n.option, Err: errors.New("must be more than 0")}
		}
	}
	if o.Keep < 0 {
		return &pipeline.OptionError{Option: "keep", Err: fmt.Errorf("%v is negative; 0s keeps no connection", o.Keep)}
	}
	if o.Backlog < 0 {
		return &pipeline.OptionError{Option: "backlog", Err: fmt.Errorf("%d is negative; 0 takes all that there are", o.Backlog)}
	}
	if _, err := netguard.New(o.AllowNetworks); err != nil {
		return &pipeline.OptionError{Option: "allow_networks", Err: err}
	}
	return nil
}

// Agent is what a stage has for all its visits.
type Agent struct {
	options Options
	env     *pipeline.Env
	guard   *netguard.Guard
	broker  func() (*credentials.Broker, error) // opened by the first visit with credentials
}

// New returns an agent with valid options.
func New(o Options, env *pipeline.Env) (*Agent, error) {
	guard, err := netguard.New(o.AllowNetworks)
	if err != nil {
		return nil, err
	}
	return &Agent{options: o, env: env, guard: guard, broker: sync.OnceValues(func() (*credentials.Broker, error) { return openBroker(o, env) })}, nil
}

func openBroker(o Options, env *pipeline.Env) (*credentials.Broker, error) {
	open, err := pipeline.Resource[credentials.Open](env)
	if err != nil {
		return nil, err
	}
	source, err := open()
	if err != nil {
		return nil, err
	}
	return credentials.NewBroker(source, credentials.Limits{Refusals: o.MaxUnauthorized, Pause: time.Duration(o.UnauthorizedPause)}), nil
}

// Source is where a source lies, by the address that xmlschema.URD.Start gives it.
type Source struct {
	Scheme string
	Host   string // with a port that is not the usual one
	Path   string // behind the slash, decoded
}

// Visit is one visit of a source: of one request, to whose end it belongs.
type Visit struct {
	Source
	Request webrace.Request
	Known   []byte // what the last visit that came to something left; nil at the first

	agent  *Agent
	item   *pipeline.Item
	began  time.Time
	grant  *credentials.Grant
	asked  account // whose session it uses, where that is known
	passed int
	bytes  int64

	answered bool // the document of the source itself was passed on, with what the visit teaches
}

// errIsNone tells that a request is of no source of the stage.
func errIsNone(url string, schemes []string) error {
	return fmt.Errorf("%.200q is no source of this stage, which begins with %s://", url, strings.Join(schemes, ":// or "))
}

// Failure is why a visit came to nothing that would come to nothing again: an outcome, which the source's visit
// remembers.
type Failure struct{ Why string }

func (f *Failure) Error() string { return f.Why }

// Failf returns a failure.
func Failf(format string, args ...any) error { return &Failure{fmt.Sprintf(format, args...)} }

// Document passes a document of the source on, in whose view it lies.
func (v *Visit) Document(ctx context.Context, out pipeline.Emitter, d *webrace.Document) error {
	d.Outcome, d.Secret, d.Reach = cmp.Or(d.Outcome, webrace.Fetched), v.Request.Secret, v.Request.Reach
	if d.Outcome == webrace.Fetched {
		d.Header = http.Header{webrace.SourceField: {v.Request.URL}}
	}
	if now := time.Now(); d.At.IsZero() || d.At.After(now) {
		d.At = now
	}
	v.passed++
	v.bytes += int64(len(d.Body))
	v.agent.env.Counter("documents").Add(1)
	v.agent.env.Counter("bytes").Add(int64(len(d.Body)))
	if d.Truncated {
		v.agent.env.Counter("truncated").Add(1)
	}
	if err := out.Emit(ctx, v.item.With(d)); err != nil {
		return errOfThePipeline{err}
	}
	return nil
}

// Answer passes on the document that the source itself is, at its own address, where a source is one: what later stages
// learn of it is learned of the visit. The host is free before that, as it is of a page. One that has come as it is
// stored goes on as such, so that no stage reads it anew.
func (v *Visit) Answer(ctx context.Context, out pipeline.Emitter, d *webrace.Document) error {
	req := v.Request
	d.URL, d.From, d.Instead, d.Visit, d.Redirects, d.Took = req.URL, req.From, req.Instead, req.Visit, req.Redirects, time.Since(v.began)
	v.passed, v.bytes, v.answered = 1, int64(len(d.Body)), true
	v.release()
	v.item.Learn(v.learned())
	if last := req.Visit; last != nil && last.Version > 0 && last.Digest == sha256.Sum256(d.Body) {
		d.Outcome, d.Digest, d.Version, d.Body = webrace.NotModified, last.Digest, last.Version, nil
		v.agent.env.Counter("not_modified").Add(1)
	}
	return v.Document(ctx, out, d)
}

// Try returns a visit of no source, by which it is found out whether the account of a secret is let in; end ends it.
func (a *Agent) Try(secret string) (v *Visit, end func()) {
	v = &Visit{Request: webrace.Request{Secret: secret}, agent: a, began: time.Now()}
	return v, func() { v.grant.Close() }
}
