package httpclient

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/pipeline"
)

// hush is what must never be seen.
const hush = "hush-6f1d-hush"

// vault stores one secret, bank.
type vault struct{ secret credentials.Secret }

func (v vault) Secret(_ context.Context, name string) (credentials.Secret, error) {
	if name != "bank" {
		return credentials.Secret{}, credentials.ErrNotFound
	}
	return v.secret, nil
}
func (v vault) SecretVersion(string) uint64                     { return 0 }
func (v vault) StartOf(context.Context, string) (string, error) { return "", credentials.ErrNotFound }

// TestAProxyIsShownASecretThatIsForIt: by its name, and within its bounds.
func TestAProxyIsShownASecretThatIsForIt(t *testing.T) {
	t.Parallel()
	insecure := credentials.Bounds{Insecure: true}
	for name, c := range map[string]struct {
		proxy  string
		secret string
		kind   credentials.Kind
		bounds credentials.Bounds
		error  string
	}{
		"good":        {"http://proxy.test:3128", "bank", credentials.KindBasic, insecure, ""},
		"encrypted":   {"https://proxy.test", "bank", credentials.KindBasic, credentials.Bounds{}, ""},
		"for it":      {"https://proxy.test:3128", "bank", credentials.KindBasic, credentials.Bounds{Hosts: []string{"proxy.test:3128"}}, ""},
		"for others":  {"https://proxy.test:3128", "bank", credentials.KindBasic, credentials.Bounds{Hosts: []string{"a.test"}}, "is not for the host"},
		"plainly":     {"socks5://proxy.test", "bank", credentials.KindBasic, credentials.Bounds{}, "https alone"},
		"of a header": {"http://proxy.test", "bank", credentials.KindHeader, insecure, "of kind header"},
		"unknown":     {"http://proxy.test", "bunk", credentials.KindBasic, insecure, "secret bunk"},
	} {
		secret, err := credentials.NewSecret(c.kind, "me", hush)
		if err != nil {
			t.Fatal(err)
		}
		var lent pipeline.Resources
		pipeline.Provide(&lent, credentials.Open(func() (credentials.Source, error) { return vault{secret.Within(c.bounds)}, nil }))
		o := Config{Options: Defaults}
		o.Proxy, o.ProxySecret = c.proxy, c.secret
		if err := o.Validate(); err != nil {
			t.Fatal(err)
		}
		p, err := newProxy(namedProxy{"proxy", o.Proxy}, o, pipeline.NewEnv("p", "fetch", &lent))
		if c.error != "" {
			if err == nil || !strings.Contains(err.Error(), c.error) || strings.Contains(err.Error(), hush) {
				t.Errorf("%s: %v, want %q", name, err, c.error)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if password, _ := p.url.User.Password(); p.url.User.Username() != "me" || password != hush {
			t.Errorf("%s: the proxy is shown %s", name, p.url.User)
		}
	}
	for _, proxy := range []string{"", "http://me:too@proxy.test"} {
		o := Defaults
		o.Proxy, o.ProxySecret = proxy, "bank"
		var wrong *pipeline.OptionError
		if err := o.Validate(); !errors.As(err, &wrong) || wrong.Option != "proxy_secret" {
			t.Errorf("%q: %v", proxy, err)
		}
	}
}
