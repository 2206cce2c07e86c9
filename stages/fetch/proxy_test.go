package fetch

import (
	"bufio"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/webrace/webrace/pipeline"
)

// testProxy is a proxy of the kinds that there are, and writes down what it was asked.
type testProxy struct {
	url     string // without the scheme's letters: "://127.0.0.1:1234"
	names   map[string]string
	user    string // "user:password"; empty wants none
	answers string // instead of the success of a CONNECT
	mu      sync.Mutex
	asked   []string
}

func (p *testProxy) note(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, what)
}

func (p *testProxy) seen() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.asked)
}

// startHTTP starts a proxy for CONNECT and for whole requests, over TLS or not.
func (p *testProxy) startHTTP(t *testing.T, certificate *tls.Certificate) {
	p.url = strings.TrimSuffix(strings.TrimPrefix(listen(t, func(conn net.Conn) {
		if certificate != nil {
			secured := tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{*certificate}})
			if secured.Handshake() != nil {
				return
			}
			conn = secured
		}
		in := bufio.NewReader(conn)
		for p.serveHTTP(conn, in) {
		}
	}), "http"), "/")
}

func (p *testProxy) serveHTTP(conn net.Conn, in *bufio.Reader) (more bool) {
	r, err := http.ReadRequest(in)
	if err != nil {
		return false
	}
	p.note(r.Method + " " + r.RequestURI)
	if p.user != "" && r.Header.Get("Proxy-Authorization") != "Basic "+base64.StdEncoding.EncodeToString([]byte(p.user)) {
		fmt.Fprintf(conn, "HTTP/1.1 407 %s\r\nContent-Length: 0\r\n\r\n", r.Header.Get("Proxy-Authorization"))
		return true
	}
	if r.Method == http.MethodConnect {
		if p.answers != "" {
			_, _ = io.WriteString(conn, p.answers)
			return false
		}
		far, err := net.Dial("tcp", p.resolve(r.RequestURI))
		if err != nil {
			_, _ = io.WriteString(conn, "HTTP/1.1 502 Bad Gateway\r\n\r\n")
			return false
		}
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
		join(conn, far)
		return false
	}
	r.Header.Del("Proxy-Authorization")
	r.URL.Host, r.RequestURI = p.resolve(r.Host), ""
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		_, _ = io.WriteString(conn, "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
		return true
	}
	defer response.Body.Close()
	return response.Write(conn) == nil
}

// resolve replaces the name in an address by what the proxy knows of it.
func (p *testProxy) resolve(address string) string {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		host, port = address, "80"
	}
	if known := p.names[host]; known != "" {
		host = known
	}
	return net.JoinHostPort(host, port)
}

func join(a, b net.Conn) {
	done := make(chan struct{})
	go func() {
		_, _ = io.Copy(a, b)
		a.Close()
		close(done)
	}()
	_, _ = io.Copy(b, a)
	b.Close()
	<-done
}

// startSOCKS starts a SOCKS5 proxy (RFC 1928, 1929).
func (p *testProxy) startSOCKS(t *testing.T) {
	p.url = strings.TrimSuffix(strings.TrimPrefix(listen(t, func(conn net.Conn) { p.serveSOCKS(conn) }), "http"), "/")
}

func (p *testProxy) serveSOCKS(conn net.Conn) {
	read := func(n int) []byte {
		b := make([]byte, n)
		_, _ = io.ReadFull(conn, b)
		return b
	}
	methods := read(int(read(2)[1]))
	method := byte(0)
	if p.user != "" {
		method = 2
	}
	if !slices.Contains(methods, method) {
		_, _ = conn.Write([]byte{5, 0xff})
		return
	}
	_, _ = conn.Write([]byte{5, method})
	if method == 2 {
		user := string(read(int(read(2)[1])))
		if user+":"+string(read(int(read(1)[0]))) != p.user {
			_, _ = conn.Write([]byte{1, 1})
			return
		}
		_, _ = conn.Write([]byte{1, 0})
	}
	var host string
	switch read(4)[3] {
	case 1:
		host = net.IP(read(4)).String()
	case 3:
		host = string(read(int(read(1)[0])))
	case 4:
		host = net.IP(read(16)).String()
	}
	port := read(2)
	address := net.JoinHostPort(host, strconv.Itoa(int(port[0])<<8|int(port[1])))
	p.note("SOCKS " + address)
	far, err := net.Dial("tcp", p.resolve(address))
	if err != nil {
		_, _ = conn.Write([]byte{5, 5, 0, 1, 0, 0, 0, 0, 0, 0})
		return
	}
	_, _ = conn.Write([]byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0})
	join(conn, far)
}

// through returns options under which a stage asks by a proxy, and does not speak of who runs it: what is
// behind is a server of this machine.
func through(proxy string) Options {
	o := local()
	o.Proxy = proxy
	o.InsecureHosts = []string{"*.test"}
	return o
}

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
				z := &zone{hosts: map[string]string{"a.test": "127.0.0.1"}}
				all := runWith(t, o, z.use, get(url), get(url+"2"))
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
	z := &zone{hosts: map[string]string{"inside.test": "10.0.0.1", "half.test": "93.184.216.34 10.0.0.1", "cloud.test": "169.254.169.254"}}
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
				all := runWith(t, o, z.use, get(url))
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
	z := &zone{hosts: map[string]string{"proxy.test": "127.0.0.1", "a.test": "93.184.216.34"}}
	p := &testProxy{answers: "HTTP/1.1 503 Service Unavailable\r\n\r\n"}
	p.startHTTP(t, nil)
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(p.url, "://"))
	o := defaults
	o.UserAgent, o.Robots = "test/1 (+https://contact.test/)", false
	for proxy, admitted := range map[string]bool{"127.0.0.1:" + port: true, "proxy.test:" + port: false, "metadata.test": false} {
		o.Proxy = "http://" + proxy
		z.hosts["metadata.test"] = "169.254.169.254"
		for _, url := range []string{"http://a.test/", "https://a.test/"} {
			o.Delay = pipeline.Duration(time.Millisecond)
			all := runWith(t, o, z.use, get(url))
			if refused := all.counters["address_refused"] == 1; refused == admitted {
				t.Errorf("%s, %s: %+v, counters %v", proxy, url, all.byRequest[0].outcome, all.counters)
			}
		}
	}
	// what the proxy is admitted for is no place to crawl
	o.Proxy = "http://127.0.0.1:" + port
	if all := runWith(t, o, z.use, get("http://127.0.0.1:"+port+"/")); all.counters["address_refused"] != 1 {
		t.Errorf("counters %v", all.counters)
	}
}

// TestPublicHostsRestBehindALocalProxy: the address of the proxy says nothing about the host.
func TestPublicHostsRestBehindALocalProxy(t *testing.T) {
	t.Parallel()
	page := serve(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "page") })
	inside := strings.TrimPrefix(page, "http://")
	host, port, _ := net.SplitHostPort(inside)
	z := &zone{hosts: map[string]string{"a.test": "93.184.216.34"}}
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
			all := runWith(t, o, z.use, get("http://a.test:"+port+"/"))
			r := all.byRequest[0]
			if len(r.bodies) != 1 || r.reports[0].NotBefore.Before(before.Add(time.Duration(o.Delay))) || r.reports[0].Parallel != o.PerHost {
				t.Errorf("%s, %v: %+v, counters %v", kind, resolves, r, all.counters)
			}
			if got := r.documents[0].Origin; got.IsValid() == resolves || got.IsValid() && got != netip.MustParseAddr("93.184.216.34") {
				t.Errorf("%s, %v: origin %v", kind, resolves, got)
			}
			if resolves && z.asked.Load() > 1 {
				t.Errorf("%s: looked up %d times", kind, z.asked.Load())
			}
			z.asked.Store(0)
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
	z := &zone{hosts: map[string]string{"a.test": "127.0.0.1"}}
	all := runWith(t, local(), z.use, get("http://a.test:"+port+"/"))
	if all.counters["pages"] != 1 || len(p.seen()) != 0 {
		t.Errorf("the proxy was asked %q, counters %v", p.seen(), all.counters)
	}
}

// TestAProxyThatFailsIsToldFromTheHost: its credentials are never repeated, not even if it repeats them.
func TestAProxyThatFailsIsToldFromTheHost(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	wrong := ca.sign(t, soon(), "other.test")
	z := &zone{hosts: map[string]string{"a.test": "127.0.0.1"}}
	const closed = "://127.0.0.1:1" // nobody listens there
	secret := base64.StdEncoding.EncodeToString([]byte("me:hunter2"))
	for name, c := range map[string]struct {
		start func(p *testProxy) string
		https string // the error of a host asked by https; of one by http, if it differs
		http  string
	}{
		"is not there":       {func(*testProxy) string { return "http" + closed }, "connect to it: ", ""},
		"socks is not there": {func(*testProxy) string { return "socks5" + closed }, "connect to it: ", ""},
		"wants credentials":  {func(p *testProxy) string { p.user = "x:y"; p.startHTTP(t, nil); return "http" + p.url }, "it answers 407", ""},
		"socks wants them":   {func(p *testProxy) string { p.user = "x:y"; p.startSOCKS(t); return "socks5" + p.url }, "username/password", ""},
		"is of another name": {func(p *testProxy) string { p.startHTTP(t, &wrong); return "https" + p.url }, "certificate", ""},
		"speaks no TLS":      {func(p *testProxy) string { p.startHTTP(t, nil); return "https" + p.url }, "secure", "proxyconnect"},
		"may not": {func(p *testProxy) string {
			p.answers = "HTTP/1.1 403 " + secret + "\r\n\r\n"
			p.startHTTP(t, nil)
			return "http" + p.url
		}, "it answers 403 Forbidden", "-"},
		"speaks no HTTP": {func(p *testProxy) string { p.answers = "SSH-2.0\r\n\r\n"; p.startHTTP(t, nil); return "http" + p.url }, "malformed HTTP", "-"},
		"answers without end": {func(p *testProxy) string {
			p.answers = "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 1<<20)
			p.startHTTP(t, nil)
			return "http" + p.url
		}, "EOF", "-"},
		"says more than it may": {func(p *testProxy) string {
			p.answers = "HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"
			p.startHTTP(t, nil)
			return "http" + p.url
		}, "more than an answer", "-"},
		"cannot connect": {func(p *testProxy) string {
			p.names = map[string]string{"127.0.0.1": "256.0.0.1"}
			p.startHTTP(t, nil)
			return "http" + p.url
		}, "it answers 502", "-"},
		"socks cannot connect": {func(p *testProxy) string {
			p.names = map[string]string{"127.0.0.1": "256.0.0.1"}
			p.startSOCKS(t)
			return "socks5" + p.url
		}, "connection refused", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &testProxy{}
			o := through(strings.Replace(c.start(p), "://", "://me:hunter2@", 1))
			o.CAFile, o.MaxHeader = ca.file, 4<<10
			for _, scheme := range []string{"http", "https"} {
				if scheme == "http" && c.http == "-" {
					continue
				}
				want := c.https
				if scheme == "http" && c.http != "" {
					want = c.http
				}
				all := runWith(t, o, z.use, get(scheme+"://a.test:1/"))
				r := all.byRequest[0]
				if r.outcome.Err == nil || !strings.Contains(r.outcome.Err.Error(), want) || all.counters["proxy_failures"] != 1 || all.counters["network_failures"] != 1 {
					t.Errorf("%s: %v, want %q, counters %v", scheme, r.outcome.Err, want, all.counters)
				}
				if said := fmt.Sprint(r.outcome.Err, r.visit, all.log, all.report); strings.Contains(said, "hunter2") || strings.Contains(said, secret) {
					t.Errorf("the password is told: %s", said)
				}
			}
		})
	}
}

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
		o := defaults
		o.Proxy = proxy
		var wrong *pipeline.OptionError
		err := o.Validate()
		if !errors.As(err, &wrong) || wrong.Option != "proxy" || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunt") {
			t.Errorf("%s: %v", proxy, err)
		}
	}
	o := defaults
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
