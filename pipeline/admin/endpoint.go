package admin

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"

	"github.com/webrace/webrace/pipeline/connections"
)

// ErrTokenNeeded is the error of an endpoint that other machines can reach, and that has no token.
var ErrTokenNeeded = errors.New("other machines can reach it, so it needs a token")

// shortestToken is how short a token may be: nobody is to guess one.
const shortestToken = 16

// Endpoint is an address of TCP, and who may come in there. Where there is a token, it is for those who know it:
// as "Authorization: Bearer TOKEN", or by a cookie that a form gives to a browser. Where there is none it is
// for all programs of this machine.
//
// Either way, the pages of other sites that a browser shows come in nowhere: not by links, forms, scripts and
// pictures ([RefuseForeign]), nor by a name of theirs that leads here (an endpoint without a token answers only to a
// name or address of this machine).
type Endpoint struct {
	address *net.TCPAddr
	host    string // as it was given
	token   string
}

// NewEndpoint returns the endpoint at HOST:PORT. No host means all addresses of the machine; port 0 means any that
// is free. An address that others can reach without a token is refused with [ErrTokenNeeded].
func NewEndpoint(address, token string) (*Endpoint, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("%q is not HOST:PORT: %w", address, err)
	}
	resolved, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("look up %s: %w", address, err)
	}
	switch {
	case token == "" && !resolved.IP.IsLoopback():
		return nil, fmt.Errorf("%s: %w", address, ErrTokenNeeded)
	case token != "" && len(token) < shortestToken:
		return nil, fmt.Errorf("the token has %d characters; %d are the least that nobody guesses", len(token), shortestToken)
	}
	return &Endpoint{address: resolved, host: host, token: token}, nil
}

// Listen begins to listen at the address.
func (e *Endpoint) Listen() (net.Listener, error) { return net.ListenTCP("tcp", e.address) }

// Guard returns a handler that lets pass to another who may.
func (e *Endpoint) Guard(inner http.Handler) http.Handler {
	guarded := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Referrer-Policy", "same-origin") // by which [foreign] knows the page's own requests
		w.Header().Set("Cache-Control", "no-store")
		switch {
		case e.token == "" && !e.meansUs(r.Host):
			http.Error(w, noName(r.Host), http.StatusMisdirectedRequest)
		case e.token != "" && r.URL.Path == loginPath:
			e.login(w, r)
		case e.token == "" || e.knows(r):
			connections.Admit(r)
			inner.ServeHTTP(w, r)
		case isPublic(r):
			inner.ServeHTTP(w, r)
		case wantsPage(r):
			http.Redirect(w, r, loginPath, http.StatusSeeOther)
		default:
			refuseTokenless(w)
		}
	})
	if e.token == "" {
		return RefuseForeign(guarded)
	}
	return refusing(guarded, foreign) // its cookie comes with no request of a page elsewhere
}

// GuardPrograms is Guard for what programs alone ask for: no form takes the token, and no cookie stands for it.
func (e *Endpoint) GuardPrograms(inner http.Handler) http.Handler {
	guarded := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		switch {
		case e.token == "" && !e.meansUs(r.Host):
			http.Error(w, noName(r.Host), http.StatusMisdirectedRequest)
		case e.token == "" || e.bears(r):
			connections.Admit(r)
			inner.ServeHTTP(w, r)
		default:
			refuseTokenless(w)
		}
	})
	if e.token == "" {
		return RefuseForeign(guarded)
	}
	return refusing(guarded, foreign)
}

func noName(host string) string { return fmt.Sprintf("%q is no name of this machine", host) }

func refuseTokenless(w http.ResponseWriter) {
	w.Header().Set("WWW-Authenticate", `Bearer realm="webrace"`)
	http.Error(w, "a token is needed: Authorization: Bearer TOKEN", http.StatusUnauthorized)
}

// meansUs reports whether a Host field names this machine: whoever has a name in the DNS can have it lead
// to a loopback address, and be of the same origin as what is served there.
func (e *Endpoint) meansUs(field string) bool {
	host := field
	if name, _, err := net.SplitHostPort(field); err == nil {
		host = name
	}
	host = strings.Trim(host, "[]")
	if ip := net.ParseIP(host); ip != nil {
		return ip.IsLoopback()
	}
	return strings.EqualFold(host, "localhost") || strings.EqualFold(host, e.host)
}

// isPublic reports whether a request is for what tells nothing: that the process lives, and the looks of
// the form.
func isPublic(r *http.Request) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	return r.URL.Path == "/healthz" || r.URL.Path == "/readyz" || strings.HasPrefix(r.URL.Path, assetPath)
}

func (e *Endpoint) knows(r *http.Request) bool {
	if e.bears(r) {
		return true
	}
	cookie, err := r.Cookie(cookieName)
	return err == nil && same(cookie.Value, e.cookie())
}

// bears reports whether a request names the token in its header.
func (e *Endpoint) bears(r *http.Request) bool {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.EqualFold(scheme, "Bearer") && same(token, e.token)
}

// cookie is what a browser keeps of the token. It tells nothing of it, and is worth nothing once the token is
// another.
func (e *Endpoint) cookie() string {
	code := hmac.New(sha256.New, []byte(e.token))
	code.Write([]byte("webrace admin cookie"))
	return hex.EncodeToString(code.Sum(nil))
}

// same compares without telling by its time how far two words agree, or how long they are.
func same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

const (
	loginPath  = "/login"
	cookieName = "webrace"
)

// login shows the form, and takes what was filled in.
func (e *Endpoint) login(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 4<<10)
	status := http.StatusOK
	if r.Method == http.MethodPost {
		if same(r.PostFormValue("token"), e.token) {
			http.SetCookie(w, &http.Cookie{
				Name: cookieName, Value: e.cookie(), Path: "/",
				HttpOnly: true, Secure: r.TLS != nil, SameSite: http.SameSiteStrictMode,
			})
			http.Redirect(w, r, "/", http.StatusSeeOther)
			return
		}
		status = http.StatusUnauthorized
	}
	showPage(w, status, "login.html", status == http.StatusUnauthorized)
}
