// Package fetch is the stage that asks a server for one document at a time: the only place of the system
// that touches the web.
//
// It guarantees: no connection is made to an address that internal/netguard refuses, nor to any public
// one while the user agent names nobody to complain to; no page is asked for that the host's robots.txt
// forbids; whatever a server does, a request ends within the limits of time and size that the options
// set, in an outcome that is counted and explained. HTTP statuses and refusals are outcomes, which the
// visit remembers; a network that fails is a reason to try again later, which the queue arranges. A body
// that a limit cut is marked as truncated.
//
// Credentials go to the hosts they are for and to no other: see internal/credentials, which keeps them.
//
// Redirects are not followed here: where they lead goes through the frontier, like any link. How a host
// wants to be treated goes with each answer to the queue, which keeps it.
package fetch

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/internal/netguard"
	"github.com/webrace/webrace/internal/scope"
	"github.com/webrace/webrace/pipeline"
)

// Options of the stage.
type Options struct {
	UserAgent      string   `toml:"user_agent" doc:"how the crawler names itself, with a contact; the public web is refused with that of example.org"`
	From           string   `toml:"from" doc:"the mail address of whoever runs the crawler, sent as From; empty: that in user_agent, if there is one"`
	AcceptLanguage string   `toml:"accept_language" doc:"the languages wanted, sent as Accept-Language; empty sends none"`
	Robots         bool     `toml:"robots" doc:"obey robots.txt"`
	Sitemaps       bool     `toml:"sitemaps" doc:"follow the sitemaps that a robots.txt names, one level below the page that led to the host"`
	AllowNetworks  []string `toml:"allow_networks" doc:"addresses outside the public Internet that may be asked, and need no delay but delay_admitted: networks, addresses, loopback, private"`

	PolitenessOptions

	ConnectTimeout pipeline.Duration `toml:"connect_timeout" doc:"the longest that looking up and connecting, and then the TLS handshake, may take"`
	HeaderTimeout  pipeline.Duration `toml:"header_timeout" doc:"the longest wait for the header of an answer"`
	Timeout        pipeline.Duration `toml:"timeout" doc:"the longest that a whole request may take"`
	MaxHeader      pipeline.Size     `toml:"max_header" doc:"the largest header of an answer"`
	MaxBody        pipeline.Size     `toml:"max_body" doc:"the largest body, decompressed; what is longer is cut and marked as truncated"`

	CredentialOptions

	IdleConnections int `toml:"idle_connections" doc:"connections kept open between requests"`

	MediaOptions
	ConnectionOptions
	TLSOptions
	ProxyOptions
	DNSOptions
	PaceOptions
}

var defaults = Options{
	UserAgent: "webrace/1 (+https://" + placeholder + ")",
	Robots:    true,
	Sitemaps:  true,

	CredentialOptions: CredentialOptions{MaxUnauthorized: 3, UnauthorizedPause: pipeline.Duration(time.Hour)},

	ConnectTimeout:  pipeline.Duration(10 * time.Second),
	HeaderTimeout:   pipeline.Duration(20 * time.Second),
	Timeout:         pipeline.Duration(time.Minute),
	MaxHeader:       256 << 10,
	MaxBody:         8e6,
	IdleConnections: 256,

	MediaOptions:      MediaOptions{MimeTypes: notRead},
	PolitenessOptions: defaultPoliteness,
	ConnectionOptions: ConnectionOptions{HTTP2: "off", IPFamily: "any"},
	TLSOptions:        TLSOptions{TLSMinVersion: "1.2"},
	DNSOptions:        defaultDNS,
	PaceOptions:       defaultPace,
}

// portRedirects is where redirects go.
const portRedirects = "redirects"

func init() {
	pipeline.Register(pipeline.Spec{
		Type:    "fetch",
		Single:  true,
		Summary: "asks servers for documents, politely",
		Doc: "It obeys robots.txt, asks conditionally for what is stored, keeps to the limits of its options whatever a server does, and " +
			"connects to no address outside the public Internet that allow_networks does not name. Statuses such as 404 are counted and " +
			"remembered; hosts that fail, or ask to come back later, are asked again when the queue hands the request out anew.",
		In: pipeline.Kinds(pipeline.KindOf[webrace.Request]()),
		Out: []pipeline.Port{
			{
				Kind: pipeline.KindOf[*webrace.Document](), Doc: "documents that were fetched, confirmed by the server, or are still fresh",
				Cases: []pipeline.Case{
					{Name: string(webrace.Fetched), Parts: []pipeline.Part{webrace.PartBody}},
					{Name: string(webrace.NotModified), Queued: true}, {Name: string(webrace.Fresh), Queued: true},
				},
			},
			{Name: portRedirects, Kind: pipeline.KindOf[*webrace.Links](), Doc: "where redirects lead, which are not followed"},
			{Name: portSitemaps, Kind: pipeline.KindOf[*webrace.Links](), Doc: "the sitemaps that robots.txt names, once for each host and crawl"},
		},
		Workers: 64,
	}, defaults, newStage)
}

// Validate refuses limits that let nothing through, and headers that cannot be sent.
func (o Options) Validate() error {
	for _, n := range []struct {
		option string
		value  int64
	}{
		{"connect_timeout", int64(o.ConnectTimeout)}, {"header_timeout", int64(o.HeaderTimeout)},
		{"timeout", int64(o.Timeout)}, {"max_header", int64(o.MaxHeader)}, {"max_body", int64(o.MaxBody)},
	} {
		if n.value <= 0 {
			return &pipeline.OptionError{Option: n.option, Err: fmt.Errorf("must be more than 0")}
		}
	}
	if o.IdleConnections < 0 {
		return &pipeline.OptionError{Option: "idle_connections", Err: fmt.Errorf("%d is negative", o.IdleConnections)}
	}
	if o.UserAgent == "" {
		return &pipeline.OptionError{Option: "user_agent", Err: fmt.Errorf("must name the crawler and a contact")}
	}
	for option, value := range map[string]string{"user_agent": o.UserAgent, "from": o.From, "accept_language": o.AcceptLanguage} {
		if !httpguts.ValidHeaderFieldValue(value) {
			return &pipeline.OptionError{Option: option, Err: fmt.Errorf("%q cannot stand in a header", value)}
		}
	}
	if err := o.validateSender(); err != nil {
		return &pipeline.OptionError{Option: "from", Err: err}
	}
	if err := o.CredentialOptions.validate(); err != nil {
		return err
	}
	if _, err := netguard.New(o.AllowNetworks); err != nil {
		return &pipeline.OptionError{Option: "allow_networks", Err: err}
	}
	return cmp.Or(
		o.MediaOptions.validate(),
		o.PolitenessOptions.validate(),
		o.ConnectionOptions.validate(),
		o.TLSOptions.validate(),
		o.ProxyOptions.validate(),
		o.DNSOptions.validate(),
		o.PaceOptions.validate(),
	)
}

// optionIsNone says that an option has to be one of a few words.
func optionIsNone(option, value string, words ...string) error {
	return &pipeline.OptionError{Option: option, Err: fmt.Errorf("%q is none of %s", value, strings.Join(words, ", "))}
}

type stage struct {
	options   Options
	env       *pipeline.Env
	guard     *netguard.Guard
	media     scope.MediaTypes
	client    *client
	robots    *robotsTxts
	circuits  *circuits
	warned    *onceEach
	announced *onceEach // sitemaps of hosts, to crawls
	turns     *turns
	parts     *memo[*Part]
	jars      *credentials.Jars
	desk      func() (*credentials.Desk, error) // opened by the first request with credentials
}

var (
	_ pipeline.Processor = (*stage)(nil)
	_ pipeline.Closer    = (*stage)(nil)
)

func newStage(o Options, env *pipeline.Env) (any, error) {
	guard, err := netguard.New(o.AllowNetworks)
	if err != nil {
		return nil, err
	}
	client, err := newClient(o, guard, env)
	if err != nil {
		return nil, err
	}
	media, err := scope.ParseMediaTypes(o.MimeTypes)
	if err != nil {
		return nil, err
	}
	turns := newTurns()
	turns.shared.Store(o.PerHost > 1) // what was handed out at once is still asked for one by one
	return &stage{
		options: o, env: env, guard: guard, media: media, client: client,
		robots:    newRobotsTxts(client, o.UserAgent, env.Counter("robots_fetched")),
		circuits:  newCircuits(o.PolitenessOptions),
		warned:    newOnceEach(),
		announced: newOnceEach(),
		turns:     turns,
		parts:     newMemo[*Part](partsMemory),
		jars:      &credentials.Jars{},
		desk:      sync.OnceValues(func() (*credentials.Desk, error) { return openDesk(o, env) }),
	}, nil
}

// Close gives up connections that are being made, and those that are idle. It may be called twice.
func (s *stage) Close() error {
	s.client.close()
	return nil
}

// Process makes one request, or none if what is stored answers.
func (s *stage) Process(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
	req, err := pipeline.ValueOf[webrace.Request](it)
	if err != nil {
		return err
	}
	if req.Stored {
		return s.recall(ctx, it, req, out)
	}
	target, err := parseTarget(req.URL)
	if err != nil {
		return fmt.Errorf("fetch %q: %w", req.URL, err)
	}
	x := &exchange{stage: s, it: it, req: req, target: target, began: time.Now()}
	probe, again := s.circuits.admit(target.host, x.began)
	if !again.IsZero() {
		return x.comeBack(&restingError{again, takenForDead})
	}
	if probe {
		defer s.circuits.leave(target.host)
	}
	return x.ask(ctx, out)
}

// ask makes the request, if robots.txt allows it and it is the host's turn.
func (x *exchange) ask(ctx context.Context, out pipeline.Emitter) error {
	var m manners
	if x.options.Robots {
		var err error
		if m, err = x.manners(ctx, x.target); err != nil {
			return x.fail(ctx, err)
		}
		if !m.allowed {
			if err := x.refuse("robots_refused", "refused by robots.txt: "+m.because); err != nil {
				return err
			}
			return x.announce(ctx, m, out)
		}
		if time.Now().Before(m.rest) {
			return x.comeBack(&restingError{until: m.rest})
		}
		x.crawlDelay = m.delay
	}
	if err := x.get(ctx, out); err != nil {
		return err
	}
	return x.announce(ctx, m, out)
}

// get makes the request when it is the host's turn.
func (x *exchange) get(ctx context.Context, out pipeline.Emitter) error {
	if err := x.authorize(ctx); err != nil {
		return x.refuseSecret(ctx, err)
	}
	defer x.grant.Close()
	room, err := newRoom(ctx, x.env, x.it)
	if err != nil {
		return err
	}
	turn, err := x.turns.take(ctx, x.target.host)
	if err != nil {
		return x.comeBack(err)
	}
	x.target.takes, x.target.room = x.takes(x.req), room
	answer, err := x.client.get(ctx, x.target, x.fields(), int(x.options.MaxBody))
	x.endTurn(turn, answer, err, x.began, x.crawlDelay)
	if err != nil {
		room.settle(nil)
		return x.fail(ctx, err)
	}
	defer answer.release()
	room.settle(answer.body)
	x.heed(answer)
	return x.settle(ctx, answer, out)
}

// recall answers from what is stored: it costs the host nothing. Where the last visit found no document,
// there is nothing to pass on; where it found one that is not kept, there is where that leads.
func (s *stage) recall(ctx context.Context, it *pipeline.Item, req webrace.Request, out pipeline.Emitter) error {
	it.Release(webrace.HostReport{URL: req.URL, Secret: req.Secret})
	s.env.Counter("fresh").Add(1)
	v := req.Visit
	if v == nil || !leftDocument(v.Status) || v.Version == 0 && v.Canonical == "" && v.Refresh == "" && len(v.Links) == 0 {
		return nil
	}
	return out.Emit(ctx, it.With(&webrace.Document{
		URL: req.URL, Reach: req.Reach, Visit: v, Outcome: webrace.Fresh, At: v.At, Digest: v.Digest, Version: v.Version,
		Secret: req.Secret, Redirects: req.Redirects,
	}))
}

// leftDocument says whether a visit that ended in this status found the document that is stored; 0 is no
// word against it.
func leftDocument(status int) bool { return status < 300 || status == 304 }
