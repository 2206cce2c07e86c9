package control

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/webrace/webrace/storage/internal/durable"
)

// KeyFile is the name of the file with the keys of secrets, beside the store: 0600, a line for each key
// with its id. The first is used; there are more only when a rotation was interrupted.
const KeyFile = "secrets.key"

const keyMagic = "webrace-key-1"

// secretKey is a key of AES-256.
type secretKey struct {
	id  string
	key [32]byte
}

func newKey() (k secretKey, err error) {
	id := make([]byte, 8)
	if _, err = rand.Read(id); err == nil {
		_, err = rand.Read(k.key[:])
	}
	k.id = hex.EncodeToString(id)
	return k, err
}

func (k secretKey) gcm() (cipher.AEAD, error) {
	block, err := aes.NewCipher(k.key[:])
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// seal encrypts a value under a nonce of its own. What it is bound to has to be given again to open it.
func (k secretKey) seal(value []byte, boundTo string) ([]byte, error) {
	aead, err := k.gcm()
	if err != nil {
		return nil, err
	}
	nonce := make([]byte, aead.NonceSize())
	if _, err := rand.Read(nonce); err != nil {
		return nil, err
	}
	return aead.Seal(nonce, nonce, value, []byte(boundTo)), nil
}

func (k secretKey) open(sealed []byte, boundTo string) ([]byte, error) {
	aead, err := k.gcm()
	if err != nil {
		return nil, err
	}
	if len(sealed) < aead.NonceSize() {
		return nil, errors.New("the encrypted value is too short")
	}
	value, err := aead.Open(nil, sealed[:aead.NonceSize()], sealed[aead.NonceSize():], []byte(boundTo))
	if err != nil {
		return nil, errors.New("the encrypted value was damaged or moved")
	}
	return value, nil
}

// readKeys returns the keys of a file, the one in use first; [fs.ErrNotExist] when there is none yet.
func readKeys(path string) ([]secretKey, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read keys of secrets: %w", err)
	}
	if open := info.Mode().Perm() & 0o077; open != 0 && runtime.GOOS != "windows" {
		return nil, fmt.Errorf("%s may be read by others (mode %04o): chmod 600 it, and consider the secrets known", path, info.Mode().Perm())
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read keys of secrets: %w", err)
	}
	var keys []secretKey
	for line := range bytes.Lines(content) {
		fields := strings.Fields(string(line))
		var k secretKey
		if len(fields) == 3 && fields[0] == keyMagic {
			k.id = fields[1]
			key, err := base64.StdEncoding.DecodeString(fields[2])
			if err == nil && copy(k.key[:], key) == len(k.key) && len(key) == len(k.key) {
				keys = append(keys, k)
				continue
			}
		}
		return nil, fmt.Errorf("%s is damaged, or not a file of keys: restore it from where you keep it", path)
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("%s is empty: restore it from where you keep it", path)
	}
	return keys, nil
}

// writeKeys makes the file hold the keys, whole or not at all.
func writeKeys(path string, keys ...secretKey) error {
	var content bytes.Buffer
	for _, k := range keys {
		fmt.Fprintf(&content, "%s %s %s\n", keyMagic, k.id, base64.StdEncoding.EncodeToString(k.key[:]))
	}
	draft := path + ".new"
	err := os.Remove(draft) // with the mode that it may have
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		err = writeDurably(draft, content.Bytes())
	}
	if err == nil {
		err = os.Rename(draft, path)
	}
	if err == nil {
		err = durable.SyncDir(vfs.Default, filepath.Dir(path))
	}
	if err != nil {
		return fmt.Errorf("write keys of secrets: %w", err)
	}
	return nil
}

func writeDurably(path string, content []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Sync(), f.Close())
}
