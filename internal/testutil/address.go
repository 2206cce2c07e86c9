package testutil

import (
	"fmt"
	"math/rand/v2"
	"net"
	"runtime"
	"testing"
)

// FreeAddress returns an address of this machine at which nothing listens, and nobody who asks for a free port will,
// where the system is Linux: all of 127.0.0.0/8 is loopback there, and the host is one that no other test has.
func FreeAddress(t testing.TB) string {
	t.Helper()
	host := "127.0.0.1"
	if runtime.GOOS == "linux" {
		host = fmt.Sprintf("127.%d.%d.%d", 1+rand.IntN(254), rand.IntN(256), 1+rand.IntN(254))
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}
