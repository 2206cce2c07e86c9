package fetch

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"

	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/internal/netguard"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage/control"
)

// ProxyOptions say through whom hosts are asked. Variables of the environment do not: what a crawler shows
// to whom is in its configuration alone.
type ProxyOptions struct {
	Proxy         string   `toml:"proxy" doc:"the proxy through which all hosts are asked: http://, https://, socks5:// or socks5h://, with user:password@ if it wants that, host and port; empty for none"`
	ProxySecret   string   `toml:"proxy_secret" doc:"the name of a secret of kind basic, of webrace-store secret, that the proxy is shown instead of a user and password in its URL; empty for none"`
	NoProxy       []string `toml:"no_proxy" doc:"hosts that are asked without the proxy: www.example.org, *.example.org, 10.0.0.0/8"`
	ProxyResolves bool     `toml:"proxy_resolves" doc:"leave names to the proxy, for those that only it knows: then no more than literal addresses can be checked"`
}

// proxy is what ProxyOptions say, ready for use; nil stands for none.
type proxy struct {
	url      *url.URL // with its port
	guard    *netguard.Guard
	except   hosts
	resolves bool
}

// proxyPorts are the ports of proxies that name none, by their scheme.
var proxyPorts = map[string]string{"http": "80", "https": "443", "socks5": "1080", "socks5h": "1080"}

func (o ProxyOptions) validate() error {
	proxied, err := parseProxy(o.Proxy)
	if err != nil {
		return &pipeline.OptionError{Option: "proxy", Err: err}
	}
	if o.ProxySecret != "" && (proxied == nil || proxied.User != nil) {
		return &pipeline.OptionError{Option: "proxy_secret", Err: errors.New("it needs a proxy whose URL holds no user")}
	}
	if _, err := parseHosts(o.NoProxy); err != nil {
		return &pipeline.OptionError{Option: "no_proxy", Err: err}
	}
	if proxied != nil && proxied.Scheme == "socks5h" && !o.ProxyResolves {
		return &pipeline.OptionError{Option: "proxy", Err: errors.New("socks5h leaves names to the proxy, so that their addresses cannot be checked: " +
			"write socks5, or set proxy_resolves = true as well")}
	}
	return nil
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

// newProxy returns the proxy of options that are valid. A proxy that is named by its address is admitted by
// that, for the connections to it; one that has a name must have an address that anything may be asked at.
func newProxy(o Options, env *pipeline.Env) (*proxy, error) {
	u, err := parseProxy(o.Proxy)
	if u == nil || err != nil {
		return nil, err
	}
	if o.ProxySecret != "" {
		if u.User, err = proxyUser(o.ProxySecret, u, env); err != nil {
			return nil, &pipeline.OptionError{Option: "proxy_secret", Err: err}
		}
	}
	p := &proxy{url: u, resolves: o.ProxyResolves}
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
	case secret.Kind() != control.KindBasic:
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
func (p *proxy) way(t target) via {
	if p == nil {
		return directly
	}
	switch host, port := t.hostPort(); {
	case p.except.match(host, port):
		return directly
	case t.scheme == "http" && !p.socks():
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

// proxyError says that the proxy, and not the host, is why there is no answer.
type proxyError struct{ err error }

func (e *proxyError) Error() string { return "by the proxy: " + e.err.Error() }
func (e *proxyError) Unwrap() error { return e.err }

// refusedBy says how a proxy answered that did not do as it was told. Only the number is repeated: what else
// it says could be what it was told.
func refusedBy(status int) error {
	hint := ""
	if status == 407 {
		hint = " (it wants other credentials: option proxy)"
	}
	return &proxyError{fmt.Errorf("it answers %s%s", statusText(status), hint)}
}
