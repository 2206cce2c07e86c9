package frontier

import (
	"context"
	"fmt"
	"io/fs"
)

// ErrReadOnly is the error of every change to a store that was opened with ReadOnly, and of taking URLs.
// It is an fs.ErrPermission.
var ErrReadOnly = fmt.Errorf("frontier is opened read-only: %w", fs.ErrPermission)

// Backup writes a copy of the store, as it stands now, to a directory that does not exist yet and opens
// as a store. The store may be in use; what was promised before the call is in the copy. Files that do
// not change any more are shared with the copy where the file system can.
func (s *Store) Backup(ctx context.Context, to string) error { return s.db.Backup(ctx, to) }
