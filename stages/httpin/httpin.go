// Package httpin is the source of what others send: records, bytes, or URLs to crawl, as HTTP requests.
//
// It guarantees: with answer = "done", 200 means that everything made of the request has been dealt with; an error of
// one of its items gives 5xx with the reason, and a request for which the run has no time left gives 503. What is in
// memory is bounded: by the number of requests that are under way, by the bytes of the bodies that are being read,
// and by the memory budget of the run, from which items take what they keep. On an address that other machines can
// reach it does not begin to listen unless requests have to show a token or be signed.
package httpin

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/httpsign"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/httpserver"
	_ "github.com/webrace/webrace/stages/kinds" // whose values it gives
)

// Options of the stage.
type Options struct {
	Listen   string            `toml:"listen" doc:"the address to listen on: HOST:PORT; no host is all addresses of the machine"`
	Path     string            `toml:"path" doc:"the path of the URL that requests are sent to"`
	Format   string            `toml:"format" doc:"what the body of a request is: records (an object of JSON, an array or lines of them: an item each), bytes (one item), urls (a line each: the start of a crawl)" enum:"records,bytes,urls"`
	Token    pipeline.Secret   `toml:"token" doc:"what requests identify themselves with, as Authorization: Bearer TOKEN; without one, requests are taken from this machine alone"`
	SignedBy []string          `toml:"signed_by" doc:"public keys of which one has to sign each request, once (HTTP Message Signatures, RFC 9421, as crawlers sign): the x of their JWKs; none asks for no signature"`
	Answer   string            `toml:"answer" doc:"when a request is answered: done (200 when its items have been dealt with, 5xx with the reason if that failed), accepted (202 when they are in the pipeline: a crash may lose them)" enum:"done,accepted"`
	MaxBody  pipeline.Size     `toml:"max_body" doc:"the largest body that is taken; a larger one gives 413"`
	Rate     int               `toml:"rate" doc:"requests that are taken a second; others give 429; 0 sets no limit"`
	InFlight int               `toml:"in_flight" doc:"requests that are taken at once; others give 503, and the sender tries again"`
	Timeout  pipeline.Duration `toml:"timeout" doc:"how long a request may take: its body to come, or it is answered by 408; then to be taken and dealt with, or by 504: what has been taken goes on"`
	Depth    int               `toml:"depth" doc:"with urls: levels of pages, 1 is the start alone, 2 the pages it links to as well, 0 has no limit"`
	Scope    string            `toml:"scope" doc:"with urls: how far from the start links are followed" enum:"host,domain,prefix,any"`
}

var defaults = Options{
	Listen: "127.0.0.1:8480", Path: "/", Format: "records", Answer: "done", MaxBody: 4 << 20, InFlight: 1000,
	Timeout: pipeline.Duration(30 * time.Second), Depth: 1, Scope: string(webrace.ScopeHost),
}

func init() {
	pipeline.Register(pipeline.Spec{
		Type:       "http-in",
		PerProcess: true,
		Summary:    "takes records, bytes or URLs that come as HTTP requests",
		Doc: "POST or PUT; a body may be compressed (gzip). Text is UTF-8, and a name is given once in an object: what a record cannot hold as it came is refused by 400, with the record and the byte. What is refused so leaves at the port errors as well, if that leads somewhere. The answer is JSON, and says how many items the request gave, and what went wrong with which. A sender that may send a request again gives it a field Idempotency-Key: then its items have the same keys. The stage goes on until the run is told " +
			"to end; what has been taken by then is dealt with and answered. The counters `requests`, `answered`, `failed`, `bad`, `refused` (without a token or a signature), `limited` " +
			"(429 and 503) and `late` say what became of requests; `in_flight` is how many there are. TLS is for a proxy in front of it.",
		Out: []pipeline.Port{{Kind: pipeline.KindOf[any](), Doc: "what came, of the kind that the format says"}},
	}, defaults, newStage)
}

// Ports returns what the format gives.
func (o Options) Ports() []pipeline.Port {
	switch o.Format {
	case "bytes":
		return []pipeline.Port{{Kind: pipeline.KindOf[[]byte](), Doc: "the body of a request; the meta data has its content_type"}}
	case "urls":
		return []pipeline.Port{{Kind: pipeline.KindOf[webrace.Request](), Doc: "the start of each crawl"}}
	}
	return []pipeline.Port{{Kind: pipeline.KindOf[pipeline.Record](), Doc: "each record"}}
}

// Answers returns how long a request waits for its items.
func (o Options) Answers() pipeline.Answering {
	if o.Answer == "accepted" {
		return pipeline.Answering{Option: "answer"}
	}
	return pipeline.Answering{Within: o.Timeout, Option: "timeout"}
}

// shortestToken is how short a token may be: it must not be guessed.
const shortestToken = 16

// Validate refuses limits of nothing, keys that are none, and addresses that others can reach without a token or a
// signature.
func (o Options) Validate() error {
	host, port, err := net.SplitHostPort(o.Listen)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	if err != nil {
		return &pipeline.OptionError{Option: "listen", Err: fmt.Errorf("%q is not HOST:PORT: %w", o.Listen, err)}
	}
	address, isAddress := netip.ParseAddr(strings.Trim(host, "[]"))
	if o.isOpen() && (host == "" || isAddress == nil && !address.IsLoopback()) {
		return &pipeline.OptionError{Option: "listen", Err: o.needsToken()}
	}
	if n := len(o.Token.Reveal()); n > 0 && n < shortestToken {
		return &pipeline.OptionError{Option: "token", Err: fmt.Errorf("has %d characters; %d are the least that nobody guesses", n, shortestToken)}
	}
	if _, err := o.keys(); err != nil {
		return err
	}
	if !strings.HasPrefix(o.Path, "/") {
		return &pipeline.OptionError{Option: "path", Err: fmt.Errorf("%q does not begin with /", o.Path)}
	}
	for option, n := range map[string]int64{"max_body": int64(o.MaxBody), "in_flight": int64(o.InFlight), "timeout": int64(o.Timeout)} {
		if n < 1 {
			return &pipeline.OptionError{Option: option, Err: errors.New("must be more than 0")}
		}
	}
	for option, n := range map[string]int{"rate": o.Rate, "depth": o.Depth} {
		if n < 0 {
			return &pipeline.OptionError{Option: option, Err: fmt.Errorf("%d is negative; 0 sets no limit", n)}
		}
	}
	return nil
}

// isOpen reports whether a request need not show that it may come.
func (o Options) isOpen() bool { return o.Token.IsZero() && len(o.SignedBy) == 0 }

func (o Options) needsToken() error {
	return fmt.Errorf("other machines can reach %s, so a token is needed: set the option token (as ${WEBRACE_IN_TOKEN}) or signed_by, or listen on 127.0.0.1", o.Listen)
}

// mostRead is how many bytes the bodies may have together that are being read, or wait for the pipeline; a single one
// may have more.
const mostRead = 32 << 20

type stage struct {
	options Options
	env     *pipeline.Env
	rate    *bucket
	room    chan struct{}       // has a place for each request that is under way
	bodies  *semaphore.Weighted // bytes of bodies
	read    int64               // that it has
	arrived chan *delivery      // what Run emits
	ended   chan struct{}       // closed when Run takes nothing any more
	end     sync.Once

	server   httpserver.Server
	verifier *httpsign.Verifier // nil: requests need not be signed
}

var (
	_ pipeline.Source        = (*stage)(nil)
	_ pipeline.Opener        = (*stage)(nil)
	_ pipeline.Closer        = (*stage)(nil)
	_ pipeline.Checker       = (*stage)(nil)
	_ pipeline.PortsProvider = Options{}
)

func newStage(o Options, env *pipeline.Env) (any, error) {
	verifier, err := newVerifier(o)
	if err != nil {
		return nil, err
	}
	read := max(mostRead, int64(o.MaxBody))
	return &stage{
		options: o, verifier: verifier, env: env, rate: newBucket(o.Rate), room: make(chan struct{}, o.InFlight), bodies: semaphore.NewWeighted(read), read: read,
		arrived: make(chan *delivery), ended: make(chan struct{}),
	}, nil
}

// checkAddress refuses a name that others can reach without a token or a signature; of addresses, Validate has
// said so.
func (s *stage) checkAddress() error {
	address, err := net.ResolveTCPAddr("tcp", s.options.Listen)
	switch {
	case err != nil:
		return &pipeline.OptionError{Option: "listen", Err: fmt.Errorf("look up %s: %w", s.options.Listen, err)}
	case s.options.isOpen() && !address.IP.IsLoopback():
		return &pipeline.OptionError{Option: "listen", Err: s.options.needsToken()}
	}
	return nil
}

// Check finds out whether the address can be listened on; it does not, since another program may do so until this
// pipeline is started.
func (s *stage) Check(context.Context) error { return s.checkAddress() }

// Open begins to listen. Requests are answered when the run has begun.
func (s *stage) Open(context.Context) error {
	if err := s.checkAddress(); err != nil {
		return err
	}
	listener, err := s.env.Listen("tcp", s.options.Listen)
	if err != nil {
		return err
	}
	s.server.Open(listener)
	s.env.Logger.Info("requests are taken", "url", "http://"+listener.Addr().String()+s.options.Path)
	return nil
}

// Run answers requests until the run is told to end, and emits what they bring.
func (s *stage) Run(ctx context.Context, out pipeline.Emitter) error {
	defer s.stopTaking()
	s.server.Serve(http.HandlerFunc(s.answer), time.Duration(s.options.Timeout), nil)
	for {
		select {
		case d := <-s.arrived:
			if err := d.emit(ctx, out); err != nil {
				if ctx.Err() != nil {
					return nil
				}
				return err
			}
		case <-ctx.Done():
			return nil
		}
	}
}

func (s *stage) stopTaking() { s.end.Do(func() { close(s.ended) }) }

// Close stops listening, and waits for a moment until answers under way have been read.
func (s *stage) Close() error {
	s.stopTaking()
	return s.server.Close()
}
