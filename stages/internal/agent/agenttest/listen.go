package agenttest

import (
	"net"
	"testing"
)

// Listen starts a server at an address, as 127.0.0.1:0, that serves one client after the other, until the test ends. It
// closes the connection behind each.
func Listen(t testing.TB, at string, serve func(net.Conn)) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			serve(conn)
			conn.Close()
		}
	}()
	t.Cleanup(func() { l.Close(); <-ended })
	return l.Addr().String()
}
