package hostile

import (
	"hash/fnv"
	"io"
	"log"
	"net"
	"time"
)

var silent = log.New(io.Discard, "", 0)

func hash(text string) uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, text)
	return h.Sum64()
}

// head begins the answer of a good page.
const head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"

// send answers and hangs up.
func send(answer string) func(net.Conn) {
	return func(c net.Conn) { _, _ = io.WriteString(c, answer) }
}

// hold answers, and then waits until the other side has had enough.
func hold(answer string) func(net.Conn) {
	return func(c net.Conn) {
		_, _ = io.WriteString(c, answer)
		_, _ = io.Copy(io.Discard, c)
	}
}

// reset answers, and then breaks the connection off.
func reset(answer string) func(net.Conn) {
	return func(c net.Conn) {
		_, _ = io.WriteString(c, answer)
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
	}
}

// forEver answers, and then writes the same again and again until the other side has had enough.
func forEver(answer, again string) func(net.Conn) {
	return func(c net.Conn) {
		_, err := io.WriteString(c, answer)
		for err == nil {
			_, err = io.WriteString(c, again)
		}
	}
}

// drip answers, and then writes the same again and again, a byte at a time.
func drip(answer, again string) func(net.Conn) {
	return func(c net.Conn) {
		_, err := io.WriteString(c, answer)
		for i := 0; err == nil; i++ {
			time.Sleep(200 * time.Millisecond) // as slow servers do
			_, err = c.Write([]byte{again[i%len(again)]})
		}
	}
}
