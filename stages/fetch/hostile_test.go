package fetch

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/httpclient/clienttest"
)

var discardLog = log.New(io.Discard, "", 0)

func cancellable(t *testing.T) (context.Context, context.CancelFunc) {
	return context.WithCancel(t.Context())
}

// strict returns limits that a hostile server reaches at once.
func strict() Options {
	o := local()
	o.ConnectTimeout = pipeline.Duration(2 * time.Second)
	o.HeaderTimeout = pipeline.Duration(300 * time.Millisecond)
	o.Timeout = pipeline.Duration(600 * time.Millisecond)
	o.MaxHeader, o.MaxBody = 4<<10, 10_000
	return o
}

// forEver writes the same again and again until the other side has had enough.
func forEver(conn net.Conn, again string) {
	for {
		if _, err := io.WriteString(conn, again); err != nil {
			return
		}
	}
}

// drip writes a byte at a time.
func drip(conn net.Conn, text string) {
	for i := 0; ; i++ {
		if _, err := conn.Write([]byte{text[i%len(text)]}); err != nil {
			return
		}
		time.Sleep(20 * time.Millisecond) // what a slow server does; nothing waits for it
	}
}

// TestServersThatFail has every way in which a server can fail to answer: each costs one request, within
// its limits, and is tried again later.
func TestServersThatFail(t *testing.T) {
	t.Parallel()
	const head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
	for name, c := range map[string]struct {
		handle func(net.Conn)
		error  string
	}{
		"never answers":    {func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }, "timeout awaiting response headers"},
		"hangs up":         {func(c net.Conn) { readRequest(c) }, "EOF"},
		"drips the header": {func(c net.Conn) { readRequest(c); drip(c, "HTTP/1.1 200 OK\r\nX: "+strings.Repeat("x", 1000)) }, "timeout awaiting response headers"},
		"drips the body":   {func(c net.Conn) { readRequest(c); fmt.Fprint(c, head+"\r\n"); drip(c, "x") }, "no complete answer within 600ms"},
		"stops in the body": {func(c net.Conn) {
			readRequest(c)
			fmt.Fprint(c, head+"Content-Length: 9\r\n\r\nab")
			_, _ = io.Copy(io.Discard, c)
		}, "no complete answer within 600ms"},
		"speaks no HTTP":      {func(c net.Conn) { readRequest(c); fmt.Fprint(c, "220 smtp.example.org ESMTP\r\n") }, "malformed HTTP"},
		"sends noise":         {func(c net.Conn) { forEver(c, "\x00\xff\x01") }, ""},
		"never ends a header": {func(c net.Conn) { readRequest(c); fmt.Fprint(c, head); forEver(c, "X-Y: z\r\n") }, "exceeded"},
		"has a huge header":   {func(c net.Conn) { readRequest(c); fmt.Fprint(c, head+"X: "); forEver(c, strings.Repeat("x", 1<<10)) }, "exceeded"},
		"never ends a line":   {func(c net.Conn) { readRequest(c); forEver(c, "HTTP/1.1") }, ""},
		"informs for ever":    {func(c net.Conn) { readRequest(c); forEver(c, "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n") }, "exceeded"},
		"claims too much":     {func(c net.Conn) { readRequest(c); fmt.Fprint(c, head+"Content-Length: 50\r\n\r\nshort") }, "body broken off: unexpected EOF"},
		"claims two lengths": {func(c net.Conn) {
			readRequest(c)
			fmt.Fprint(c, head+"Content-Length: 5\r\nContent-Length: 6\r\n\r\nshort")
		}, "Content-Length"},
		"breaks off a chunk": {func(c net.Conn) { readRequest(c); fmt.Fprint(c, head+"Transfer-Encoding: chunked\r\n\r\n5\r\nab") }, "body broken off: unexpected EOF"},
		"breaks off chunks":  {func(c net.Conn) { readRequest(c); fmt.Fprint(c, head+"Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n") }, "body broken off: unexpected EOF"},
		"has a chunk of -1":  {func(c net.Conn) { readRequest(c); fmt.Fprint(c, head+"Transfer-Encoding: chunked\r\n\r\n-1\r\nab\r\n") }, "body broken off"},
		"hides a short gzip": {func(c net.Conn) {
			readRequest(c)
			fmt.Fprint(c, head+"Content-Encoding: gzip\r\nContent-Length: 99\r\n\r\n\x1f\x8b\x08")
		}, "body broken off: unexpected EOF"},
		"resets":               {reset(""), "reset"},
		"resets in the header": {reset("HTTP/1.1 200"), "connection broken"},
		"resets in the body":   {reset(head + "Content-Length: 50\r\n\r\nab"), "body broken off"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			req := get(listen(t, c.handle))
			before := time.Now()
			r, all := one(t, strict(), req)
			if r.outcome.Err == nil || !strings.HasPrefix(r.outcome.Err.Error(), "fetch "+req.URL+": ") || !strings.Contains(r.outcome.Err.Error(), c.error) {
				t.Errorf("error %v, want %q", r.outcome.Err, c.error)
			}
			if at := r.outcome.RetryAt; at.Before(before.Add(time.Duration(defaults.Backoff))) || at.After(time.Now().Add(time.Duration(defaults.Backoff))) {
				t.Errorf("retried at %v", at)
			}
			if all.counters["network_failures"] != 1 || len(all.counters) > 2 || len(r.documents) != 0 || len(r.outcome.Learned) != 0 || len(r.reports) != 1 {
				t.Errorf("%+v, counters %v", r, all.counters)
			}
		})
	}
}

// reset answers and then resets the connection.
func reset(answer string) func(net.Conn) {
	return func(conn net.Conn) {
		readRequest(conn)
		_, _ = io.WriteString(conn, answer)
		_ = conn.(*net.TCPConn).SetLinger(0)
	}
}

func TestNobodyListens(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	r, all := one(t, strict(), get("http://"+l.Addr().String()+"/"))
	if r.outcome.Err == nil || !strings.Contains(r.outcome.Err.Error(), "refused") || r.outcome.RetryAt.IsZero() || all.counters["network_failures"] != 1 {
		t.Errorf("%+v, counters %v", r.outcome, all.counters)
	}
}

func TestABrokenHandshakeIsAFailureOfTheNetwork(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		handle func(net.Conn)
		error  string
	}{
		"never answers": {func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }, "no complete answer"},
		"hangs up":      {func(c net.Conn) { _, _ = c.Read(make([]byte, 10_000)) }, "EOF"},
		"drips":         {func(c net.Conn) { drip(c, "\x16\x03\x03\x40\x00"+strings.Repeat("x", 1000)) }, "no complete answer"},
		"has a bad day": {func(c net.Conn) {
			_, _ = c.Read(make([]byte, 10_000))
			_, _ = io.WriteString(c, "\x15\x03\x03\x00\x02\x02\x50")
			_, _ = io.Copy(io.Discard, c)
		}, "internal error"},
	} {
		r, all := one(t, strict(), get(strings.Replace(listen(t, c.handle), "http:", "https:", 1)))
		if r.outcome.Err == nil || !strings.Contains(r.outcome.Err.Error(), c.error) || all.counters["network_failures"] != 1 {
			t.Errorf("%s: %v, want %q", name, r.outcome.Err, c.error)
		}
	}
}

// TestAShortLengthIsTheLength: what a server sends beyond the length it gave is no part of the body, nor
// of the next answer.
func TestAShortLengthIsTheLength(t *testing.T) {
	t.Parallel()
	url := says(t, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nabHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong")
	all := run(t, strict(), get(url+"1"), get(url+"2"))
	for _, r := range all.byRequest {
		if len(r.bodies) != 1 || r.bodies[0] != "ab" || r.documents[0].Truncated {
			t.Errorf("%+v", r)
		}
	}
}

func TestAnEndlessBodyIsCutAndMarked(t *testing.T) {
	t.Parallel()
	for name, head := range map[string]string{
		"without length": "HTTP/1.1 200 OK\r\nETag: \"1\"\r\n\r\n",
		"of any length":  "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: 9000000000000000000\r\n\r\n",
	} {
		url := listen(t, func(conn net.Conn) {
			readRequest(conn)
			_, _ = io.WriteString(conn, head)
			forEver(conn, strings.Repeat("x", 100))
		})
		o := strict()
		o.Timeout = pipeline.Duration(time.Minute)
		r, all := one(t, o, get(url))
		if len(r.documents) != 1 || !r.documents[0].Truncated || len(r.bodies[0]) != int(o.MaxBody) {
			t.Fatalf("%s: %+v", name, r)
		}
		if all.counters["truncated"] != 1 || all.counters["bytes"] != int64(o.MaxBody) {
			t.Errorf("%s: counters %v", name, all.counters)
		}
		if r.visit.ETag != "" {
			t.Errorf("%s: a cut body could be confirmed by %s", name, r.visit.ETag)
		}
	}
}

func TestABodyOfExactlyTheLimitIsWhole(t *testing.T) {
	t.Parallel()
	for _, encoding := range []string{"", "gzip", "br", "zstd", "deflate"} {
		for over := range 2 {
			o := strict()
			body := bytes.Repeat([]byte("x"), int(o.MaxBody)+over)
			r, _ := one(t, o, get(encoded(t, body, encoding)))
			if len(r.documents) != 1 || len(r.bodies[0]) != int(o.MaxBody) || r.documents[0].Truncated != (over == 1) {
				t.Errorf("%q, %d over: %+v", encoding, over, r.outcome)
			}
		}
	}
}

// encoded starts a server that gives a body in these encodings, applied from left to right.
func encoded(t *testing.T, body []byte, encodings string) string {
	t.Helper()
	for encoding := range strings.SplitSeq(encodings, ", ") {
		body = clienttest.Encode(t, encoding, body)
	}
	return raw(t, body, encodings)
}

// raw starts a server that declares that a body is encoded.
func raw(t *testing.T, body []byte, encodings string) string {
	return serve(t, func(w http.ResponseWriter, _ *http.Request) {
		if encodings != "" {
			w.Header().Set("Content-Encoding", encodings)
		}
		_, _ = w.Write(body)
	}) + "/"
}

func TestDecompressionBombsAreCut(t *testing.T) {
	t.Parallel()
	zeros := make([]byte, 4<<20)
	for _, encoding := range []string{"gzip", "br", "zstd", "deflate", "gzip, gzip", "gzip, br"} {
		o := local()
		o.MaxBody = 1 << 20
		r, all := one(t, o, get(encoded(t, zeros, encoding)))
		if len(r.documents) != 1 || !r.documents[0].Truncated || len(r.bodies[0]) > int(o.MaxBody) || all.counters["truncated"] != 1 {
			t.Errorf("%s: %+v, counters %v", encoding, r.outcome, all.counters)
		}
		if !strings.Contains(encoding, ",") && len(r.bodies[0]) != int(o.MaxBody) {
			t.Errorf("%s: %d bytes", encoding, len(r.bodies[0]))
		}
	}
}

// TestEncodingsThatGiveNothingAreCut: a stream may go on for ever without a byte of body.
func TestEncodingsThatGiveNothingAreCut(t *testing.T) {
	t.Parallel()
	var member bytes.Buffer
	if err := gzip.NewWriter(&member).Close(); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ encoding, again string }{
		"empty members":    {"gzip", member.String()},
		"empty blocks":     {"deflate", "\x00\x00\x00\xff\xff"},
		"skippable frames": {"zstd", "\x50\x2a\x4d\x18\x04\x00\x00\x00abcd"},
	} {
		url := listen(t, func(conn net.Conn) {
			readRequest(conn)
			fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Encoding: %s\r\n\r\n", c.encoding)
			forEver(conn, c.again)
		})
		o := strict()
		o.Timeout = pipeline.Duration(time.Minute)
		r, all := one(t, o, get(url))
		if len(r.documents) != 1 || !r.documents[0].Truncated || r.bodies[0] != "" || all.counters["truncated"] != 1 {
			t.Errorf("%s: %+v, counters %v", name, r, all.counters)
		}
	}
	nested := clienttest.Encode(t, "gzip", bytes.Repeat(member.Bytes(), 1_000_000))
	o := strict()
	o.Timeout = pipeline.Duration(time.Minute)
	r, _ := one(t, o, get(raw(t, nested, "gzip, gzip")))
	if len(r.documents) != 1 || !r.documents[0].Truncated {
		t.Errorf("nested: %+v", r)
	}
}

// TestWhatIsNotDecodedIsKept: a body that is not encoded as its header declares is kept as it came, one whose encoding
// is damaged as far as it goes and never for complete. The header of the document tells why.
func TestWhatIsNotDecodedIsKept(t *testing.T) {
	t.Parallel()
	page := bytes.Repeat([]byte("all work and no play "), 100)
	const whole, cut = false, true
	for name, c := range map[string]struct {
		encoding string
		body     []byte
		want     []byte // nil for the body as it came
		cut      bool
		reason   string
	}{
		"no gzip":                 {"gzip", page, nil, whole, "not encoded with gzip"},
		"no x-gzip":               {"x-gzip", page, nil, whole, "not encoded with gzip"},
		"no brotli":               {"br", page, nil, whole, "not encoded with br"},
		"no zstd":                 {"zstd", page, nil, whole, "not encoded with zstd"},
		"no deflate":              {"deflate", page, nil, whole, "not encoded with deflate"},
		"gzip called brotli":      {"br", clienttest.Encode(t, "gzip", page), nil, whole, "not encoded with br"},
		"gzip called zstd":        {"zstd", clienttest.Encode(t, "gzip", page), nil, whole, "not encoded with zstd"},
		"begun gzip":              {"gzip", []byte{0x1f}, nil, whole, "not encoded with gzip"},
		"begun deflate":           {"deflate", []byte{0x78}, nil, whole, "not encoded with deflate"},
		"wrong checksum":          {"gzip", flip(clienttest.Encode(t, "gzip", page)), page, cut, "damaged (gzip: gzip: invalid checksum)"},
		"one encoding too few":    {"gzip, br", clienttest.Encode(t, "gzip", page), page, whole, "not encoded with br"},
		"the inner one too few":   {"gzip, br", clienttest.Encode(t, "br", page), page, whole, "not encoded with gzip"},
		"gzip said twice":         {"gzip, gzip", clienttest.Encode(t, "gzip", page), page, whole, "not encoded with gzip"},
		"all too few":             {"gzip, br, zstd", page, nil, whole, "not encoded"},
		"unknown":                 {"compress", page, nil, whole, `content encoding "compress" is not one that was asked for`},
		"a charset and gzip":      {"utf-8, gzip", clienttest.Encode(t, "gzip", page), page, whole, `content encoding "utf-8"`},
		"too many":                {"gzip, gzip, gzip, gzip", page, nil, whole, "more than 3"},
		"too large a window":      {"zstd", []byte("\x28\xb5\x2f\xfd\x00\x70\x01\x00\x00"), nil, whole, "window"},
		"identity":                {"identity", page, page, whole, ""},
		"identity and gzip":       {"identity, gzip", clienttest.Encode(t, "gzip", page), page, whole, ""},
		"gzip in gzip, said once": {"gzip", clienttest.Encode(t, "gzip", clienttest.Encode(t, "gzip", page)), clienttest.Encode(t, "gzip", page), whole, ""},
		"more after brotli":       {"br", append(clienttest.Encode(t, "br", page), "<!-- -->"...), page, whole, ""},
		"more after zstd":         {"zstd", append(clienttest.Encode(t, "zstd", page), "<!-- -->"...), page, whole, ""},
		"more after deflate":      {"deflate", append(clienttest.Encode(t, "deflate", page), "<!-- -->"...), page, whole, ""},
		"a semicolon first":       {"br", []byte("; text that begins like an empty stream of brotli"), nil, whole, "not encoded with br"},
	} {
		r, all := one(t, strict(), get(raw(t, c.body, c.encoding)))
		if len(r.documents) != 1 || r.visit.Status != 200 || r.visit.Error != "" {
			t.Errorf("%s: %+v, counters %v", name, r, all.counters)
			continue
		}
		want := c.want
		if want == nil {
			want = c.body
		}
		d := r.documents[0]
		if body := r.bodies[0]; d.Truncated != c.cut || !c.cut && body != string(want) || c.cut && (len(body) < 1000 || !strings.HasPrefix(string(want), body)) {
			t.Errorf("%s: %d bytes, truncated %v: %.50q, want %d, %v", name, len(body), d.Truncated, body, len(want), c.cut)
		}
		if why := d.Header.Get(webrace.UndecodedField); (why == "") != (c.reason == "") || !strings.Contains(why, c.reason) || all.counters["undecodable"] != int64(min(1, len(c.reason))) {
			t.Errorf("%s: %q, want %q; counters %v", name, why, c.reason, all.counters)
		}
		if why := webrace.TruncationOf(d.Header); c.cut && why != webrace.TruncatedUnspecified {
			t.Errorf("%s: truncated by %s", name, why)
		}
	}
}

// TestAServerDoesNotSayWhatHappenedHere: the fields that tell why a body is not decoded, or not whole, are not the
// server's. One that a limit cut is that, whatever else is wrong with it.
func TestAServerDoesNotSayWhatHappenedHere(t *testing.T) {
	t.Parallel()
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(webrace.UndecodedField, "lies")
		w.Header().Set("Webrace-Truncated", "time")
		if r.URL.Path != "/" {
			w.Header().Set("Content-Encoding", "compress")
		}
		fmt.Fprint(w, "page")
	})
	o := local()
	o.MaxBody = 3
	for path, undecoded := range map[string]string{"/": "", "/coded": `content encoding "compress"`} {
		r, _ := one(t, o, get(url+path))
		if len(r.documents) != 1 || !strings.HasPrefix(r.documents[0].Header.Get(webrace.UndecodedField), undecoded) {
			t.Fatalf("%s: %+v", path, r)
		}
		if d := r.documents[0]; !d.Truncated || webrace.TruncationOf(d.Header) != webrace.TruncatedByLength || undecoded == "" && d.Header.Get(webrace.UndecodedField) != "" {
			t.Errorf("%s: truncated %v, %v", path, d.Truncated, d.Header)
		}
	}
}

func flip(b []byte) []byte {
	b[len(b)-6] ^= 1
	return b
}

func TestACancelledRunIsNotAFailure(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{}, 1)
	url := listen(t, func(conn net.Conn) {
		readRequest(conn)
		asked <- struct{}{}
		_, _ = io.Copy(io.Discard, conn)
	})
	made, err := newStage(local(), pipeline.NewEnv("p", "fetch", nil))
	if err != nil {
		t.Fatal(err)
	}
	s := made.(*stage)
	defer s.Close()
	ctx, cancel := cancellable(t)
	go func() {
		<-asked
		cancel()
	}()
	if err := s.Process(ctx, &pipeline.Item{Value: get(url)}, nil); !errors.Is(err, ctx.Err()) || err == nil {
		t.Errorf("error %v", err)
	}
	if n := s.env.Counters()["network_failures"]; n != 0 {
		t.Errorf("counted as %d failures of the network", n)
	}
}
