package storage

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/fsck"
)

// manifestFile lists what a backup consists of. It is written last: without one, a backup is not whole.
const manifestFile = "manifest.json"

// Manifest lists what a backup consists of.
type Manifest struct {
	Format  int            `json:"format"`
	Created time.Time      `json:"created"`
	Secrets int            `json:"secrets,omitempty"` // how many there are
	Files   []ManifestFile `json:"files"`             // all but the manifest itself

	ControlElsewhere bool `json:"control_elsewhere,omitempty"` // the control store is not the directory's: see [Options]
}

// ManifestFile is a file of a backup.
type ManifestFile struct {
	Path   string `json:"path"` // within the backup, with / between its parts
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// Bytes is the size of all files.
func (m *Manifest) Bytes() (n int64) {
	for _, f := range m.Files {
		n += f.Size
	}
	return n
}

// LacksKey reports whether there are secrets in the backup, and not the key to read them with.
func (m *Manifest) LacksKey() bool {
	return m.Secrets > 0 && !slices.ContainsFunc(m.Files, func(f ManifestFile) bool { return f.Path == control.KeyFile })
}

// leftOut reports whether what a check finds is the lack of what the backup was made without.
func (m *Manifest) leftOut(f fsck.Finding) bool {
	return f.Kind == control.UnreadableSecret && m.LacksKey() || f.Store == "control" && f.Kind == missingStore && m.ControlElsewhere
}

// manifestOf lists what is in a directory, and makes sure that it is on the disk.
func manifestOf(dir string) (*Manifest, error) {
	m := &Manifest{Format: Format, Created: time.Now().UTC().Truncate(time.Second)}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return flush(path)
		}
		rest, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		defer file.Close()
		size, sum, err := digest(io.Discard, file)
		m.Files = append(m.Files, ManifestFile{filepath.ToSlash(rest), size, sum})
		return errors.Join(err, file.Sync())
	})
	return m, err
}

// digest copies, and returns size and SHA-256 of what it copied.
func digest(to io.Writer, from io.Reader) (size int64, sum string, err error) {
	hash := sha256.New()
	size, err = io.Copy(io.MultiWriter(hash, to), from)
	return size, hex.EncodeToString(hash.Sum(nil)), err
}

func (m *Manifest) write(dir string) error {
	content, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return replaceFile(dir, manifestFile, append(content, '\n'))
}

// ReadManifest returns the manifest of a backup. It refuses what is no backup, or not a whole one.
func ReadManifest(dir string) (*Manifest, error) {
	content, err := os.ReadFile(filepath.Join(dir, manifestFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s has no %s: it is no backup, or one that was not completed", dir, manifestFile)
	}
	if err != nil {
		return nil, fmt.Errorf("read backup: %w", err)
	}
	var m Manifest
	if err := json.Unmarshal(content, &m); err != nil {
		return nil, fmt.Errorf("read %s of backup %s: %w", manifestFile, dir, err)
	}
	if m.Format > Format {
		return nil, &FormatError{Dir: dir, Found: m.Format}
	}
	for _, f := range m.Files {
		if !filepath.IsLocal(filepath.FromSlash(f.Path)) {
			return nil, fmt.Errorf("%s of backup %s names a file outside of it: %q", manifestFile, dir, f.Path)
		}
	}
	return &m, nil
}

// copyTo copies a file of a backup to a writer, and fails if it is not what the manifest describes.
func (f *ManifestFile) copyTo(dir string, to io.Writer) error {
	file, err := os.Open(filepath.Join(dir, filepath.FromSlash(f.Path)))
	if err != nil {
		return err
	}
	defer file.Close()
	size, sum, err := digest(to, file)
	if err != nil {
		return err
	}
	if size != f.Size || sum != f.SHA256 {
		return fmt.Errorf("%s is not as it was written: %d bytes with SHA-256 %s, and it had %d with %s", f.Path, size, sum, f.Size, f.SHA256)
	}
	return nil
}
