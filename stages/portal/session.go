package portal

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/alexedwards/scs/v2"

	"github.com/webrace/webrace/storage/control"
)

// sessionLasts is how long a browser stays logged in. Nothing prolongs it: that would be a write for each page viewed.
const sessionLasts = 30 * 24 * time.Hour

// What a session holds.
const (
	sessionOwner = "owner"
	sessionAgent = "agent" // how the browser calls itself, by which its owner knows it again
)

func newSessions(store *control.Store, secure bool) *scs.SessionManager {
	m := scs.New()
	m.Lifetime = sessionLasts
	m.Store = webSessions{store}
	m.Codec = jsonCodec{}
	m.HashTokenInStore = true
	m.Cookie.Name = "webrace"
	m.ErrorFunc = func(w http.ResponseWriter, _ *http.Request, _ error) {
		http.Error(w, text("error.store"), http.StatusServiceUnavailable)
	}
	if secure {
		m.Cookie.Name, m.Cookie.Secure = "__Host-webrace", true
	}
	return m
}

// webSessions keeps sessions where the accounts are.
type webSessions struct{ store *control.Store }

var _ scs.CtxStore = webSessions{}

// FindCtx returns what a session holds.
func (s webSessions) FindCtx(ctx context.Context, hash string) ([]byte, bool, error) {
	w, err := s.store.WebSession(ctx, hash)
	if errors.Is(err, control.ErrNotFound) {
		return nil, false, nil
	}
	return w.Data, err == nil, err
}

// CommitCtx keeps what a session holds, under its owner.
func (s webSessions) CommitCtx(ctx context.Context, hash string, data []byte, expires time.Time) error {
	var held sessionData
	if err := json.Unmarshal(data, &held); err != nil {
		return err
	}
	return s.store.PutWebSession(ctx, control.WebSession{
		Hash: hash, Owner: held.Values[sessionOwner], Agent: held.Values[sessionAgent], Data: data, Expires: expires,
	})
}

// DeleteCtx ends a session.
func (s webSessions) DeleteCtx(ctx context.Context, hash string) error {
	return s.store.DeleteWebSession(ctx, hash)
}

// Find, Commit and Delete are for callers without a context; there are none.
func (s webSessions) Find(hash string) ([]byte, bool, error) {
	return s.FindCtx(context.Background(), hash)
}
func (s webSessions) Commit(hash string, data []byte, expires time.Time) error {
	return s.CommitCtx(context.Background(), hash, data, expires)
}
func (s webSessions) Delete(hash string) error { return s.DeleteCtx(context.Background(), hash) }

// hashOfSession is what a session is stored under, by the token in its cookie: as scs hashes it.
func hashOfSession(token string) string {
	sum := sha256.Sum256([]byte(token))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// sessionData is a session as it is stored.
type sessionData struct {
	Deadline time.Time         `json:"deadline"`
	Values   map[string]string `json:"values"`
}

// jsonCodec writes sessions as JSON, of texts alone.
type jsonCodec struct{}

// Encode writes a session.
func (jsonCodec) Encode(deadline time.Time, values map[string]any) ([]byte, error) {
	d := sessionData{Deadline: deadline, Values: make(map[string]string)}
	for name, value := range values {
		d.Values[name], _ = value.(string)
	}
	return json.Marshal(d)
}

// Decode reads what Encode wrote.
func (jsonCodec) Decode(data []byte) (time.Time, map[string]any, error) {
	var d sessionData
	if err := json.Unmarshal(data, &d); err != nil {
		return time.Time{}, nil, err
	}
	values := make(map[string]any, len(d.Values))
	for name, value := range d.Values {
		values[name] = value
	}
	return d.Deadline, values, nil
}

// recognize finds out who comes: by the session of a browser, or, where programs may ask, by a token.
func (s *site) recognize(v *visit, to route) error {
	ctx := v.r.Context()
	owner := s.tools.sessions.GetString(ctx, sessionOwner)
	if given := v.r.Header.Get("Authorization"); given != "" {
		v.program = true
		scheme, token, _ := strings.Cut(given, " ")
		owner = ""
		if to.program && strings.EqualFold(scheme, "Bearer") {
			t, err := s.store.Token(ctx, strings.TrimSpace(token), control.PurposeAPI)
			if err != nil && !errors.Is(err, control.ErrNotFound) {
				return err
			}
			owner = t.Owner
		}
	}
	if owner == "" {
		return nil
	}
	a, err := s.store.Account(ctx, owner)
	switch {
	case errors.Is(err, control.ErrNotFound):
		return nil
	case err != nil:
		return err
	case a.State == control.AccountActive:
		v.account, v.profile = a, profileOf(a)
	}
	return nil
}

// admit logs a browser in, under a token that it did not have before.
func (v *visit) admit(owner string) error {
	ctx := v.r.Context()
	if err := v.tools.sessions.RenewToken(ctx); err != nil {
		return err
	}
	v.tools.sessions.Put(ctx, sessionOwner, owner)
	v.tools.sessions.Put(ctx, sessionAgent, agentOf(v.r))
	v.tools.env.Counter("logins").Add(1)
	return nil
}

// agentOf is how a browser calls itself, cut.
func agentOf(r *http.Request) string {
	const longest = 200
	agent := strings.ToValidUTF8(r.UserAgent(), "")
	return agent[:min(len(agent), longest)]
}

// mostAgents is how many browsers it is remembered of that they have logged in.
const mostAgents = 10

// agentKind stands for a browser of whichever version: an update is no other browser.
func agentKind(r *http.Request) string {
	unnumbered := strings.Map(func(c rune) rune {
		if c >= '0' && c <= '9' || c == '.' || c == '_' {
			return -1
		}
		return c
	}, agentOf(r))
	return hashOfSession(unnumbered)[:12]
}

// noteAgent remembers the browser that has logged in, and tells the owner if it is none of those that did before. That
// it cannot be noted keeps nobody out.
func (v *visit) noteAgent(mine control.Owned) {
	kind := agentKind(v.r)
	var mail string
	isNew := false
	err := mine.ChangeAccount(v.r.Context(), func(a *control.Account) error {
		p := profileOf(*a)
		mail, isNew = a.Mail, len(p.Agents) > 0 && !slices.Contains(p.Agents, kind)
		if slices.Contains(p.Agents, kind) {
			return errKnown
		}
		p.Agents = append(p.Agents[max(0, len(p.Agents)+1-mostAgents):], kind)
		a.Profile = p.encode()
		return nil
	})
	switch {
	case err != nil && !errors.Is(err, errKnown):
		v.tools.env.Logger.Warn("it is not noted from which browser somebody logged in", "owner", mine.Owner(), "error", err)
	case isNew:
		v.notice(mine.Owner(), mail, "new_agent")
	}
}

// errKnown ends a change of an account that is none.
var errKnown = errors.New("the browser is known")

// logOut ends the session of the browser.
func logOut(v *visit, _ control.Owned) error {
	if err := v.tools.sessions.Destroy(v.r.Context()); err != nil {
		return err
	}
	return v.see("/login", "logged_out")
}
