package control_test

import (
	"path/filepath"
	"testing"

	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/control/controltest"
)

// backend is where a store is kept.
type backend struct{ path string }

func (b backend) Open() (controltest.Store, error) {
	s, err := control.Open(b.path, control.Options{})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// backends make, by name, an empty one for a test.
var backends = map[string]func(t *testing.T) backend{
	"SQLite": func(t *testing.T) backend { return backend{filepath.Join(t.TempDir(), "control.db")} },
}

func TestBackends(t *testing.T) {
	t.Parallel()
	for name, empty := range backends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			controltest.Run(t, func(t *testing.T) controltest.Backend { return empty(t) })
		})
	}
}
