package storage

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/webrace/webrace/storage/internal/setaside"
)

// movedFile is the name of a file in a data directory that names the backup in which it goes elsewhere, or came from
// there. So it is known again by who was killed on the way.
const movedFile = "moved"

// BackupID is a number that no other backup has, as far as chance allows.
type BackupID uint64

// BackupBits is how many bits of it there are.
const BackupBits = 48

func (id BackupID) String() string { return fmt.Sprintf("%012x", uint64(id)) }

// IDOfBackup returns the number of a backup. It is of its manifest, and so of all that is in it.
func IDOfBackup(dir string) (BackupID, error) {
	if _, err := ReadManifest(dir); err != nil {
		return 0, err
	}
	content, err := os.ReadFile(filepath.Join(dir, manifestFile))
	if err != nil {
		return 0, fmt.Errorf("read backup: %w", err)
	}
	sum := sha256.Sum256(content)
	return BackupID(binary.BigEndian.Uint64(sum[:]) >> (64 - BackupBits)), nil
}

// MarkMoved notes in a data directory, durably, in which backup it goes elsewhere.
func MarkMoved(dir string, in BackupID) error {
	if err := replaceFile(dir, movedFile, []byte(in.String()+"\n")); err != nil {
		return fmt.Errorf("note in %s in which backup it moves: %w", dir, err)
	}
	return nil
}

// HasMoved reports whether a data directory goes elsewhere, or came, in a backup.
func HasMoved(dir string, in BackupID) (bool, error) {
	content, err := os.ReadFile(filepath.Join(dir, movedFile))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return strings.TrimSpace(string(content)) == in.String(), err
}

// Moved returns where the data directory is that went elsewhere in a backup: at the path, or set aside; empty if it is
// not here.
func Moved(path string, in BackupID) (string, error) {
	aside, err := filepath.Glob(filepath.Join(quoted(filepath.Dir(path)), filepath.Base(path)+"*"+setaside.Suffix))
	if err != nil {
		return "", err
	}
	for _, dir := range append([]string{path}, aside...) {
		if is, err := HasMoved(dir, in); is || err != nil {
			return dir, err
		}
	}
	return "", nil
}

// quoted returns a path as a pattern that it alone matches.
func quoted(path string) string {
	if filepath.Separator == '\\' {
		return path // there is no way to
	}
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// SetDirAside renames a data directory that nothing uses, durably, if it is there, and returns its new path.
func SetDirAside(path string) (to string, err error) {
	if !exists(path) {
		return "", nil
	}
	return setaside.Move(vfs.Default, path)
}

// Rename renames a directory that nothing uses, durably.
func Rename(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return errors.Join(flush(filepath.Dir(from)), flush(filepath.Dir(to)))
}

// TakeIn restores a backup to a path, durably and as a whole, and notes there that it came in it. What is there already
// is set aside, unless it came in the same backup.
func TakeIn(ctx context.Context, from, path string) error {
	id, err := IDOfBackup(from)
	if err != nil {
		return err
	}
	if is, err := HasMoved(path, id); is || err != nil {
		return err
	}
	draft := path + ".partial"
	if err := os.RemoveAll(draft); err != nil {
		return err
	}
	if _, err := Restore(ctx, from, draft); err != nil {
		return err
	}
	if err := errors.Join(MarkMoved(draft, id), flushAll(draft)); err != nil {
		return err
	}
	if _, err := SetDirAside(path); err != nil {
		return err
	}
	return Rename(draft, path)
}

// flushAll makes the names in a directory, and in all below it, durable. The files are.
func flushAll(dir string) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		return flush(path)
	})
}
