package objects

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/webrace/webrace/storage/internal/durable"
)

// Backup writes a copy of the store, as it is at one moment, to a directory that does not exist yet, and
// which opens as a store. The store is in use meanwhile; only segments are not removed before it is done.
// Segments that are complete are hard-linked where the file system can do that, because they are never
// written to again. When it fails, nothing of the copy is left.
func (s *Store) Backup(ctx context.Context, to string) error {
	if err := s.users.enter(); err != nil {
		return err
	}
	defer s.users.Leave()
	fsys := s.options.FS
	if _, err := fsys.Stat(to); !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			err = fs.ErrExist
		}
		return fmt.Errorf("back up object cache to %s: %w", to, err)
	}
	s.unlinking.RLock()
	defer s.unlinking.RUnlock()
	if err := s.backup(ctx, to); err != nil {
		return errors.Join(fmt.Errorf("back up object cache to %s: %w", to, err), fsys.RemoveAll(to))
	}
	return nil
}

// backup copies the index first: every segment it names stays as long as this takes, and what it names of
// each is there.
func (s *Store) backup(ctx context.Context, to string) error {
	fsys := s.options.FS
	if err := makeDir(fsys, to); err != nil {
		return err
	}
	index := fsys.PathJoin(to, "index")
	if err := s.db.Checkpoint(index); err != nil {
		return fmt.Errorf("copy index: %w", err)
	}
	o := s.options
	o.ReadOnly = true
	copied, err := openIndex(index, o)
	if err != nil {
		return err
	}
	named, err := segmentsOf(copied)
	if err := errors.Join(err, copied.Close()); err != nil {
		return err
	}
	for i, k := range named {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.copySegment(to, k, i < len(named)-1); err != nil {
			return fmt.Errorf("copy segment %d: %w", k.number, err)
		}
	}
	return errors.Join(durable.SyncDir(fsys, to), durable.SyncDir(fsys, fsys.PathDir(to)))
}

func (s *Store) copySegment(to string, k indexedSegment, sealed bool) error {
	fsys := s.options.FS
	from, copied := s.segments.path(k.number), fsys.PathJoin(to, segmentName(k.number, k.state.compression))
	file, err := fsys.Open(from)
	if errors.Is(err, fs.ErrNotExist) {
		s.options.Logger.Error("object cache: a segment is missing, and so from the backup", "file", from)
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	if sealed {
		return vfs.LinkOrCopy(fsys, from, copied)
	}
	return copyPrefix(fsys, copied, file, k.state.size)
}
