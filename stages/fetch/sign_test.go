package fetch

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/httpclient"
	"github.com/webrace/webrace/stages/internal/httpclient/clienttest"
)

// keys is a source of secrets that changes.
type keys struct {
	mu      sync.Mutex
	secrets map[string]credentials.Secret
	version uint64
}

func (k *keys) Secret(_ context.Context, name string) (credentials.Secret, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if s, ok := k.secrets[name]; ok {
		return s, nil
	}
	return credentials.Secret{}, credentials.ErrNotFound
}

func (k *keys) SecretVersion(string) uint64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.version
}

func (k *keys) StartOf(context.Context, string) (string, error) { return "", credentials.ErrNotFound }

// set stores the key with a seed of one byte over and over, or removes it, and returns its public part.
func (k *keys) set(t testing.TB, name string, seed byte) ed25519.PublicKey {
	t.Helper()
	private := ed25519.NewKeyFromSeed([]byte(strings.Repeat(string(rune(seed)), ed25519.SeedSize)))
	secret, err := credentials.NewSecret(credentials.KindEd25519, "", base64.RawURLEncoding.EncodeToString(private.Seed()))
	if err != nil {
		t.Fatal(err)
	}
	k.put(name, secret)
	return private.Public().(ed25519.PublicKey)
}

func (k *keys) put(name string, secret credentials.Secret) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.secrets == nil {
		k.secrets = make(map[string]credentials.Secret)
	}
	k.secrets[name] = secret
	k.version++
}

func (k *keys) remove(name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.secrets, name)
	k.version++
}

// lent makes a stage read its key there.
func (k *keys) lent(s *stage) {
	s.signing.source = func() (credentials.Source, error) { return k, nil }
}

// signingWith returns options under which requests are signed.
func signingWith(name string) Options {
	o := local()
	o.Sign, o.SignatureAgent = name, "https://crawler.example"
	return o
}

var inputPattern = regexp.MustCompile(`^sig1=(\("@authority" "signature-agent";key="sig1"\);created=(\d+);expires=(\d+);keyid="[\w-]{43}";alg="ed25519";nonce="(\w+)";tag="web-bot-auth")$`)

// verifying checks requests by means of its own, and records what came.
type verifying struct {
	mu     sync.Mutex
	key    ed25519.PublicKey
	wrong  []string
	nonces map[string]bool
	came   []string // host and path
}

func (c *verifying) check(r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.nonces == nil {
		c.nonces = make(map[string]bool)
	}
	c.came = append(c.came, r.Host+r.URL.Path)
	fail := func(format string, args ...any) {
		c.wrong = append(c.wrong, fmt.Sprintf("%s%s: %s", r.Host, r.URL, fmt.Sprintf(format, args...)))
	}
	parts := inputPattern.FindStringSubmatch(r.Header.Get("Signature-Input"))
	if parts == nil || r.Header.Get("Signature-Agent") != `sig1="https://crawler.example"` {
		fail("%q, %q", r.Header.Get("Signature-Input"), r.Header.Get("Signature-Agent"))
		return
	}
	created, _ := strconv.ParseInt(parts[2], 10, 64)
	expires, _ := strconv.ParseInt(parts[3], 10, 64)
	if now := time.Now().Unix(); created > now || created < now-60 || expires != created+300 {
		fail("created %d, expires %d, now %d", created, expires, now)
	}
	if c.nonces[parts[4]] {
		fail("nonce %s comes again", parts[4])
	}
	c.nonces[parts[4]] = true
	value, err := base64.StdEncoding.DecodeString(strings.TrimSuffix(strings.TrimPrefix(r.Header.Get("Signature"), "sig1=:"), ":"))
	base := "\"@authority\": " + r.Host + "\n\"signature-agent\";key=\"sig1\": \"https://crawler.example\"\n\"@signature-params\": " + parts[1]
	if err != nil || !ed25519.Verify(c.key, []byte(base), value) {
		fail("the signature is wrong: %q, %v", r.Header.Get("Signature"), err)
	}
}

// must fails if a request was not signed right, or others came than were wanted.
func (c *verifying) must(t *testing.T, want ...string) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, wrong := range c.wrong {
		t.Error(wrong)
	}
	if got := slices.Sorted(slices.Values(c.came)); !slices.Equal(got, slices.Sorted(slices.Values(want))) { // in whatever order
		t.Errorf("came %s, want %s", got, want)
	}
}

// Each request is signed for the host that it goes to: that for robots.txt and what it is redirected to, a page,
// and what a page refers to. Fields of the same names that others set are replaced.
func TestEveryRequestIsSigned(t *testing.T) {
	t.Parallel()
	var k keys
	c := &verifying{key: k.set(t, "crawler", 'a')}
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		c.check(r)
		switch r.URL.Path {
		case "/robots.txt":
			http.Redirect(w, r, "/robots", http.StatusFound)
		case "/moved":
			http.Redirect(w, r, "/page", http.StatusFound)
		default:
			fmt.Fprint(w, "tea")
		}
	})
	host := strings.TrimPrefix(url, "http://")
	o := signingWith("crawler")
	o.Robots = true
	o.Headers = map[string]map[string]pipeline.Secret{host: {"Signature-Agent": pipeline.NewSecret(`"https://evil.example"`)}}
	got := runWith(t, o, k.lent, get(url+"/page"), get(url+"/moved"))
	if len(got.byRequest[0].documents) != 1 || len(got.byRequest[1].links) != 1 {
		t.Errorf("%+v", got.byRequest)
	}
	s := newTestStage(t, o)
	k.lent(s)
	if p, err := s.Subresource(t.Context(), httpclient.SubresourceRequest{URL: url + "/a.js", Header: http.Header{"Accept": {"text/x"}}, Limit: 16}); err != nil || string(p.Body) != "tea" {
		t.Errorf("%+v, %v", p, err)
	}
	c.must(t, host+"/robots.txt", host+"/robots", host+"/page", host+"/moved", host+"/robots.txt", host+"/robots", host+"/a.js")
}

// The signature is for the host of the URL, whatever is between: TLS, HTTP/2, or a proxy that the request is told to.
func TestRequestsAreSignedOnEveryWay(t *testing.T) {
	t.Parallel()
	var k keys
	key := k.set(t, "crawler", 'a')
	for name, change := range map[string]func(*Options){
		"https": func(*Options) {}, "http2": func(o *Options) { o.HTTP2 = "auto" },
	} {
		c := &verifying{key: key}
		_, url := secure(t, nil, func(_ http.ResponseWriter, r *http.Request) { c.check(r) })
		o := signingWith("crawler")
		o.InsecureHosts = []string{"127.0.0.0/8"}
		change(&o)
		got := runWith(t, o, k.lent, get(url), get(url+"2"))
		if version2 := got.counters["http2"] > 0; version2 != (name == "http2") {
			t.Errorf("%s: %v", name, got.counters)
		}
		host := strings.TrimPrefix(url, "https://")
		c.must(t, host, host+"2")
	}
	c := &verifying{key: key}
	plain := serve(t, func(_ http.ResponseWriter, r *http.Request) { c.check(r) })
	p := &testProxy{names: map[string]string{"a.test": "127.0.0.1"}}
	p.startHTTP(t, nil)
	o := through("http" + p.url)
	o.Sign, o.SignatureAgent = "crawler", "https://crawler.example"
	host := strings.Replace(strings.TrimPrefix(plain, "http://"), "127.0.0.1", "a.test", 1)
	lookUp := use(&clienttest.Zone{Hosts: map[string]string{"a.test": "127.0.0.1"}})
	runWith(t, o, func(s *stage) { lookUp(s); k.lent(s) }, get("http://"+host+"/x"))
	c.must(t, host+"/x")
}

// A secret of a URD goes its own way beside the signature.
func TestASignatureStandsBesideTheSecretOfACrawl(t *testing.T) {
	t.Parallel()
	var k keys
	c := &verifying{key: k.set(t, "crawler", 'a')}
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		c.check(r)
		if user, password, _ := r.BasicAuth(); user != "eleni" || password != hush {
			t.Errorf("%s was sent by %s", password, user)
		}
		fmt.Fprint(w, "tea")
	})
	o := signingWith("crawler")
	present := with(t, o, credentials.KindBasic, "eleni", hush, url+"/")
	runWith(t, o, func(s *stage) { present(s); k.lent(s) }, secretly(url+"/"))
	c.must(t, strings.TrimPrefix(url, "http://")+"/")
}

// A request that the transport makes again by itself, because a connection that was used before ended without an
// answer, has a nonce of its own: the server may have read the first.
func TestARepeatedRequestIsSignedAnew(t *testing.T) {
	t.Parallel()
	var k keys
	c := &verifying{key: k.set(t, "crawler", 'a')}
	hungUp := false
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		c.check(r)
		if r.URL.Path == "/2" && !hungUp {
			hungUp = true
			conn, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			conn.Close()
			return
		}
		fmt.Fprint(w, "tea")
	})
	s := newTestStage(t, signingWith("crawler"))
	k.lent(s)
	for _, path := range []string{"/1", "/2"} {
		target, err := httpclient.ParseTarget(url + path)
		if err != nil {
			t.Fatal(err)
		}
		a, err := s.client.Get(t.Context(), target, nil, 100)
		if err != nil {
			t.Fatal(err)
		}
		a.Release()
	}
	host := strings.TrimPrefix(url, "http://")
	c.must(t, host+"/1", host+"/2", host+"/2")
}

// A key that is set anew counts at once; without one that was removed nothing is asked for.
func TestAKeyThatChangesCountsAtOnce(t *testing.T) {
	t.Parallel()
	var k keys
	c := &verifying{key: k.set(t, "crawler", 'a')}
	url := serve(t, func(_ http.ResponseWriter, r *http.Request) { c.check(r) })
	s := newTestStage(t, signingWith("crawler"))
	k.lent(s)
	ask := func() error {
		target, err := httpclient.ParseTarget(url + "/")
		if err != nil {
			t.Fatal(err)
		}
		a, err := s.client.Get(t.Context(), target, nil, 100)
		if err == nil {
			a.Release()
		}
		return err
	}
	if err := ask(); err != nil {
		t.Fatal(err)
	}
	c.key = k.set(t, "crawler", 'b')
	if err := ask(); err != nil {
		t.Fatal(err)
	}
	k.remove("crawler")
	if err := ask(); err == nil || !strings.Contains(err.Error(), "no secret is named crawler") {
		t.Errorf("without the key: %v", err)
	}
	host := strings.TrimPrefix(url, "http://")
	c.must(t, host+"/", host+"/")
}

// Without a key the run does not begin, and Check tells it too. Nothing of the secret is in the error.
func TestWithoutAKeyNothingBegins(t *testing.T) {
	t.Parallel()
	var k keys
	bearer, err := credentials.NewSecret(credentials.KindBearer, "", hush)
	if err != nil {
		t.Fatal(err)
	}
	broken, err := credentials.NewSecret(credentials.KindEd25519, "", hush)
	if err != nil {
		t.Fatal(err)
	}
	k.put("bearer", bearer)
	k.put("broken", broken)
	for name, want := range map[string]string{
		"missing": "no secret is named missing: webrace-store secret generate missing --kind ed25519",
		"bearer":  "secret bearer is of kind bearer, and only a key of kind ed25519 signs",
		"broken":  "secret broken: it is no private Ed25519 key",
	} {
		s := newTestStage(t, signingWith(name))
		k.lent(s)
		for _, err := range []error{s.Open(t.Context()), s.Check(t.Context())} {
			option, named := errors.AsType[*pipeline.OptionError](err)
			if !named || option.Option != "sign" || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), hush) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	k.set(t, "crawler", 'a')
	s := newTestStage(t, signingWith("crawler"))
	k.lent(s)
	if err := errors.Join(s.Open(t.Context()), s.Check(t.Context())); err != nil {
		t.Errorf("with a key: %v", err)
	}
	if err := newTestStage(t, local()).Open(t.Context()); err != nil {
		t.Errorf("without the option: %v", err)
	}
}

func TestSignOptionsGoTogether(t *testing.T) {
	t.Parallel()
	for agent, sign := range map[string]string{"": "crawler", "https://crawler.example": "", "http://crawler.example": "crawler", "https://crawler.example/keys": "crawler"} {
		o := local()
		o.Sign, o.SignatureAgent = sign, agent
		option, named := errors.AsType[*pipeline.OptionError](o.Validate())
		if !named || option.Option != "signature_agent" {
			t.Errorf("%q, %q: %v", sign, agent, option)
		}
	}
}
