package httpclient

import (
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"sync"
	"time"

	"golang.org/x/net/http2"

	"github.com/webrace/webrace/internal/descriptors"
	"github.com/webrace/webrace/pipeline"
)

// ConnectionOptions determine how hosts are connected to.
type ConnectionOptions struct {
	HTTP2      string   `toml:"http2" doc:"off speaks HTTP/1.1, auto HTTP/2 with all hosts that speak it over TLS" enum:"off,auto"`
	HTTP2Hosts []string `toml:"http2_hosts" doc:"hosts that are spoken to by HTTP/2, if they can, while http2 is off: www.example.org, *.example.org"`
	IPFamily   string   `toml:"ip_family" doc:"which addresses are connected to: any in the resolver's order, one family before the other, or one alone" enum:"any,prefer-ipv4,prefer-ipv6,ipv4,ipv6"`
}

// What HTTP/2 connections are watched by, and how much of an unread body they may hold: a connection that
// is silent is asked for a sign of life, since requests share it.
const (
	http2Silence   = 15 * time.Second
	http2Ping      = 10 * time.Second
	http2PerStream = 1 << 20
	http2PerConn   = 3 << 20
)

func (o ConnectionOptions) validate() error {
	if o.HTTP2 != "off" && o.HTTP2 != "auto" {
		return optionIsNone("http2", o.HTTP2, "off", "auto")
	}
	if _, known := families[o.IPFamily]; !known {
		return optionIsNone("ip_family", o.IPFamily, slices.Sorted(maps.Keys(families))...)
	}
	if _, err := parseHosts(o.HTTP2Hosts); err != nil {
		return &pipeline.OptionError{Option: "http2_hosts", Err: err}
	}
	return nil
}

// kind is what the connections to a host have in common. Those of different kinds never mix.
type kind struct {
	http2    bool // is offered
	insecure bool // the certificate is not checked
	presents bool // the crawler's certificate is shown if it is wanted
	via      via
	proxy    int // the number of the proxy, if it is not directly
}

// transports has a transport for each kind of connection that was needed so far.
type transports struct {
	options Config
	workers int
	dialer  *dialer
	proxies *proxyPool
	trust   *trust
	http2   hosts

	mu     sync.Mutex
	byKind map[kind]*http.Transport
}

func newTransports(o Config, env *pipeline.Env, d *dialer, t *trust, proxies []*proxy) *transports {
	ts := &transports{options: o, workers: env.Workers, dialer: d, trust: t, byKind: make(map[kind]*http.Transport)}
	var tunnels []*tunneller
	for _, p := range proxies {
		tunnels = append(tunnels, &tunneller{dialer: d, proxy: p, secure: t.toProxy(p), userAgent: o.UserAgent, maxHeader: o.MaxHeader})
	}
	ts.proxies = newProxyPool(proxies, tunnels, env)
	ts.http2, _ = parseHosts(o.HTTP2Hosts)
	if o.HTTP2 == "auto" {
		ts.http2 = hosts{{}}
	}
	return ts
}

// kindOf returns the kind of the connections to a target's host through a proxy, or none.
func (ts *transports) kindOf(t Target, by *choice) kind {
	k := kind{}
	if by != nil {
		k.via, k.proxy = by.way(t), by.number
	}
	if t.Scheme != "https" {
		return k
	}
	host, port := t.hostPort()
	return kind{
		via: k.via, proxy: k.proxy,
		http2: ts.http2.match(host, port), insecure: ts.trust.insecure.match(host, port), presents: ts.trust.presents.match(host, port),
	}
}

func (ts *transports) of(k kind) (*http.Transport, error) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if t := ts.byKind[k]; t != nil {
		return t, nil
	}
	t, err := ts.make(k)
	if err == nil {
		ts.byKind[k] = t
	}
	return t, err
}

func (ts *transports) make(k kind) (*http.Transport, error) {
	o := ts.options
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(k.http2)
	t := &http.Transport{
		TLSClientConfig:        ts.trust.config(k.insecure, k.presents),
		Protocols:              &protocols,
		DisableCompression:     true,
		ReadBufferSize:         16 << 10,
		TLSHandshakeTimeout:    o.ConnectTimeout,
		ResponseHeaderTimeout:  o.HeaderTimeout,
		MaxResponseHeaderBytes: o.MaxHeader,
		MaxIdleConns:           min(o.IdleConnections, max(1, descriptors.Limit()/6)), // see [descriptors.Enough]
		MaxIdleConnsPerHost:    max(1, min(ts.workers, o.IdleConnections)),
		IdleConnTimeout:        30 * time.Second,
		DisableKeepAlives:      o.IdleConnections == 0, // MaxIdleConns takes 0 for no limit
		HTTP2: &http.HTTP2Config{
			SendPingTimeout: http2Silence, PingTimeout: http2Ping, WriteByteTimeout: http2Ping,
			MaxReceiveBufferPerStream: http2PerStream, MaxReceiveBufferPerConnection: http2PerConn,
		},
	}
	dial := ts.dialer.dial
	switch k.via {
	case tunnelled:
		dial = ts.proxies.tunnels[k.proxy].dial
	case forwarded: // all hosts share the connections to the proxy
		tunnel := ts.proxies.tunnels[k.proxy]
		dial, t.Proxy, t.TLSClientConfig = tunnel.dialProxy, http.ProxyURL(tunnel.proxy.url), tunnel.secure
		t.MaxIdleConnsPerHost = max(1, o.IdleConnections)
	}
	dialWith(t, dial, int(o.MaxHeader))
	if k.http2 {
		return t, useHTTP2(t, o)
	}
	return t, nil
}

// useHTTP2 makes a transport speak HTTP/2 by golang.org/x/net: the copy of it in net/http, up to Go 1.26,
// waits for itself for ever when a server overflows the window of a stream, whatever the deadline.
func useHTTP2(t *http.Transport, o Config) error {
	//lint:ignore SA1019 what it is to be replaced with is what does not work
	h2, err := http2.ConfigureTransports(t)
	if err != nil {
		return fmt.Errorf("set HTTP/2 up: %w", err)
	}
	//lint:ignore SA1019 it is the option of x/net
	h2.MaxHeaderListSize = uint32(min(o.MaxHeader, math.MaxUint32))
	return nil
}

// closeIdle closes the connections that nothing uses.
func (ts *transports) closeIdle() {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	for _, t := range ts.byKind {
		t.CloseIdleConnections()
	}
}
