package main

import (
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/webrace/webrace/internal/testutil/postgres"
)

// A control store is moved to PostgreSQL and back. $DATABASE is the URL of an empty database, $STANDS_AT what is shown
// of it; $NONE names one that is not there, and $GONE a server that is not.
func TestTheControlStoreMovesToPostgreSQLAndBack(t *testing.T) {
	t.Parallel()
	server := postgres.New(t, postgres.Options{})
	testscript.Run(t, testscript.Params{
		Dir: "testdata/postgres", RequireExplicitExec: true, RequireUniqueNames: true, Cmds: commands,
		Setup: func(e *testscript.Env) error {
			url := withPassword(server.Database(t))
			shown, _, _ := strings.Cut(strings.Replace(url, ":hidden@", "@", 1), "?")
			e.Setenv("DATABASE", url)
			e.Setenv("STANDS_AT", shown)
			e.Setenv("NONE", withPassword(server.URL("none")))
			e.Setenv("GONE", "postgres://u:hidden@127.0.0.1:1/d?sslmode=disable")
			return nil
		},
	})
}

// withPassword returns a URL with a password, which a server that trusts everybody does not look at.
func withPassword(url string) string { return strings.Replace(url, "@", ":hidden@", 1) }
