package httpwire

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// server is a connection that gives its answers in pieces of a size, one to each request; what is asked of it is
// forgotten.
type server struct {
	net.Conn
	answers []string
	now     string
	piece   int
}

func (s *server) Write(p []byte) (int, error) {
	if len(s.answers) > 0 {
		s.now, s.answers = s.now+s.answers[0], s.answers[1:]
	}
	return len(p), nil
}

func (s *server) Read(p []byte) (int, error) {
	if s.now == "" {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), s.piece)], s.now)
	s.now = s.now[n:]
	return n, nil
}

const most = 4 << 10

// converse makes a request for each answer over one connection, as long as it lasts, and returns what net/http makes of
// them, a line for each. Bytes that follow an answer are told, too.
func converse(method string, piece int, answers ...string) (said []string) {
	s := &server{answers: answers, piece: piece}
	c := New(s, most)
	in := bufio.NewReaderSize(c, 16<<10)
	for range answers {
		_, _ = io.WriteString(c, method+" / HTTP/1.1\r\n\r\n")
		line, goesOn := hear(in, method)
		said = append(said, line)
		if !goesOn {
			break
		}
		if n := in.Buffered(); n > 0 {
			said = append(said, fmt.Sprintf("and %d bytes", n))
		}
		if s.now != "" || c.err != nil { // net/http waits for what comes between requests, and then closes
			if _, err := in.Peek(1); err == io.EOF {
				return append(said, "closed")
			}
		}
	}
	return said
}

func hear(in *bufio.Reader, method string) (line string, goesOn bool) {
	for {
		r, err := http.ReadResponse(in, &http.Request{Method: method})
		if err != nil {
			return err.Error(), false
		}
		if r.StatusCode/100 == 1 && r.StatusCode != http.StatusSwitchingProtocols {
			continue
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return fmt.Sprintf("%d %q: %v", r.StatusCode, body, err), false
		}
		var fields bytes.Buffer
		_ = r.Header.Write(&fields)
		return fmt.Sprintf("%d %q %s", r.StatusCode, body, strings.ReplaceAll(fields.String(), "\r\n", "|")), !r.Close && r.StatusCode != http.StatusSwitchingProtocols
	}
}

// FuzzHead: a clean head passes byte for byte, and net/http takes all that passes; what is refused has a reason.
func FuzzHead(f *testing.F) {
	for _, s := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab", "HTTP/1.0 200\n\nx", "http/3.7 404 ?\r\nA : b\r\n c\r\n\r\n",
		"\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n", "HTTP/1.1 200 \rOK\nX:\x01\n : y\n\n",
		"HTTP/1.1 200 OK\nContent-Length: 3, 3\nContent-Length: +3\n\nabc", "HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 204 No\r\nTrailer: X\r\n\r\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		end, from := headEnd(b, 0)
		if end == 0 && from > len(b) {
			t.Fatalf("%q: looks on at %d", b, from)
		}
		if n, _ := scan(b); n > 0 {
			if n != end {
				t.Fatalf("%q: clean up to %d, but it ends at %d", b, n, end)
			}
			if _, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(b[:n])), nil); err != nil {
				t.Fatalf("%q is called clean: %v", b, err)
			}
			got := make([]byte, n)
			if _, err := io.ReadFull(New(&server{now: string(b), piece: 7}, len(b)), got); err != nil || !bytes.Equal(got, b[:n]) {
				t.Fatalf("%q became %q, %v", b[:n], got, err)
			}
			return
		}
		if end == 0 || !maybeResponse(b) {
			return
		}
		head, framed, err := clean(b[:end])
		if err != nil {
			return
		}
		n, again := scan(head)
		if n != len(head) || again != framed {
			t.Fatalf("%q became %q, which is not clean: %d, %+v, %+v", b[:end], head, n, again, framed)
		}
	})
}

// FuzzResponses: in whatever pieces the bytes come, the same is read; no byte passes that belongs to no answer; and a
// body is what net/http itself reads after a head that is clean.
func FuzzResponses(f *testing.F) {
	for _, s := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nabHTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 304 x\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\nab\r\n1 \r\nc\r\n0\r\nA: b\r\nbad\r\n\r\nmore", "HTTP/1.1 101 Up\r\n\r\nup",
		"HTTP/1.1 100 Go\n\nHTTP/1.1 200 OK\nA:\n b\nContent-Length : 1\n\nxHTTP/1.1 200 OK\n\n", "220 mail\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\nx\n0\n\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\n",
	} {
		f.Add([]byte(s), byte(1))
	}
	f.Fuzz(func(t *testing.T, b []byte, piece byte) {
		const next = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnext"
		whole := converse("GET", 1<<20, string(b), next)
		parts := converse("GET", int(piece)+1, string(b), next)
		if fmt.Sprint(whole) != fmt.Sprint(parts) && !strings.Contains(fmt.Sprint(whole, parts), "exceeded") {
			t.Fatalf("%q at once: %q; in pieces of %d: %q", b, whole, int(piece)+1, parts)
		}
		for _, line := range whole {
			if strings.HasPrefix(line, "and ") {
				t.Fatalf("%q: %q", b, whole)
			}
		}
		if n, f := scan(b); n > 0 && !f.informs && !f.switches {
			want, _ := hear(bufio.NewReaderSize(bytes.NewReader(b), 16<<10), "GET")
			if want != whole[0] && !strings.Contains(want, "trailer") && !strings.Contains(want, "malformed MIME") && !strings.Contains(want, "unexpected EOF") {
				t.Fatalf("%q: %q, net/http alone: %q", b, whole[0], want)
			}
		}
	})
}
