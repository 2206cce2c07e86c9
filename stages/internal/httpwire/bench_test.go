package httpwire

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
)

// again is a connection that gives the same answer to each request, as much of it as is read at a time.
type again struct {
	net.Conn
	answer, left string
}

func (a *again) Write(p []byte) (int, error) { a.left = a.answer; return len(p), nil }

func (a *again) Read(p []byte) (int, error) {
	n := copy(p, a.left)
	a.left = a.left[n:]
	return n, nil
}

// BenchmarkResponse reads an answer of the usual size, with its head clean or not, and without the layer.
func BenchmarkResponse(b *testing.B) {
	const request = "GET / HTTP/1.1\r\nHost: h.example\r\n\r\n"
	head := "HTTP/1.1 200 OK\r\nDate: Mon, 05 Jan 2026 10:00:00 GMT\r\nServer: nginx\r\nContent-Type: text/html; charset=utf-8\r\n" +
		"Cache-Control: max-age=600, must-revalidate\r\nETag: \"5f3c-60d1e7a8b2c40\"\r\nLast-Modified: Sun, 04 Jan 2026 09:00:00 GMT\r\n" +
		"Vary: Accept-Encoding\r\nSet-Cookie: session=0123456789abcdef0123456789abcdef; Path=/; HttpOnly; Secure; SameSite=Lax\r\n" +
		"Strict-Transport-Security: max-age=31536000; includeSubDomains\r\nX-Frame-Options: SAMEORIGIN\r\nX-Content-Type-Options: nosniff\r\n"
	page := strings.Repeat("<p>a page of the usual size</p>\n", 750)
	var chunked strings.Builder
	for rest := page; rest != ""; {
		n := min(len(rest), 4096)
		fmt.Fprintf(&chunked, "%x\r\n%s\r\n", n, rest[:n])
		rest = rest[n:]
	}
	length := fmt.Sprintf("Content-Length: %d\r\n\r\n", len(page))
	for _, c := range []struct {
		name, answer string
		bare         bool
	}{
		{"without", head + length + page, true},
		{"length", head + length + page, false},
		{"chunks", head + "Transfer-Encoding: chunked\r\n\r\n" + chunked.String() + "0\r\n\r\n", false},
		{"unclean", head + "no field\r\n" + length + page, false},
	} {
		b.Run(c.name, func(b *testing.B) {
			server := &again{answer: c.answer}
			var conn net.Conn = New(server, 256<<10)
			if c.bare {
				conn = server
			}
			p := make([]byte, 16<<10)
			b.ReportAllocs()
			for b.Loop() {
				_, _ = io.WriteString(conn, request)
				for left := len(c.answer); left > 0 && server.left != ""; {
					n, err := conn.Read(p)
					if err != nil {
						b.Fatal(err)
					}
					left -= n
				}
			}
		})
	}
}
