package fetch

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/stages/internal/httpclient/clienttest"
)

// behind returns a stage that asks through proxies, for hosts h0.test to h39.test on this machine, and the port of all.
func behind(t *testing.T, site http.HandlerFunc, proxies ...string) (s *Single, port string) {
	t.Helper()
	_, port, err := net.SplitHostPort(strings.TrimPrefix(serve(t, site), "http://"))
	if err != nil {
		t.Fatal(err)
	}
	o := local()
	o.Proxies = proxies
	s, err = NewSingle(o, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	z := &clienttest.Zone{Hosts: map[string]string{"inner.test": "10.0.0.1"}}
	for i := range 40 {
		z.Hosts[fmt.Sprintf("h%d.test", i)] = "127.0.0.1"
	}
	s.client.SetResolver(z)
	return s, port
}

func TestProxiesShareTheHostsAndAHostKeepsItsOwn(t *testing.T) {
	t.Parallel()
	var all [3]testProxy
	var urls []string
	for i := range all {
		all[i].names = map[string]string{}
		for h := range 40 {
			all[i].names[fmt.Sprintf("h%d.test", h)] = "127.0.0.1"
		}
		all[i].startHTTP(t, nil)
		urls = append(urls, "http"+all[i].url)
	}
	s, port := behind(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "page") }, urls...)
	for range 2 {
		for h := range 40 {
			if _, err := s.Get(t.Context(), get(fmt.Sprintf("http://h%d.test:%s/", h, port))); err != nil {
				t.Fatal(err)
			}
		}
	}
	by := map[string]int{}
	for i := range all {
		asked := all[i].seen()
		if len(asked) == 0 {
			t.Errorf("nothing was asked through proxy %d", i)
		}
		for _, what := range asked {
			if other, known := by[what]; known && other != i {
				t.Errorf("%s was asked through proxies %d and %d", what, other, i)
			}
			by[what] = i
		}
	}
	if len(by) != 40 {
		t.Errorf("%d hosts were asked through proxies", len(by))
	}
	if _, err := s.Get(t.Context(), get("http://inner.test/")); err == nil || !strings.Contains(err.Error(), "10.0.0.1: a private address") {
		t.Errorf("a private address through a proxy: %v", err)
	}
}

func TestProxiesThatFailAreLeftForAnother(t *testing.T) {
	t.Parallel()
	working, closed := testProxy{names: map[string]string{}}, testProxy{user: "me:other"}
	for h := range 40 {
		working.names[fmt.Sprintf("h%d.test", h)] = "127.0.0.1"
	}
	working.startHTTP(t, nil)
	closed.startHTTP(t, nil)
	s, port := behind(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "page") },
		"http"+working.url, "http://me:hunter2@"+testutil.FreeAddress(t), strings.Replace("http"+closed.url, "://", "://me:hunter2@", 1))
	for h := range 40 {
		d, err := s.Get(t.Context(), get(fmt.Sprintf("http://h%d.test:%s/", h, port)))
		if err != nil || string(d.Body) != "page" {
			t.Fatalf("host %d: %v", h, err)
		}
	}
	if n := len(working.seen()); n != 40 {
		t.Errorf("%d pages were asked for through the proxy that works", n)
	}
	if n := len(closed.seen()); n != 3 {
		t.Errorf("the proxy that takes no credentials was asked %d times before it was left", n)
	}
	if left, failed := s.env.Counter("proxies_left").Load(), s.env.Counter("network_failures").Load(); left != 2 || failed != 0 {
		t.Errorf("%d proxies were left, %d pages failed", left, failed)
	}
}

func TestProxiesThatAllFailLeaveNothingAskedDirectly(t *testing.T) {
	t.Parallel()
	asked := 0
	s, port := behind(t, func(http.ResponseWriter, *http.Request) { asked++ }, "http://me:hunter2@"+testutil.FreeAddress(t), "socks5://me:hunter2@"+testutil.FreeAddress(t))
	for h := range 10 {
		_, err := s.Get(t.Context(), get(fmt.Sprintf("http://h%d.test:%s/", h, port)))
		if err == nil || strings.Contains(err.Error(), "hunter2") || h == 9 && !strings.Contains(err.Error(), "all 2 of the option proxies are taken for dead") {
			t.Errorf("host %d: %v", h, err)
		}
	}
	if asked > 0 {
		t.Errorf("the host was asked directly %d times", asked)
	}
}

func TestProxiesThatAreNoneAreRefused(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*Options){
		"proxies: there is an option proxy as well": func(o *Options) { o.Proxy, o.Proxies = "http://a.example", []string{"http://b.example"} },
		"proxies.1: it is no URL":                   func(o *Options) { o.Proxies = []string{"http://a.example", "http://me:hunter2@/x"} },
		"proxies.1: a proxy is":                     func(o *Options) { o.Proxies = []string{"http://a.example", "ftp://b.example"} },
		"proxies.0: it is empty":                    func(o *Options) { o.Proxies = []string{""} },
		"proxies.1: a.example:80 stands":            func(o *Options) { o.Proxies = []string{"http://a.example", "http://me:hunter2@a.example:80"} },
		"proxies.0: socks5h":                        func(o *Options) { o.Proxies = []string{"socks5h://a.example"} },
		"proxy_secret: it needs":                    func(o *Options) { o.Proxies, o.ProxySecret = []string{"http://a:b@a.example"}, "s" },
	} {
		o := local()
		change(&o)
		if err := o.Validate(); err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
