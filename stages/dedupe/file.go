package dedupe

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// keyFile is the hashes of keys in the order in which their items were dealt with, each with the second in
// which the item came. It is written as keys come, without waiting for the disk: what a power cut takes with
// it passes again.
type keyFile struct {
	file *os.File
	err  error // the first of a write, which Close tells
}

const recordSize = 16 + 8

// readKeys calls f for each key that is in the file, which may not be there yet. What a crash has cut off in
// the middle is left out.
func readKeys(path string, f func(hash, time.Time)) error {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	in := bufio.NewReader(file)
	for {
		var record [recordSize]byte
		switch _, err := io.ReadFull(in, record[:]); {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return nil
		case err != nil:
			return err
		}
		f(hash(record[:16]), time.Unix(int64(binary.LittleEndian.Uint64(record[16:])), 0))
	}
}

// rewriteKeys puts a file of these keys in the place of the one there is, to be gone on with.
func rewriteKeys(path string, keys []*entry) (*keyFile, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	part := path + ".part"
	file, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	out := bufio.NewWriter(file)
	for _, e := range keys {
		if _, err = out.Write(record(e)); err != nil {
			break
		}
	}
	err = errors.Join(err, out.Flush(), file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(part, path)
	}
	if err != nil {
		return nil, errors.Join(err, os.Remove(part))
	}
	if file, err = os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0); err != nil {
		return nil, err
	}
	return &keyFile{file: file}, nil
}

func record(e *entry) []byte {
	return binary.LittleEndian.AppendUint64(append(make([]byte, 0, recordSize), e.hash[:]...), uint64(e.at.Unix()))
}

func (k *keyFile) add(e *entry) {
	if k.err == nil {
		_, k.err = k.file.Write(record(e))
	}
}

func (k *keyFile) close() error { return errors.Join(k.err, k.file.Close()) }
