package readfile

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"sync"

	"github.com/webrace/webrace/pipeline"
)

// positions remembers how far files have been read, in a file of its own.
type positions struct {
	path string // empty: nothing is remembered
	dry  bool   // nor what is read now

	mu    sync.Mutex
	files map[string]position
}

// position is how far one file has been dealt with.
type position struct {
	Beginning string `json:"beginning"` // a hash of its first line
	Records   uint64 `json:"records"`
}

// place is where the reading of a file goes on.
type place struct {
	after    uint64 // entries that have been dealt with
	progress *pipeline.Progress
}

// saveEvery is how many entries are dealt with before a position is saved, which is also done whenever nothing
// is open.
const saveEvery = 256

func openPositions(path string, dry bool) (*positions, error) {
	p := &positions{path: path, dry: dry, files: make(map[string]position)}
	if path == "" {
		return p, nil
	}
	if !dry {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, err
		}
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return p, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &p.files)
	}
	return p, err
}

// of returns where a file was left, if it is still the same.
func (p *positions) of(path string, beginning []byte) *place {
	sum := sha256.Sum256(beginning)
	hash := hex.EncodeToString(sum[:8])
	p.mu.Lock()
	defer p.mu.Unlock()
	var after uint64
	if at, ok := p.files[path]; ok && at.Beginning == hash {
		after = at.Records
	}
	return &place{after, pipeline.NewProgress(after, saveEvery, func(_ context.Context, records uint64) error {
		return p.save(path, position{hash, records})
	})}
}

func (p *positions) save(path string, at position) error {
	if p.path == "" || p.dry {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.files[path] = at
	text, err := json.MarshalIndent(maps.Clone(p.files), "", "\t")
	if err != nil {
		return err
	}
	part := p.path + ".part"
	if err := os.WriteFile(part, append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("save positions: %w", err)
	}
	return os.Rename(part, p.path)
}
