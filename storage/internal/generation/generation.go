// Package generation tells a database that has gone back in time: one that was replaced by an older copy, emptied,
// or whose log was cut. Libraries that store data open such files without a word, because to them they are whole.
//
// Every commit is counted twice: within the database, as a part of the commit, and then, once that is durable, in a
// small file beside it. The file is not synced, so after a power cut it may be behind; it is never ahead of what was
// made durable. So a database that counts less than the file has lost commits, and no crash explains it.
package generation

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/webrace/webrace/storage/internal/durable"
)

// FileName is the name of the file in the directory of a database.
const FileName = "generation"

// Older is the kind of finding that tells of a database which has gone back.
const Older = "older than what was stored last"

// ID names a database for good, so that one is not taken for another.
type ID [16]byte

// NewID returns a random one.
func NewID() (id ID) {
	rand.Read(id[:]) // never fails
	return id
}

// Generation is a state of a database: which one it is, and how many commits it has had.
type Generation struct {
	ID      ID
	Commits uint64
}

// Layout is how a database writes down its generation.
type Layout byte

// The layouts begin with a version and the ID; the number of commits follows.
const (
	Fixed  Layout = iota // in eight bytes
	Varint               // in as few as it takes
)

const layoutVersion = 1

// Encode returns what a database is to write down.
func (l Layout) Encode(g Generation) []byte {
	value := append([]byte{layoutVersion}, g.ID[:]...)
	if l == Varint {
		return binary.AppendUvarint(value, g.Commits)
	}
	return binary.BigEndian.AppendUint64(value, g.Commits)
}

// Decode reads what Encode has written.
func (l Layout) Decode(value []byte) (g Generation, err error) {
	if len(value) > 1+len(g.ID) && value[0] == layoutVersion {
		copy(g.ID[:], value[1:])
		rest, n := value[1+len(g.ID):], 8
		switch {
		case l == Varint:
			g.Commits, n = binary.Uvarint(rest)
		case len(rest) == n:
			g.Commits = binary.BigEndian.Uint64(rest)
		}
		if n == len(rest) {
			return g, nil
		}
	}
	return Generation{}, fmt.Errorf("damaged value: the record that counts commits is %x", value)
}

// category names our writes in pebble's statistics of the file system.
const category vfs.DiskWriteCategory = "webrace-generation"

const layout = "webrace %s %020d "

// size is that of the file, which is written in place.
const size = len("webrace ") + 2*len(ID{}) + 1 + 20 + 1 + 8 + 1

func (g Generation) encode() []byte {
	line := fmt.Appendf(nil, layout, hex.EncodeToString(g.ID[:]), g.Commits)
	return fmt.Appendf(line, "%08x\n", crc32.ChecksumIEEE(line))
}

func decode(text []byte) (g Generation, ok bool) {
	if len(text) != size {
		return g, false
	}
	var id string
	if _, err := fmt.Sscanf(string(text), layout, &id, &g.Commits); err != nil {
		return g, false
	}
	if n, err := hex.Decode(g.ID[:], []byte(id)); err != nil || n != len(g.ID) {
		return g, false
	}
	return g, string(g.encode()) == string(text)
}

// ErrDamaged means that a file of a generation cannot be read: what the database states of itself has to do.
var ErrDamaged = errors.New("the file that counts commits is damaged")

// Read returns what a file holds; [fs.ErrNotExist] if there is none.
func Read(fsys vfs.FS, path string) (g Generation, err error) {
	file, err := fsys.Open(path)
	if err != nil {
		return g, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, int64(size)+1))
	if err != nil {
		return g, fmt.Errorf("read %s: %w", path, err)
	}
	g, ok := decode(text)
	if !ok {
		return g, fmt.Errorf("%s: %w", path, ErrDamaged)
	}
	return g, nil
}

// File is an open file of a generation. The zero value writes nothing.
type File struct {
	file vfs.File
}

// Create opens a file to be written, and has it hold g, durably.
func Create(fsys vfs.FS, path string, g Generation) (*File, error) {
	file, err := open(fsys, path)
	if err != nil {
		return nil, fmt.Errorf("create %s: %w", path, err)
	}
	f := &File{file}
	if err := errors.Join(f.Write(g), file.Sync(), durable.SyncDir(fsys, fsys.PathDir(path))); err != nil {
		return nil, errors.Join(fmt.Errorf("create %s: %w", path, err), file.Close())
	}
	return f, nil
}

// open keeps what a file holds, unless it has another size than such a file has.
func open(fsys vfs.FS, path string) (vfs.File, error) {
	if info, err := fsys.Stat(path); err == nil && info.Size() == int64(size) {
		return fsys.OpenReadWrite(path, category)
	}
	return fsys.Create(path, category)
}

// Write records that the database has reached g, which must be durable.
func (f *File) Write(g Generation) error {
	if f == nil || f.file == nil {
		return nil
	}
	_, err := f.file.WriteAt(g.encode(), 0)
	return err
}

// Close makes the file durable, so that it is exact until the database is next opened.
func (f *File) Close() error {
	if f == nil || f.file == nil {
		return nil
	}
	return errors.Join(f.file.Sync(), f.file.Close())
}

// Compare returns what is wrong with a database that gives have for itself, beside a file at a path; empty if
// nothing is, or if no file can tell.
func Compare(fsys vfs.FS, path string, have Generation) (wrong string, err error) {
	said, err := Read(fsys, path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, ErrDamaged):
		return "", nil
	case err != nil:
		return "", err
	case have.ID == ID{}:
		return "it is empty, and had what was stored", nil
	case said.ID != have.ID:
		return "it is that of another store", nil
	case said.Commits > have.Commits:
		return fmt.Sprintf("it is older than what was stored last: %d commits are missing", said.Commits-have.Commits), nil
	}
	return "", nil
}
