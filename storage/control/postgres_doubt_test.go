//go:build unix

package control

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5/stdlib"

	"github.com/webrace/webrace/internal/testutil"
	testpostgres "github.com/webrace/webrace/internal/testutil/postgres"
)

// A connection that the server has ended while it rested is told from one that is as it was, without asking the server.
func TestAConnectionThatHasRestedIsDoubtfulIfItHasEnded(t *testing.T) {
	t.Parallel()
	config, _, err := ParseConfig(testpostgres.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	pool := Pool(config, 2)
	defer pool.Close()
	conn, err := pool.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	isDoubted := func(rested time.Duration) (is bool) {
		err := conn.Raw(func(c any) error {
			is = isDoubtful(t.Context(), stdlib.ShouldPingParams{Conn: c.(*connection).Conn.Conn(), IdleDuration: rested})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return is
	}
	if isDoubted(time.Hour) {
		t.Error("one that is open is doubted")
	}
	var process int
	if err := conn.QueryRowContext(t.Context(), "SELECT pg_backend_pid()").Scan(&process); err != nil {
		t.Fatal(err)
	}
	if _, err := pool.ExecContext(t.Context(), "SELECT pg_terminate_backend($1)", process); err != nil {
		t.Fatal(err)
	}
	testutil.Await(t, "it is doubted", func() bool { return isDoubted(time.Hour) })
	if isDoubted(time.Second / 2) {
		t.Error("one is doubted that has not rested")
	}
}
