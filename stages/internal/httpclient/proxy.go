package httpclient

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/netguard"
)

// ProxyOptions determine through whom hosts are asked. Variables of the environment do not: what a crawler shows
// to whom is in its configuration alone.
type ProxyOptions struct {
	Proxy         string   `toml:"proxy" doc:"the proxy through which all hosts are asked: http://, https://, socks5:// or socks5h://, with user:password@ if it wants that, host and port; empty for none"`
	Proxies       []string `toml:"proxies" doc:"several proxies in place of one, as URLs like that of proxy: each host is asked through one of them for as long as it works, and one that fails is left until it can be connected to again"`
	ProxySecret   string   `toml:"proxy_secret" doc:"the name of a secret of kind basic, of webrace-store secret, that each proxy is shown whose URL holds no user and password; empty for none"`
	NoProxy       []string `toml:"no_proxy" doc:"hosts that are asked without the proxy: www.example.org, *.example.org, 10.0.0.0/8"`
	ProxyResolves bool     `toml:"proxy_resolves" doc:"leave names to the proxy, for those that only it knows: then no more than literal addresses can be checked"`
}

// proxy is one that ProxyOptions name, ready for use; nil stands for none.
type proxy struct {
	option   string   // that names it
	url      *url.URL // with its port
	guard    *netguard.Guard
	except   hosts
	resolves bool
}

// proxyPorts are the ports of proxies that name none, by their scheme.
var proxyPorts = map[string]string{"http": "80", "https": "443", "socks5": "1080", "socks5h": "1080"}

func (o ProxyOptions) validate() error {
	named := o.named()
	switch {
	case o.Proxy != "" && len(o.Proxies) > 0:
		return &pipeline.OptionError{Option: "proxies", Err: errors.New("there is an option proxy as well: move it into the list, or leave one of them out")}
	case len(o.Proxies) > mostProxies:
		return &pipeline.OptionError{Option: "proxies", Err: fmt.Errorf("there are more than %d", mostProxies)}
	}
	userless, hosts := false, make(map[string]bool)
	for _, n := range named {
		proxied, err := parseProxy(n.url)
		switch {
		case err != nil:
		case proxied == nil:
			err = errors.New("it is empty")
		case hosts[proxied.Host]:
			err = fmt.Errorf("%s stands in the list before: one host and port is one proxy", proxied.Host)
		case proxied.Scheme == "socks5h" && !o.ProxyResolves:
			err = errors.New("socks5h leaves names to the proxy, so that their addresses cannot be checked: " +
				"write socks5, or set proxy_resolves = true as well")
		}
		if err != nil {
			return &pipeline.OptionError{Option: n.option, Err: err}
		}
		userless = userless || proxied.User == nil
		hosts[proxied.Host] = true
	}
	if o.ProxySecret != "" && !userless {
		return &pipeline.OptionError{Option: "proxy_secret", Err: errors.New("it needs a proxy whose URL holds no user")}
	}
	if _, err := parseHosts(o.NoProxy); err != nil {
		return &pipeline.OptionError{Option: "no_proxy", Err: err}
	}
	return nil
}

// namedProxy is the URL of a proxy, and where it stands.
type namedProxy struct{ option, url string }

// named returns the proxies that the options name.
func (o ProxyOptions) named() (all []namedProxy) {
	if o.Proxy != "" {
		all = append(all, namedProxy{"proxy", o.Proxy})
	}
	for i, url := range o.Proxies {
		all = append(all, namedProxy{fmt.Sprintf("proxies.%d", i), url})
	}
	return all
}

// parseProxy reads the URL of a proxy; none gives nil. The error never holds the URL, which may hold a
// password.
func parseProxy(text string) (*url.URL, error) {
	if text == "" {
		return nil, nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("it is no URL of a proxy (http://user:password@host:port, with what is not a letter or digit in the password as %XX)")
	}
	port, known := proxyPorts[u.Scheme]
	if !known {
		return nil, errors.New("a proxy is an http, https, socks5 or socks5h one")
	}
	if u.Port() != "" {
		port = u.Port()
	}
	return &url.URL{Scheme: u.Scheme, User: u.User, Host: net.JoinHostPort(u.Hostname(), port)}, nil
}

// newProxies returns the proxies of options that are valid.
func newProxies(o Config, env *pipeline.Env) (all []*proxy, err error) {
	for _, n := range o.named() {
		p, err := newProxy(n, o, env)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// newProxy returns one of the proxies of options that are valid. A proxy that is named by its address is admitted by
// that, for the connections to it; one that has a name must have an address that anything may be asked at.
func newProxy(n namedProxy, o Config, env *pipeline.Env) (*proxy, error) {
	u, err := parseProxy(n.url)
	if err != nil {
		return nil, err
	}
	if o.ProxySecret != "" && u.User == nil {
		if u.User, err = proxyUser(o.ProxySecret, u, env); err != nil {
			return nil, &pipeline.OptionError{Option: "proxy_secret", Err: err}
		}
	}
	p := &proxy{option: n.option, url: u, resolves: o.ProxyResolves}
	p.except, _ = parseHosts(o.NoProxy)
	admitted := o.AllowNetworks
	if addr, err := netip.ParseAddr(u.Hostname()); err == nil {
		admitted = append([]string{addr.String()}, admitted...)
	}
	p.guard, err = netguard.New(admitted)
	return p, err
}

// proxyUser returns the user and password of a secret, if they may be shown to a proxy: like a host, it must
// be one that the secret is for, if that names any, and what is not encrypted must be allowed.
func proxyUser(name string, proxy *url.URL, env *pipeline.Env) (*url.Userinfo, error) {
	open, err := pipeline.Resource[credentials.Open](env)
	if err != nil {
		return nil, err
	}
	source, err := open()
	if err != nil {
		return nil, err
	}
	secret, err := source.Secret(context.Background(), name)
	if err != nil {
		return nil, fmt.Errorf("secret %s: %w", name, err)
	}
	switch bounds := secret.Bounds(); {
	case secret.Kind() != credentials.KindBasic:
		return nil, fmt.Errorf("secret %s is of kind %s: a proxy is shown a basic one", name, secret.Kind())
	case len(bounds.Hosts) > 0 && !bounds.Admit(proxy.Host) && !bounds.Admit(proxy.Hostname()):
		return nil, fmt.Errorf("secret %s is not for the host %s", name, proxy.Host)
	case proxy.Scheme != "https" && !bounds.Insecure:
		return nil, fmt.Errorf("secret %s may be sent by https alone, and the proxy is not asked so (to allow it: webrace-store secret set --insecure)", name)
	}
	return url.UserPassword(secret.Reveal()), nil
}

// via is the way to a host.
type via uint8

const (
	directly  via = iota
	tunnelled     // the proxy connects to the host and passes bytes on
	forwarded     // the proxy is given the request
)

// way returns how a target is asked.
func (p *proxy) way(t Target) via {
	if p == nil {
		return directly
	}
	switch host, port := t.hostPort(); {
	case p.except.match(host, port):
		return directly
	case t.Scheme == "http" && !p.socks():
		return forwarded
	}
	return tunnelled
}

func (p *proxy) socks() bool { return strings.HasPrefix(p.url.Scheme, "socks") }

// authorization is the value of a Proxy-Authorization field; empty if the proxy wants none.
func (p *proxy) authorization() string {
	if p.url.User == nil {
		return ""
	}
	password, _ := p.url.User.Password()
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(p.url.User.Username()+":"+password))
}

// ProxyError means that the proxy, and not the host, is why there is no answer.
type ProxyError struct {
	err  error
	dead bool // it is no use for any host
}

func (e *ProxyError) Error() string { return "by the proxy: " + e.err.Error() }
func (e *ProxyError) Unwrap() error { return e.err }

// StatusText writes a status as in "404 Not Found".
func StatusText(status int) string {
	text := fmt.Sprintf("%03d %s", status, http.StatusText(status))
	if http.StatusText(status) == "" {
		return text[:3]
	}
	return text
}

// refusedBy describes how a proxy answered that did not do as it was told. Only the number is repeated: what else it
// sends could be what it was told.
func refusedBy(status int) error {
	hint := ""
	if status == 407 {
		hint = " (it wants other credentials: option proxy)"
	}
	return &ProxyError{fmt.Errorf("it answers %s%s", StatusText(status), hint), status == http.StatusProxyAuthRequired}
}
