package fetch

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/webrace/webrace/pipeline"
)

func TestHTTP2IsSpokenWhereItIsWanted(t *testing.T) {
	t.Parallel()
	server, url := secure(t, nil, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Proto) })
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	for name, c := range map[string]struct {
		change func(*Options)
		want   string
	}{
		"by default":  {func(*Options) {}, "HTTP/1.1"},
		"everywhere":  {func(o *Options) { o.HTTP2 = "auto" }, "HTTP/2.0"},
		"this host":   {func(o *Options) { o.HTTP2Hosts = []string{"127.0.0.1:" + port} }, "HTTP/2.0"},
		"other hosts": {func(o *Options) { o.HTTP2Hosts = []string{"a.example"} }, "HTTP/1.1"},
	} {
		o := local()
		o.InsecureHosts = []string{"*"}
		c.change(&o)
		r, all := one(t, o, get(url))
		if len(r.bodies) != 1 || r.bodies[0] != c.want || !r.documents[0].Origin.IsLoopback() {
			t.Errorf("%s: %q, want %s (%+v)", name, r.bodies, c.want, r.outcome)
		}
		if all.counters["http2"] == 1 != (c.want == "HTTP/2.0") {
			t.Errorf("%s: counters %v", name, all.counters)
		}
	}
}

func TestAHostThatSpeaksNoHTTP2IsAskedByHTTP1(t *testing.T) {
	t.Parallel()
	_, url := secure(t, &tls.Config{NextProtos: []string{"http/1.1"}}, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Proto) })
	o := local()
	o.InsecureHosts, o.HTTP2 = []string{"*"}, "auto"
	server := serve(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Proto) })
	for _, u := range []string{url, server + "/"} {
		if r, all := one(t, o, get(u)); len(r.bodies) != 1 || r.bodies[0] != "HTTP/1.1" || all.counters["http2"] != 0 {
			t.Errorf("%s: %q (%+v)", u, r.bodies, r.outcome)
		}
	}
}

// TestRequestsShareAConnectionByHTTP2: that is what it is for.
func TestRequestsShareAConnectionByHTTP2(t *testing.T) {
	t.Parallel()
	url := listen2(t, func(c *conn2) {
		for {
			id, ok := c.request()
			if !ok {
				return
			}
			c.header(id, false, ":status", "200")
			c.data(id, true, "page")
		}
	})
	s := newTestStage(t, patient(strict2()))
	for i := range 10 {
		if err := s.Process(t.Context(), item(fmt.Sprintf("%s%d", url.url, i)), discard{}); err != nil {
			t.Fatal(err)
		}
	}
	if url.connections.Load() != 1 || s.env.Counters()["http2"] != 10 {
		t.Errorf("%d connections, counters %v", url.connections.Load(), s.env.Counters())
	}
}

// conn2 is a connection of a server that speaks HTTP/2 as a test wants it to.
type conn2 struct {
	*http2.Framer
	conn   net.Conn
	packed bytes.Buffer
	pack   *hpack.Encoder
}

type server2 struct {
	url         string
	connections atomic.Int64
}

// listen2 starts a server that handles HTTP/2 connections by itself, from the first frame on.
func listen2(t *testing.T, handle func(*conn2)) *server2 {
	t.Helper()
	certificate := newAuthority(t).sign(t, soon(), "127.0.0.1")
	s := &server2{}
	plain := listen(t, func(raw net.Conn) {
		s.connections.Add(1)
		conn := tls.Server(raw, &tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: []string{"h2"}})
		if conn.Handshake() != nil {
			return
		}
		if _, err := io.ReadFull(conn, make([]byte, len(http2.ClientPreface))); err != nil {
			return
		}
		c := &conn2{Framer: http2.NewFramer(conn, conn), conn: conn}
		c.pack = hpack.NewEncoder(&c.packed)
		c.AllowIllegalWrites = true
		_ = c.WriteSettings()
		handle(c)
		_ = conn.CloseWrite()
		_, _ = io.Copy(io.Discard, raw) // so that what was sent is not lost in a reset
	})
	s.url = strings.Replace(plain, "http:", "https:", 1)
	return s
}

// request reads up to the next request and returns its stream.
func (c *conn2) request() (stream uint32, ok bool) {
	for {
		frame, err := c.ReadFrame()
		if err != nil {
			return 0, false
		}
		switch f := frame.(type) {
		case *http2.HeadersFrame:
			return f.StreamID, true
		case *http2.SettingsFrame:
			if !f.IsAck() {
				_ = c.WriteSettingsAck()
			}
		}
	}
}

// block packs names and values.
func (c *conn2) block(fields ...string) []byte {
	c.packed.Reset()
	for i := 0; i < len(fields); i += 2 {
		_ = c.pack.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
	}
	return c.packed.Bytes()
}

func (c *conn2) header(stream uint32, last bool, fields ...string) {
	_ = c.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: c.block(fields...), EndHeaders: true, EndStream: last})
}

func (c *conn2) data(stream uint32, last bool, text string) {
	_ = c.WriteData(stream, last, []byte(text))
}

func (c *conn2) wait() { _, _ = io.Copy(io.Discard, c.conn) }

// strict2 is strict, by HTTP/2.
func strict2() Options {
	o := strict()
	o.HTTP2, o.InsecureHosts = "auto", []string{"*"}
	o.Timeout = pipeline.Duration(time.Second)
	return o
}

// patient has time for a server that answers in the end, on a machine that does much else.
func patient(o Options) Options {
	o.HeaderTimeout, o.Timeout = pipeline.Duration(time.Minute), pipeline.Duration(time.Minute)
	return o
}

// TestHTTP2ServersThatFail: each way to fail costs a request within its limits, and is tried again later.
func TestHTTP2ServersThatFail(t *testing.T) {
	t.Parallel()
	ok := func(c *conn2, id uint32) { c.header(id, false, ":status", "200", "content-type", "text/plain") }
	for name, c := range map[string]struct {
		handle func(c *conn2, id uint32)
		error  string
	}{
		"never answers": {func(c *conn2, _ uint32) { c.wait() }, "timeout awaiting response headers"},
		"hangs up":      {func(*conn2, uint32) {}, "EOF"},
		"resets":        {func(c *conn2, id uint32) { _ = c.WriteRSTStream(id, http2.ErrCodeInternal); c.wait() }, "INTERNAL_ERROR"},
		"always refuses": {func(c *conn2, id uint32) {
			for ok := true; ok; id, ok = c.request() {
				_ = c.WriteRSTStream(id, http2.ErrCodeRefusedStream)
			}
		}, ""},
		"goes away at once": {func(c *conn2, id uint32) { _ = c.WriteGoAway(0, http2.ErrCodeNo, nil); c.wait() }, ""},
		"goes away angrily": {func(c *conn2, id uint32) { _ = c.WriteGoAway(id, http2.ErrCodeEnhanceYourCalm, nil); c.conn.Close() }, "ENHANCE_YOUR_CALM"},
		"has a huge header": {func(c *conn2, id uint32) {
			c.header(id, true, ":status", "200", "x", strings.Repeat("x", 16<<10))
			c.wait()
		}, "COMPRESSION_ERROR"},
		"never ends a header": {func(c *conn2, id uint32) {
			_ = c.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: c.block(":status", "200")})
			for i := 0; c.WriteContinuation(id, false, c.block(fmt.Sprint("x", i), strings.Repeat("y", 1000))) == nil; i++ {
			}
		}, "PROTOCOL_ERROR"},
		"continues with nothing": {func(c *conn2, id uint32) {
			_ = c.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: c.block(":status", "200")})
			for c.WriteContinuation(id, false, nil) == nil {
			}
		}, ""},
		"informs for ever": {func(c *conn2, id uint32) {
			for c.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: c.block(":status", "103", "link", "</x>"), EndHeaders: true}) == nil {
			}
		}, ""},
		"has no status":         {func(c *conn2, id uint32) { c.header(id, true, "x", "y"); c.wait() }, "malformed"},
		"has noise in a header": {func(c *conn2, id uint32) { c.header(id, true, ":status", "200", "A\r\nB", "y"); c.wait() }, ""},
		"packs nonsense": {func(c *conn2, id uint32) {
			_ = c.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: []byte("\xff\xff\xff\xff\xff\xff"), EndHeaders: true})
			c.wait()
		}, ""},
		"gives data first":  {func(c *conn2, id uint32) { c.data(id, true, "page"); c.wait() }, ""},
		"stops in the body": {func(c *conn2, id uint32) { ok(c, id); c.data(id, false, "ab"); c.wait() }, "no complete answer"},
		"drips the body": {func(c *conn2, id uint32) {
			ok(c, id)
			for c.WriteData(id, false, []byte("x")) == nil {
				time.Sleep(10 * time.Millisecond) // what a slow server does; nothing waits for it
			}
		}, "no complete answer"},
		"resets the body": {func(c *conn2, id uint32) {
			ok(c, id)
			c.data(id, false, "ab")
			_ = c.WriteRSTStream(id, http2.ErrCodeCancel)
			c.wait()
		}, "body broken off"},
		"claims too much": {func(c *conn2, id uint32) {
			c.header(id, false, ":status", "200", "content-length", "50")
			c.data(id, true, "ab")
			c.wait()
		}, "body broken off"},
		"claims too little": {func(c *conn2, id uint32) {
			c.header(id, false, ":status", "200", "content-length", "1")
			c.data(id, true, "abcdef")
			c.wait()
		}, "body broken off"},
		"gives empty data for ever": {func(c *conn2, id uint32) {
			ok(c, id)
			for c.WriteData(id, false, nil) == nil {
			}
		}, ""},
		"has huge trailers": {func(c *conn2, id uint32) {
			ok(c, id)
			c.data(id, false, "page")
			c.header(id, true, "x", strings.Repeat("x", 16<<10))
			c.wait()
		}, "body broken off"},
		"pushes": {func(c *conn2, id uint32) {
			_ = c.WritePushPromise(http2.PushPromiseParam{StreamID: id, PromiseID: 2, BlockFragment: c.block(":path", "/"), EndHeaders: true})
			c.wait()
		}, "PROTOCOL_ERROR"},
		"sends huge frames": {func(c *conn2, id uint32) { _ = c.WriteRawFrame(http2.FrameData, 0, id, make([]byte, 1<<20)); c.wait() }, ""},
		"overflows a window": {func(c *conn2, id uint32) {
			_ = c.WriteWindowUpdate(id, 1<<31-1)
			_ = c.WriteWindowUpdate(id, 1<<31-1)
			c.wait()
		}, ""},
		"pings, nothing else": {func(c *conn2, _ uint32) {
			for c.WritePing(false, [8]byte{}) == nil {
			}
		}, ""},
		"settles for ever": {func(c *conn2, _ uint32) {
			for c.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 9}) == nil {
			}
		}, ""},
		"speaks HTTP/1.1": {func(c *conn2, _ uint32) {
			_, _ = io.WriteString(c.conn, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
			c.wait()
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := listen2(t, func(conn *conn2) {
				if id, ok := conn.request(); ok {
					if strings.HasSuffix(name, "for ever") || strings.HasPrefix(name, "pings") {
						go func() { _, _ = io.Copy(io.Discard, conn.conn) }() // or both sides would wait for one another
					}
					c.handle(conn, id)
				}
			})
			before := time.Now()
			r, all := one(t, strict2(), get(server.url))
			if r.outcome.Err == nil || !strings.Contains(r.outcome.Err.Error(), c.error) || !r.outcome.RetryAt.After(before) {
				t.Errorf("%v, want %q", r.outcome.Err, c.error)
			}
			if all.counters["network_failures"] != 1 || len(r.documents) != 0 || len(r.outcome.Learned) != 0 {
				t.Errorf("%+v, counters %v", r, all.counters)
			}
			if took := r.outcome.RetryAt.Sub(before) - time.Duration(defaults.Backoff); took > 20*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// TestHTTP2ServersThatAreOddAnswer: what is strange, but harmless, is borne.
func TestHTTP2ServersThatAreOddAnswer(t *testing.T) {
	t.Parallel()
	page := func(c *conn2, id uint32) {
		c.header(id, false, ":status", "200", "content-type", "text/plain")
		c.data(id, true, "page")
	}
	for name, handle := range map[string]func(c *conn2, id uint32){
		"pings much": func(c *conn2, id uint32) {
			for range 1000 {
				_ = c.WritePing(false, [8]byte{})
			}
			page(c, id)
			c.wait()
		},
		"settles much": func(c *conn2, id uint32) {
			for range 1000 {
				_ = c.WriteSettings()
			}
			page(c, id)
			c.wait()
		},
		"has frames of its own": func(c *conn2, id uint32) { _ = c.WriteRawFrame(0xee, 0, id, []byte("hello")); page(c, id); c.wait() },
		"goes away afterwards":  func(c *conn2, id uint32) { page(c, id); _ = c.WriteGoAway(id, http2.ErrCodeNo, nil) },
		"says it will go away":  func(c *conn2, id uint32) { _ = c.WriteGoAway(1<<31-1, http2.ErrCodeNo, nil); page(c, id); c.wait() },
		"informs": func(c *conn2, id uint32) {
			c.header(id, false, ":status", "103", "link", "</x>")
			page(c, id)
			c.wait()
		},
		"has trailers": func(c *conn2, id uint32) {
			c.header(id, false, ":status", "200")
			c.data(id, false, "page")
			c.header(id, true, "x", "y")
			c.wait()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := listen2(t, func(c *conn2) {
				if id, ok := c.request(); ok {
					go func() { _, _ = io.Copy(io.Discard, c.conn) }()
					handle(c, id)
				}
			})
			if r, all := one(t, patient(strict2()), get(server.url)); len(r.bodies) != 1 || r.bodies[0] != "page" || all.counters["http2"] != 1 {
				t.Errorf("%+v, counters %v", r, all.counters)
			}
		})
	}
}

func TestAnEndlessBodyByHTTP2IsCut(t *testing.T) {
	t.Parallel()
	server := listen2(t, func(c *conn2) {
		id, ok := c.request()
		if !ok {
			return
		}
		c.header(id, false, ":status", "200")
		for c.WriteData(id, false, []byte(strings.Repeat("x", 1000))) == nil {
		}
	})
	o := patient(strict2())
	r, all := one(t, o, get(server.url))
	if len(r.bodies) != 1 || len(r.bodies[0]) != int(o.MaxBody) || !r.documents[0].Truncated || all.counters["truncated"] != 1 {
		t.Errorf("%+v, counters %v", r.outcome, all.counters)
	}
}

// TestAConnectionThatGoesAwayIsReplaced: the requests it did not take are made again on another.
func TestAConnectionThatGoesAwayIsReplaced(t *testing.T) {
	t.Parallel()
	server := listen2(t, func(c *conn2) {
		id, ok := c.request()
		if !ok {
			return
		}
		c.header(id, false, ":status", "200")
		c.data(id, true, "page")
		_ = c.WriteGoAway(id, http2.ErrCodeNo, nil)
		c.wait()
	})
	s := newTestStage(t, patient(strict2()))
	for range 3 {
		if err := s.Process(t.Context(), item(server.url), discard{}); err != nil {
			t.Error(err)
		}
	}
	if server.connections.Load() < 2 || s.env.Counters()["pages"] != 3 {
		t.Errorf("%d connections, counters %v", server.connections.Load(), s.env.Counters())
	}
}
