// Package fetch is the stage that asks a server for one document at a time. Its requests are made by
// stages/internal/httpclient; what it adds is politeness: robots.txt, the pauses of hosts, circuit breakers, and what
// becomes of each response.
//
// It guarantees: no connection is made to an address that internal/netguard refuses, nor to any public
// one while the user agent names no contact; no page is asked for that the host's robots.txt
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
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/internal/scope"
	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/httpclient"
	"github.com/webrace/webrace/stages/internal/loadingcache"
	"github.com/webrace/webrace/stages/internal/netguard"
	"github.com/webrace/webrace/xmlschema/httprequest"
)

// Options of the stage.
type Options struct {
	UserAgent      string   `toml:"user_agent" doc:"how the crawler names itself, with a contact; the public web is refused with that of example.org"`
	From           string   `toml:"from" doc:"the mail address of the operator of the crawler, sent as From; empty: that in user_agent, if there is one"`
	Accept         string   `toml:"accept" doc:"the media types wanted, sent as Accept"`
	AcceptLanguage string   `toml:"accept_language" doc:"the languages wanted, sent as Accept-Language; empty sends none"`
	Robots         bool     `toml:"robots" doc:"obey robots.txt"`
	TDMRep         bool     `toml:"tdmrep" doc:"get the file /.well-known/tdmrep.json of each host as well, and note what it states that a page may be used for: a request more for each host and day; goes with robots"`
	Sitemaps       bool     `toml:"sitemaps" doc:"follow the sitemaps that a robots.txt names, one level below the page that led to the host"`
	AllowNetworks  []string `toml:"allow_networks" doc:"addresses outside the public Internet that may be asked, and need no delay but delay_admitted: networks, addresses, loopback, private"`

	PolitenessOptions

	ConnectTimeout pipeline.Duration `toml:"connect_timeout" doc:"the longest that looking up and connecting, and then the TLS handshake, may take"`
	HeaderTimeout  pipeline.Duration `toml:"header_timeout" doc:"the longest wait for the header of an answer"`
	Timeout        pipeline.Duration `toml:"timeout" doc:"the longest that a whole request may take"`
	MaxHeader      pipeline.Size     `toml:"max_header" doc:"the largest header of an answer"`
	MaxBody        pipeline.Size     `toml:"max_body" doc:"the largest body, decompressed; what is longer is cut and marked as truncated"`
	Incomplete     string            `toml:"incomplete" doc:"what becomes of a body that ends before its length, its last chunk or the end of its content encoding: refuse asks again, as after a failure of the network, keep takes what came and marks it as truncated" enum:"refuse,keep"`

	CredentialOptions
	SignOptions

	IdleConnections int `toml:"idle_connections" doc:"connections kept open between requests"`

	MediaOptions
	httpclient.Options
}

var defaults = Options{
	UserAgent: "webrace/1 (+https://" + placeholder + ")",
	Accept:    httpclient.Accept,
	Robots:    true,
	Sitemaps:  true,

	CredentialOptions: CredentialOptions{MaxUnauthorized: 3, UnauthorizedPause: pipeline.Duration(time.Hour)},

	ConnectTimeout:  pipeline.Duration(10 * time.Second),
	HeaderTimeout:   pipeline.Duration(20 * time.Second),
	Timeout:         pipeline.Duration(time.Minute),
	MaxHeader:       256 << 10,
	MaxBody:         8e6,
	Incomplete:      "refuse",
	IdleConnections: 256,

	MediaOptions:      MediaOptions{MimeTypes: notRead},
	PolitenessOptions: defaultPoliteness,
	Options:           httpclient.Defaults,
}

const (
	portRedirects = "redirects" // where redirects go
	portGone      = "gone"      // URLs without a document
)

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
			{Name: portGone, Kind: pipeline.KindOf[*webrace.Gone](), Doc: "URLs without a document: the answer is 404 or 410, which `retry` does not have asked again, it moves for good (301, 308), or a rule of robots.txt forbids it"},
			{Name: portSitemaps, Kind: pipeline.KindOf[*webrace.Links](), Doc: "the sitemaps that robots.txt names, once for each host and crawl"},
		},
		Workers: 64, PerProcess: true,
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
	for option, value := range map[string]string{"user_agent": o.UserAgent, "from": o.From, "accept": o.Accept, "accept_language": o.AcceptLanguage} {
		if !httpguts.ValidHeaderFieldValue(value) {
			return &pipeline.OptionError{Option: option, Err: fmt.Errorf("%q cannot stand in a header", value)}
		}
	}
	if err := o.validateSender(); err != nil {
		return &pipeline.OptionError{Option: "from", Err: err}
	}
	if err := cmp.Or(o.CredentialOptions.validate(), o.SignOptions.validate()); err != nil {
		return err
	}
	if _, err := netguard.New(o.AllowNetworks); err != nil {
		return &pipeline.OptionError{Option: "allow_networks", Err: err}
	}
	return cmp.Or(o.MediaOptions.validate(), o.PolitenessOptions.validate(), o.Options.Validate())
}

// client is what of the options makes requests.
func (o Options) client() httpclient.Config {
	return httpclient.Config{
		UserAgent: o.UserAgent, Anonymous: strings.Contains(o.UserAgent, placeholder), From: o.sender(),
		Accept: o.Accept, AcceptLanguage: o.AcceptLanguage,
		AllowNetworks: o.AllowNetworks, ConnectTimeout: time.Duration(o.ConnectTimeout), HeaderTimeout: time.Duration(o.HeaderTimeout),
		Timeout: time.Duration(o.Timeout), MaxHeader: int64(o.MaxHeader), IdleConnections: o.IdleConnections, Options: o.Options,
	}
}

type stage struct {
	options      Options
	env          *pipeline.Env
	guard        *netguard.Guard
	media        scope.MediaTypes
	client       *httpclient.Client
	robots       *robotsTxts
	tdmReps      loadingcache.Cache[tdmRep] // nil: they are not asked for
	circuits     *circuits
	warned       *httpclient.WarnOnce
	announced    *httpclient.WarnOnce // sitemaps of hosts, to crawls
	limiter      *hostLimiter
	turns        *addressTurns // nil: names share none
	subresources loadingcache.Cache[*httpclient.Subresource]
	jars         *credentials.Jars
	cookiesSent  *sentCookies
	broker       func() (*credentials.Broker, error) // opened by the first request with credentials
	requests     func() (httprequest.Source, error)  // opened by the first that is no plain GET
	signing      *signing                            // nil: requests are not signed
}

var (
	_ pipeline.Processor = (*stage)(nil)
	_ pipeline.Opener    = (*stage)(nil)
	_ pipeline.Closer    = (*stage)(nil)
	_ pipeline.Checker   = (*stage)(nil)
)

func newStage(o Options, env *pipeline.Env) (any, error) {
	guard, err := netguard.New(o.AllowNetworks)
	if err != nil {
		return nil, err
	}
	config, signing := o.client(), newSigning(o.SignOptions, env)
	if signing != nil {
		config.Sign = signing.sign
	}
	client, err := httpclient.New(config, guard, env)
	if err != nil {
		return nil, err
	}
	media, err := scope.ParseMediaTypes(o.MimeTypes)
	if err != nil {
		return nil, err
	}
	limiter := newHostLimiter()
	limiter.shared.Store(o.PerHost > 1) // what was handed out at once is still asked for one by one
	s := &stage{
		options: o, env: env, guard: guard, media: media, client: client, signing: signing,
		robots:       newRobotsTxts(client, o.UserAgent, env.Counter("robots_fetched")),
		circuits:     newCircuits(o.PolitenessOptions),
		warned:       httpclient.NewWarnOnce(),
		announced:    httpclient.NewWarnOnce(),
		limiter:      limiter,
		subresources: loadingcache.New[*httpclient.Subresource](subresourcesMemory),
		jars:         &credentials.Jars{},
		cookiesSent:  newSentCookies(),
		broker:       sync.OnceValues(func() (*credentials.Broker, error) { return openBroker(o, env) }),
		requests:     sync.OnceValues(func() (httprequest.Source, error) { return openRequests(env) }),
	}
	if o.TDMRep && o.Robots {
		s.tdmReps = loadingcache.New[tdmRep](robotsMemory)
	}
	if o.PerAddress {
		s.turns = newAddressTurns(o.PolitenessOptions)
	}
	return s, nil
}

// Check finds out whether what stands between the stage and the hosts is there, and the key that is to sign. No
// host is asked for anything.
func (s *stage) Check(ctx context.Context) error {
	return errors.Join(s.client.Check(ctx), s.signing.check(ctx))
}

// Close gives up connections that are being made, and those that are idle. It may be called twice.
func (s *stage) Close() error {
	s.client.Close()
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
	url, _ := urlnorm.CutMark(req.URL)
	target, err := httpclient.ParseTarget(url)
	if err != nil {
		return fmt.Errorf("fetch %q: %w", req.URL, err)
	}
	x := &exchange{stage: s, it: it, req: req, target: target, began: time.Now()}
	probe, again := s.circuits.admit(target.Host, x.began)
	if !again.IsZero() {
		return x.requeue(&restingError{again, circuitOpen})
	}
	if probe {
		defer s.circuits.leave(target.Host)
	}
	return x.ask(ctx, out)
}

// recall answers from what is stored: it costs the host nothing. Where the last visit found no document,
// there is nothing to pass on; where it found one that is not kept, there is where that leads.
func (s *stage) recall(ctx context.Context, it *pipeline.Item, req webrace.Request, out pipeline.Emitter) error {
	it.Release(webrace.HostReport{URL: req.URL, Secret: req.Secret})
	s.env.Counter("fresh").Add(1)
	v := req.Visit
	found := v != nil && (v.Status < 300 || v.Status == http.StatusNotModified) // 0 is no word against it
	if !found || v.Version == 0 && v.Canonical == "" && v.Refresh == "" && len(v.Links) == 0 {
		return nil
	}
	return out.Emit(ctx, it.With(&webrace.Document{
		URL: req.URL, Reach: req.Reach, From: req.From, Instead: req.Instead, Visit: v, Outcome: webrace.Fresh, At: v.At, Digest: v.Digest, Version: v.Version,
		Secret: req.Secret, Redirects: req.Redirects,
	}))
}

// exchange is the work on one request.
type exchange struct {
	*stage
	it         *pipeline.Item
	req        webrace.Request
	target     httpclient.Target
	began      time.Time
	crawlDelay time.Duration // that the host's robots.txt asks for
	usage      []string      // what files of the host state that the answer may be used for

	address   netip.Addr   // of the host, if names share their turns
	turn      *addressTurn // at it; nil before it is taken, and after it has ended
	turnBegan time.Time

	grant        *credentials.Grant            // nil without credentials
	lent         map[string]*credentials.Grant // further secrets that the request names
	unauthorized string                        // why the answer says that they do not do
	session      int                           // of an account that is logged in to by a form; 0 before that
	prepared     *preparedRequest              // nil for a plain GET
	sent         string                        // its cookies, of those that hosts have set
	setsCookies  bool                          // the answer does
}

// ask makes the request, if it is the host's turn, robots.txt allows it and the host has a slot for it.
func (x *exchange) ask(ctx context.Context, out pipeline.Emitter) error {
	if !x.isForbidden() {
		if err := x.takeTurn(ctx); err != nil {
			return x.requeue(err)
		}
		defer x.endTurn(webrace.HostReport{}) // if nothing else did
	}
	var policy robotsPolicy
	if x.options.Robots {
		var err error
		if policy, err = x.robotsPolicy(ctx, x.target); err != nil {
			return x.fail(ctx, err)
		}
		if !policy.allowed {
			because := "refused by robots.txt: " + policy.because
			if err := x.refuse("robots_refused", because); err != nil {
				return err
			}
			if policy.byRule {
				if err := x.emitGone(ctx, because, x.began, out); err != nil {
					return err
				}
			}
			return x.announce(ctx, policy, out)
		}
		if time.Now().Before(policy.rest) {
			return x.requeue(&restingError{until: policy.rest})
		}
		x.crawlDelay, x.usage = policy.delay, policy.usage
	}
	if err := x.get(ctx, out); err != nil {
		return err
	}
	return x.announce(ctx, policy, out)
}

// get makes the request when the host has a slot for it.
func (x *exchange) get(ctx context.Context, out pipeline.Emitter) error {
	defer x.closeGrants()
	if err := x.identify(ctx); err != nil {
		return x.refuseSecret(ctx, err)
	}
	memory, err := httpclient.Reserve(ctx, x.env, x.it)
	if err != nil {
		return err
	}
	x.target.Takes, x.target.Memory, x.target.KeepIncomplete = x.takes(x.req), memory, x.options.Incomplete == "keep"
	answer, err := x.once(ctx)
	switch {
	case err != nil:
	case x.isOutside(ctx, answer):
		answer.Release()
		answer, err = x.reenter(ctx)
	case isRefusal(answer) && x.renewed(ctx):
		answer.Release()
		answer, err = x.again(ctx)
	}
	if err != nil {
		return x.refuseSecret(ctx, err)
	}
	defer answer.Release()
	x.heed(answer)
	return x.handleResponse(ctx, answer, out)
}

// once asks the host for the document in one of its slots.
func (x *exchange) once(ctx context.Context) (*httpclient.Response, error) {
	slot, err := x.limiter.take(ctx, x.target.Host, patience)
	if err != nil {
		return nil, err
	}
	if x.prepared != nil {
		x.target.Method, x.target.Body = x.prepared.method, x.prepared.body
	}
	began := time.Now()
	fields := x.fields()
	x.sent = x.keptCookies(ctx, x.target)
	answer, err := x.client.Get(ctx, x.target, fields, int(x.options.MaxBody))
	x.endSlot(slot, answer, err, began, x.crawlDelay)
	if err == nil && x.turns != nil {
		x.turns.note(x.target.Host, answer.Origin)
	}
	return answer, err
}
