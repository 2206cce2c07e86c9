package credentials

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"sync"

	"golang.org/x/net/publicsuffix"
)

// What is kept of cookies: how many for a secret, and for a host that is asked without one; how many of one
// answer; how long one may be; and of how many hosts.
const (
	maxCookies     = 1000
	maxHostCookies = 50
	maxOfAnswer    = 50
	maxCookie      = 4096
	maxJars        = 1000
)

// Jar holds cookies (RFC 6265), as many as it may. It is safe for concurrent use.
type Jar struct {
	jar *cookiejar.Jar
	max int

	mu    sync.Mutex
	known map[string]struct{} // cookies that were ever set
}

// NewJar returns a jar for so many cookies.
func NewJar(max int) *Jar {
	jar, _ := cookiejar.New(&cookiejar.Options{PublicSuffixList: publicsuffix.List}) // never fails
	return &Jar{jar: jar, max: max, known: make(map[string]struct{})}
}

// Field returns the Cookie field of a request; empty for none.
func (j *Jar) Field(u *url.URL) string {
	var field []string
	for _, c := range j.jar.Cookies(u) {
		field = append(field, c.String())
	}
	return strings.Join(field, "; ")
}

// Keep takes the cookies of an answer in, and returns how many it had no room for.
func (j *Jar) Keep(u *url.URL, answer http.Header) (refused int) {
	if len(answer["Set-Cookie"]) == 0 {
		return 0
	}
	var kept []*http.Cookie
	for _, c := range (&http.Response{Header: answer}).Cookies() {
		if len(kept) < maxOfAnswer && j.admit(u, c) {
			kept = append(kept, c)
		} else {
			refused++
		}
	}
	j.jar.SetCookies(u, kept)
	return refused
}

// admit reports whether there is room for a cookie, or it replaces one.
func (j *Jar) admit(u *url.URL, c *http.Cookie) bool {
	key := strings.Join([]string{u.Hostname(), c.Domain, c.Path, c.Name}, "\x00")
	if len(c.Name)+len(c.Value) > maxCookie || len(key) > 2*maxCookie {
		return false
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, known := j.known[key]; !known && len(j.known) >= j.max {
		return false
	}
	j.known[key] = struct{}{}
	return true
}

// Jars are those of hosts that are asked without credentials. The zero value is ready.
type Jars struct {
	mu     sync.Mutex
	byHost map[string]*Jar
}

// Of returns the jar of a host, by scheme, name and port. When there are too many, another host's is
// emptied.
func (j *Jars) Of(u *url.URL) *Jar {
	key := u.Scheme + "://" + u.Host
	j.mu.Lock()
	defer j.mu.Unlock()
	if jar := j.byHost[key]; jar != nil {
		return jar
	}
	if j.byHost == nil {
		j.byHost = make(map[string]*Jar)
	}
	for other := range j.byHost {
		if len(j.byHost) < maxJars {
			break
		}
		delete(j.byHost, other)
	}
	j.byHost[key] = NewJar(maxHostCookies)
	return j.byHost[key]
}

// joinCookies returns the cookies of two Cookie fields, those of the second instead of those of the first
// that have the same name.
func joinCookies(first, second string) string {
	if first == "" || second == "" {
		return first + second
	}
	newer := make(map[string]bool)
	for pair := range strings.SplitSeq(second, ";") {
		newer[cookieName(pair)] = true
	}
	var joined []string
	for pair := range strings.SplitSeq(first, ";") {
		if !newer[cookieName(pair)] {
			joined = append(joined, strings.TrimSpace(pair))
		}
	}
	return strings.Join(append(joined, second), "; ")
}

func cookieName(pair string) string {
	name, _, _ := strings.Cut(pair, "=")
	return strings.TrimSpace(name)
}
