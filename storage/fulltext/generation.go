package fulltext

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	index "github.com/blevesearch/bleve_index_api"

	"github.com/webrace/webrace/storage/internal/private"
)

// The library goes back to an older state of the index, with no word to its caller, when files of the
// latest one are missing or damaged. So changes are counted: within the index, with each batch, and
// beside it, after the batch. An index that counts less than the file beside it has lost documents.

var generationKey = []byte("webrace-generation")

const generationFile = "generation"

// indexGeneration returns how many changes the index knows of.
func indexGeneration(ix *bleveIndex) (uint64, error) {
	value, err := ix.GetInternal(generationKey)
	if err != nil || value == nil {
		return 0, err
	}
	return strconv.ParseUint(string(value), 10, 64)
}

// checkGeneration returns the generation of the index in dir, or ErrCorrupt if it had more.
func checkGeneration(dir string, ix *bleveIndex) (uint64, error) {
	have, err := indexGeneration(ix)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	text, err := os.ReadFile(filepath.Join(dir, generationFile))
	if errors.Is(err, fs.ErrNotExist) {
		return have, nil
	}
	if err != nil {
		return 0, err
	}
	had, err := strconv.ParseUint(string(text), 10, 64)
	if err != nil || have < had {
		return 0, fmt.Errorf("%w: changes %d to %s are lost", ErrCorrupt, have+1, text)
	}
	return have, nil
}

// apply makes a batch durable as the next generation.
func (s *Store) apply(batch *index.Batch) error {
	next := strconv.AppendUint(nil, s.generation+1, 10)
	batch.SetInternal(generationKey, next)
	if err := s.use(func(ix *bleveIndex) error { return ix.Batch(batch) }); err != nil {
		return err
	}
	s.generation++
	if s.path == "" {
		return nil
	}
	return replaceFile(filepath.Join(s.path, generationFile), next)
}

// replaceFile writes a file so that a crash leaves either the old or the new one.
func replaceFile(path string, content []byte) error {
	file, err := os.OpenFile(path+".tmp", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, private.File)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(path+".tmp", path)
}
