package fetch

import (
	"errors"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage/control"
)

// TestAProxyIsShownASecretThatIsForIt: by its name, and within its bounds.
func TestAProxyIsShownASecretThatIsForIt(t *testing.T) {
	t.Parallel()
	insecure := control.Bounds{Insecure: true}
	for name, c := range map[string]struct {
		proxy  string
		secret string
		kind   control.Kind
		bounds control.Bounds
		error  string
	}{
		"good":        {"http://proxy.test:3128", "bank", control.KindBasic, insecure, ""},
		"encrypted":   {"https://proxy.test", "bank", control.KindBasic, control.Bounds{}, ""},
		"for it":      {"https://proxy.test:3128", "bank", control.KindBasic, control.Bounds{Hosts: []string{"proxy.test:3128"}}, ""},
		"for others":  {"https://proxy.test:3128", "bank", control.KindBasic, control.Bounds{Hosts: []string{"a.test"}}, "is not for the host"},
		"plainly":     {"socks5://proxy.test", "bank", control.KindBasic, control.Bounds{}, "https alone"},
		"of a header": {"http://proxy.test", "bank", control.KindHeader, insecure, "of kind header"},
		"unknown":     {"http://proxy.test", "bunk", control.KindBasic, insecure, "secret bunk"},
	} {
		secret, err := control.NewSecret(c.kind, "me", hush)
		if err != nil {
			t.Fatal(err)
		}
		var lent pipeline.Resources
		pipeline.Provide(&lent, credentials.Open(func() (credentials.Source, error) { return vault{secret: secret.Within(c.bounds)}, nil }))
		o := defaults
		o.Proxy, o.ProxySecret = c.proxy, c.secret
		if err := o.Validate(); err != nil {
			t.Fatal(err)
		}
		p, err := newProxy(o, pipeline.NewEnv("p", "fetch", &lent))
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
		o := defaults
		o.Proxy, o.ProxySecret = proxy, "bank"
		var wrong *pipeline.OptionError
		if err := o.Validate(); !errors.As(err, &wrong) || wrong.Option != "proxy_secret" {
			t.Errorf("%q: %v", proxy, err)
		}
	}
}
