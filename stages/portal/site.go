package portal

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/alexedwards/scs/v2"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/connections"
	"github.com/webrace/webrace/stages/internal/delivery"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/control/accountfile"
)

// site answers requests by the table of routes.
type site struct {
	tools *tools
	store *control.Store
	mux   *http.ServeMux
	cross *http.CrossOriginProtection
}

// tools are what handlers work with. There is no store among them.
type tools struct {
	options   Options
	env       *pipeline.Env
	base      *url.URL // where people reach the application
	secure    bool     // by https
	sessions  *scs.SessionManager
	passwords *hasher
	limits    *limits
	mail      func(*visit, *delivery.Message) error
	open      OpenReader // nil readers look into nothing
	export    exporter
	send      mailer        // of messages that are no mails about an account
	patience  time.Duration // with which it is waited for what comes of a test
	writing   time.Duration // that the store has to take a change
	now       func() time.Time
	unseen    sync.WaitGroup // of what goes on when its visitor was answered
}

func newSite(o Options, env *pipeline.Env, store *control.Store, mail mailer) (*site, error) {
	base, err := url.Parse(o.URL)
	if err != nil {
		return nil, err
	}
	t := &tools{
		options: o, env: env, base: base, secure: base.Scheme == "https" || o.CertFile != "",
		passwords: newHasher(), limits: newLimits(), now: time.Now, open: opener(env), export: accountfile.Write,
		mail: func(v *visit, m *delivery.Message) error { return mail(v.r.Context(), m, nil) }, send: mail, patience: waitsForResult, writing: 10 * time.Second,
	}
	t.sessions = newSessions(store, t.secure)
	s := &site{tools: t, store: store, mux: http.NewServeMux(), cross: http.NewCrossOriginProtection()}
	if o.URL != "" {
		if err := s.cross.AddTrustedOrigin(base.Scheme + "://" + base.Host); err != nil {
			return nil, err
		}
	}
	for _, r := range routes() {
		s.mux.Handle(r.pattern, s.handler(r))
	}
	return s, nil
}

// opener returns what opens the reader that the program lends; of a program that lends none, it opens none.
func opener(env *pipeline.Env) OpenReader {
	open, err := pipeline.Resource[OpenReader](env)
	if err != nil {
		return func() (Reader, error) { return nil, nil }
	}
	return sync.OnceValues(open)
}

// at records where the application listens, which is where people reach it if nothing else is said.
func (s *site) at(address interface{ String() string }) {
	if s.tools.options.URL == "" {
		scheme := "http"
		if s.tools.secure {
			scheme = "https"
		}
		s.tools.base = &url.URL{Scheme: scheme, Host: address.String()}
	}
}

// link is where people reach a path of the application.
func (t *tools) link(path string) string { return t.base.JoinPath(path).String() }

// contentPolicy lets a page have nothing but what is served here, and speak to no other server.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// ServeHTTP answers a request.
func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	connections.Admit(r)
	s.tools.env.Counter("requests").Add(1)
	h := w.Header()
	h.Set("Content-Security-Policy", contentPolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	if s.tools.secure {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
	if wrong := s.fromElsewhere(r); wrong != nil {
		s.fail(&visit{w: w, r: r, tools: s.tools}, wrong)
		return
	}
	s.mux.ServeHTTP(w, r)
}

// handler makes the handler of a route: it lets in who may come in, and shows what went wrong.
func (s *site) handler(to route) http.Handler {
	inner := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v := &visit{w: w, r: r, tools: s.tools, most: to.most, section: to.section}
		if err := s.enter(v, to); err != nil {
			s.fail(v, err)
		}
	})
	handler := http.Handler(inner)
	if !to.stateless {
		handler = s.tools.sessions.LoadAndSave(inner)
	}
	if strings.HasPrefix(to.pattern, http.MethodPost) && !to.long {
		handler = s.inTime(handler)
	}
	return handler
}

// errNotTaken means that the store has not taken a change in time.
var errNotTaken = errors.New("the store does not take it")

// inTime has a change fail that the store does not take soon, as while its disk is full, or its server away: it waits
// until there is room, but people are told.
func (s *site) inTime(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeoutCause(r.Context(), s.tools.writing, errNotTaken)
		defer cancel()
		h.ServeHTTP(w, r.WithContext(ctx))
	})
}

// enter finds out who comes, and has the handler answer if they may come in.
func (s *site) enter(v *visit, to route) error {
	if to.most == 0 {
		v.most = mostOfForm
	}
	v.r.Body = http.MaxBytesReader(v.w, v.r.Body, v.most)
	if !to.stateless {
		if err := s.recognize(v, to); err != nil {
			return err
		}
	}
	switch {
	case to.open != nil:
		return to.open(v, s.store)
	case v.account.Owner == "":
		return v.mustLogIn()
	case to.own != nil:
		return to.own(v, s.store.Of(v.account.Owner))
	case !v.account.Admin:
		return control.ErrNotFound // as if there were nothing
	}
	return to.admin(v, s.store)
}
