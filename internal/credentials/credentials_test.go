package credentials

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/webrace/webrace"
)

const hush = "hush-6f1d-hush"

// stored is a source that a test scripts.
type stored struct {
	mu      sync.Mutex
	secrets map[string]Secret
	version map[string]uint64
	starts  map[string]string
}

func newStored() *stored {
	return &stored{secrets: map[string]Secret{}, version: map[string]uint64{}, starts: map[string]string{"c": "https://a.example/start"}}
}

func (s *stored) Secret(_ context.Context, name string) (Secret, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if secret, ok := s.secrets[name]; ok {
		return secret, nil
	}
	return Secret{}, ErrNotFound
}

func (s *stored) SecretVersion(name string) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version[name]
}

func (s *stored) StartOf(_ context.Context, crawl string) (string, error) {
	if start, ok := s.starts[crawl]; ok {
		return start, nil
	}
	return "", ErrNotFound
}

func (s *stored) set(t *testing.T, name string, kind Kind, user, value string, b Bounds) {
	t.Helper()
	secret, err := NewSecret(kind, user, value)
	if err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.secrets[name] = secret.Within(b)
	s.version[name]++
}

var reach = []webrace.Reach{{Crawl: "c"}}

func grant(t *testing.T, b *Broker, address string) (*Grant, error) {
	t.Helper()
	u := parse(t, address)
	return b.Grant(t.Context(), "s", u.Scheme, u.Host, reach)
}

func parse(t *testing.T, address string) *url.URL {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// sent is what a grant presents, or the refusal.
func sent(t *testing.T, b *Broker, address string) string {
	t.Helper()
	g, err := grant(t, b, address)
	if err != nil {
		return "refused: " + err.Error()
	}
	defer g.Close()
	fields := http.Header{}
	g.Present(fields, parse(t, address))
	var all []string
	for name := range fields {
		all = append(all, name+": "+fields.Get(name))
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

func TestASecretGoesWhereItIsForAndNowhereElse(t *testing.T) {
	t.Parallel()
	const yes, no, plain = "Authorization: Bearer " + hush, "", "refused: secret s is not sent by plain http: webrace-store secret set s --insecure … allows it"
	for _, c := range []struct {
		hosts    []string
		insecure bool
		url      string
		want     string
	}{
		{nil, false, "https://a.example/x", yes},
		{nil, false, "http://a.example/x", plain},
		{nil, true, "http://a.example/x", yes},
		{nil, false, "https://b.example/x", no},
		{nil, true, "http://b.example/x", no},
		{nil, false, "https://a.example:8443/x", no},
		{nil, false, "https://a.example.evil.example/", no},
		{nil, false, "https://under.a.example/", no},
		{[]string{"b.example"}, false, "https://a.example/x", no},
		{[]string{"b.example"}, false, "https://B.example/x", no}, // not normalized: never seen, never sent
		{[]string{"B.example"}, false, "https://b.example/x", yes},
		{[]string{"b.example:8443"}, false, "https://b.example:8443/x", yes},
		{[]string{"b.example:8443"}, false, "https://b.example/x", no},
		{[]string{"*.b.example"}, false, "https://b.example/", yes},
		{[]string{"*.b.example"}, false, "https://deep.er.b.example/", yes},
		{[]string{"*.b.example"}, false, "https://evilb.example/", no},
		{[]string{"*.b.example"}, false, "https://x.b.example:8443/", no},
		{[]string{"*.b.example"}, false, "https://b.example.evil.example/", no},
	} {
		s := newStored()
		bounds, err := NewBounds(c.hosts, c.insecure)
		if err != nil {
			t.Fatal(err)
		}
		s.set(t, "s", KindBearer, "", hush, bounds)
		if got := sent(t, NewBroker(s, Limits{3, time.Hour}), c.url); got != c.want {
			t.Errorf("%v insecure=%v: %s gets %q, want %q", c.hosts, c.insecure, c.url, got, c.want)
		}
	}
}

// Of kind none there is nothing to present, whatever the host and the scheme, and no request waits for another.
func TestASecretOfKindNoneIsPresentedNowhere(t *testing.T) {
	t.Parallel()
	s := newStored()
	s.set(t, "s", KindNone, "", "", Bounds{})
	b := NewBroker(s, Limits{Refusals: 1, Pause: time.Hour})
	for _, address := range []string{"https://a.example/", "http://a.example/", "https://b.example/", "http://b.example:8080/"} {
		for range 3 {
			if g, err := grant(t, b, address); g != nil || !errors.Is(err, ErrNothing) {
				t.Errorf("%s is granted %v, %v", address, g, err)
			}
		}
	}
}

// A key that signs requests is sent to nobody, neither as a whole nor by a request that names it.
func TestAKeyIsPresentedNowhere(t *testing.T) {
	t.Parallel()
	s := newStored()
	s.set(t, "s", KindEd25519, "", hush, Bounds{})
	b := NewBroker(s, Limits{Refusals: 1, Pause: time.Hour})
	for _, address := range []string{"https://a.example/", "http://a.example/", "https://b.example/"} {
		g, err := grant(t, b, address)
		refusal, refused := errors.AsType[*Refusal](err)
		if g != nil || !refused || refusal.Paused || !strings.Contains(refusal.Why, "fetch.sign") || strings.Contains(refusal.Why, hush) {
			t.Errorf("%s is granted %v, %v", address, g, err)
		}
	}
}

func TestEachKindIsPresentedInItsWay(t *testing.T) {
	t.Parallel()
	for want, set := range map[string]func(*stored){
		"Authorization: Basic ZWxlbmk6aHVzaC02ZjFkLWh1c2g=":                 func(s *stored) { s.set(t, "s", KindBasic, "eleni", hush, Bounds{}) },
		"Authorization: Bearer " + hush:                                     func(s *stored) { s.set(t, "s", KindBearer, "", hush, Bounds{}) },
		"X-Api-Key: " + hush:                                                func(s *stored) { s.set(t, "s", KindHeader, "x-api-key", hush, Bounds{}) },
		"Cookie: a=1; b=" + hush:                                            func(s *stored) { s.set(t, "s", KindCookie, "", "a=1; b="+hush, Bounds{}) },
		"refused: no secret is named s: webrace-store secret set stores it": func(*stored) {},
	} {
		s := newStored()
		set(s)
		if got := sent(t, NewBroker(s, Limits{3, time.Hour}), "https://a.example/"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestASecretThatIsSetAnewCountsAtOnce(t *testing.T) {
	t.Parallel()
	s := newStored()
	b := NewBroker(s, Limits{1, time.Hour})
	s.set(t, "s", KindBearer, "", "first", Bounds{})
	answer(t, b, "https://a.example/", 401, nil)
	if got := sent(t, b, "https://a.example/"); !strings.HasPrefix(got, "refused: ") {
		t.Fatalf("a refused secret is presented again: %q", got)
	}
	s.set(t, "s", KindBearer, "", "second", Bounds{})
	if got := sent(t, b, "https://a.example/"); got != "Authorization: Bearer second" {
		t.Errorf("presented is %q", got)
	}
}

// answer makes a request that is answered so.
func answer(t *testing.T, b *Broker, address string, status int, header http.Header) Answer {
	t.Helper()
	g, err := grant(t, b, address)
	if err != nil {
		t.Fatalf("%s: %v", address, err)
	}
	defer g.Close()
	return g.Answered(parse(t, address), status, header)
}

func TestAHostThatRefusesASecretTooOftenDoesNotGetItForAWhile(t *testing.T) {
	t.Parallel()
	s := newStored()
	s.set(t, "s", KindBearer, "", hush, Bounds{Hosts: []string{"a.example", "b.example"}})
	b := NewBroker(s, Limits{3, time.Hour})
	now := time.Unix(1e9, 0)
	b.now = func() time.Time { return now }
	const a = "https://a.example/"
	for _, status := range []int{401, 401, 200, 401, 403} {
		if answer(t, b, a, status, nil).Paused {
			t.Fatal("paused before three refusals in a row")
		}
	}
	last := answer(t, b, a, 401, http.Header{"Www-Authenticate": {`Digest realm="x, y", qop="auth", Basic realm=z, ` + hush}})
	if !last.Paused || !last.Unauthorized || !strings.Contains(last.Why, "asks for Digest, Basic:") || strings.Contains(last.Why, hush) {
		t.Errorf("after three refusals: %+v", last)
	}
	_, err := grant(t, b, a)
	var refusal *Refusal
	if !errors.As(err, &refusal) || !refusal.Paused || !strings.Contains(refusal.Why, "secret set s") {
		t.Errorf("the fourth time: %v", err)
	}
	answer(t, b, "https://b.example/", 200, nil) // another host is another matter
	now = now.Add(time.Hour)
	if !answer(t, b, a, 401, nil).Paused {
		t.Error("after the pause it may be refused more than once")
	}
	now = now.Add(time.Hour)
	answer(t, b, a, 200, nil)
	for range 9 { // pages that it does not open are no sign that it is wrong
		if said := answer(t, b, a, 403, nil); said.Paused || !said.Unauthorized {
			t.Fatalf("a page that may not be seen: %+v", said)
		}
	}
}

func TestNoMoreRequestsAreOutWithASecretThanMayBeRefused(t *testing.T) {
	t.Parallel()
	s := newStored()
	s.set(t, "s", KindBearer, "", hush, Bounds{})
	b := NewBroker(s, Limits{3, time.Hour})
	const a = "https://a.example/"
	answer(t, b, a, 200, nil) // which may be a page that is shown without credentials
	first, err := grant(t, b, a)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	tried, refused := make(chan *Grant, 10), make(chan error, 10)
	for range 10 {
		wg.Go(func() {
			g, err := b.Grant(t.Context(), "s", "https", "a.example", reach)
			if err != nil {
				refused <- err
				return
			}
			tried <- g
		})
	}
	one, two := <-tried, <-tried
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Grant(cancelled, "s", "https", "a.example", reach); !errors.Is(err, context.Canceled) {
		t.Errorf("who waits does not heed its context: %v", err)
	}
	for _, g := range []*Grant{first, one, two} {
		g.Answered(parse(t, a), 401, nil)
	}
	wg.Wait()
	if len(tried) != 0 || len(refused) != 8 {
		t.Errorf("after three refusals %d further ones were sent and %d not: want 0 and 8", len(tried), len(refused))
	}
}

func TestCookiesStayWithTheirSecretAndGoWhereItGoes(t *testing.T) {
	t.Parallel()
	s := newStored()
	s.set(t, "s", KindBearer, "", hush, Bounds{Hosts: []string{"*.a.example"}, Insecure: true})
	b := NewBroker(s, Limits{3, time.Hour})
	set := http.Header{"Set-Cookie": {"session=1; Domain=a.example; Path=/", "safe=2; Secure", "all=3; Domain=example", "deep=4; Path=/deep"}}
	answer(t, b, "https://www.a.example/", 200, set)
	for address, want := range map[string]string{
		"https://www.a.example/":     "Authorization: Bearer " + hush + "\nCookie: session=1; safe=2",
		"https://www.a.example/deep": "Authorization: Bearer " + hush + "\nCookie: deep=4; session=1; safe=2",
		"http://www.a.example/":      "Authorization: Bearer " + hush + "\nCookie: session=1",
		"https://other.a.example/":   "Authorization: Bearer " + hush + "\nCookie: session=1",
		"https://b.example/":         "",
	} {
		if got := sent(t, b, address); got != want {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
	}
	s.set(t, "s", KindCookie, "", "session=0; lang=en", Bounds{Hosts: []string{"*.a.example"}})
	if got := sent(t, b, "https://www.a.example/"); got != "Cookie: session=0; lang=en" {
		t.Errorf("another secret of that name has the cookies of the first: %q", got)
	}
	answer(t, b, "https://www.a.example/", 200, set)
	if got := sent(t, b, "https://www.a.example/"); got != "Cookie: lang=en; session=1; safe=2" {
		t.Errorf("a session that the server renewed: %q", got)
	}
}

func TestWhatAServerSaysIsFreedOfTheSecret(t *testing.T) {
	t.Parallel()
	for kind, user := range map[Kind]string{KindBasic: "eleni", KindBearer: "", KindHeader: "X-Key", KindCookie: ""} {
		s := newStored()
		value := "hush/6f1d hush"
		if kind == KindCookie {
			value = "a=1; b=" + value
		}
		s.set(t, "s", kind, user, value, Bounds{})
		g, err := grant(t, NewBroker(s, Limits{3, time.Hour}), "https://a.example/")
		if err != nil {
			t.Fatal(err)
		}
		fields := http.Header{}
		g.Present(fields, parse(t, "https://a.example/"))
		header := http.Header{
			"Content-Type": {"text/html"}, "Set-Cookie": {"session=1"}, "X-Echo": {"fine", "you said hush/6f1d hush"},
			"Location": {"https://evil.example/?t=hush%2F6f1d+hush"}, "Link": {"</hush%2F6f1d%20hush>"},
		}
		for name, values := range fields {
			header["Echo-"+name] = values
		}
		g.Clean(header)
		if len(header) != 1 || header.Get("Content-Type") == "" {
			t.Errorf("%s: left is %v", kind, header)
		}
		g.Close()
		g.Close()
	}
}

func TestAJarHoldsWhatItMayAndNoMore(t *testing.T) {
	t.Parallel()
	u := parse(t, "https://a.example/")
	jar := NewJar(60)
	cookies := func(from, to int) http.Header {
		h := http.Header{}
		for i := from; i < to; i++ {
			h.Add("Set-Cookie", fmt.Sprintf("c%d=1", i))
		}
		return h
	}
	if refused := jar.Keep(u, cookies(0, 70)); refused != 20 {
		t.Errorf("of one answer %d are refused", refused)
	}
	if refused := jar.Keep(u, cookies(45, 70)); refused != 10 {
		t.Errorf("of one that does not fit %d are refused", refused)
	}
	if refused := jar.Keep(u, http.Header{"Set-Cookie": {"c1=" + strings.Repeat("x", 5000), "c2=changed"}}); refused != 1 {
		t.Errorf("of a long one and a known one %d are refused", refused)
	}
	if field := jar.Field(u); strings.Count(field, "=") != 60 || !strings.Contains(field, "c2=changed") || strings.Contains(field, "xx") {
		t.Errorf("the field is %q", field)
	}
	var jars Jars
	for i := range 2 * maxJars {
		jars.Of(parse(t, fmt.Sprintf("https://h%d.example/", i)))
	}
	last := parse(t, fmt.Sprintf("https://h%d.example/", 2*maxJars-1))
	if kept := jars.Of(last); jars.byHost.Len() != maxJars || jars.Of(last) != kept {
		t.Errorf("%d jars", jars.byHost.Len())
	}
}

func FuzzSchemes(f *testing.F) {
	f.Add(`Digest realm="a, b", qop="auth", Basic realm = z, Negotiate`)
	f.Add(`Bearer abc==, "`)
	f.Fuzz(func(t *testing.T, field string) {
		names := Schemes([]string{field})
		if len(names) > maxSchemes {
			t.Errorf("%d names", len(names))
		}
		for _, name := range names {
			if !strings.Contains(field, name) || len(name) > maxScheme || strings.ContainsAny(name, " ,\"=\\\x00\n") {
				t.Errorf("%q is no scheme of %q", name, field)
			}
		}
	})
}

// TestAnAccountLogsIn by protocols that are not HTTP: where it is for, encrypted alone unless it was stored otherwise,
// and never so often that it is locked.
func TestAnAccountLogsIn(t *testing.T) {
	t.Parallel()
	s := newStored()
	b := NewBroker(s, Limits{Refusals: 2, Pause: time.Hour})
	for _, c := range []struct {
		host     string
		insecure bool
		address  string
		wants    string // "in", "out", or what the refusal says
	}{
		{"mail.example", false, "imaps://mail.example", "in"},
		{"mail.example:993", false, "imaps://mail.example", "in"},
		{"mail.example:1993", false, "imaps://mail.example:1993", "in"},
		{"mail.example:995", false, "pop3s://mail.example", "in"},
		{"*.a.example", false, "nntps://news.a.example", "in"},
		{"mail.example:995", false, "imaps://mail.example", "out"},
		{"mail.example:993", false, "https://mail.example", "out"},
		{"mail.example", false, "imaps://mail.example:1993", "out"},
		{"mail.example", false, "imap://mail.example", "not sent by plain imap"},
		{"mail.example", true, "imap://mail.example", "in"},
	} {
		bounds, err := NewBounds([]string{c.host}, c.insecure)
		if err != nil {
			t.Fatal(err)
		}
		s.set(t, "s", KindBasic, "me", hush, bounds)
		g, err := grant(t, b, c.address)
		switch {
		case c.wants == "out" && (g != nil || err != nil), c.wants == "in" && (g == nil || err != nil):
			t.Errorf("of %s, to %s: %v, %v", c.host, c.address, g != nil, err)
		case err != nil && !strings.Contains(err.Error(), c.wants):
			t.Errorf("of %s, to %s: %v", c.host, c.address, err)
		}
		if g == nil {
			continue
		}
		if user, password, ok := g.Account(); user != "me" || password != hush || !ok {
			t.Errorf("the account is %s, %v", user, ok)
		}
		for i, paused := range []bool{false, true} {
			if got := g.LoggedIn(false); got != paused {
				t.Errorf("refused %d times: paused %v", i+1, got)
			}
			g, err = grant(t, b, c.address)
			var refusal *Refusal
			if paused != (errors.As(err, &refusal) && refusal.Paused) || strings.Contains(fmt.Sprint(err), hush) {
				t.Errorf("refused %d times: %v", i+1, err)
			}
		}
	}
	bounds, _ := NewBounds([]string{"mail.example"}, false)
	s.set(t, "s", KindBearer, "", hush, bounds)
	g, err := grant(t, b, "imaps://mail.example")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, ok := g.Account(); ok {
		t.Error("a token is an account")
	}
	if g.LoggedIn(true) {
		t.Error("paused when it is let in")
	}
}
