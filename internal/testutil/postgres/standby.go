package postgres

import (
	"fmt"
	"net"
	"os"
	"testing"

	"github.com/webrace/webrace/internal/testutil"
)

// Standby starts a copy of a server, which follows it and ends with the test. From then on the server acknowledges what
// the copy has written down, too.
func (s *Server) Standby(t testing.TB) *Server {
	t.Helper()
	dir, err := os.MkdirTemp(s.dir, "standby-")
	if err == nil {
		err = giveAway(dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	copied := &Server{bin: s.bin, dir: dir, options: s.options}
	if copied.host, copied.port, err = net.SplitHostPort(testutil.FreeAddress(t)); err != nil {
		t.Fatal(err)
	}
	s.run(t, "pg_basebackup", "-D", copied.data(), "--write-recovery-conf", "--checkpoint=fast", "--no-sync",
		"-d", fmt.Sprintf("host=%s port=%s user=postgres application_name=standby", s.host, s.port))
	t.Cleanup(func() {
		if err := copied.remove(); err != nil {
			t.Error(err)
		}
	})
	copied.Start(t)
	for _, statement := range []string{"ALTER SYSTEM SET synchronous_standby_names = 'standby'", "SELECT pg_reload_conf()"} {
		s.Query(t, statement)
	}
	testutil.Await(t, "the standby is synchronous", func() bool {
		return s.Query(t, "SELECT sync_state FROM pg_stat_replication") == "sync"
	})
	return copied
}

// Freeze halts all processes of a server, which answers nobody until [Server.Thaw].
func (s *Server) Freeze(t testing.TB) {
	t.Helper()
	if err := s.freeze(); err != nil {
		t.Fatal(err)
	}
}

// Thaw has a server go on.
func (s *Server) Thaw(t testing.TB) {
	t.Helper()
	if err := s.thaw(); err != nil {
		t.Fatal(err)
	}
}

// Promote makes a standby a server of its own, to be written.
func (s *Server) Promote(t testing.TB) {
	t.Helper()
	s.run(t, "pg_ctl", "promote", "-w", "-D", s.data())
}
