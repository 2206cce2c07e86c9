package postgres

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
)

// shared is the server that the tests of a program use together.
var shared struct {
	sync.Mutex
	server *Server
}

var databases atomic.Int64

// Database makes an empty database on a server that all tests of the program share, and returns its URL. The program's
// TestMain calls [Main], which ends the server.
func Database(t testing.TB) string {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.server == nil {
		s := create(t, Options{})
		shared.server = s // before it runs, so that it is removed in any case
		s.Start(t)
	}
	return shared.server.Database(t)
}

// Main runs the tests of a program, ends the server that they shared, and returns the status to exit with.
func Main(m *testing.M) (status int) {
	status = m.Run()
	if shared.server == nil {
		return status
	}
	if err := shared.server.remove(); err != nil {
		fmt.Fprintln(os.Stderr, "remove the PostgreSQL server of the tests:", err)
		return 1
	}
	return status
}
