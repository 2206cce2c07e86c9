// Package portal is the web application in which people say what they want to know, read what they are told and why,
// and say where and when they are told it (eRACE, section 2.2.1: the Service Manager and the Personal Information
// Roadmap).
//
// It guarantees: who has not logged in sees nothing of anybody; what is another's is answered as what is not there; a
// GET changes nothing; a page works without scripts, and what pages of others say is shown as text alone. Its handlers
// for people get what is one owner's ([control.Owned]), and no store.
package portal

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"sync"
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/delivery"
	"github.com/webrace/webrace/stages/internal/httpserver"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/control"
)

// Options of the stage.
type Options struct {
	Listen   string   `toml:"listen" doc:"the address to listen on: HOST:PORT; no host is all addresses of the machine"`
	URL      string   `toml:"url" doc:"where people reach it, for links in mails: https://alerts.example.org; empty: at the address it listens on, from this machine alone"`
	CertFile string   `toml:"cert_file" doc:"a certificate to speak TLS with, as PEM, with those that it was signed by; empty: TLS is for a proxy in front"`
	KeyFile  string   `toml:"key_file" doc:"its key"`
	Proxies  []string `toml:"proxies" doc:"networks of the proxies in front, as 10.0.0.0/8: what they say of where a request comes from is believed"`
	SignUp   string   `toml:"sign_up" doc:"who may have an account: invited (who was sent a link), open (whoever has a mail address)" enum:"invited,open"`
	Prefixes bool     `toml:"prefixes" doc:"people may watch all pages below a path, which shows them what the crawls of others bring"`
	MaxDepth int      `toml:"max_depth" doc:"how many levels of pages an interest may have crawled at most"`
	Name     string   `toml:"name" doc:"what the application is called in its pages and mails"`
}

var defaults = Options{Listen: "127.0.0.1:8642", SignUp: "invited", MaxDepth: 5, Name: "webrace"}

func init() {
	pipeline.Register(pipeline.Spec{
		Type:       "portal",
		PerProcess: true,
		Summary:    "the web application in which people say what they want to know, and read what they are told",
		Doc: "People have accounts: `webrace-store account add NAME` prints a link by which one sets a password. It reads and changes what is stored, so it stands in the pipeline of the stage `outbox`, which tells people. " +
			"The stage goes on until the run is told to end. Where other machines reach it, it needs an https `url`, and TLS: by a proxy in front, which passes on the name of the host, or with `cert_file` and `key_file`. " +
			"The counters `requests`, `failed` (5xx), `refused` (403, 429 and 503) and `logins` say what became of requests. " +
			"Who leaves is erased a week later: the stage looks once an hour, and counts `erased`.",
		Out: []pipeline.Port{{Kind: pipeline.KindOf[*delivery.Message](), Doc: "a mail about an account, such as a link by which a password is set, or a test of a channel"}},
	}, defaults, newStage)
}

// Validate refuses addresses that others can reach without TLS, and what cannot be read.
func (o Options) Validate() error {
	host, port, err := net.SplitHostPort(o.Listen)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	if err != nil {
		return &pipeline.OptionError{Option: "listen", Err: fmt.Errorf("%q is not HOST:PORT: %w", o.Listen, err)}
	}
	if err := o.checkURL(host); err != nil {
		return &pipeline.OptionError{Option: "url", Err: err}
	}
	switch {
	case o.CertFile != "" && o.KeyFile == "":
		return &pipeline.OptionError{Option: "key_file", Err: fmt.Errorf("the certificate %s needs its key", o.CertFile)}
	case o.CertFile == "" && o.KeyFile != "":
		return &pipeline.OptionError{Option: "cert_file", Err: fmt.Errorf("the key %s needs its certificate", o.KeyFile)}
	case o.MaxDepth < 1:
		return &pipeline.OptionError{Option: "max_depth", Err: fmt.Errorf("%d is not at least 1, the page alone", o.MaxDepth)}
	case o.Name == "":
		return &pipeline.OptionError{Option: "name", Err: fmt.Errorf("it needs a name")}
	}
	for _, network := range o.Proxies {
		if _, err := netip.ParsePrefix(network); err != nil {
			return &pipeline.OptionError{Option: "proxies", Err: fmt.Errorf("%q is no network, as 10.0.0.0/8 or 127.0.0.1/32: %w", network, err)}
		}
	}
	return nil
}

// checkURL refuses a URL that people cannot reach it at, and one over which passwords could be read.
func (o Options) checkURL(host string) error {
	if o.URL == "" {
		if !isLoopback(host) {
			return fmt.Errorf("other machines can reach %s: set url to the https address at which they do, or listen on 127.0.0.1", o.Listen)
		}
		return nil
	}
	u, err := url.Parse(o.URL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return fmt.Errorf("%q is no http or https URL of a host", o.URL)
	case u.Path != "" && u.Path != "/":
		return fmt.Errorf("%q has a path: give the application a host of its own", o.URL)
	case u.Scheme == "http" && (!isLoopback(host) || !isLoopback(u.Hostname())):
		return fmt.Errorf("%q is not https, so that passwords could be read on the way", o.URL)
	}
	return nil
}

func isLoopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && address.IsLoopback()
}

// outgoing is a message that is to be emitted.
type outgoing struct {
	message *delivery.Message
	result  chan<- delivery.Result // has room for one; nil: nobody waits for it
}

type stage struct {
	options Options
	env     *pipeline.Env
	site    *site
	mails   chan outgoing // what Run emits
	ended   chan struct{} // closed when Run takes nothing any more
	end     sync.Once
	server  httpserver.Server
	secured *tls.Config
}

var (
	_ pipeline.Source  = (*stage)(nil)
	_ pipeline.Opener  = (*stage)(nil)
	_ pipeline.Closer  = (*stage)(nil)
	_ pipeline.Checker = (*stage)(nil)
)

func newStage(o Options, env *pipeline.Env) (any, error) {
	dir, err := pipeline.Resource[*storage.Dir](env)
	if err != nil {
		return nil, err
	}
	store, err := dir.Control()
	if err != nil {
		return nil, err
	}
	return newStageOver(o, env, store)
}

func newStageOver(o Options, env *pipeline.Env, store *control.Store) (*stage, error) {
	s := &stage{options: o, env: env, mails: make(chan outgoing), ended: make(chan struct{})}
	var err error
	s.site, err = newSite(o, env, store, s.mail)
	return s, err
}

// Check reads the certificate.
func (s *stage) Check(context.Context) error {
	_, err := s.options.tls()
	return err
}

// Open begins to listen. Requests are answered when the run has begun.
func (s *stage) Open(context.Context) error {
	secured, err := s.options.tls()
	if err != nil {
		return err
	}
	s.secured = secured.config()
	listener, err := s.env.Listen("tcp", s.options.Listen)
	if err != nil {
		return err
	}
	s.server.Open(listener)
	s.site.at(listener.Addr())
	s.env.Logger.Info("the web application is open", "url", s.site.tools.link(""))
	return nil
}

// answerTime is how long an answer may take: the preview of an interest, and an export.
const answerTime = 2 * time.Minute

// Run answers requests until the run is told to end, and emits the mails that they give rise to.
func (s *stage) Run(ctx context.Context, out pipeline.Emitter) error {
	defer s.end.Do(func() { close(s.ended) })
	s.server.Serve(http.HandlerFunc(s.answer), answerTime, s.secured)
	erasing, stop := context.WithCancel(ctx)
	var hourly sync.WaitGroup
	hourly.Go(func() { s.site.eraseHourly(erasing) })
	defer hourly.Wait()
	defer stop()
	for {
		select {
		case m := <-s.mails:
			item := pipeline.NewItem(m.message, func(o pipeline.Outcome) { s.mailed(m, o) }).From("mail "+m.message.ID, 0)
			if err := out.Emit(ctx, item); err != nil {
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

// answer answers requests as long as the run lasts.
func (s *stage) answer(w http.ResponseWriter, r *http.Request) {
	select {
	case <-s.ended:
		w.Header().Set("Retry-After", "5")
		http.Error(w, text("error.ending"), http.StatusServiceUnavailable)
	default:
		s.site.ServeHTTP(w, r)
	}
}

// mail has a message sent. It waits for the pipeline to take it, and not until it is sent.
func (s *stage) mail(ctx context.Context, m *delivery.Message, result chan<- delivery.Result) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	select {
	case s.mails <- outgoing{m, result}:
		return nil
	case <-s.ended:
	case <-ctx.Done():
	}
	return &refusal{status: http.StatusServiceUnavailable, key: "error.mail", after: 30 * time.Second}
}

// mailed tells what came of a message: whoever waits for it, or else the log where it was not sent, for which its
// reader asks again.
func (s *stage) mailed(m outgoing, o pipeline.Outcome) {
	r := resultIn(o)
	switch {
	case m.result != nil:
		m.result <- r
	case !r.Taken:
		s.env.Counter("mails_lost").Add(1)
		s.env.Logger.Warn("a mail about an account was not sent", "owner", m.message.Owner, "to", m.message.Address, "said", r.Said)
	}
}

// resultIn returns what came of sending a message, of which an outcome tells.
func resultIn(o pipeline.Outcome) delivery.Result {
	for _, learned := range o.Learned {
		if r, is := learned.(delivery.Result); is {
			return r
		}
	}
	if err := cmp.Or(o.Err, o.Failed); err != nil {
		return delivery.Result{Passing: true, Said: err.Error()}
	}
	return delivery.Result{Said: text("error.unsent")}
}

// Close stops listening, and waits for a moment until answers under way have been read.
func (s *stage) Close() error {
	s.end.Do(func() { close(s.ended) })
	err := s.server.Close()
	s.site.tools.unseen.Wait() // it uses the store
	return err
}
