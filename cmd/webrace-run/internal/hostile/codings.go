package hostile

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// encode puts codings around a body, from left to right.
func encode(content []byte, codings ...string) []byte {
	for _, coding := range codings {
		var b bytes.Buffer
		var w io.WriteCloser
		switch coding {
		case "gzip":
			w = gzip.NewWriter(&b)
		case "deflate":
			w = zlib.NewWriter(&b)
		case "br":
			w = brotli.NewWriterLevel(&b, 1)
		case "zstd":
			w, _ = zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1))
		}
		_, _ = w.Write(content)
		_ = w.Close()
		content = b.Bytes()
	}
	return content
}

// bombSize is what a bomb becomes.
const bombSize = 50 << 20

var zeros = sync.OnceValue(func() []byte { return make([]byte, bombSize) })

// bomb is a body that becomes large, and is made when it is first asked for.
func bomb(codings ...string) func(*Site) {
	return func(s *Site) {
		made := sync.OnceValue(func() []byte { return encode(zeros(), codings...) })
		s.handle(bad, func(w http.ResponseWriter, _ *http.Request) { coded(w, strings.Join(codings, ", "), made()) })
	}
}

func coded(w http.ResponseWriter, codings string, content []byte) {
	w.Header().Set("Content-Type", "text/html")
	w.Header().Set("Content-Encoding", codings)
	_, _ = w.Write(content)
}

// kept is what comes of bad URLs whose bodies are not encoded as their headers declare, or not to their ends.
func kept(urls ...string) Expect {
	e := Expect{Counters: some{"pages": int64(len(urls)), "fetch.undecodable": int64(len(urls))}, Why: says{}, Asked: len(urls)}
	for _, url := range urls {
		e.Why[url] = "its body is not all decoded: "
	}
	return e
}

func codings() []Case {
	return []Case{
		{Name: "gzip-bomb", Does: "sends a little gzip that becomes 50 MB", Lay: bomb("gzip"), Expect: cut()},
		{Name: "brotli-bomb", Does: "sends a little brotli that becomes 50 MB", Lay: bomb("br"), Expect: cut()},
		{Name: "zstd-bomb", Does: "sends a little zstd that becomes 50 MB", Lay: bomb("zstd"), Expect: cut()},
		{Name: "deflate-bomb", Does: "sends a little deflate that becomes 50 MB", Lay: bomb("deflate"), Expect: cut()},
		{Name: "bomb-within-bomb", Does: "sends a gzip bomb within another", Lay: bomb("gzip", "gzip"), Expect: cut()},
		{
			Name: "endless-empty-gzip", Does: "sends empty members of gzip without end: a coding that never gives a byte",
			Lay: func(s *Site) {
				s.raw(bad, forEver(head+"Content-Encoding: gzip\r\n\r\n", long(string(encode(nil, "gzip")), 8192)))
			},
			Expect: cut(),
		},
		{
			Name: "truncated-coding", Does: "breaks gzip, brotli, zstd and deflate off before their ends", Slow: true, Options: once,
			Lay: func(s *Site) {
				for _, coding := range []string{"gzip", "br", "zstd", "deflate"} {
					whole := encode([]byte(goodText(99)), coding)
					s.handle("/bad-"+coding, func(w http.ResponseWriter, _ *http.Request) { coded(w, coding, whole[:len(whole)-6]) })
				}
			},
			Expect: Expect{
				Counters: some{"errors": 4, "fetch.network_failures": 4},
				Why: says{
					"/bad-gzip": "body broken off: unexpected EOF", "/bad-br": "body broken off: unexpected EOF",
					"/bad-zstd": "body broken off: unexpected EOF", "/bad-deflate": "body broken off: unexpected EOF",
				},
				Asked: 4,
			},
		},
		{
			Name: "coding-mislabelled", Does: "says that plain text is gzip, and that gzip is brotli",
			Lay: func(s *Site) {
				s.handle(bad, func(w http.ResponseWriter, _ *http.Request) { coded(w, "gzip", []byte(goodText(99))) })
				s.handle("/bad-br", func(w http.ResponseWriter, _ *http.Request) {
					coded(w, "br", encode([]byte(goodText(99)), "gzip"))
				})
			},
			Expect: kept(bad, "/bad-br"),
		},
		{
			Name: "coded-three-times", Does: "encodes the page with gzip, then brotli, then zstd",
			Lay: func(s *Site) {
				s.handle(bad, func(w http.ResponseWriter, _ *http.Request) {
					coded(w, "gzip, br, zstd", encode([]byte("<p>deep"), "gzip", "br", "zstd"))
				})
			},
			Expect: fetched(),
		},
		{
			Name: "coded-a-hundred-times", Does: "encodes the page with gzip a hundred times",
			Lay: func(s *Site) {
				hundred := strings.Split(strings.TrimSuffix(strings.Repeat("gzip,", 100), ","), ",")
				s.handle(bad, func(w http.ResponseWriter, _ *http.Request) {
					coded(w, strings.Join(hundred, ", "), encode([]byte("<p>deep"), hundred...))
				})
			},
			Expect: kept(bad),
		},
		{
			Name: "unknown-coding", Does: "encodes the page in a way of its own",
			Lay: func(s *Site) {
				s.handle(bad, func(w http.ResponseWriter, _ *http.Request) { coded(w, "shredded", []byte("<p>shreds")) })
			},
			Expect: kept(bad).saying(bad, `its body is not all decoded: content encoding "shredded" is not one that was asked for: left as it is`),
		},
		{
			Name: "zstd-window-huge", Does: "asks for a zstd window of gigabytes",
			Lay: func(s *Site) {
				s.handle(bad, func(w http.ResponseWriter, _ *http.Request) {
					coded(w, "zstd", []byte("\x28\xb5\x2f\xfd\x00\xb0\x01\x00\x00"))
				})
			},
			Expect: kept(bad),
		},
	}
}

// png is a small image, at least in its beginning.
func png() []byte {
	return []byte(fmt.Sprintf("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR%s", long("\x00\x01\x02\xff", 400)))
}
