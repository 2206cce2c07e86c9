package postgres

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/webrace/webrace/internal/testutil"
)

// Pooler starts pgbouncer in front of a server, which ends with the test, or skips the test where it is not installed.
// Each transaction may be on another of the server's connections (pool_mode = transaction). It returns how a database
// of the server is reached through it.
func (s *Server) Pooler(t testing.TB) (through func(database string) string) {
	t.Helper()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		program = "/usr/sbin/pgbouncer" // which is in the path of few
	}
	if _, err := os.Stat(program); err != nil {
		t.Skip("no pgbouncer is installed (apt-get install pgbouncer)")
	}
	address := testutil.FreeAddress(t)
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	settings := fmt.Sprintf(`[databases]
* = host=%s port=%s user=postgres
[pgbouncer]
listen_addr = %s
listen_port = %s
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 3
server_idle_timeout = 1
`, s.host, s.port, host, port)
	path := filepath.Join(s.dir, "pgbouncer.ini")
	if err := os.WriteFile(path, []byte(settings), 0o644); err != nil {
		t.Fatal(err)
	}
	c := s.command(program, "--quiet", path)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill() // or it has ended
		_ = c.Wait()         // it was killed
	})
	testutil.Await(t, "pgbouncer listens", func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	return func(database string) string { return at(t, database, address) }
}

// at returns the URL of a database as it is reached at another address.
func at(t testing.TB, database, address string) string {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	u.Host = address
	return u.String()
}
