package fetch

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/httpclient/clienttest"
)

// TestHostsAreAskedThroughEachKindOfProxy: of a host that is asked through a proxy, the proxy is told the
// address that was checked, except where a request that it forwards holds the name.
func TestHostsAreAskedThroughEachKindOfProxy(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	ours := ca.sign(t, soon(), "127.0.0.1")
	page := func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Host, r.RequestURI) }
	plain := serve(t, page)
	server, _ := secure(t, nil, page)
	_, plainPort, _ := net.SplitHostPort(strings.TrimPrefix(plain, "http://"))
	_, securePort, _ := net.SplitHostPort(server.Listener.Addr().String())
	httpURL, httpsURL := "http://a.test:"+plainPort+"/x?y", "https://a.test:"+securePort+"/x?y"
	for _, kind := range []string{"http", "https", "socks5"} {
		for _, user := range []string{"", "me:s3cr3t@/"} {
			for url, asked := range map[string]string{httpURL: "GET " + httpURL, httpsURL: "CONNECT 127.0.0.1:" + securePort} {
				p := &testProxy{user: user, names: map[string]string{"a.test": "127.0.0.1"}}
				switch kind {
				case "http":
					p.startHTTP(t, nil)
				case "https":
					p.startHTTP(t, &ours)
				default:
					p.startSOCKS(t)
					asked = "SOCKS 127.0.0.1:" + map[bool]string{true: plainPort, false: securePort}[url == httpURL]
				}
				proxy := kind + p.url
				if user != "" {
					proxy = strings.Replace(proxy, "://", "://me:s3cr3t%40%2F@", 1)
				}
				o := through(proxy)
				o.CAFile = ca.file
				z := &clienttest.Zone{Hosts: map[string]string{"a.test": "127.0.0.1"}}
				all := runWith(t, o, use(z), get(url), get(url+"2"))
				for _, r := range all.byRequest {
					if len(r.bodies) != 1 || !strings.HasPrefix(r.bodies[0], "a.test:") || !strings.Contains(r.bodies[0], "/x?y") ||
						r.documents[0].Origin != netip.MustParseAddr("127.0.0.1") {
						t.Errorf("%s, %q, %s: %q (%+v)", kind, user, url, r.bodies, r.outcome)
					}
				}
				if seen := p.seen(); len(seen) == 0 || !strings.HasPrefix(seen[0], asked) {
					t.Errorf("%s, %s: the proxy was asked %q, want %s", kind, url, seen, asked)
				}
			}
		}
	}
}

// TestAProxyIsNoWayAroundTheGuard: what may not be connected to is not asked through a proxy either, by
// whatever name, and the proxy hears nothing of it.
func TestAProxyIsNoWayAroundTheGuard(t *testing.T) {
	t.Parallel()
	z := &clienttest.Zone{Hosts: map[string]string{"inside.test": "10.0.0.1", "half.test": "93.184.216.34 10.0.0.1", "cloud.test": "169.254.169.254"}}
	for _, kind := range []string{"http", "socks5"} {
		for _, resolves := range []bool{false, true} {
			p := &testProxy{}
			if kind == "http" {
				p.startHTTP(t, nil)
			} else {
				p.startSOCKS(t)
			}
			o := defaults
			o.UserAgent, o.Robots = "test/1 (+https://contact.test/)", false
			o.Proxy, o.ProxyResolves = kind+p.url, resolves
			urls := []string{"http://10.0.0.1/", "https://10.0.0.1/", "http://127.0.0.1/", "https://[::1]/", "http://169.254.169.254/latest"}
			if !resolves {
				urls = append(urls, "http://inside.test/", "https://inside.test/", "https://cloud.test/")
				if kind == "http" {
					urls = append(urls, "http://half.test/") // the proxy could choose the other one
				}
			}
			for _, url := range urls {
				all := runWith(t, o, use(z), get(url))
				if r := all.byRequest[0]; all.counters["address_refused"] != 1 || r.outcome.Err != nil {
					t.Errorf("%s, %v, %s: %+v, counters %v", kind, resolves, url, r.outcome, all.counters)
				}
			}
			if seen := p.seen(); len(seen) > 0 {
				t.Errorf("%s: the proxy was asked %q", kind, seen)
			}
		}
	}
}

func TestTheProxyItselfMustBeOneThatMayBeAsked(t *testing.T) {
	t.Parallel()
	z := &clienttest.Zone{Hosts: map[string]string{"proxy.test": "127.0.0.1", "a.test": "93.184.216.34"}}
	p := &testProxy{answers: "HTTP/1.1 503 Service Unavailable\r\n\r\n"}
	p.startHTTP(t, nil)
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(p.url, "://"))
	o := defaults
	o.UserAgent, o.Robots = "test/1 (+https://contact.test/)", false
	for proxy, admitted := range map[string]bool{"127.0.0.1:" + port: true, "proxy.test:" + port: false, "metadata.test": false} {
		o.Proxy = "http://" + proxy
		z.Hosts["metadata.test"] = "169.254.169.254"
		for _, url := range []string{"http://a.test/", "https://a.test/"} {
			o.Delay = pipeline.Duration(time.Millisecond)
			all := runWith(t, o, use(z), get(url))
			if refused := all.counters["address_refused"] == 1; refused == admitted {
				t.Errorf("%s, %s: %+v, counters %v", proxy, url, all.byRequest[0].outcome, all.counters)
			}
		}
	}
	// what the proxy is admitted for is no place to crawl
	o.Proxy = "http://127.0.0.1:" + port
	if all := runWith(t, o, use(z), get("http://127.0.0.1:"+port+"/")); all.counters["address_refused"] != 1 {
		t.Errorf("counters %v", all.counters)
	}
}

// TestPublicHostsRestBehindALocalProxy: the address of the proxy tells nothing about the host.
func TestPublicHostsRestBehindALocalProxy(t *testing.T) {
	t.Parallel()
	page := serve(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "page") })
	inside := strings.TrimPrefix(page, "http://")
	host, port, _ := net.SplitHostPort(inside)
	z := &clienttest.Zone{Hosts: map[string]string{"a.test": "93.184.216.34"}}
	for _, kind := range []string{"http", "socks5"} {
		for _, resolves := range []bool{false, true} {
			p := &testProxy{names: map[string]string{"a.test": host, "93.184.216.34": host}}
			if kind == "http" {
				p.startHTTP(t, nil)
			} else {
				p.startSOCKS(t)
			}
			o := through(kind + p.url)
			o.UserAgent, o.ProxyResolves = "test/1 (+https://contact.test/)", resolves
			before := time.Now()
			all := runWith(t, o, use(z), get("http://a.test:"+port+"/"))
			r := all.byRequest[0]
			if len(r.bodies) != 1 || r.reports[0].NotBefore.Before(before.Add(time.Duration(o.Delay))) || r.reports[0].Parallel != o.PerHost {
				t.Errorf("%s, %v: %+v, counters %v", kind, resolves, r, all.counters)
			}
			if got := r.documents[0].Origin; got.IsValid() == resolves || got.IsValid() && got != netip.MustParseAddr("93.184.216.34") {
				t.Errorf("%s, %v: origin %v", kind, resolves, got)
			}
			if resolves && z.Asked.Load() > 0 {
				t.Errorf("%s: looked up %d times", kind, z.Asked.Load())
			}
			z.Asked.Store(0)
		}
	}
}

func TestAHostThatOnlyTheProxyKnowsNeedsAContact(t *testing.T) {
	t.Parallel()
	for _, scheme := range []string{"http", "https"} {
		p := &testProxy{}
		p.startHTTP(t, nil)
		o := through("http" + p.url)
		o.ProxyResolves = true
		all := run(t, o, get(scheme+"://hidden.onion/"))
		if all.counters["contact_refused"] != 1 || len(p.seen()) > 0 {
			t.Errorf("%s: %+v, counters %v", scheme, all.byRequest[0].visit, all.counters)
		}
	}
}

func TestNamesAreLeftToTheProxyIfTheOperatorSaysSo(t *testing.T) {
	t.Parallel()
	page := serve(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "page") })
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(page, "http://"))
	p := &testProxy{names: map[string]string{"hidden.onion": "127.0.0.1"}}
	p.startSOCKS(t)
	o := through("socks5h" + p.url)
	o.UserAgent, o.ProxyResolves = "test/1 (+https://contact.test/)", true
	r, _ := one(t, o, get("http://hidden.onion:"+port+"/"))
	if want := []string{"SOCKS hidden.onion:" + port}; len(r.bodies) != 1 || !slices.Equal(p.seen(), want) {
		t.Errorf("the proxy was asked %q, want %q (%+v)", p.seen(), want, r.outcome)
	}
}

func TestSomeHostsAreAskedWithoutTheProxy(t *testing.T) {
	t.Parallel()
	url := serve(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "page") })
	p := &testProxy{}
	p.startHTTP(t, nil)
	o := through("http" + p.url)
	o.NoProxy = []string{"127.0.0.0/8"}
	if r, _ := one(t, o, get(url+"/")); len(r.bodies) != 1 || len(p.seen()) != 0 {
		t.Errorf("the proxy was asked %q (%+v)", p.seen(), r.outcome)
	}
}

func TestTheEnvironmentNamesNoProxy(t *testing.T) {
	p := &testProxy{}
	p.startHTTP(t, nil)
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "ALL_PROXY"} {
		t.Setenv(name, "http"+p.url)
	}
	url := serve(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "page") })
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(url, "http://"))
	z := &clienttest.Zone{Hosts: map[string]string{"a.test": "127.0.0.1"}}
	all := runWith(t, local(), use(z), get("http://a.test:"+port+"/"))
	if all.counters["pages"] != 1 || len(p.seen()) != 0 {
		t.Errorf("the proxy was asked %q, counters %v", p.seen(), all.counters)
	}
}
