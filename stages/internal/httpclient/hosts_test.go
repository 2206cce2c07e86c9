package httpclient

import (
	"errors"
	"strings"
	"testing"

	"github.com/webrace/webrace/pipeline"
)

func TestHostsAreMatched(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ list, yes, no string }{
		{"www.example.org", "https://www.example.org/ http://www.example.org:8080/", "https://example.org/ https://a.www.example.org/"},
		{"WWW.Example.org:8443", "https://www.example.org:8443/", "https://www.example.org/"},
		{"www.example.org:443", "https://www.example.org/", "http://www.example.org/"},
		{"*.example.org", "http://a.example.org/ http://b.a.example.org:1/", "http://example.org/ http://anexample.org/"},
		{"*.example.org:80", "http://a.example.org/", "https://a.example.org/"},
		{"10.0.0.0/8", "http://10.1.2.3/ http://10.1.2.3:99/", "http://11.0.0.1/ http://ten.example/"},
		{"10.1.2.3", "http://10.1.2.3/", "http://10.1.2.4/"},
		{"[::1]", "http://[::1]/ http://[::1]:8080/", "http://[::2]/"},
		{"[::1]:8080 0:0::2", "http://[::1]:8080/ http://[::2]/", "http://[::1]/"},
		{"fd00::/8", "http://[fd00::1]/", "http://[fe00::1]/"},
		{"*", "http://x/ https://[::1]/ http://10.1.2.3/", ""},
		{"", "", "http://x/"},
	} {
		list, err := parseHosts(strings.Fields(c.list))
		if err != nil {
			t.Fatalf("%s: %v", c.list, err)
		}
		for want, urls := range map[bool]string{true: c.yes, false: c.no} {
			for url := range strings.FieldsSeq(urls) {
				target, err := ParseTarget(url)
				if err != nil {
					t.Fatal(err)
				}
				if host, port := target.hostPort(); list.match(host, port) != want {
					t.Errorf("%s: %s is matched: %v", c.list, url, !want)
				}
			}
		}
	}
}

func TestWhatIsNoHostIsRefused(t *testing.T) {
	t.Parallel()
	for _, entry := range []string{"", "*.", "a b", "http://a/", "a:b", "a:", "a:123456", "10.0.0.1/8", "ä.example", ".example.org", "fe80::1%1", "a*"} {
		if _, err := parseHosts([]string{entry}); err == nil {
			t.Errorf("%q was taken", entry)
		}
	}
}

func TestOptionsOfConnectionsThatCannotWorkAreRefused(t *testing.T) {
	t.Parallel()
	for option, breaks := range map[string]func(*Options){
		"http2":             func(o *Options) { o.HTTP2 = "on" },
		"http2_hosts":       func(o *Options) { o.HTTP2Hosts = []string{"a b"} },
		"tls_min_version":   func(o *Options) { o.TLSMinVersion = "1.4" },
		"insecure_hosts":    func(o *Options) { o.InsecureHosts = []string{"https://a/"} },
		"client_cert_hosts": func(o *Options) { o.ClientCert, o.ClientKey, o.ClientCertHosts = "c", "k", []string{""} },
		"client_cert":       func(o *Options) { o.ClientCert = "cert.pem" },
	} {
		o := Defaults
		breaks(&o)
		var wrong *pipeline.OptionError
		if err := o.Validate(); !errors.As(err, &wrong) || wrong.Option != option {
			t.Errorf("%s: %v", option, err)
		}
	}
}

func FuzzHosts(f *testing.F) {
	for _, s := range []string{"www.example.org", "*.example.org:80", "10.0.0.0/8", "[::1]:8080", "*"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, entry string) {
		list, err := parseHosts([]string{entry})
		if err != nil {
			return
		}
		p := list[0]
		if p == (hostPattern{}) != (entry == "*") {
			t.Fatalf("%q stands for all hosts", entry)
		}
		if p.name != "" && !list.match(p.name, p.port) || p.under != "" && !list.match("a"+p.under, p.port) {
			t.Fatalf("%q does not match itself", entry)
		}
	})
}
