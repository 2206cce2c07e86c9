package hostile

import (
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"strings"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// stream is a request by HTTP/2, on its connection.
type stream struct {
	*http2.Framer
	net.Conn
	id     uint32
	packed bytes.Buffer
	pack   *hpack.Encoder
}

// onHTTP2 puts the page on another host, which speaks HTTP/2 over TLS and does this with each request for it.
// It has no robots.txt.
func onHTTP2(serve func(*stream)) func(*Site) {
	config := func() *tls.Config {
		c := valid()
		c.NextProtos = []string{"h2"}
		return c
	}
	return func(s *Site) {
		host := s.listen(func(raw net.Conn) {
			conn := tls.Server(raw, config())
			if _, err := io.ReadFull(conn, make([]byte, len(http2.ClientPreface))); err != nil {
				return
			}
			r := &stream{Framer: http2.NewFramer(conn, conn), Conn: conn}
			r.AllowIllegalWrites, r.ReadMetaHeaders = true, hpack.NewDecoder(4096, nil)
			r.pack = hpack.NewEncoder(&r.packed)
			_ = r.WriteSettings()
			for r.next() {
				serve(r)
			}
		})
		s.elsewhere = "https://" + host
		s.link(s.elsewhere + bad)
	}
}

// next reads up to the next request for the page. Others are answered: there is nothing else.
func (r *stream) next() bool {
	for {
		frame, err := r.ReadFrame()
		if err != nil {
			return false
		}
		switch f := frame.(type) {
		case *http2.SettingsFrame:
			if !f.IsAck() {
				_ = r.WriteSettingsAck()
			}
		case *http2.MetaHeadersFrame:
			r.id = f.StreamID
			if f.PseudoValue("path") == bad {
				return true
			}
			r.header(true, ":status", "404")
		}
	}
}

// header answers with fields, given as names and values.
func (r *stream) header(last bool, fields ...string) {
	_ = r.WriteHeaders(http2.HeadersFrameParam{StreamID: r.id, BlockFragment: r.block(fields...), EndHeaders: true, EndStream: last})
}

func (r *stream) block(fields ...string) []byte {
	r.packed.Reset()
	for i := 0; i < len(fields); i += 2 {
		_ = r.pack.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
	}
	return r.packed.Bytes()
}

func (r *stream) begin() { r.header(false, ":status", "200", "content-type", "text/html") }

// deafen reads what comes, and forgets it: a server that only writes would wait for ever.
func (r *stream) deafen() { go func() { _, _ = io.Copy(io.Discard, r.Conn) }() }

// spoken are the options with which HTTP/2 is spoken.
func spoken(more ...string) []string { return append([]string{"fetch.http2=auto"}, more...) }

// failing2 is what comes of a page that the network is to blame for.
func failing2(because string) Expect {
	return Expect{Counters: some{"errors": 1, "fetch.network_failures": 1}, Why: says{"other:" + bad: because}, AtMost: 8}
}

func http2Servers() []Case {
	return []Case{
		{Name: "http2-good", Does: "speaks HTTP/2 as it should, for once", Scope: "any", Options: spoken(),
			Lay: onHTTP2(func(r *stream) {
				r.begin()
				_ = r.WriteData(r.id, true, []byte("<p>fine"))
			}), Expect: Expect{Counters: some{"pages": 1, "fetch.http2": 2}, Why: says{"other:" + bad: "crawl: fetched"}, Asked: 1}},
		{Name: "http2-never-answers", Does: "takes the request by HTTP/2, and says nothing", Scope: "any", Slow: true, Options: spoken(impatient...),
			Lay: onHTTP2(func(*stream) {}), Expect: failing2("timeout awaiting response headers")},
		{Name: "http2-resets", Does: "resets the stream of the request", Scope: "any", Options: spoken(once...),
			Lay: onHTTP2(func(r *stream) { _ = r.WriteRSTStream(r.id, http2.ErrCodeInternal) }), Expect: failing2("INTERNAL_ERROR")},
		{Name: "http2-resets-in-body", Does: "resets the stream in the middle of the body", Scope: "any", Options: spoken(once...),
			Lay: onHTTP2(func(r *stream) {
				r.begin()
				_ = r.WriteData(r.id, false, []byte("<p>begun"))
				_ = r.WriteRSTStream(r.id, http2.ErrCodeCancel)
			}), Expect: failing2("body broken off")},
		{Name: "http2-refuses-streams", Does: "refuses the stream of the request, as if it might be tried again at once", Scope: "any", Slow: true, Options: spoken(impatient...),
			Lay: onHTTP2(func(r *stream) { _ = r.WriteRSTStream(r.id, http2.ErrCodeRefusedStream) }), Expect: failing2("gave no document")},
		{Name: "http2-goes-away", Does: "answers the request with a GOAWAY, and hangs up", Scope: "any", Options: spoken(once...),
			Lay: onHTTP2(func(r *stream) {
				_ = r.WriteGoAway(r.id, http2.ErrCodeEnhanceYourCalm, nil)
				_ = r.Close()
			}), Expect: failing2("ENHANCE_YOUR_CALM")},
		{Name: "http2-goes-away-and-stays", Does: "says that it goes away (GOAWAY) before the page, and sends that all the same", Scope: "any", Options: spoken(),
			Lay: onHTTP2(func(r *stream) {
				_ = r.WriteGoAway(r.id, http2.ErrCodeNo, nil)
				r.begin()
				_ = r.WriteData(r.id, true, []byte("<p>fine"))
			}), Expect: Expect{Counters: some{"pages": 1, "fetch.http2": 2}, Why: says{"other:" + bad: "crawl: fetched"}, Asked: 1}},
		{Name: "http2-endless-body", Does: "never ends its body by HTTP/2", Scope: "any", Options: spoken("fetch.max_body=100kB"),
			Lay: onHTTP2(func(r *stream) {
				r.deafen()
				r.begin()
				for text := []byte(long("<p>more and more\n", 1000)); r.WriteData(r.id, false, text) == nil; {
				}
			}), Expect: Expect{Counters: some{"pages": 1, "fetch.truncated": 1}, Why: says{"other:" + bad: "crawl: fetched"}, Asked: 1}},
		{Name: "http2-empty-data", Does: "sends frames of data without a byte, and no end", Scope: "any", Slow: true, Options: spoken(impatient...),
			Lay: onHTTP2(func(r *stream) {
				r.deafen()
				r.begin()
				for r.WriteData(r.id, false, nil) == nil {
					time.Sleep(100 * time.Microsecond) // or it would keep a processor busy
				}
			}), Expect: failing2("gave no document")},
		{Name: "http2-header-bomb", Does: "names a field of four kilobytes ten thousand times in a header that is small on the wire", Scope: "any", Options: spoken(once...),
			Lay: onHTTP2(func(r *stream) {
				block := r.block(":status", "200", "x-bomb", long("x", 4000))
				block = append(block, strings.Repeat("\xbe", 10_000)...) // the newest entry of the table
				_ = r.WriteHeaders(http2.HeadersFrameParam{StreamID: r.id, BlockFragment: block, EndHeaders: true})
			}), Expect: failing2("gave no document")},
		{Name: "http2-endless-header", Does: "continues its header for ever (CONTINUATION)", Scope: "any", Options: spoken(once...),
			Lay: onHTTP2(func(r *stream) {
				r.deafen()
				_ = r.WriteHeaders(http2.HeadersFrameParam{StreamID: r.id, BlockFragment: r.block(":status", "200")})
				for r.WriteContinuation(r.id, false, r.block("x-more", long("more", 4000))) == nil {
				}
			}), Expect: failing2("gave no document")},
		{Name: "http2-pings", Does: "sends pings and settings by the thousand, and no answer", Scope: "any", Slow: true, Options: spoken(impatient...),
			Lay: onHTTP2(func(r *stream) {
				r.deafen()
				for r.WritePing(false, [8]byte{}) == nil && r.WriteSettings() == nil {
					time.Sleep(time.Millisecond) // as above
				}
			}), Expect: failing2("gave no document")},
		{Name: "http2-pushes", Does: "pushes a page that was not asked for", Scope: "any", Options: spoken(once...),
			Lay: onHTTP2(func(r *stream) {
				_ = r.WritePushPromise(http2.PushPromiseParam{StreamID: r.id, PromiseID: 2, BlockFragment: r.block(":path", "/poison"), EndHeaders: true})
			}), Expect: failing2("PROTOCOL_ERROR").saying("other:/poison", "never accepted")},
	}
}
