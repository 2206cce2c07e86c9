package credentials

import (
	"context"
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Grant is what one request may present. A nil grant is of a request without credentials, and does nothing.
type Grant struct {
	broker *Broker
	entry  *entry
	state  *hostState
	closed bool
}

// Close ends the grant. It may be called twice.
func (g *Grant) Close() {
	if g != nil && !g.closed {
		g.closed = true
		g.state.leave()
	}
}

// Present adds the fields of a request for a URL, of which scheme, host and path count.
func (g *Grant) Present(fields http.Header, u *url.URL) {
	if g == nil {
		return
	}
	name, value := g.entry.secret.Reveal()
	cookies := g.entry.jar.Field(u)
	switch g.entry.secret.Kind() {
	case KindBasic:
		fields.Set("Authorization", basic(name, value))
	case KindBearer:
		fields.Set("Authorization", "Bearer "+value)
	case KindHeader:
		fields.Set(name, value)
	case KindCookie:
		cookies = joinCookies(value, cookies)
	}
	if cookies != "" {
		fields.Set("Cookie", joinCookies(fields.Get("Cookie"), cookies))
	}
}

// Renew has the secret read anew that was refused, as [Broker.Renew] does.
func (g *Grant) Renew(ctx context.Context) (renewed bool, err error) {
	if g == nil {
		return false, nil
	}
	return g.broker.renew(ctx, g.entry)
}

// Value returns what stands for the secret in a request that names it: of a basic one the password.
func (g *Grant) Value() string {
	_, value := g.entry.secret.Reveal()
	return value
}

// Account returns the user and the password of a basic secret, for protocols that log in.
func (g *Grant) Account() (user, password string, ok bool) {
	user, password = g.entry.secret.Reveal()
	return user, password, g.entry.secret.Kind() == KindBasic
}

// LoggedIn learns whether a server of such a protocol has let the account in, and ends the grant. It reports whether
// the secret was refused for the last time for a while.
func (g *Grant) LoggedIn(accepted bool) (paused bool) {
	status := http.StatusOK
	if !accepted {
		status = http.StatusUnauthorized
	}
	paused = g.state.answered(status, g.broker.now())
	g.Close()
	return paused
}

// Kept returns the cookies that hosts have set which a request for a URL presents; empty for none.
func (g *Grant) Kept(u *url.URL) string {
	if g == nil {
		return ""
	}
	return g.entry.jar.Field(u)
}

// PresentCookies adds the cookies alone that a host has set, for a request that holds the secret already.
func (g *Grant) PresentCookies(fields http.Header, u *url.URL) {
	if cookies := g.entry.jar.Field(u); cookies != "" {
		fields.Set("Cookie", joinCookies(fields.Get("Cookie"), cookies))
	}
}

func basic(user, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}

// Answer is what the server's answer meant for the secret.
type Answer struct {
	Unauthorized bool   // it was refused, or is not enough for this page
	Paused       bool   // it was refused for the last time for a while
	Why          string // of an unauthorized answer: what was refused, and what the server wants
	Refused      int    // cookies that were not kept
}

// Answered learns from a server's answer to a request for u.
func (g *Grant) Answered(u *url.URL, status int, header http.Header) (a Answer) {
	if g == nil {
		return a
	}
	a.Refused = g.entry.jar.Keep(u, header)
	a.Paused = g.state.answered(status, g.broker.now())
	a.Unauthorized = status == http.StatusUnauthorized || status == http.StatusForbidden
	if a.Unauthorized {
		a.Why = g.why(status, header)
	}
	g.Close()
	return a
}

// why returns what was not accepted, and what would be.
func (g *Grant) why(status int, header http.Header) string {
	name, kind := g.entry.name, string(g.entry.secret.Kind())
	if status == http.StatusForbidden {
		return "with secret " + name + " (" + kind + ") this may not be seen"
	}
	wanted := slices.DeleteFunc(Schemes(header.Values("WWW-Authenticate")), g.Reveals)
	if len(wanted) > 0 {
		return g.state.host + " does not accept secret " + name + " (" + kind + ") and asks for " + strings.Join(wanted, ", ") +
			": webrace-store secret set " + name + " stores another"
	}
	return g.state.host + " does not accept secret " + name + " (" + kind + "): webrace-store secret set " + name + " stores another"
}

// Clean takes out of a header what must not be stored: cookies, and fields in which the server repeats the
// secret.
func (g *Grant) Clean(header http.Header) {
	if g == nil {
		return
	}
	header.Del("Set-Cookie")
	header.Del("Set-Cookie2")
	for name, values := range header {
		if slices.ContainsFunc(values, g.Reveals) {
			delete(header, name)
		}
	}
}

// shortest is the length from which on a secret is looked for in what servers send: a shorter one may stand
// there by chance.
const shortest = 8

// Reveals reports whether a text holds the secret, as it is or as it stands in a URL or a header.
func (g *Grant) Reveals(text string) bool {
	if g == nil {
		return false
	}
	return slices.ContainsFunc(g.parts(), func(part string) bool {
		return len(part) >= shortest && (strings.Contains(text, part) || strings.Contains(text, url.QueryEscape(part)) ||
			strings.Contains(text, url.PathEscape(part)))
	})
}

// parts are the strings that make the secret.
func (g *Grant) parts() []string {
	name, value := g.entry.secret.Reveal()
	switch g.entry.secret.Kind() {
	case KindBasic:
		return []string{value, strings.TrimPrefix(basic(name, value), "Basic ")}
	case KindCookie:
		parts := []string{value}
		for _, pair := range strings.Split(value, ";") {
			_, v, _ := strings.Cut(pair, "=")
			parts = append(parts, strings.TrimSpace(v))
		}
		return parts
	}
	return []string{value}
}
