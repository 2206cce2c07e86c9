// Package damage is what can happen to a file of a store behind its back, for tests.
package damage

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
)

// Files are the ways by name: path is the file, older what it was at an earlier time. Each reports whether it changed
// anything.
var Files = map[string]func(path, older string) (bool, error){
	"lost":    func(path, _ string) (bool, error) { return true, os.Remove(path) },
	"emptied": func(path, _ string) (bool, error) { return true, os.Truncate(path, 0) },
	"cut": func(path, _ string) (bool, error) {
		info, err := os.Stat(path)
		if err != nil || info.Size() < 2 {
			return false, err
		}
		return true, os.Truncate(path, info.Size()*2/3)
	},
	"flipped": func(path, _ string) (bool, error) {
		content, err := os.ReadFile(path)
		if err != nil || len(content) == 0 {
			return false, err
		}
		content[len(content)/2] ^= 0x40
		return true, os.WriteFile(path, content, 0o600)
	},
	"older": func(path, older string) (bool, error) {
		content, err := os.ReadFile(older)
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		now, err2 := os.ReadFile(path)
		if err != nil || err2 != nil || bytes.Equal(now, content) {
			return false, errors.Join(err, err2)
		}
		return true, os.WriteFile(path, content, 0o600)
	},
}
