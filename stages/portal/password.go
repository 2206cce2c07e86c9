package portal

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"
)

// What a password is hashed with: argon2id as OWASP asks for it, 19 MiB and two passes.
const (
	hashMemory = 19 << 10 // KiB
	hashPasses = 2
	hashBytes  = 32
	saltBytes  = 16
)

// What a password may be.
const (
	shortestPassword = 10   // characters
	longestPassword  = 1024 // bytes
)

// hasher hashes passwords: few at once, because each takes memory, and no more wait than have a chance.
type hasher struct {
	slots   chan struct{}
	waiting atomic.Int32
}

const (
	hashedAtOnce = 2
	mostWaiting  = 64
)

func newHasher() *hasher { return &hasher{slots: make(chan struct{}, hashedAtOnce)} }

// hash makes the hash of a password, with which it is stored.
func (h *hasher) hash(ctx context.Context, password string) (string, error) {
	salt := make([]byte, saltBytes)
	rand.Read(salt) // never fails
	sum, err := h.sum(ctx, password, salt)
	if err != nil {
		return "", err
	}
	return encodeHash(salt, sum), nil
}

func encodeHash(salt, sum []byte) string {
	encode := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=1$%s$%s", argon2.Version, hashMemory, hashPasses, encode(salt), encode(sum))
}

// nobody is the hash that is compared with where there is none, so that it takes as long.
var nobody = encodeHash(make([]byte, saltBytes), make([]byte, hashBytes))

// matches reports whether a hash is that of a password. An empty one is nobody's, and takes as long.
func (h *hasher) matches(ctx context.Context, password, hash string) (bool, error) {
	known := hash != ""
	if !known {
		hash = nobody
	}
	salt, want, err := decodeHash(hash)
	if err != nil {
		return false, err
	}
	sum, err := h.sum(ctx, password, salt)
	return err == nil && known && subtle.ConstantTimeCompare(sum, want) == 1, err
}

// decodeHash reads a hash that encodeHash wrote, and no other.
func decodeHash(hash string) (salt, sum []byte, err error) {
	var version, memory, passes int
	var rest string
	if _, err := fmt.Sscanf(hash, "$argon2id$v=%d$m=%d,t=%d,p=1$%s", &version, &memory, &passes, &rest); err != nil {
		return nil, nil, fmt.Errorf("a stored password is no hash of argon2id: %w", err)
	}
	if version != argon2.Version || memory != hashMemory || passes != hashPasses {
		return nil, nil, fmt.Errorf("a stored password was hashed in another way, with %d KiB and %d passes", memory, passes)
	}
	length := base64.RawStdEncoding.EncodedLen(saltBytes)
	if len(rest) != length+1+base64.RawStdEncoding.EncodedLen(hashBytes) || rest[length] != '$' {
		return nil, nil, fmt.Errorf("a stored password is cut")
	}
	if salt, err = base64.RawStdEncoding.DecodeString(rest[:length]); err != nil {
		return nil, nil, err
	}
	sum, err = base64.RawStdEncoding.DecodeString(rest[length+1:])
	return salt, sum, err
}

// sum hashes when it is its turn. Who cannot be dealt with soon is told so.
func (h *hasher) sum(ctx context.Context, password string, salt []byte) ([]byte, error) {
	busy := &refusal{status: http.StatusServiceUnavailable, key: "error.busy", after: 10 * time.Second}
	if h.waiting.Add(1) > mostWaiting {
		h.waiting.Add(-1)
		return nil, busy
	}
	defer h.waiting.Add(-1)
	timer := time.NewTimer(8 * time.Second)
	defer timer.Stop()
	select {
	case h.slots <- struct{}{}:
	case <-timer.C:
		return nil, busy
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-h.slots }()
	return argon2.IDKey([]byte(password), salt, hashPasses, hashMemory, 1, hashBytes), nil
}

// checkPassword records at the fields password and again what is wrong with a new password.
func checkPassword(f *form, owner string) {
	password := f.Value("password")
	switch {
	case utf8.RuneCountInString(password) < shortestPassword:
		f.wrong("password", "password.short", shortestPassword)
	case len(password) > longestPassword:
		f.wrong("password", "password.long", longestPassword)
	case password == owner:
		f.wrong("password", "password.name")
	case password != f.Value("again"):
		f.wrong("again", "password.again")
	}
}
