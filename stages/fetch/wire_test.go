package fetch

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/httpclient"
)

// wireCase is what a server sends, and what is made of it.
type wireCase struct {
	name   string
	answer string
	body   string // of the document; what begins with "!" is why there is none, with "!!" after it was asked again
	goesOn bool   // the connection is used again
}

const (
	wireHead = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
	pag      = "Content-Length: 4\r\n\r\npag"
	four     = pag + "e"
	chunks   = "Transfer-Encoding: chunked\r\n\r\n"
	ok200    = "HTTP/1.1 200 OK\r\n"

	// atOnce stands where an answer goes on in one piece even if it is sent byte by byte: what comes after the next
	// request and looks like its answer is taken for it, by whatever client.
	atOnce = "\x1f"
)

var wireCases = []wireCase{
	{"plain", wireHead + four, "page", true},
	{"no length", wireHead + "\r\npage", "page", false},
	{"HTTP/1.0 ends with the connection", "HTTP/1.0 200 OK\r\n\r\npage", "page", false},
	{"HTTP/1.0 with a length is not used again", "HTTP/1.0 200 OK\r\n" + four, "page", false},
	{"HTTP/1.0 kept alive", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n" + four, "page", true},

	{"status line without reason", "HTTP/1.1 200\r\n" + four, "page", true},
	{"status line with a blank for a reason", "HTTP/1.1 200 \r\n" + four, "page", true},
	{"status line with more blanks", "HTTP/1.1   200  OK\r\n" + four, "page", true},
	{"status line with a tab", "HTTP/1.1\t200 OK\r\n" + four, "!malformed HTTP", false},
	{"reason in Latin-1", "HTTP/1.1 200 D\xe9j\xe0\r\n" + four, "page", true},
	{"reason with control characters", "HTTP/1.1 200 O\x07K\r\n" + four, "page", true},
	{"protocol in small letters", "http/1.1 200 OK\r\n" + four, "page", true},
	{"version 1.2", "HTTP/1.2 200 OK\r\n" + four, "page", true},
	{"version 2.0", "HTTP/2.0 200 OK\r\n" + four, "page", true},
	{"version 3.7 in chunks", "HTTP/3.7 200 OK\r\n" + chunks + "4\r\npage\r\n0\r\n\r\n", "page", true},
	{"version 2", "HTTP/2 200 OK\r\n" + four, "page", false},
	{"version 0.9", "HTTP/0.9 200 OK\r\n" + four, "page", false},
	{"no version", "HTTP 200 OK\r\n" + four, "!!malformed HTTP", false},
	{"another protocol", "ICY 200 OK\r\n" + four, "!!malformed HTTP", false},
	{"HTTP/0.9", "<p>a page and nothing else\r\n\r\n", "!!malformed HTTP", false},
	{"status of two digits", "HTTP/1.1 20 OK\r\n" + four, "!malformed HTTP status code", false},
	{"status of four digits", "HTTP/1.1 2000 OK\r\n" + four, "!malformed HTTP status code", false},
	{"status with a sign", "HTTP/1.1 +20 OK\r\n" + four, "!malformed HTTP status code", false},
	{"no status", "HTTP/1.1\r\n" + four, "!malformed HTTP status code", false},
	{"status 099", "HTTP/1.1 099 Low\r\n" + four, "!gave no document: 099", false},

	{"a blank line before", "\r\n" + wireHead + four, "page", true},
	{"two line feeds before", "\n\n" + wireHead + four, "page", true},
	{"five line feeds before", "\n\n\n\n\n" + wireHead + four, "!!malformed HTTP", false},
	{"noise before", "xx" + wireHead + four, "!!malformed HTTP", false},

	{"bare line feeds", strings.ReplaceAll(wireHead+four, "\r\n", "\n"), "page", true},
	{"line feeds, and a carriage return at the end", "HTTP/1.1 200 OK\nContent-Length: 4\n\r\npage", "page", true},
	{"bare carriage return in a value", ok200 + "X-A: a\rX-B: b\r\n" + four, "page", true},
	{"bare carriage return before a line's end", ok200 + "X-A: a\r\r\n" + four, "page", true},
	{"bare carriage return in a name", ok200 + "X\r-A: a\r\n" + four, "page", true},
	{"bare carriage return in the length", ok200 + "Content-Length: 4\r\r\n\r\npage", "!does not say where its body ends", false},
	{"bare carriage return before the status", "HTTP/1.1\r200 OK\r\n" + four, "!malformed HTTP", false},
	{"bare carriage return after the status", "HTTP/1.1 200\rOK\r\n" + four, "!malformed HTTP status code", false},
	{"a length behind a bare carriage return", ok200 + "X-A: a\rContent-Length: 2\r\n" + four, "page", true},
	{"NUL in a value", ok200 + "X-A: a\x00b\r\n" + four, "!NUL", false},
	{"NUL in a name", ok200 + "X\x00A: a\r\n" + four, "!NUL", false},
	{"NUL in the reason", "HTTP/1.1 200 O\x00K\r\n" + four, "!NUL", false},
	{"control characters in a value", ok200 + "Set-Cookie: a=\x01\x02\x7f\r\n" + four, "page", true},
	{"control characters in a name", ok200 + "X\x01: a\r\n" + four, "page", true},
	{"bytes beyond ASCII in a name", ok200 + "X-\xc3\xa9: a\r\n" + four, "page", true},
	{"no colon", ok200 + "this is no field\r\n" + four, "page", true},
	{"no name", ok200 + ": nameless\r\n" + four, "page", true},
	{"blanks in a name", ok200 + "not a name: a\r\n" + four, "page", true},
	{"blank before a colon", ok200 + "X-A : a\r\n" + four, "page", true},
	{"blank before the colon of the length", ok200 + "Content-Length : 4\r\n\r\npage", "page", true},
	{"blank before the colon of the coding", ok200 + "Transfer-Encoding\t: chunked\r\n\r\n4\r\npage\r\n0\r\n\r\n", "page", true},
	{"a folded field", ok200 + "X-A: a\r\n b\r\n\tc\r\n" + four, "page", true},
	{"a folded length", ok200 + "Content-Length:\r\n 4\r\n\r\npage", "page", true},
	{"a folded coding", ok200 + "Transfer-Encoding:\r\n chunked\r\n\r\n4\r\npage\r\n0\r\n\r\n", "page", true},
	{"a fold before the first field", ok200 + " X-A: a\r\n" + four, "page", true},
	{"a length in a fold before the first field", ok200 + " Content-Length: 2\r\n" + four, "!does not say where its body ends", false},
	{"a length in a fold", ok200 + "X-A: a\r\n Content-Length: 2\r\n" + four, "page", true},
	{"a fold of what is no field", ok200 + "no field\r\n : a\r\n" + four, "page", true},
	{"a length with a strange name", ok200 + "Content-Length\x0b: 2\r\n" + four, "!does not say where its body ends", false},
	{"a coding with a strange value", ok200 + "Transfer-Encoding: \x0bchunked\r\n" + four, "!does not say where its body ends", false},

	{"length 0", ok200 + "Content-Length: 0\r\n\r\n", "", true},
	{"length with zeros", ok200 + "Content-Length: 0004\r\n\r\npage", "page", true},
	{"length twice", ok200 + "Content-Length: 4\r\n" + four, "page", true},
	{"length as a list", ok200 + "Content-Length: 4, 4\r\n\r\npage", "page", true},
	{"length twice, and as a list", ok200 + "Content-Length: 4,4\r\n" + four, "page", true},
	{"two lengths", ok200 + "Content-Length: 2\r\n" + four, "!more than one Content-Length", false},
	{"two lengths as a list", ok200 + "Content-Length: 4, 2\r\n\r\npage", "!more than one Content-Length", false},
	{"a length and an empty one", ok200 + "Content-Length:\r\n" + four, "!more than one Content-Length", false},
	{"a length spelt in two ways", ok200 + "Content-Length: 04\r\n" + four, "!more than one Content-Length", false},
	{"a length with a sign", ok200 + "Content-Length: +2\r\n\r\npage", "page", false},
	{"a length below 0", ok200 + "Content-Length: -2\r\n\r\npage", "page", false},
	{"a length with a blank", ok200 + "Content-Length: 2 2\r\n\r\npage", "page", false},
	{"a length in hexadecimal", ok200 + "Content-Length: 0x2\r\n\r\npage", "page", false},
	{"a length that is a word", ok200 + "Content-Length: two\r\n\r\npage", "page", false},
	{"an empty length", ok200 + "Content-Length: \r\n\r\npage", "page", false},
	{"a length beyond numbers", ok200 + "Content-Length: 99999999999999999999\r\n\r\npage", "page", false},
	{"a length too long", ok200 + "Content-Length: 5\r\n\r\npage", "!body broken off", false},
	{"a length too short", ok200 + "Content-Length: 4\r\n\r\npage and more", "page", false},
	{"a length too short by an answer", ok200 + pag + atOnce + "e" + ok200 + "Content-Length: 5\r\n\r\nwrong", "page", false},
	{"a length too short by a line", ok200 + pag + atOnce + "e\r\n", "page", false},
	{"a large body with an answer behind it", ok200 + "Content-Length: 40000\r\n\r\n" + strings.Repeat("page", 10000) + ok200 + four, strings.Repeat("page", 10000), false},

	{"chunks", ok200 + chunks + "2\r\npa\r\n2\r\nge\r\n0\r\n\r\n", "page", true},
	{"chunks in capitals", ok200 + "TRANSFER-ENCODING: Chunked\r\n\r\n00A\r\n0123456789\r\n0\r\n\r\n", "0123456789", true},
	{"chunks with extensions", ok200 + chunks + "4;a=b;c=\"d\"\r\npage\r\n0;e\r\n\r\n", "page", true},
	{"chunks with blanks behind their sizes", ok200 + chunks + "4  \r\npage\r\n0\t\r\n\r\n", "page", true},
	{"chunks with a trailer", ok200 + chunks + "4\r\npage\r\n0\r\nX-A: a\r\nX-B: b\r\n\r\n", "page", true},
	{"chunks with a trailer that was announced", ok200 + "Trailer: X-A, Content-Length\r\n" + chunks + "4\r\npage\r\n0\r\nX-A: a\r\nContent-Length: 2\r\n\r\n", "page", true},
	{"chunks with a bad trailer", ok200 + chunks + "4\r\npage\r\n0\r\nno field\r\n : \x00\r\n\r\n", "page", true},
	{"chunks with a trailer without end", ok200 + chunks + "4\r\npage\r\n0\r\n" + strings.Repeat("X-A: a\r\n", 1000), "!body broken off", false},
	{"chunks without the last one", ok200 + chunks + "4\r\npage\r\n", "!body broken off", false},
	{"chunks without their end", ok200 + chunks + "4\r\npage\r\n0\r\n", "!body broken off", false},
	{"a chunk broken off", ok200 + chunks + "5\r\npage", "!body broken off", false},
	{"a chunk longer than it says", ok200 + chunks + "3\r\npage\r\n0\r\n\r\n", "!body broken off", false},
	{"a chunk of -4", ok200 + chunks + "-4\r\npage\r\n0\r\n\r\n", "!body broken off", false},
	{"a chunk of 0x4", ok200 + chunks + "0x4\r\npage\r\n0\r\n\r\n", "!body broken off", false},
	{"a chunk with a blank before its size", ok200 + chunks + " 4\r\npage\r\n0\r\n\r\n", "!body broken off", false},
	{"a chunk without a size", ok200 + chunks + "\r\npage\r\n0\r\n\r\n", "!body broken off", false},
	{"a chunk beyond numbers", ok200 + chunks + "10000000000000004\r\npage\r\n0\r\n\r\n", "!body broken off", false},
	{"chunks that end with line feeds", ok200 + chunks + "4\npage\n0\n\n", "!body broken off", false},
	{"no chunks, though said", ok200 + chunks + "<p>page", "!body broken off", false},
	{"more behind the last chunk", ok200 + chunks + "4\r\npage\r\n0\r\n\r" + atOnce + "\n" + ok200 + "Content-Length: 5\r\n\r\nwrong", "page", false},
	{"chunks and a length", ok200 + "Content-Length: 2\r\n" + chunks + "4\r\npage\r\n0\r\n\r\n", "page", false},
	{"chunks and two lengths", ok200 + "Content-Length: 2\r\nContent-Length: 3\r\n" + chunks + "4\r\npage\r\n0\r\n\r\n", "page", false},
	{"chunks said twice", ok200 + "Transfer-Encoding: chunked\r\n" + chunks + "4\r\npage\r\n0\r\n\r\n", "page", false},
	{"chunks by HTTP/1.0", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n" + chunks + "4\r\npage\r\n0\r\n\r\n", "page", false},
	{"chunks within identity", ok200 + "Transfer-Encoding: identity, chunked\r\n\r\n4\r\npage\r\n0\r\n\r\n", "page", true},
	{"identity and a length", ok200 + "Transfer-Encoding: identity\r\n" + four, "page", false},
	{"another transfer coding", ok200 + "Transfer-Encoding: gzip, chunked\r\n\r\n4\r\npage\r\n0\r\n\r\n", "!transfer encoding", false},
	{"another transfer coding and a length", ok200 + "Transfer-Encoding: xchunked\r\n" + four, "!transfer encoding", false},

	{"hints before", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + ok200 + four, "page", true},
	{"a hint with a body's length", "HTTP/1.1 100 Continue\r\nContent-Length: 9\r\n\r\n" + ok200 + four, "page", true},
	{"hints with bad lines", "HTTP/1.1 102 \x01\nno field\n\n" + ok200 + "no field\r\n" + four, "page", true},
	{"twenty hints", strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 20) + ok200 + four, "page", true},
	{"hints without end", strings.Repeat("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", 500), "!exceeded", false},
	{"an upgrade unasked", "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\npage", "!gave no document: 101", false},
	{"204 with a body", "HTTP/1.1 204 No Content\r\n" + four, "!gave no document: 204", false},
	{"204 with a length alone", "HTTP/1.1 204 No Content\r\nContent-Length: 4\r\n\r\n", "!gave no document: 204", true},
	{"304 with a body in chunks", "HTTP/1.1 304 Not Modified\r\n" + chunks + "4\r\npage\r\n0\r\n\r\n", "!gave no document: 304", false},
	{"304 with a length alone", "HTTP/1.1 304 Not Modified\r\nContent-Length: 4\r\n\r\n", "!gave no document: 304", true},
	{"205 with a body", "HTTP/1.1 205 Reset Content\r\n" + four, "!gave no document: 205", true},
	{"a header broken off", ok200 + "Content-Length: 4\r\n", "!unexpected EOF", false},
	{"a header too long", ok200 + "X-A: " + strings.Repeat("a", 8000) + "\r\n" + four, "!exceeded", false},
}

// TestWire holds what is made of an answer against what browsers and RFC 9112 make of it, over a connection of its own
// and over one that was used before, in one piece and byte by byte. The request that follows never reads what is left
// of the answer.
func TestWire(t *testing.T) {
	t.Parallel()
	for _, c := range wireCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, used := range []bool{false, true} {
				for _, whole := range []bool{true, false} {
					if whole || len(c.answer) < 400 {
						got, want := c.connections(t, used, whole), c.want(used)
						for i := 0; got > want && i < 3; i++ { // net/http gives up a connection whose writer sleeps for 50 ms
							got = c.connections(t, used, whole)
						}
						if got != want {
							t.Errorf("used %v, whole %v: %d connections, want %d", used, whole, got, want)
						}
					}
				}
			}
		})
	}
}

// want is how many connections the requests for a case take.
func (c *wireCase) want(used bool) int32 {
	switch {
	case c.goesOn:
		return 1
	case used && strings.HasPrefix(c.body, "!!"): // it could be the rest of the answer before
		return 3
	}
	return 2
}

// connections asks for what is always there, if the connection is to be used before, then for the case, and then for
// what is always there again. It returns how many connections that took.
func (c *wireCase) connections(t *testing.T, used, whole bool) int32 {
	t.Helper()
	var made atomic.Int32
	url := listen(t, func(conn net.Conn) {
		made.Add(1)
		for {
			switch path := requested(conn); path {
			case "":
				return
			case "/case":
				send(conn, c.answer, whole)
				if !c.goesOn {
					if strings.Contains(c.name, "without end") {
						return
					}
					_ = conn.(*net.TCPConn).CloseWrite()
					_, _ = io.Copy(io.Discard, conn)
					return
				}
			default:
				send(conn, ok200+fmt.Sprintf("Content-Length: %d\r\n\r\nalways %s", len("always ")+len(path), path), true)
			}
		}
	})
	o := strict()
	o.HeaderTimeout, o.Timeout, o.MaxBody = pipeline.Duration(20*time.Second), pipeline.Duration(30*time.Second), 100_000
	s := newTestStage(t, o)
	if used {
		mustFetch(t, s, url+"before", "always /before")
	}
	body, err := fetchOne(t, s, url+"case")
	if why := strings.TrimLeft(c.body, "!"); why != c.body {
		if err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("used %v, whole %v: %.60q, %v, want %q", used, whole, body, err, why)
		}
	} else if err != nil || sha256.Sum256([]byte(body)) != sha256.Sum256([]byte(c.body)) {
		t.Errorf("used %v, whole %v: %.60q, %v, want %.60q", used, whole, body, err, c.body)
	}
	mustFetch(t, s, url+"after", "always /after")
	return made.Load()
}

// fetchOne makes one request, as the stage does.
func fetchOne(t *testing.T, s *stage, url string) (string, error) {
	t.Helper()
	target, err := httpclient.ParseTarget(url)
	if err != nil {
		t.Fatal(err)
	}
	a, err := s.client.Get(t.Context(), target, nil, int(s.options.MaxBody))
	if err != nil {
		return "", err
	}
	defer a.Release()
	if a.Body == nil {
		return "", fmt.Errorf("gave no document: %s", httpclient.StatusText(a.Status))
	}
	return string(a.Body), nil
}

func mustFetch(t *testing.T, s *stage, url, want string) {
	t.Helper()
	if body, err := fetchOne(t, s, url); err != nil || body != want {
		t.Errorf("%s: %q, %v, want %q", url, body, err, want)
	}
}

// requested reads a request, and returns the path that it asks for.
func requested(conn net.Conn) string {
	var seen []byte
	p := make([]byte, 1024)
	for !strings.HasSuffix(string(seen), "\r\n\r\n") {
		n, err := conn.Read(p)
		if err != nil {
			return ""
		}
		seen = append(seen, p[:n]...)
	}
	_, rest, _ := strings.Cut(string(seen), " ")
	path, _, _ := strings.Cut(rest, " ")
	return path
}

// send writes an answer at once, or byte by byte.
func send(conn net.Conn, answer string, whole bool) {
	parts, rest, _ := strings.Cut(answer, atOnce)
	if whole {
		parts, rest = "", parts+rest
	}
	for i := range len(parts) {
		if _, err := io.WriteString(conn, parts[i:i+1]); err != nil {
			return
		}
	}
	_, _ = io.WriteString(conn, rest)
}

// TestALateRest: what a server sends behind an answer may come when the next thing is asked; that is then asked again
// over another connection.
func TestALateRest(t *testing.T) {
	t.Parallel()
	for _, rest := range []string{" and more", "4\r\npage\r\n0\r\n\r\n", "x" + ok200 + four} {
		var made atomic.Int32
		url := listen(t, func(conn net.Conn) {
			made.Add(1)
			for path := requested(conn); path != ""; path = requested(conn) {
				if path == "/second" && made.Load() == 1 {
					send(conn, rest, true)
				}
				send(conn, ok200+four, true)
			}
		})
		s := newTestStage(t, strict())
		for _, path := range []string{"first", "second", "third"} {
			mustFetch(t, s, url+path, "page")
		}
		if n := made.Load(); n != 2 {
			t.Errorf("%q behind an answer: %d connections, want 2", rest, n)
		}
	}
}

// TestWireOverTLS: answers that come through TLS are read in the same way, with HTTP/2 offered in vain or not.
func TestWireOverTLS(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		send(conn, ok200+"no field\r\nX-A : \x01\r\n"+four, true)
	}))
	defer server.Close()
	for _, offer := range []string{"off", "auto"} {
		o := local()
		o.InsecureHosts, o.HTTP2 = []string{"127.0.0.0/8"}, offer
		mustFetch(t, newTestStage(t, o), server.URL+"/", "page")
	}
}
