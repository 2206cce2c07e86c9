package httpin

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace/internal/httpsign"
	"github.com/webrace/webrace/pipeline"
)

// signedBy signs requests for a host with a key.
func signedBy(t *testing.T, key httpsign.Key, host string) func(*http.Request) {
	t.Helper()
	s, err := httpsign.NewSigner(key, "https://sender.example")
	if err != nil {
		t.Fatal(err)
	}
	return func(r *http.Request) { s.Sign(r.Header, "http", host, time.Now()) }
}

// jwkX is the x of the JWK of a key.
func jwkX(t *testing.T, key httpsign.Key) string {
	t.Helper()
	_, rest, _ := strings.Cut(string(httpsign.Directory(key.Public())), `"x": "`)
	x, _, found := strings.Cut(rest, `"`)
	if !found {
		t.Fatal("the directory has no x")
	}
	return x
}

// With keys named, what is signed with one of them is taken, once, and all else is refused with the reason, before
// its body is read.
func TestRequestsHaveToBeSigned(t *testing.T) {
	t.Parallel()
	one, two, other := httpsign.NewKey(), httpsign.NewKey(), httpsign.NewKey()
	const token = "a-token-that-nobody-guesses"
	for name, o := range map[string]Options{
		"by signature": with(func(o *Options) { o.SignedBy = []string{jwkX(t, one), jwkX(t, two)} }),
		"by token and signature": with(func(o *Options) {
			o.SignedBy, o.Token = []string{jwkX(t, one), jwkX(t, two)}, pipeline.NewSecret(token)
		}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := start(t, o, pipeline.Stop, pipeline.RunOptions{}, func(*pipeline.Item) error { return nil })
			host := strings.Split(in.url, "/")[2]
			authorized := func(r *http.Request) {
				if !o.Token.IsZero() {
					r.Header.Set("Authorization", "Bearer "+token)
				}
			}
			var sent http.Header
			keep := func(r *http.Request) { sent = r.Header.Clone() }
			for _, key := range []httpsign.Key{one, two} {
				if status, a, _ := post(t, in.url, `{"a":1}`, authorized, signedBy(t, key, host), keep); status != http.StatusOK || a.Items != 1 {
					t.Errorf("%d: %+v", status, a)
				}
			}
			for want, change := range map[error]func(*http.Request){
				httpsign.ErrUnsigned:  func(*http.Request) {},
				httpsign.ErrKey:       signedBy(t, other, host),
				httpsign.ErrSignature: signedBy(t, one, "elsewhere.example"),
				httpsign.ErrReplayed:  func(r *http.Request) { r.Header = sent },
			} {
				if status, a, _ := post(t, in.url, `{"a":1}`, authorized, change); status != http.StatusForbidden || !strings.HasPrefix(a.Error, want.Error()) {
					t.Errorf("%v: %d: %+v", want, status, a)
				}
			}
			if o.Token.IsZero() {
				return
			}
			if status, a, _ := post(t, in.url, `{"a":1}`, signedBy(t, one, host)); status != http.StatusUnauthorized {
				t.Errorf("without the token: %d: %+v", status, a)
			}
		})
	}
}

func TestKeysOfSendersAreChecked(t *testing.T) {
	t.Parallel()
	x := jwkX(t, httpsign.NewKey())
	if err := with(func(o *Options) { o.Listen, o.SignedBy = ":8480", []string{x} }).Validate(); err != nil {
		t.Errorf("a key in the place of a token: %v", err)
	}
	for _, wrong := range []string{"", "crawler", x + "A", x[1:]} {
		err := with(func(o *Options) { o.SignedBy = []string{x, wrong} }).Validate()
		option, named := errors.AsType[*pipeline.OptionError](err)
		if !named || option.Option != "signed_by" {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}
