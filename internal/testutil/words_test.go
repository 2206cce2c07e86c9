package testutil

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

var saysInComment = regexp.MustCompile(`(?m)^\s*//.*\bsays\b`)

// TestCommentsUseSaysSparingly keeps the word from doing the work of returns, records, encodes and reports once more:
// it stood in nearly a thousand lines, each of which left open which of them was meant.
func TestCommentsUseSaysSparingly(t *testing.T) {
	t.Parallel()
	const most = 100
	root, looked, lines := filepath.Join("..", ".."), 0, 0
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		source, err := os.ReadFile(filepath.Join(root, path))
		looked++
		lines += len(saysInComment.FindAll(source, -1))
		return err
	})
	if err != nil || looked < 1000 {
		t.Errorf("looked at %d files: %v", looked, err)
	}
	if lines > most {
		t.Errorf(`"says" stands in %d lines of comments, and may in %d: write what is returned, recorded, encoded or reported`, lines, most)
	}
}
