package hostile

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"time"
)

// impatient are limits of time that a slow server reaches soon. They hold for good pages too, so they are
// not too short for a busy machine.
var impatient = []string{"frontier.attempts=1", "fetch.connect_timeout=2s", "fetch.header_timeout=2s", "fetch.timeout=4s"}

// once lets nothing be tried a second time.
var once = []string{"frontier.attempts=1"}

// fails is what comes of one bad URL that the network is to blame for.
func fails(because string) Expect {
	return Expect{
		Counters: some{"errors": 1, "fetch.network_failures": 1},
		Why:      says{bad: "gave no document"},
		Asked:    1,
	}.saying(bad, because)
}

// saying returns the expectation with something else said of a URL.
func (e Expect) saying(url, what string) Expect {
	why := says{url: what}
	for u, w := range e.Why {
		if u != url {
			why[u] = w
		}
	}
	e.Why = why
	return e
}

// atMost returns the expectation with a bound of requests instead of a number: a client may repeat a request once whose
// connection, used before, ended without a word.
func (e Expect) atMost(requests int) Expect {
	e.Asked, e.AtMost = 0, requests
	return e
}

func connections() []Case {
	return []Case{
		{
			Name: "never-answers", Does: "takes the request and says nothing", Slow: true, Options: impatient,
			Lay:    func(s *Site) { s.raw(bad, hold("")) },
			Expect: fails("timeout awaiting response headers"),
		},
		{
			Name: "accepts-and-closes", Does: "closes each connection at once", Scope: "any", Options: once,
			Lay:    func(s *Site) { s.link("http://" + s.listen(func(net.Conn) {}) + bad) },
			Expect: Expect{Counters: some{"errors": 1, "fetch.network_failures": 1}, AtMost: 3},
		},
		{
			Name: "no-listener", Does: "is down", Scope: "any", Options: once,
			Lay: func(s *Site) {
				host := httptest.NewServer(nil)
				host.Close()
				s.link(host.URL + bad)
			},
			Expect: Expect{Counters: some{"errors": 1, "fetch.network_failures": 1}},
		},
		{
			Name: "hangs-up", Does: "takes the request and closes the connection", Options: once,
			Lay:    func(s *Site) { s.raw(bad, func(net.Conn) {}) },
			Expect: fails("EOF").atMost(2),
		},
		{
			Name: "resets", Does: "takes the request and resets the connection", Options: once,
			Lay:    func(s *Site) { s.raw(bad, reset("")) },
			Expect: fails("reset").atMost(2),
		},
		{
			Name: "resets-in-header", Does: "resets the connection in the middle of the header", Options: once,
			Lay:    func(s *Site) { s.raw(bad, reset("HTTP/1.1 200 OK\r\nContent-")) },
			Expect: fails("gave no document"),
		},
		{
			Name: "resets-in-body", Does: "resets the connection in the middle of the body", Options: once,
			Lay:    func(s *Site) { s.raw(bad, reset(head+"Content-Length: 500\r\n\r\n<p>begun")) },
			Expect: fails("body broken off"),
		},
		{
			Name: "drips-header", Does: "sends its header a byte at a time", Slow: true, Options: impatient,
			Lay:    func(s *Site) { s.raw(bad, drip(head, "X-Slow: very\r\n")) },
			Expect: fails("timeout awaiting response headers"),
		},
		{
			Name: "drips-body", Does: "sends its body a byte at a time", Slow: true, Options: impatient,
			Lay:    func(s *Site) { s.raw(bad, drip(head+"\r\n", "slow ")) },
			Expect: fails("no complete answer within 4s"),
		},
		{
			Name: "drips-below-the-rate", Does: "sends its body at five bytes a second, and would for a minute", Slow: true,
			Options: append([]string{"fetch.min_rate=100", "fetch.min_rate_after=1s"}, once...),
			Lay:     func(s *Site) { s.raw(bad, drip(head+"\r\n", "slow ")) },
			Expect: Expect{
				Counters: some{"errors": 1, "fetch.network_failures": 1, "fetch.too_slow": 1},
				Why:      says{bad: "less than 100 bytes a second"}, Asked: 1,
			},
		},
		{
			Name: "stops-in-body", Does: "falls silent in the middle of the body", Slow: true, Options: impatient,
			Lay:    func(s *Site) { s.raw(bad, hold(head+"Content-Length: 500\r\n\r\n<p>begun")) },
			Expect: fails("no complete answer within 4s"),
		},
		{
			Name: "error-without-end", Does: "answers 404 with a body that never ends, a byte at a time", Slow: true, Options: impatient,
			Lay: func(s *Site) {
				s.raw(bad, drip("HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\n\r\n", "not found "))
			},
			Expect: Expect{Counters: some{"errors": 1, "fetch.status_404": 1}, Why: says{bad: "gave no document: 404 Not Found"}, Asked: 1},
		},
		{
			Name: "closes-after-each-answer", Does: "promises to keep the connection, and closes it after each answer",
			Lay: func(s *Site) {
				s.wrap = func(h http.HandlerFunc) http.HandlerFunc {
					return rewritten(h, func(c net.Conn, answer []byte) { _, _ = c.Write(answer) })
				}
			},
		},
		{
			Name: "keeps-connections-briefly", Does: "closes connections a moment after they were used",
			Lay: func(s *Site) {
				s.wrap = func(h http.HandlerFunc) http.HandlerFunc {
					return rewritten(h, func(c net.Conn, answer []byte) {
						_, _ = c.Write(answer)
						time.Sleep(time.Millisecond) // the client may be about to use it again
					})
				}
			},
		},
		{
			Name: "goes-deaf", Does: "keeps connections open after an answer, and reads nothing from them any more", Slow: true,
			Options: []string{"fetch.header_timeout=2s"},
			Lay: func(s *Site) {
				s.wrap = func(h http.HandlerFunc) http.HandlerFunc {
					return rewritten(h, func(c net.Conn, answer []byte) {
						_, _ = c.Write(answer)
						_, _ = io.Copy(io.Discard, c)
					})
				}
			},
		},
		{
			Name: "garbage-after-body", Does: "sends noise after the end of each answer",
			Lay: func(s *Site) {
				s.wrap = func(h http.HandlerFunc) http.HandlerFunc {
					return rewritten(h, func(c net.Conn, answer []byte) {
						_, _ = c.Write(append(answer, "\x00\xffnoise\r\n\r\n"...))
						_, _ = io.Copy(io.Discard, c)
					})
				}
			},
		},
		{
			Name: "answers-unasked", Does: "sends a second answer after each, to poison the next request",
			Lay: func(s *Site) {
				s.wrap = func(h http.HandlerFunc) http.HandlerFunc {
					return rewritten(h, func(c net.Conn, answer []byte) {
						_, _ = c.Write(append(answer, head+"Content-Length: 26\r\n\r\n<a href=/poison>poison</a>"...))
						_, _ = io.Copy(io.Discard, c)
					})
				}
			},
			Expect: Expect{Why: says{"/poison": "never accepted"}},
		},
		{
			Name: "speaks-another-protocol", Does: "greets like a mail server", Options: once,
			Lay:    func(s *Site) { s.raw(bad, send("220 mail.example.org ESMTP ready\r\n")) },
			Expect: fails("malformed HTTP").atMost(2), // on a used connection it may be left from the answer before
		},
	}
}

// rewritten lets a function send what a handler answers.
func rewritten(h http.HandlerFunc, write func(c net.Conn, answer []byte)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		record := httptest.NewRecorder()
		h(record, r)
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		record.Header().Set("Content-Length", strconv.Itoa(record.Body.Len()))
		var b bytes.Buffer
		b.WriteString("HTTP/1.1 " + strconv.Itoa(record.Code) + " " + http.StatusText(record.Code) + "\r\n")
		_ = record.Header().Write(&b)
		b.WriteString("\r\n" + record.Body.String())
		write(conn, b.Bytes())
	}
}

// long is much of the same.
func long(text string, size int) string { return strings.Repeat(text, size/len(text)+1) }
