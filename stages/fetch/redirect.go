package fetch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"github.com/webrace/webrace/internal/lru"
	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/stages/internal/httpclient"
)

// mostRedirected is of how many URLs that redirected it is remembered which cookies they were sent.
const mostRedirected = 10_000

// sentCookies are the cookies that URLs were sent which redirected, so that one that is redirected back to is asked
// again once it would be sent others.
type sentCookies struct {
	mu        sync.Mutex
	byRequest lru.Cache[string] // by secret and URL
}

func newSentCookies() *sentCookies {
	return &sentCookies{byRequest: lru.New[string](mostRedirected, nil)}
}

// note notes what a request was sent, and returns what another was sent, if that redirected.
func (s *sentCookies) note(request, cookies, to string) (sent string, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.byRequest.Add(request, cookies)
	return s.byRequest.Get(to)
}

// sendsOthers reports whether a URL that the request is redirected to would be sent other cookies now than when it
// redirected itself. What came before this process is not known; then the cookies of this answer decide.
func (x *exchange) sendsOthers(ctx context.Context, to string) bool {
	if !x.keepsCookies() && x.req.Secret == "" {
		return false
	}
	target, err := httpclient.ParseTarget(to)
	if err != nil {
		return false
	}
	now := x.keptCookies(ctx, target)
	if sent, known := x.cookiesSent.note(x.req.Secret+" "+x.req.URL, x.sent, x.req.Secret+" "+to); known {
		return sent != now
	}
	return x.setsCookies && now != ""
}

// keptCookies returns the cookies that hosts have set which a target would be sent now; those of a secret go where
// it goes.
func (x *exchange) keptCookies(ctx context.Context, t httpclient.Target) string {
	switch {
	case x.keepsCookies():
		return x.jars.Of(place(t)).Field(place(t))
	case x.req.Secret == "":
		return ""
	case x.grant != nil && t.Origin() == x.target.Origin():
		return x.grant.Kept(place(t))
	}
	broker, err := x.broker()
	if err != nil {
		return "" // the request for it tells so
	}
	other, err := broker.Grant(ctx, x.req.Secret, t.Scheme, t.Host, x.req.Reach)
	if err != nil {
		return ""
	}
	defer other.Close()
	return other.Kept(place(t))
}

// isRedirect reports whether an answer sends its reader elsewhere. A choice of several (300) does so only
// if it names a favourite.
func isRedirect(a *httpclient.Response) bool {
	switch a.Status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	case http.StatusMultipleChoices:
		return a.Header.Get("Location") != ""
	}
	return false
}

// location returns the normalized URL that a redirect leads to. Bytes beyond ASCII are encoded one by one, as
// browsers do, whatever character set was meant: of UTF-8 that is the URL which the standard gives, and of Latin-1
// the one that the server knows. Two that differ lead nowhere, which keeps what is smuggled into a header from being
// followed.
func location(from string, header http.Header) (string, error) {
	all := header["Location"]
	if len(all) == 0 || all[0] == "" {
		return "", errors.New("redirect without a location")
	}
	if i := slices.IndexFunc(all, func(other string) bool { return other != all[0] }); i > 0 {
		return "", fmt.Errorf("redirect to more than one location: %.200q and %.200q", all[0], all[i])
	}
	base, err := urlnorm.NewBase(from)
	if err != nil {
		return "", err
	}
	resolved, err := base.Resolve(percentEncoded(all[0]))
	if err != nil {
		return "", fmt.Errorf("redirect to %.200q: %w", all[0], err)
	}
	return resolved, nil
}

// percentEncoded percent-encodes the bytes beyond ASCII.
func percentEncoded(s string) []byte {
	const hex = "0123456789ABCDEF"
	b := make([]byte, 0, len(s))
	for i := range len(s) {
		if c := s[i]; c >= 0x80 {
			b = append(b, '%', hex[c>>4], hex[c&15])
		} else {
			b = append(b, c)
		}
	}
	return b
}
