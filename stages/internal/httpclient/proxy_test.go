package httpclient

import (
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/webrace/webrace/pipeline"
)

func TestOptionsOfProxiesThatCannotWorkAreRefused(t *testing.T) {
	t.Parallel()
	for proxy, want := range map[string]string{
		"proxy.test:3128":               "",
		"ftp://me:hunter2@a.test":       "socks5",
		"http://me:hunt%er2@a.test":     "URL",
		"http://me:hunter2@":            "URL",
		"http://me:hunter2@a.test/?x":   "URL",
		"http://me:hunter2@a.test/x":    "URL",
		"http://me:hunter2@a.test:x/":   "URL",
		"socks5h://me:hunter2@a.test":   "proxy_resolves",
		"http://me:\x00hunter2@a.test/": "URL",
	} {
		o := Defaults
		o.Proxy = proxy
		var wrong *pipeline.OptionError
		err := o.Validate()
		if !errors.As(err, &wrong) || wrong.Option != "proxy" || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunt") {
			t.Errorf("%s: %v", proxy, err)
		}
	}
	o := Defaults
	o.NoProxy = []string{"a b"}
	var wrong *pipeline.OptionError
	if err := o.Validate(); !errors.As(err, &wrong) || wrong.Option != "no_proxy" {
		t.Error(err)
	}
	for proxy, want := range map[string]string{"http://a.test": "a.test:80", "socks5://[::1]/": "[::1]:1080", "https://a.test:1": "a.test:1"} {
		if u, err := parseProxy(proxy); err != nil || u.Host != want {
			t.Errorf("%s: %v, %v", proxy, u, err)
		}
	}
}

func FuzzProxy(f *testing.F) {
	for _, s := range []string{"http://me:pass@a.test:80", "socks5://[::1]", "://", "https://a.test/"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		u, err := parseProxy(text)
		if err != nil {
			if len(text) > 20 && strings.Contains(err.Error(), text) {
				t.Fatalf("%q is repeated: %v", text, err)
			}
			return
		}
		if u == nil {
			return
		}
		if host, port, err := net.SplitHostPort(u.Host); err != nil || host == "" || port == "" || proxyPorts[u.Scheme] == "" {
			t.Fatalf("%q gives %q, %v", text, u.Host, err)
		}
	})
}
