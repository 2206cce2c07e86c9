package fetch

import (
	"bufio"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
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
