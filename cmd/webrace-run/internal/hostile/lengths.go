package hostile

import "net/http"

const chunked = head + "Transfer-Encoding: chunked\r\n\r\n"

// fetched is what comes of one bad URL that is a page all the same.
func fetched() Expect {
	return Expect{Counters: some{"pages": 1}, Why: says{bad: "crawl: fetched"}, Asked: 1}
}

// cut is what comes of one bad URL of which the beginning is kept.
func cut() Expect {
	return Expect{Counters: some{"pages": 1, "fetch.truncated": 1}, Why: says{bad: "crawl: fetched"}, Asked: 1}
}

func lengths() []Case {
	return []Case{
		{
			Name: "length-too-long", Does: "announces more than it sends", Options: once,
			Lay:    func(s *Site) { s.raw(bad, send(head+"Content-Length: 5000\r\n\r\n<p>short")) },
			Expect: fails("body broken off: unexpected EOF"),
		},
		{
			Name: "length-too-short", Does: "sends more than it announces",
			Lay:    func(s *Site) { s.raw(bad, send(head+"Content-Length: 8\r\n\r\n<p>short<a href=/beyond>beyond</a>")) },
			Expect: fetched().saying("/beyond", "never accepted"),
		},
		{
			Name: "length-negative", Does: "announces a body of -5 bytes",
			Lay:    func(s *Site) { s.raw(bad, send(head+"Content-Length: -5\r\n\r\n<p>short")) },
			Expect: fetched(),
		},
		{
			Name: "length-huge", Does: "announces nine quintillion bytes, and does send without end", Options: []string{"fetch.max_body=100kB"},
			Lay: func(s *Site) {
				s.raw(bad, forEver(head+"Content-Length: 9000000000000000000\r\n\r\n", long("<p>more and more\n", 8192)))
			},
			Expect: cut(),
		},
		{
			Name: "lengths-that-differ", Does: "announces two lengths", Options: once,
			Lay:    func(s *Site) { s.raw(bad, send(head+"Content-Length: 5\r\nContent-Length: 9\r\n\r\n<p>short")) },
			Expect: fails("Content-Length"),
		},
		{
			Name: "length-and-chunks", Does: "announces a length, and sends chunks, as for smuggling", Options: once,
			Lay: func(s *Site) {
				s.raw(bad, send(head+"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n6\r\n<p>one\r\n0\r\n\r\n"))
			},
			Expect: fetched(),
		},
		{
			Name: "endless-body", Does: "never ends its body", Options: []string{"fetch.max_body=100kB"},
			Lay:    func(s *Site) { s.raw(bad, forEver(head+"\r\n", long("<p>more and more\n", 8192))) },
			Expect: cut(),
		},
		{
			Name: "chunks-broken-off", Does: "closes the connection in the middle of a chunk", Options: once,
			Lay:    func(s *Site) { s.raw(bad, send(chunked+"20\r\n<p>begun")) },
			Expect: fails("body broken off: unexpected EOF"),
		},
		{
			Name: "chunk-size-garbage", Does: "gives the size of a chunk as -1, then as a word", Options: once,
			Lay: func(s *Site) {
				s.raw(bad, send(chunked+"-1\r\n<p>begun\r\n0\r\n\r\n"))
				s.raw("/bad-word", send(chunked+"five\r\n<p>begun\r\n0\r\n\r\n"))
			},
			Expect: Expect{Counters: some{"errors": 2, "fetch.network_failures": 2}, Why: says{bad: "body broken off", "/bad-word": "body broken off"}, Asked: 2},
		},
		{
			Name: "chunk-size-huge", Does: "announces a chunk beyond what numbers hold", Options: once,
			Lay:    func(s *Site) { s.raw(bad, send(chunked+"fffffffffffffffff\r\n<p>begun\r\n0\r\n\r\n")) },
			Expect: fails("body broken off"),
		},
		{
			Name: "endless-chunk-extension", Does: "never ends the line that a chunk begins with", Options: once,
			Lay:    func(s *Site) { s.raw(bad, forEver(chunked+"5;", long("more=more;", 8192))) },
			Expect: fails("body broken off"),
		},
		{
			Name: "chunks-of-one-byte", Does: "sends a large body in chunks of one byte, with long extensions", Options: append([]string{"fetch.max_body=1MB"}, once...),
			Lay: func(s *Site) {
				s.raw(bad, forEver(chunked, long("1;more=and-more-and-more-and-more-and-more\r\nx\r\n", 8192)))
			},
			Expect: fails("body broken off"),
		},
		{
			Name: "endless-trailer", Does: "never ends the fields after the last chunk", Options: once,
			Lay:    func(s *Site) { s.raw(bad, forEver(chunked+"5\r\nshort\r\n0\r\n", long("X-More: more\r\n", 8192))) },
			Expect: fails("body broken off"),
		},
		{
			Name: "unknown-transfer-coding", Does: "sends its body in a transfer coding of its own", Options: once,
			Lay:    func(s *Site) { s.raw(bad, send(head+"Transfer-Encoding: shredded\r\n\r\n<p>shreds")) },
			Expect: fails("transfer encoding"),
		},
		{
			Name: "body-where-there-is-none", Does: "sends a body with statuses that have none: 204, 205 and 304", Options: once,
			Lay: func(s *Site) {
				for path, status := range map[string]string{"/bad-204": "204 No Content", "/bad-205": "205 Reset Content", "/bad-304": "304 Not Modified"} {
					s.raw(path, send("HTTP/1.1 "+status+"\r\nContent-Length: 27\r\n\r\n<a href=/poison>poison</a> "))
				}
			},
			Expect: Expect{
				Counters: some{"errors": 3, "fetch.status_204": 1, "fetch.status_205": 1, "fetch.status_304": 1},
				Why:      says{"/bad-204": "204 No Content", "/bad-205": "205 Reset Content", "/bad-304": "304 Not Modified", "/poison": "never accepted"},
				Asked:    3,
			},
		},
		{
			Name: "a-part-unasked", Does: "sends a part of the page (206), though all of it was asked for", Options: once,
			Lay: func(s *Site) {
				s.handle(bad, func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Range", "bytes 10-20/5000")
					w.WriteHeader(http.StatusPartialContent)
					_, _ = w.Write([]byte("<a href=/poison>"))
				})
			},
			Expect: Expect{Counters: some{"errors": 1, "fetch.status_206": 1}, Why: says{bad: "206 Partial Content", "/poison": "never accepted"}, Asked: 1},
		},
	}
}
