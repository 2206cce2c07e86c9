package credentials

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/publicsuffix"

	"github.com/webrace/webrace/internal/lru"
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
	known map[string]setCookie // cookies that were ever set, as they were set last
}

// setCookie is a cookie as a server set it.
type setCookie struct {
	URL   string    `json:"url"`
	Field string    `json:"field"` // Set-Cookie
	At    time.Time `json:"at"`
}

// NewJar returns a jar for so many cookies.
func NewJar(max int) *Jar {
	jar, _ := cookiejar.New(&cookiejar.Options{PublicSuffixList: publicsuffix.List}) // never fails
	return &Jar{jar: jar, max: max, known: make(map[string]setCookie)}
}

// Field returns the Cookie field of a request; empty for none.
func (j *Jar) Field(u *url.URL) string {
	var field []string
	for _, c := range j.cookies().Cookies(u) {
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
	j.cookies().SetCookies(u, kept)
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
	j.known[key] = setCookie{u.String(), c.Raw, time.Now()}
	return true
}

// clear forgets all cookies.
func (j *Jar) clear() {
	empty := NewJar(j.max)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.jar, j.known = empty.jar, empty.known
}

// export writes the cookies down, so that restore of another jar reads them.
func (j *Jar) export() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	all := slices.SortedFunc(maps.Values(j.known), func(a, b setCookie) int { return a.At.Compare(b.At) })
	text, _ := json.Marshal(all) // strings and times can always be
	return string(text)
}

// restore reads cookies that export wrote, but for those that have expired since, and reports whether there are any.
func (j *Jar) restore(text string, now time.Time) bool {
	var all []setCookie
	if json.Unmarshal([]byte(text), &all) != nil {
		return false
	}
	for _, s := range all {
		u, err := url.Parse(s.URL)
		c, wrong := http.ParseSetCookie(s.Field)
		if err != nil || wrong != nil {
			continue
		}
		if c.MaxAge > 0 { // counted from when it was set
			c.Expires, c.MaxAge = s.At.Add(time.Duration(c.MaxAge)*time.Second), 0
		}
		if expired := c.MaxAge < 0 || !c.Expires.IsZero() && c.Expires.Before(now); !expired && j.admit(u, c) {
			j.cookies().SetCookies(u, []*http.Cookie{c})
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.known) > 0
}

// cookies returns where the cookies are, which clear replaces.
func (j *Jar) cookies() *cookiejar.Jar {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.jar
}

// Jars are those of hosts that are asked without credentials. The zero value is ready.
type Jars struct {
	mu     sync.Mutex
	byHost lru.Cache[*Jar]
}

// Of returns the jar of a host, by scheme, name and port. When there are too many, that of the host asked longest
// ago is emptied.
func (j *Jars) Of(u *url.URL) *Jar {
	key := u.Scheme + "://" + u.Host
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.byHost == nil {
		j.byHost = lru.New[*Jar](maxJars, nil)
	}
	jar, known := j.byHost.Get(key)
	if !known {
		jar = NewJar(maxHostCookies)
		j.byHost.Add(key, jar)
	}
	return jar
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
