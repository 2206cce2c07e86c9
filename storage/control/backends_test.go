package control_test

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/webrace/webrace/internal/testutil/postgres"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/control/controltest"
)

// backend is where a store is kept: in a file, or in a database of a server.
type backend struct {
	open   func(control.Options) (*control.Store, error)
	shared bool // by several stores at a time
}

func (b backend) Open() (controltest.Store, error) {
	s, err := b.open(control.Options{Retry: untilThere})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// store opens a store, which is closed with the test.
func (b backend) store(t *testing.T) *control.Store {
	t.Helper()
	s, err := b.open(control.Options{Readers: 2, Retry: untilThere})
	ok(t, err)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// untilThere repeats what failed because the server is away.
func untilThere(ctx context.Context, transaction func() error) error {
	for {
		err := transaction()
		if !errors.As(err, new(*control.AwayError)) {
			return err
		}
		select {
		case <-time.After(5 * time.Millisecond): // which a server takes to start
		case <-ctx.Done():
			return err
		}
	}
}

// onSQLite returns an empty backend in a file.
func onSQLite(t *testing.T) backend {
	path := filepath.Join(t.TempDir(), "control.db")
	return backend{open: func(o control.Options) (*control.Store, error) { return control.Open(path, o) }}
}

// onPostgres returns an empty backend in a database, which stays the same when the server is started again.
func onPostgres(t *testing.T, database string) backend {
	key, ctx := filepath.Join(t.TempDir(), control.KeyFile), t.Context()
	return backend{shared: true, open: func(o control.Options) (*control.Store, error) {
		o.Gather = cmp.Or(o.Gather, time.Millisecond) // which promises the same as none, and is more
		return control.OpenPostgres(ctx, database, key, o)
	}}
}

// backends make, by name, an empty one for a test.
var backends = map[string]func(t *testing.T) backend{
	"SQLite":     onSQLite,
	"PostgreSQL": func(t *testing.T) backend { return onPostgres(t, postgres.Database(t)) },
}

func TestBackends(t *testing.T) {
	t.Parallel()
	for name, empty := range backends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			guarantees := 0
			controltest.Run(t, func(t *testing.T) controltest.Backend {
				if guarantees++; testing.Short() && name != "SQLite" && guarantees%4 != 1 {
					t.Skip("a server does the work: one in four in short mode")
				}
				return empty(t)
			})
		})
	}
}

// What pools connections in between, in transaction mode, gives each transaction another connection of the server:
// nothing may rest on what a connection keeps.
func TestBackendsBehindAPooler(t *testing.T) {
	if testing.Short() {
		t.Skip("every guarantee once more: not in short mode")
	}
	t.Parallel()
	server := postgres.New(t, postgres.Options{})
	through, database := server.Pooler(t), server.Database(t)
	for address, want := range map[string]bool{database: true, through(database): false} {
		if keeps, err := control.KeepsPlans(t.Context(), address); err != nil || keeps != want {
			t.Errorf("%s: the server keeps plans %v, %v; want %v", address, keeps, err, want)
		}
	}
	controltest.Run(t, func(t *testing.T) controltest.Backend { return onPostgres(t, through(server.Database(t))) })
}
