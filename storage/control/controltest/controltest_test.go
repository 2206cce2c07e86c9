package controltest

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// ours is a backend with the store of this project, wrapped.
type ours struct {
	path string
	wrap func(*control.Store) Store
}

func (o ours) Open() (Store, error) {
	s, err := control.Open(o.path, control.Options{})
	if err != nil {
		return nil, err
	}
	return o.wrap(s), nil
}

func backend(t *testing.T, wrap func(*control.Store) Store) Backend {
	return ours{filepath.Join(t.TempDir(), "control.db"), wrap}
}

func TestOurStore(t *testing.T) {
	t.Parallel()
	Run(t, func(t *testing.T) Backend { return backend(t, func(s *control.Store) Store { return s }) })
}

// A suite that every store passes would prove nothing.

// forgetful gives annotations out and does not mark them.
type forgetful struct{ *control.Store }

func (f forgetful) Take(ctx context.Context, owner string) (waiting []control.ACI, err error) {
	for a, err := range f.ACIs(ctx, control.Filter{Owner: owner}) {
		if err != nil {
			return nil, err
		}
		waiting = append(waiting, a)
	}
	return waiting, nil
}

// piecemeal stores one URD at a time.
type piecemeal struct{ *control.Store }

func (p piecemeal) Put(ctx context.Context, urds []*xmlschema.URD) (changes []control.Change, err error) {
	for _, u := range urds {
		change, err := p.Store.Put(ctx, []*xmlschema.URD{u})
		if err != nil {
			return nil, err
		}
		changes = append(changes, change...)
	}
	return changes, nil
}

// seizing lets any owner replace anything.
type seizing struct{ *control.Store }

func (s seizing) Put(ctx context.Context, urds []*xmlschema.URD) ([]control.Change, error) {
	for _, u := range urds {
		if stored, err := s.Get(ctx, u.ID); err == nil && stored.Owner != u.Owner {
			if err := s.Delete(ctx, u.ID); err != nil {
				return nil, err
			}
		}
	}
	return s.Store.Put(ctx, urds)
}

// deaf does not count checks.
type deaf struct{ *control.Store }

func (d deaf) Now(ctx context.Context) (control.Point, error) {
	p, err := d.Store.Now(ctx)
	p.Checks = 0
	return p, err
}

func TestBrokenStoresAreFound(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		wrap   func(*control.Store) Store
		breaks string
	}{
		"forgetful": {func(s *control.Store) Store { return forgetful{s} }, "an ACI is taken once"},
		"piecemeal": {func(s *control.Store) Store { return piecemeal{s} }, "putting is all or nothing"},
		"seizing":   {func(s *control.Store) Store { return seizing{s} }, "one owner does not replace another's URD"},
		"deaf":      {func(s *control.Store) Store { return deaf{s} }, "changes, checks and quotas wake"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, g := range guarantees {
				if g.name != c.breaks {
					continue
				}
				if err := g.holds(t.Context(), backend(t, c.wrap)); err == nil {
					t.Errorf("it is said that %s", g.name)
				}
				return
			}
			t.Errorf("there is no guarantee %q", c.breaks)
		})
	}
}
