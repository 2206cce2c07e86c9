package storage

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/webrace/webrace/storage/fsck"
)

// A store is made when it is first used. So a store that is gone would be made anew, empty and without a word, by
// the program that uses it next. The file named stores lists those that were made: what is listed must be there.

const madeFile = "stores"

// missingStore is the kind of the finding that tells of it.
const missingStore = "missing store"

// storeFiles are the names of the stores in a data directory, by the names under which findings tell of them.
var storeFiles = map[string]string{
	"frontier": "frontier", "objects": "objects", "control": "control.db", "fulltext": "fulltext",
	"queues": "queues", "states": "states", "quads": "quads",
}

// losses tell what is lost with a store.
var losses = map[string]string{
	"frontier": "crawls begin again at their starts",
	"objects":  "the documents are lost; only a backup has them",
	"control":  "URDs and annotations are lost; only a backup has them",
	"fulltext": "webrace-run search fills it again",
	"queues":   "what waited in queues between stages is lost; only a backup has it",
	"states":   "what stages remembered is lost; only a backup has it",
	"quads":    "what documents say as RDF is lost, and so is what was imported; webrace-run quads fills it again from the documents",
}

// madeStores returns which stores were made, as far as that was written down.
func madeStores(dir string) (map[string]bool, error) {
	content, err := os.ReadFile(filepath.Join(dir, madeFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	made := map[string]bool{}
	for _, name := range strings.Fields(string(content)) {
		if storeFiles[name] != "" {
			made[name] = true
		}
	}
	return made, nil
}

// noteStores writes down which stores there are, for a directory that did not know, or not of all.
func noteStores(dir string) error {
	made, err := madeStores(dir)
	if err != nil {
		return err
	}
	known := len(made)
	for name := range storeFiles {
		if !gone(dir, name) {
			made[name] = true
		}
	}
	if len(made) == known {
		return nil
	}
	return writeMade(dir, made)
}

func writeMade(dir string, made map[string]bool) error {
	var names []string
	for name, is := range made {
		if is {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return replaceFile(dir, madeFile, []byte(strings.Join(names, "\n")+"\n"))
}

// gone reports whether nothing is left of a store: it is not there, or is an empty file or directory.
func gone(dir, name string) bool {
	path := filepath.Join(dir, storeFiles[name])
	info, err := os.Stat(path)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	if !info.IsDir() {
		return info.Size() == 0
	}
	entries, err := os.ReadDir(path)
	return err == nil && len(entries) == 0
}

// lost is the error of a store that was made and is gone.
func (d *Dir) lost(name string) error {
	made, err := madeStores(d.path)
	if err != nil || !made[name] || !gone(d.path, name) {
		return err
	}
	mend := "webrace-store restore BACKUP --only " + name + " brings it back from a backup, webrace-store fsck --repair begins an empty one"
	if name == "fulltext" {
		mend = "webrace-store fsck --repair begins a new one"
	}
	return &fsck.Error{Finding: fsck.Finding{Store: name, Kind: missingStore, Where: d.Path(storeFiles[name]), Detail: losses[name]}, Mend: mend}
}

// forgetMade lets a store that is lost be made anew.
func (d *Dir) forgetMade(name string) error {
	made, err := madeStores(d.path)
	if err != nil {
		return err
	}
	delete(made, name)
	return writeMade(d.path, made)
}
