//go:build unix

package control

import (
	"context"
	"net"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/stdlib"
)

// isDoubtful reports whether a connection that has rested may have ended meanwhile: then the server is asked, and a new
// one opened if it does not answer. Otherwise there is nothing to be read, which costs the server nothing to find out.
func isDoubtful(_ context.Context, p stdlib.ShouldPingParams) bool {
	if p.IdleDuration < time.Second {
		return false
	}
	conn := p.Conn.PgConn().Conn()
	for {
		switch c := conn.(type) {
		case interface{ NetConn() net.Conn }: // TLS
			conn = c.NetConn()
		case *impatient:
			conn = c.Conn
		case syscall.Conn:
			return !isSilent(c)
		default:
			return true
		}
	}
}

// isSilent reports whether a connection is open, and nothing has come.
func isSilent(c syscall.Conn) (silent bool) {
	raw, err := c.SyscallConn()
	if err != nil {
		return false
	}
	err = raw.Control(func(fd uintptr) {
		var one [1]byte
		_, _, err := syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		silent = err == syscall.EAGAIN || err == syscall.EWOULDBLOCK
	})
	return silent && err == nil
}
