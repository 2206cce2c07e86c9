package fetch

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/webrace/webrace/pipeline"
)

func TestABodyThatDripsIsGivenUp(t *testing.T) {
	t.Parallel()
	for name, head := range map[string]string{
		"plain":    "HTTP/1.1 200 OK\r\n\r\n",
		"measured": "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n",
		"packed":   "HTTP/1.1 200 OK\r\nContent-Encoding: br\r\n\r\n",
	} {
		url := listen(t, func(c net.Conn) { readRequest(c); fmt.Fprint(c, head); drip(c, "x") })
		o := local()
		o.MinRate, o.MinRateAfter = 10_000, pipeline.Duration(200*time.Millisecond)
		r, all := one(t, o, get(url))
		if name == "packed" && all.counters["undecodable"] == 1 {
			continue // which is seen sooner
		}
		if r.outcome.Err == nil || !strings.Contains(r.outcome.Err.Error(), "less than 10000 bytes a second (option min_rate)") || r.outcome.RetryAt.IsZero() {
			t.Errorf("%s: %+v", name, r.outcome)
		}
		if all.counters["too_slow"] != 1 || all.counters["network_failures"] != 1 || all.counters["pages"] != 0 {
			t.Errorf("%s: counters %v", name, all.counters)
		}
	}
}

func TestAnHTTP2BodyThatDripsIsGivenUp(t *testing.T) {
	t.Parallel()
	server := listen2(t, func(c *conn2) {
		id, ok := c.request()
		if !ok {
			return
		}
		c.header(id, false, ":status", "200")
		for c.WriteData(id, false, []byte("x")) == nil {
			time.Sleep(10 * time.Millisecond) // what a slow server does; nothing waits for it
		}
	})
	o := patient(strict2())
	o.MinRate, o.MinRateAfter = 10_000, pipeline.Duration(200*time.Millisecond)
	if r, all := one(t, o, get(server.url)); all.counters["too_slow"] != 1 || r.outcome.Err == nil {
		t.Errorf("%+v, counters %v", r.outcome, all.counters)
	}
}

// TestTheRestOfAnUnwantedBodyIsNotWaitedFor: the answer is known already.
func TestTheRestOfAnUnwantedBodyIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	for head, counter := range map[string]string{
		"HTTP/1.1 404 Not Found\r\nContent-Length: 1000\r\n\r\n":                                "status_404",
		"HTTP/1.1 404 Not Found\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n":                     "status_404",
		"HTTP/1.1 404 Not Found\r\n\r\n":                                                        "status_404",
		"HTTP/1.0 404 Not Found\r\n\r\n":                                                        "status_404",
		"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n": "status_101",
		"HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 1000\r\n\r\n":                    "redirects",
	} {
		url := listen(t, func(c net.Conn) {
			readRequest(c)
			fmt.Fprint(c, head)
			_, _ = io.Copy(io.Discard, c)
		})
		r, all := one(t, local(), get(url)) // which waits for a minute
		if r.outcome.Err != nil || all.counters[counter] != 1 || all.counters["network_failures"] != 0 {
			t.Errorf("%q: %+v, counters %v", head, r.outcome, all.counters)
		}
	}
}

// TestAConnectionIsNotUsedAgainAfterAnError: whatever broke the one, the next request has its own.
func TestAConnectionIsNotUsedAgainAfterAnError(t *testing.T) {
	t.Parallel()
	big := bytes.Repeat([]byte("x"), 1<<20)
	const head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
	for name, first := range map[string]string{
		"cut off":            head + "Content-Length: 10\r\n\r\nab",
		"bad chunk":          head + "Transfer-Encoding: chunked\r\n\r\nzz\r\n",
		"too long":           head + fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(big), big),
		"bad trailer":        head + "Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\nno trailer\r\n\r\n",
		"endless trailer":    head + "Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n" + strings.Repeat("X: y\r\n", 100_000),
		"two answers":        head + "Content-Length: 2\r\n\r\nab" + head + "Content-Length: 5\r\n\r\nwrong",
		"a huge missing one": "HTTP/1.1 404 Not Found\r\nContent-Length: 1048576\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var connections atomic.Int64
			url := listen(t, func(c net.Conn) {
				readRequest(c)
				if connections.Add(1) == 1 {
					_, _ = io.WriteString(c, first)
					_ = c.(*net.TCPConn).CloseWrite()
					_, _ = io.Copy(io.Discard, c)
					return
				}
				_, _ = io.WriteString(c, head+"Content-Length: 4\r\n\r\npage")
			})
			s := newTestStage(t, patient(strict()))
			_ = s.Process(t.Context(), item(url+"1"), discard{}) // may fail
			before := s.env.Counters()["bytes"]
			if err := s.Process(t.Context(), item(url+"2"), discard{}); err != nil {
				t.Fatal(err)
			}
			if n := s.env.Counters()["bytes"] - before; n != 4 || connections.Load() != 2 {
				t.Errorf("%d bytes over %d connections", n, connections.Load())
			}
		})
	}
}

// TestWhatComesBesideTheBodyIsHarmless: answers to no request, and fields after the body.
func TestWhatComesBesideTheBodyIsHarmless(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"an invitation to go on": "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npage",
		"early hints":            "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npage",
		"trailers":               "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X\r\n\r\n4\r\npage\r\n0\r\nX: y\r\nEtag: z\r\n\r\n",
		"extended chunks":        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4;a=b\r\npage\r\n0\r\n\r\n",
	} {
		r, all := one(t, patient(strict()), get(says(t, text)))
		if len(r.bodies) != 1 || r.bodies[0] != "page" || r.visit.ETag != "" || all.counters["pages"] != 1 {
			t.Errorf("%s: %+v, counters %v", name, r, all.counters)
		}
	}
}

func TestNothingIsExpectedOfAServer(t *testing.T) {
	t.Parallel()
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		for _, field := range []string{"Expect", "Upgrade", "Te", "Trailer", "Cookie", "Authorization"} {
			if r.Header.Get(field) != "" {
				t.Errorf("%s: %s", field, r.Header.Get(field))
			}
		}
		if r.ContentLength != 0 || r.Method != http.MethodGet {
			t.Errorf("%s of %d bytes", r.Method, r.ContentLength)
		}
	})
	if r, _ := one(t, local(), get(url+"/")); len(r.bodies) != 1 {
		t.Errorf("%+v", r.outcome)
	}
}
