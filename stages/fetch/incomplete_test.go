package fetch

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/stages/internal/httpclient/clienttest"
)

// cutBodies are answers that end early, by the way in which they do, of the same page.
func cutBodies(t *testing.T) (page string, answers map[string]string) {
	words := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	for text.Len() < 300_000 { // more than a block of zstd
		fmt.Fprintf(&text, "<p>%x</p>\n", words.Uint64())
	}
	page = text.String()
	half := page[:len(page)/2]
	answers = map[string]string{
		"length":            fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(page), half),
		"chunk":             fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s", len(page), half),
		"last chunk":        fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", len(half), half),
		"gzip second begun": "Content-Encoding: gzip\r\n\r\n" + string(clienttest.Encode(t, "gzip", []byte(half))) + "\x1f\x8b\x08\x00\x00",
	}
	for _, coding := range []string{"gzip", "deflate", "bare", "br", "zstd"} {
		said := strings.Replace(coding, "bare", "deflate", 1)
		whole := clienttest.Encode(t, coding, []byte(page))
		cut := string(whole[:3*len(whole)/4])
		answers[coding] = fmt.Sprintf("Content-Encoding: %s\r\n\r\n%s", said, cut)
		answers[coding+" length"] = fmt.Sprintf("Content-Encoding: %s\r\nContent-Length: %d\r\n\r\n%s", said, len(whole), cut)
		answers[coding+" chunk"] = fmt.Sprintf("Content-Encoding: %s\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s", said, len(whole), cut)
	}
	return page, answers
}

// TestABodyThatEndsEarly is refused as a failure of the network is, or kept as far as it came, by one rule for all
// transfers and content encodings.
func TestABodyThatEndsEarly(t *testing.T) {
	t.Parallel()
	page, answers := cutBodies(t)
	for name, answer := range answers {
		url := listen(t, func(conn net.Conn) {
			readRequest(conn)
			fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nETag: \"1\"\r\n%s", answer)
		})
		o := local()
		r, all := one(t, o, get(url))
		if r.outcome.Err == nil || r.outcome.RetryAt.IsZero() || !strings.Contains(r.outcome.Err.Error(), "body broken off: unexpected EOF") || len(r.documents) != 0 {
			t.Errorf("%s refused: %v, counters %v", name, r.outcome.Err, all.counters)
		}
		o.Incomplete = "keep"
		r, all = one(t, o, get(url))
		if r.outcome.Err != nil || len(r.documents) != 1 {
			t.Errorf("%s kept: %v, counters %v", name, r.outcome.Err, all.counters)
			continue
		}
		d, body := r.documents[0], r.bodies[0]
		if !d.Truncated || len(body) < len(page)/4 || len(body) == len(page) || !strings.HasPrefix(page, body) || r.visit.ETag != "" {
			t.Errorf("%s kept: %d bytes of %d, truncated %v, %+v", name, len(body), len(page), d.Truncated, r.visit)
		}
		if why := d.Header.Get(webrace.UndecodedField); !strings.HasPrefix(why, "it ends early (unexpected EOF)") || all.counters["incomplete"] != 1 || all.counters["truncated"] != 1 {
			t.Errorf("%s kept: %q, counters %v", name, why, all.counters)
		}
		if why := webrace.TruncationOf(d.Header); why != webrace.TruncatedByDisconnect {
			t.Errorf("%s kept: truncated by %s", name, why)
		}
	}
}

// TestWhatIsNothingIsNotKept: a body that ends before it began is none, nor is what could not be decoded at all.
func TestWhatIsNothingIsNotKept(t *testing.T) {
	t.Parallel()
	small := clienttest.Encode(t, "zstd", bytes.Repeat([]byte("page "), 100))
	for name, answer := range map[string]string{
		"length": "Content-Length: 5\r\n\r\n", "chunk": "Transfer-Encoding: chunked\r\n\r\n5\r\n", "zstd": "Content-Encoding: zstd\r\n\r\n" + string(small[:len(small)-5]),
		"gzip": "Content-Encoding: gzip\r\n\r\n\x1f\x8b\x08\x00",
	} {
		url := listen(t, func(conn net.Conn) {
			readRequest(conn)
			fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\n%s", answer)
		})
		o := local()
		o.Incomplete = "keep"
		if r, all := one(t, o, get(url)); r.outcome.Err == nil || len(r.documents) != 0 {
			t.Errorf("%s: %+v, counters %v", name, r, all.counters)
		}
	}
}
