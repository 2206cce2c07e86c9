package httpsign

import (
	"crypto/ed25519"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var noon = time.Unix(1_790_000_000, 0)

const agent = "https://crawler.example"

func newSigner(t testing.TB) *Signer {
	t.Helper()
	s, err := NewSigner(testKey(t), agent)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// signed returns a request as a server gets it, signed at noon.
func signed(t testing.TB) *http.Request {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, "http://a.example/page?q=1", nil)
	newSigner(t).Sign(r.Header, "http", "a.example", noon)
	return r
}

func verifierAt(now time.Time, keys ...ed25519.PublicKey) *Verifier {
	v := NewVerifier(keys...)
	v.now = func() time.Time { return now }
	return v
}

func TestASignedRequestIsAcceptedOnce(t *testing.T) {
	t.Parallel()
	v := verifierAt(noon, NewKey().Public(), testKey(t).Public())
	r := signed(t)
	if id, err := v.Verify(r); id != testID || err != nil {
		t.Fatalf("%s, %v", id, err)
	}
	if _, err := v.Verify(r); !errors.Is(err, ErrReplayed) {
		t.Errorf("again: %v", err)
	}
	if _, err := v.Verify(signed(t)); err != nil {
		t.Errorf("the next of the same second: %v", err)
	}
}

// A request that comes many times at once is accepted once.
func TestOfReplaysAtOnceOneIsAccepted(t *testing.T) {
	t.Parallel()
	v := verifierAt(noon, testKey(t).Public())
	r := signed(t)
	var accepted atomic.Int64
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			if _, err := v.Verify(r); err == nil {
				accepted.Add(1)
			} else if !errors.Is(err, ErrReplayed) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if accepted.Load() != 1 {
		t.Errorf("accepted %d times", accepted.Load())
	}
}

// sign signs a request anew, with parameters and components as they are given, by the test key.
func sign(t testing.TB, r *http.Request, input string) {
	t.Helper()
	r.Header.Set(inputField, "sig1="+input)
	r.Header.Set(signatureField, "sig1=:AAAA:")
	s := signatureOf(t.(*testing.T), r, "sig1")
	base, err := s.base(r)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set(signatureField, "sig1=:"+base64.StdEncoding.EncodeToString(testKey(t).sign([]byte(base)))+":")
}

// replaced returns a change of a field in which a text stands once.
func replaced(field, old, new string) func(*testing.T, *http.Request) {
	return func(t *testing.T, r *http.Request) {
		value := r.Header.Get(field)
		if strings.Count(value, old) != 1 {
			t.Fatalf("%q is not once in %q", old, value)
		}
		r.Header.Set(field, strings.Replace(value, old, new, 1))
	}
}

// input returns a change that signs the request anew, so that nothing is wrong but what it is signed with.
func input(text string) func(*testing.T, *http.Request) {
	return func(t *testing.T, r *http.Request) { sign(t, r, text) }
}

const (
	covered = `("@authority" "signature-agent";key="sig1")`
	when    = `;created=1790000000;expires=1790000300`
	rest    = `;keyid="` + testID + `";alg="ed25519";nonce="n1";tag="web-bot-auth"`
)

func TestWhatIsNotSignedRightIsRefused(t *testing.T) {
	t.Parallel()
	set := func(field, value string) func(*testing.T, *http.Request) {
		return func(_ *testing.T, r *http.Request) { r.Header.Set(field, value) }
	}
	without := func(fields ...string) func(*testing.T, *http.Request) {
		return func(_ *testing.T, r *http.Request) {
			for _, f := range fields {
				r.Header.Del(f)
			}
		}
	}
	at := func(s string) func(*testing.T, *http.Request) { return input(covered + s + rest) }
	cases := []struct {
		name   string
		change func(*testing.T, *http.Request)
		want   error
	}{
		// Changed on the way.
		{"another host", func(_ *testing.T, r *http.Request) { r.Host = "b.example" }, ErrSignature},
		{"another port", func(_ *testing.T, r *http.Request) { r.Host = "a.example:8080" }, ErrSignature},
		{"a host below", func(_ *testing.T, r *http.Request) { r.Host = "x.a.example" }, ErrSignature},
		{"the port of another scheme", func(_ *testing.T, r *http.Request) { r.Host = "a.example:443" }, ErrSignature},
		{"another directory", replaced(agentField, "crawler.example", "evil.example"), ErrSignature},
		{"a parameter added to the directory", set(agentField, `sig1="https://crawler.example";type=cimd`), ErrSignature},
		{"a longer life", replaced(inputField, "expires=1790000300", "expires=1790000900"), ErrSignature},
		{"another creation", replaced(inputField, "created=1790000000", "created=1790000001"), ErrSignature},
		{"another nonce", replaced(inputField, `nonce="`, `nonce="A`), ErrSignature},
		{"parameters in another order", replaced(inputField, `;alg="ed25519"`, ``), ErrSignature},
		{"a parameter added", replaced(inputField, `;tag=`, `;x=1;tag=`), ErrSignature},
		{"components in another order", replaced(inputField, covered, `("signature-agent";key="sig1" "@authority")`), ErrSignature},
		{"a component added", replaced(inputField, covered, `("@authority" "signature-agent";key="sig1" "@method")`), ErrSignature},
		{"a bit of the signature", func(t *testing.T, r *http.Request) {
			value := signatureOf(t, r, "sig1").value
			value[17] ^= 4
			r.Header.Set(signatureField, "sig1=:"+base64.StdEncoding.EncodeToString(value)+":")
		}, ErrSignature},
		{"a short signature", set(signatureField, "sig1=:AAAA:"), ErrSignature},
		{"an empty signature", set(signatureField, "sig1=::"), ErrSignature},
		{"a signature of zeros", set(signatureField, "sig1=:"+strings.Repeat("AAAA", 21)+"AA==:"), ErrSignature},
		{"the label of another", replaced(signatureField, "sig1=", "sig2="), ErrMalformed},
		{"the signature of another key", func(t *testing.T, r *http.Request) {
			s := newSigner(t)
			s.key.sign = NewKey().sign
			s.Sign(r.Header, "http", "a.example", noon)
		}, ErrSignature},

		// Not known.
		{"a key that is not known", func(t *testing.T, r *http.Request) {
			s, err := NewSigner(NewKey(), agent)
			if err != nil {
				t.Fatal(err)
			}
			s.Sign(r.Header, "http", "a.example", noon)
		}, ErrKey},
		{"the key by another name", input(covered + when + `;keyid="test-key-ed25519";alg="ed25519";nonce="n";tag="web-bot-auth"`), ErrKey},

		// Stale.
		{"expired", at(`;created=1789999700;expires=1790000000`), ErrExpired},
		{"expired for long", at(`;created=1000;expires=1300`), ErrExpired},
		{"expired before it was made", at(`;created=1790000020;expires=1790000010`), ErrExpired},
		{"of the future", at(`;created=1790000031;expires=1790000300`), ErrFuture},
		{"for more than an hour", at(`;created=1790000000;expires=1790003601`), ErrLifetime},
		{"for a century", at(`;created=1735689600;expires=4889289600`), ErrLifetime},

		// Under-covered.
		{"no host covered", input(`("signature-agent";key="sig1")` + when + rest), ErrUncovered},
		{"nothing covered", input(`()` + when + rest), ErrUncovered},
		{"the path in the place of the host", input(`("@path" "signature-agent";key="sig1")` + when + rest), ErrUncovered},
		{"the host of the field alone", input(`("host" "signature-agent";key="sig1")` + when + rest), ErrUncovered},
		{"no directory covered", input(`("@authority")` + when + rest), ErrUncovered},
		{"no directory named", without(agentField), ErrComponent},
		{"the directory by another key", replaced(agentField, "sig1=", "sig2="), ErrComponent},
		{"the host of the request before", replaced(inputField, `"@authority"`, `"@authority";req`), ErrUncovered},

		// Without what has to be said.
		{"no creation", at(`;expires=1790000300`), ErrParameter},
		{"no end", at(`;created=1790000000`), ErrParameter},
		{"creation as a text", at(`;created="1790000000";expires=1790000300`), ErrParameter},
		{"a creation that is no whole number", at(`;created=1790000000.5;expires=1790000300`), ErrParameter},
		{"a creation before 1970", at(`;created=-1;expires=1790000300`), ErrParameter},
		{"no key", input(covered + when + `;alg="ed25519";nonce="n";tag="web-bot-auth"`), ErrParameter},
		{"an empty key", input(covered + when + `;keyid="";nonce="n";tag="web-bot-auth"`), ErrParameter},
		{"no nonce", input(covered + when + `;keyid="` + testID + `";alg="ed25519";tag="web-bot-auth"`), ErrParameter},
		{"a nonce of bytes", input(covered + when + `;keyid="` + testID + `";nonce=:AAAA:;tag="web-bot-auth"`), ErrParameter},
		{"another algorithm", input(covered + when + `;keyid="` + testID + `";alg="hmac-sha256";nonce="n";tag="web-bot-auth"`), ErrAlgorithm},
		{"an algorithm that is a token", input(covered + when + `;keyid="` + testID + `";alg=ed25519;nonce="n";tag="web-bot-auth"`), ErrAlgorithm},
		{"no tag", input(covered + when + `;keyid="` + testID + `";nonce="n"`), ErrTag},
		{"another tag", input(covered + when + `;keyid="` + testID + `";nonce="n";tag="Web-Bot-Auth"`), ErrTag},

		// No signature, or none that can be read.
		{"not signed", without(agentField, inputField, signatureField), ErrUnsigned},
		{"no input", without(inputField), ErrTag},
		{"no signature", without(signatureField), ErrMalformed},
		{"a text for a signature", set(signatureField, `sig1="AAAA"`), ErrMalformed},
		{"broken base64", set(signatureField, `sig1=:A*A:`), ErrMalformed},
		{"broken input", replaced(inputField, `")`, `"`), ErrMalformed},
		{"an input that is no list", set(inputField, `sig1="x";tag="web-bot-auth"`), ErrMalformed},
		{"components that are no strings", replaced(inputField, `"@authority"`, `authority`), ErrMalformed},
		{"a component twice", unsigned(`("@authority" "@authority" "signature-agent";key="sig1")` + when + rest), ErrMalformed},
		{"too many components", unsigned("(" + manyComponents() + ")" + when + rest), ErrMalformed},
		{"a field of megabytes", set(inputField, `sig1=("`+strings.Repeat("x", 1<<20)+`")`), ErrMalformed},
		{"two signatures", func(_ *testing.T, r *http.Request) {
			r.Header.Add(inputField, strings.Replace(r.Header.Get(inputField), "sig1=", "sig2=", 1))
		}, ErrAmbiguous},
		{"a component that is not known", unsigned(`("@authority" "@status" "signature-agent";key="sig1")` + when + rest), ErrComponent},
		{"a field that is not there", unsigned(`("@authority" "date" "signature-agent";key="sig1")` + when + rest), ErrComponent},
		{"a field in upper case", unsigned(`("@authority" "Signature-Agent" "signature-agent";key="sig1")` + when + rest), ErrComponent},
		{"a parameter that is not known", unsigned(`("@authority" "signature-agent";key="sig1";tr)` + when + rest), ErrComponent},
		{"a directory that is no dictionary", set(agentField, `"https://crawler.example"`), ErrMalformed},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := signed(t)
			c.change(t, r)
			v := verifierAt(noon, testKey(t).Public())
			id, err := v.Verify(r)
			if !errors.Is(err, c.want) || id != "" && !errors.Is(err, ErrReplayed) {
				t.Fatalf("%q, %v; want %v", id, err, c.want)
			}
			if len(v.used) > 0 {
				t.Error("it is remembered")
			}
			t.Logf("%v", err)
		})
	}
}

// unsigned sets what is signed without signing it.
func unsigned(text string) func(*testing.T, *http.Request) {
	return func(_ *testing.T, r *http.Request) { r.Header.Set(inputField, "sig1="+text) }
}

func manyComponents() string {
	var all strings.Builder
	for i := range maxComponents + 1 {
		fmt.Fprintf(&all, ` "x-%d"`, i)
	}
	return strings.TrimSpace(all.String())
}

// What is no change for HTTP is none for the signature either.
func TestWhatIsTheSameIsAccepted(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*http.Request){
		"the host in upper case": func(r *http.Request) { r.Host = "A.Example" },
		"the port of http":       func(r *http.Request) { r.Host = "a.example:80" },
		"another path":           func(r *http.Request) { r.URL.Path = "/other" }, // which is not covered
		"white space in the input": func(r *http.Request) {
			r.Header.Set(inputField, strings.Replace(r.Header.Get(inputField), `" "`, `"   "`, 1))
		},
		"a signature of another tag": func(r *http.Request) {
			r.Header.Add(inputField, `proxy=("@method");created=1;tag="other"`)
			r.Header.Add(signatureField, "proxy=:AAAA:")
		},
		"no directory named, nor covered": func(r *http.Request) {
			r.Header.Del(agentField)
			sign(t, r, `("@authority")`+when+rest)
		},
		"a further member": func(r *http.Request) { r.Header.Add(agentField, `proxy="https://proxy.example"`) },
	} {
		r := signed(t)
		change(r)
		if id, err := verifierAt(noon.Add(Lifetime-time.Second), testKey(t).Public()).Verify(r); id != testID || err != nil {
			t.Errorf("%s: %q, %v", name, id, err)
		}
	}
	r := httptest.NewRequest(http.MethodGet, "https://a.example:443/", nil)
	r.TLS = &tls.ConnectionState{}
	newSigner(t).Sign(r.Header, "https", "a.example", noon)
	if _, err := verifierAt(noon, testKey(t).Public()).Verify(r); err != nil {
		t.Errorf("by TLS: %v", err)
	}
}

// A verifier without room forgets what has expired, and nothing else.
func TestWhatIsRememberedIsBounded(t *testing.T) {
	t.Parallel()
	v := verifierAt(noon, testKey(t).Public())
	v.most = 3
	first := signed(t)
	for i, r := range []*http.Request{first, signed(t), signed(t)} {
		if _, err := v.Verify(r); err != nil {
			t.Fatalf("request %d: %v", i, err)
		}
	}
	if _, err := v.Verify(signed(t)); !errors.Is(err, ErrBusy) {
		t.Errorf("without room: %v", err)
	}
	if _, err := v.Verify(first); !errors.Is(err, ErrReplayed) {
		t.Errorf("a replay without room: %v", err)
	}
	later := noon.Add(Lifetime)
	v.now = func() time.Time { return later }
	r := httptest.NewRequest(http.MethodGet, "http://a.example/", nil)
	newSigner(t).Sign(r.Header, "http", "a.example", later)
	if _, err := v.Verify(r); err != nil || len(v.used) != 1 {
		t.Errorf("when they have expired: %v, %d remembered", err, len(v.used))
	}
	if _, err := v.Verify(first); !errors.Is(err, ErrExpired) {
		t.Errorf("the first again: %v", err)
	}
}
