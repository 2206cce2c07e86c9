package storage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/fsck"
	"github.com/webrace/webrace/storage/queue"
	"github.com/webrace/webrace/storage/states"
)

// SearchCursor is the follower of the object cache that fills the full-text index: the stage objects of the
// shipped pipeline search.
const SearchCursor = "search/objects"

// Backup writes a copy of the directory to a path that does not exist yet, or is empty, while it is in use. The copy
// has no full-text index, which can be rebuilt: see [Restore].
//
// Each store is copied as it is at one moment, one after the other, in an order that makes the copies fit together. A
// request is done in the frontier after what came of it is stored; an annotation is stored after the version that it
// speaks of, and so are quads. So the frontier comes first, and the documents last: what is done in the copy is stored
// in it, and what an annotation, or a context of quads, speaks of is there. Versions and annotations that were stored
// in between are in the copy though their request is not done: it is repeated, and finds them. Garbage is not
// collected meanwhile. Queues stand before stores and behind them: they come last, and keep what is done from the
// beginning on, so that what one store has passed on, and another has not got yet, is there. The states of stages tell
// which items have ended, as the frontier and the cursors do, and come before all; until those are copied, no item
// ends that has written to a state, so that none has ended in them whose writes are missing.
//
// The key of the secrets is left out, so that who finds the copy has no secrets: see [Dir.BackupWithKey].
//
// A control store from outside is left out with its key, which the manifest tells. What is done in the copy must be
// stored in the copy of that: so that is made afterwards.
func (d *Dir) Backup(ctx context.Context, to string) (*Manifest, error) {
	return d.backupTo(ctx, to, copier(d.Control))
}

// BackupWithKey is Backup with the key of the secrets, if there is one. The copy wants to be kept as safe as
// the secrets.
func (d *Dir) BackupWithKey(ctx context.Context, to string) (*Manifest, error) {
	return d.backupTo(ctx, to, d.copyControlWithKey)
}

func (d *Dir) backupTo(ctx context.Context, to string, requests copying) (*Manifest, error) {
	m, err := d.backup(ctx, to, requests)
	if err != nil {
		return nil, fmt.Errorf("back up %s to %s: %w", d.path, to, err)
	}
	return m, nil
}

// copying copies a store to a path.
type copying func(ctx context.Context, to string) error

func (d *Dir) backup(ctx context.Context, to string, requests copying) (*Manifest, error) {
	if d.options.Apart != nil {
		return nil, d.options.Apart
	}
	if abs, err := filepath.Abs(to); err == nil {
		if inside, err := filepath.Rel(d.path, abs); err == nil && filepath.IsLocal(inside) {
			return nil, fmt.Errorf("%s lies in the data directory", to)
		}
	}
	if err := makeEmpty(to); err != nil {
		return nil, err
	}
	d.keeping.Lock()
	defer d.keeping.Unlock()
	release, err := keeping(d, "queues", d.Queues, (*queue.Store).KeepDone)
	if err != nil {
		return nil, err
	}
	defer release()
	goOn, err := keeping(d, "states", d.States, (*states.Store).KeepEnds)
	if err != nil {
		return nil, err
	}
	defer goOn()
	for _, store := range []struct {
		name string
		copy copying
	}{
		{"states", copier(d.States)},
		{"frontier", copier(d.Frontier)},
		{"quads", copier(d.Quads)},
		{"control.db", requests},
		{"objects", copier(d.Objects)},
		{"queues", copier(d.Queues)},
	} {
		if store.name == "objects" {
			goOn() // what knows of the ends of items is copied
		}
		if !exists(d.Path(store.name)) || store.name == "control.db" && !d.OwnsControl() {
			continue // it was never used, or is another's
		}
		if err := store.copy(ctx, filepath.Join(to, store.name)); err != nil {
			return nil, err
		}
	}
	if err := writeFormat(to, Format); err != nil {
		return nil, err
	}
	m, err := manifestOf(to)
	if err == nil {
		m.ControlElsewhere = !d.OwnsControl()
		m.Secrets, err = d.secrets(ctx)
	}
	if err == nil {
		err = m.write(to)
	}
	return m, err
}

// keeping has a store, if it was ever used, keep what is done, or what has ended, until goOn is called.
func keeping[S any](d *Dir, name string, open func() (S, error), keep func(S) (goOn func())) (goOn func(), err error) {
	if !exists(d.Path(name)) {
		return func() {}, nil
	}
	store, err := open()
	if err != nil {
		return nil, err
	}
	return keep(store), nil
}

// secrets counts the secrets of the directory.
func (d *Dir) secrets(ctx context.Context) (n int, err error) {
	if !d.OwnsControl() || !exists(d.Path("control.db")) {
		return 0, nil
	}
	store, err := d.Control()
	if err != nil {
		return 0, err
	}
	for _, err := range store.Secrets(ctx) {
		if err != nil {
			return 0, err
		}
		n++
	}
	return n, nil
}

// copyControlWithKey copies the control store and the key of its secrets. If the key was changed meanwhile,
// the two might not fit together, and are copied again.
func (d *Dir) copyControlWithKey(ctx context.Context, to string) error {
	for {
		key, err := d.key()
		if err == nil {
			err = copier(d.Control)(ctx, to)
		}
		if err != nil {
			return err
		}
		after, err := d.key()
		switch {
		case err != nil:
			return err
		case !bytes.Equal(key, after):
			if err := os.Remove(to); err != nil {
				return err
			}
		case key == nil:
			return nil
		default:
			return os.WriteFile(filepath.Join(filepath.Dir(to), control.KeyFile), key, 0o600)
		}
	}
}

// key reads the key file; nil when there is none.
func (d *Dir) key() ([]byte, error) {
	key, err := os.ReadFile(d.Path(control.KeyFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return key, err
}

// copier returns what copies a store.
func copier[T interface {
	Backup(context.Context, string) error
}](open func() (T, error)) copying {
	return func(ctx context.Context, to string) error {
		store, err := open()
		if err != nil {
			return err
		}
		return store.Backup(ctx, to)
	}
}

// makeEmpty makes a directory, or accepts one that is empty.
func makeEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return os.MkdirAll(dir, 0o700)
	case err != nil:
		return err
	case len(entries) > 0:
		return fmt.Errorf("%s is not empty: it holds %s", dir, entries[0].Name())
	}
	return nil
}

// Restore makes a data directory of a backup, where there is none or an empty one. Every file must be as
// the manifest describes it. What is restored becomes a data directory at the end, and not if anything fails. The
// full-text index is not there, and its follower begins again with the first version, as does that of the quads.
func Restore(ctx context.Context, from, to string) (*Manifest, error) {
	m, err := ReadManifest(from)
	if err == nil {
		err = restore(ctx, m, from, to)
	}
	if err != nil {
		return nil, fmt.Errorf("restore %s to %s: %w", from, to, err)
	}
	return m, nil
}

func restore(ctx context.Context, m *Manifest, from, to string) error {
	if err := errors.Join(makeEmpty(to), MakeDir(to)); err != nil {
		return err
	}
	for i := range m.Files {
		if err := ctx.Err(); err != nil {
			return err
		}
		if f := &m.Files[i]; f.Path != formatFile {
			if err := restoreFile(f, from, to); err != nil {
				return err
			}
		}
	}
	if err := restartFollowers(to); err != nil {
		return err
	}
	return writeFormat(to, m.Format)
}

func restoreFile(f *ManifestFile, from, to string) error {
	path := filepath.Join(to, filepath.FromSlash(f.Path))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	err = f.copyTo(from, out)
	if err == nil {
		err = out.Sync()
	}
	return errors.Join(err, out.Close())
}

// restartFollowers lets the followers that fill the full-text index and the quad store begin with the first version:
// the index is not there, and the quads were copied before the cursors were.
func restartFollowers(dir string) error {
	if !exists(filepath.Join(dir, "objects")) {
		return nil
	}
	d := newDir(dir, nil, Options{})
	store, err := d.Objects()
	if err == nil {
		err = errors.Join(store.SetCursor(SearchCursor, 0, true), d.refillQuads())
	}
	return errors.Join(err, d.Close())
}

// Verify checks a backup without changing it: that every file is as the manifest describes it, and then what is in
// them, as [Dir.Check] does, in a copy of it that is removed again. Secrets whose key was left out are no
// damage: [Manifest.LacksKey] tells of them. Nor is a control store that was another's.
func Verify(ctx context.Context, from string, report fsck.Report) (*Manifest, error) {
	copied, err := os.MkdirTemp("", "webrace-verify-")
	if err != nil {
		return nil, err
	}
	m, err := ReadManifest(from)
	if err == nil {
		err = restore(ctx, m, from, copied)
	}
	if err == nil {
		err = checkCopy(ctx, copied, func(f fsck.Finding) {
			if !m.leftOut(f) {
				report(f)
			}
		})
	}
	if err := errors.Join(err, os.RemoveAll(copied)); err != nil {
		return nil, fmt.Errorf("verify %s: %w", from, err)
	}
	return m, nil
}

func checkCopy(ctx context.Context, dir string, report fsck.Report) error {
	d, err := Open(dir, Options{})
	if err != nil {
		return err
	}
	return errors.Join(d.Check(ctx, false, report), d.Close())
}
