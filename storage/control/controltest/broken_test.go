package controltest

import (
	"context"
	"errors"
	"iter"
	"path/filepath"
	"testing"
	"time"

	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/fsck"
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

// stale does not count revisions.
type stale struct{ *control.Store }

func (stale) Revision(context.Context) (int64, error) { return 0, nil }

// restless shows URDs that were added while it is read.
type restless struct{ *control.Store }

func (r restless) All(ctx context.Context) iter.Seq2[control.URD, error] {
	return func(yield func(control.URD, error) bool) {
		last := int64(0)
		for _, all := range []iter.Seq2[control.URD, error]{r.Store.All(ctx), r.Store.All(ctx)} {
			for u, err := range all {
				if err == nil && u.Revision <= last {
					continue
				}
				if last = u.Revision; !yield(u, err) {
					return
				}
			}
		}
	}
}

// tireless writes on when the context has ended.
type tireless struct{ *control.Store }

func (t tireless) SetCursor(ctx context.Context, follower string, position int64) error {
	return t.Store.SetCursor(context.WithoutCancel(ctx), follower, position)
}

// plain knows no requests.
type plain struct{ *control.Store }

func (p plain) StartOf(ctx context.Context, crawl string) (string, error) {
	for u, err := range p.ByCrawl(ctx, crawl) {
		return u.URI, err
	}
	return "", control.ErrNotFound
}

// timeless has times count since they are asked for.
type timeless struct{ *control.Store }

func (timeless) TimesSince(context.Context, string) (time.Time, error) { return time.Now(), nil }

// hasty waits for no copy.
type hasty struct{ *control.Store }

func (hasty) Copied(context.Context, int64) error { return nil }

// appending stores a replaced ACI anew.
type appending struct{ *control.Store }

func (a appending) ReplaceACI(ctx context.Context, aci *xmlschema.ACI) error {
	again := *aci
	again.ID += "-again"
	_, err := a.PutACIs(ctx, []*xmlschema.ACI{&again})
	return err
}

// clinging keeps the session of a secret that is removed.
type clinging struct{ *control.Store }

func (c clinging) DeleteSecret(ctx context.Context, name string, force bool) error {
	cookies, err := c.Session(ctx, name)
	return errors.Join(err, c.Store.DeleteSecret(ctx, name, force), c.SetSession(ctx, name, cookies))
}

// pretending says that it has read a secret anew.
type pretending struct{ *control.Store }

func (pretending) RenewSecret(context.Context, string, uint64) (bool, error) { return true, nil }

// mindful forgets no follower.
type mindful struct{ *control.Store }

func (mindful) DropCursor(context.Context, string) error { return nil }

// inventive has a letter for every id.
type inventive struct{ *control.Store }

func (i inventive) DeadLetter(ctx context.Context, id string) (control.DeadLetter, error) {
	l, err := i.Store.DeadLetter(ctx, id)
	if errors.Is(err, control.ErrNotFound) {
		err = nil
	}
	return l, err
}

// sparing backs up no data.
type sparing struct{ *control.Store }

func (sparing) Backup(_ context.Context, to string) error {
	empty, err := control.Open(to, control.Options{})
	return errors.Join(err, empty.Close())
}

// alarmed finds damage where there is none.
type alarmed struct{ *control.Store }

func (alarmed) Check(_ context.Context, _ bool, report fsck.Report) error {
	report(fsck.Finding{Kind: "missing counter"})
	return nil
}

func TestBrokenStoresAreFound(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		wrap   func(*control.Store) Store
		breaks string
	}{
		"forgetful":  {func(s *control.Store) Store { return forgetful{s} }, "an ACI is taken once"},
		"piecemeal":  {func(s *control.Store) Store { return piecemeal{s} }, "putting is all or nothing"},
		"seizing":    {func(s *control.Store) Store { return seizing{s} }, "one owner does not replace another's URD"},
		"deaf":       {func(s *control.Store) Store { return deaf{s} }, "changes, checks and quotas wake"},
		"stale":      {func(s *control.Store) Store { return stale{s} }, "revisions say what changed, once each"},
		"restless":   {func(s *control.Store) Store { return restless{s} }, "an iterator may be left at any point, and sees one moment"},
		"tireless":   {func(s *control.Store) Store { return tireless{s} }, "a context that has ended stops reading and writing"},
		"plain":      {func(s *control.Store) Store { return plain{s} }, "starts are found by host and crawl"},
		"timeless":   {func(s *control.Store) Store { return timeless{s} }, "the times of a URD count since it was given them"},
		"hasty":      {func(s *control.Store) Store { return hasty{s} }, "copies of the URD base are waited for"},
		"appending":  {func(s *control.Store) Store { return appending{s} }, "an ACI is replaced in its place"},
		"clinging":   {func(s *control.Store) Store { return clinging{s} }, "sessions end with their secret"},
		"pretending": {func(s *control.Store) Store { return pretending{s} }, "a secret that comes from elsewhere is read there"},
		"mindful":    {func(s *control.Store) Store { return mindful{s} }, "cursors are kept"},
		"inventive":  {func(s *control.Store) Store { return inventive{s} }, "dead letters are kept"},
		"sparing":    {func(s *control.Store) Store { return sparing{s} }, "a backup is the store as it was"},
		"alarmed":    {func(s *control.Store) Store { return alarmed{s} }, "a check finds nothing wrong in what was written"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, g := range guarantees {
				if g.name != c.breaks {
					continue
				}
				if err := g.holds(t, backend(t, c.wrap)); err == nil {
					t.Errorf("it is said that %s", g.name)
				}
				return
			}
			t.Errorf("there is no guarantee %q", c.breaks)
		})
	}
}
