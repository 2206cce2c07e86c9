// Package httpwire stands between a connection and net/http's reader of HTTP/1 responses, and makes of what servers
// send what that reader takes, as far as browsers take it: net/http refuses a response for one bad line of its head.
//
// A head that is clean passes byte for byte. Of another one the lines that are no fields, or whose values hold control
// characters, are left out; folded fields are unfolded (RFC 9112, section 5.2), blanks before a colon removed (section
// 5.1), strange versions rounded to 1.0 or 1.1, repeated equal lengths joined, and lengths that are no numbers dropped,
// as the Fetch standard requires. A response is refused, with a reason, if its status line makes no sense, if a line
// that is left out could have said where the body ends, if two lengths differ, if it is in a transfer coding other than
// chunked, or if there is a NUL in its head. What comes first and does not begin like a response passes as it came, to
// be refused there. Where the head gives the length of the body in two ways (a length and chunks, or chunks by
// HTTP/1.0), chunks count, and the connection ends with the response (section 6.3). Trailers are left out.
//
// The reader gets no byte that follows a response before there is another request: what comes with the end of a body,
// or while nothing is asked, is never taken for the next answer, and ends the connection.
//
// It is held against net/http (FuzzHead, FuzzResponses), which takes all that passes, and ends each body at the same
// byte; where browsers differ from one another, the stricter is followed.
package httpwire

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"slices"
	"sync/atomic"
)

// Conn is a connection to an HTTP/1 server whose responses are clean. At most one goroutine reads, and one writes; a
// request is written after the response to the one before was read.
type Conn struct {
	net.Conn
	most  int // bytes of a head, or of a trailer
	phase atomic.Int32
	head  atomic.Bool // the request that was written last is a HEAD, whose answer has no body

	answered bool // a response was read before

	state   state
	left    uint64 // bytes of the body, or of the chunk
	chunks  chunks
	pending []byte // the beginning of a head
	looked  int    // how far there is no end of it
	out     []byte // what is read before anything else
	err     error  // ends the connection once out is read
}

// Phases of a connection.
const (
	unused = iota // what a server sends before it is asked is left to net/http
	asked
	answering
	idle
)

type state uint8

const (
	inHead state = iota
	inBody
	inChunks
	untilClose // and whatever is no HTTP
)

// New returns a connection to read responses from whose heads have at most so many bytes.
func New(c net.Conn, most int) *Conn { return &Conn{Conn: c, most: most} }

// Write sends a request, or a part of one.
func (c *Conn) Write(p []byte) (int, error) {
	if c.phase.CompareAndSwap(idle, asked) || c.phase.CompareAndSwap(unused, asked) {
		c.head.Store(bytes.HasPrefix(p, []byte("HEAD ")))
	}
	return c.Conn.Write(p)
}

// Read reads what the server answers.
func (c *Conn) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for {
		if len(c.out) > 0 {
			n := copy(p, c.out)
			c.out = c.out[n:]
			return n, nil
		}
		if c.err != nil {
			return 0, c.err
		}
		if c.state == inBody && c.left == uint64(len(p)) && len(p) > 1 {
			p = p[:len(p)-1] // the last byte is read with what follows it, if something does
		}
		n, err := c.Conn.Read(p)
		if n > 0 {
			n = c.pass(p[:n])
		}
		if n > 0 {
			return n, nil // an error comes again
		}
		if err != nil && len(c.pending) > 0 {
			c.state, c.out, c.pending, c.err = untilClose, c.pending, nil, err
			continue
		}
		if err != nil && len(c.out) == 0 && c.err == nil {
			return 0, err
		}
	}
}

// pass takes what came, and returns how much of it may be read, which it moves to the front. The rest is in c.out, or
// is left out.
func (c *Conn) pass(b []byte) int {
	passed := 0
	for passed < len(b) && c.err == nil {
		rest := b[passed:]
		switch c.state {
		case untilClose:
			return len(b)
		case inBody:
			n := min(uint64(len(rest)), c.left)
			passed += int(n)
			if c.left -= n; c.left == 0 {
				c.end()
			}
		case inChunks:
			n, used, s := c.chunks.pass(rest, c.most)
			passed += n
			switch s {
			case chunksBad: // net/http tells why; nothing is left out of them
				c.state = untilClose
				return len(b)
			case chunksLong:
				c.err = fmt.Errorf("the trailer exceeds %d bytes", c.most)
			case chunksEnd:
				c.out = c.chunks.late
				c.end()
				if used < len(rest) {
					c.unasked()
				}
			}
			return passed
		case inHead:
			if c.phase.Load() == idle {
				c.unasked()
				return passed
			}
			n := c.passHead(rest)
			if n == 0 {
				return passed
			}
			passed += n
		}
	}
	return passed
}

// passHead takes a head, or a part of one. It returns 0 if nothing of rest may be read as it is, and then has all of
// it.
func (c *Conn) passHead(rest []byte) int {
	if len(c.pending) == 0 {
		if end, f := scan(rest); end > 0 {
			c.begin(f)
			return end
		}
	}
	c.pending = append(c.pending, rest...)
	if !maybeResponse(c.pending) {
		if c.answered {
			c.pending = nil
			c.unasked()
			return 0
		}
		c.state, c.out, c.pending = untilClose, c.pending, nil
		return 0
	}
	var end int
	end, c.looked = headEnd(c.pending, c.looked)
	switch {
	case end > c.most || end == 0 && len(c.pending) > c.most:
		c.refuse(fmt.Errorf("the header of the response exceeded %d bytes", c.most))
	case end > 0:
		c.complete(c.pending[:end], c.pending[end:])
	}
	return 0
}

// complete goes on behind a head that came in parts, or is not clean.
func (c *Conn) complete(head, body []byte) {
	c.pending = nil
	n, f := scan(head)
	if n == 0 {
		var err error
		if head, f, err = clean(head); err != nil {
			c.refuse(err)
			return
		}
	}
	c.begin(f)
	n = c.pass(body) // what does not pass may be in c.out, or pending
	c.out = slices.Concat(head, body[:n], c.out)
}

// refuse ends the connection with a reason, within a head: net/http would take a connection that fails between
// responses for one that was closed, and ask again.
func (c *Conn) refuse(why error) { c.pending, c.out, c.err = nil, []byte("HTTP/1.1 200\r\n"), why }

// unasked ends the connection at what no request asked for.
func (c *Conn) unasked() { c.err = io.EOF }

// begin goes on behind a head.
func (c *Conn) begin(f framing) {
	if f.informs {
		return
	}
	c.phase.Store(answering)
	switch {
	case f.switches:
		c.state = untilClose
	case f.bodiless || c.head.Load() || f.hasLength && f.length == 0:
		c.end()
	case f.chunked:
		c.state, c.chunks = inChunks, chunks{}
	case f.hasLength:
		c.state, c.left = inBody, f.length
	default:
		c.state = untilClose
	}
}

// end ends a response.
func (c *Conn) end() {
	c.state, c.answered = inHead, true
	c.phase.Store(idle)
}
