package httpsign

import (
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/webrace/webrace/internal/structured"
)

// Limits of what a verifier accepts: for how long a signature may hold, how far the clock of a client may be
// ahead, and of how many signatures it is remembered that they were used.
const (
	maxLifetime   = time.Hour
	maxAhead      = 30 * time.Second
	maxRemembered = 100_000
)

// digest is what a key with a nonce is remembered by, however long it is.
type digest [sha256.Size]byte

// Verifier accepts requests that are signed with one of some keys, each signature once. It is safe for concurrent
// use.
type Verifier struct {
	keys map[string]ed25519.PublicKey // by their thumbprints
	now  func() time.Time

	mu   sync.Mutex
	used map[digest]time.Time // keys with nonces, and until when their signatures hold
	most int                  // how many
}

// NewVerifier returns a verifier that accepts these keys.
func NewVerifier(keys ...ed25519.PublicKey) *Verifier {
	v := &Verifier{keys: make(map[string]ed25519.PublicKey), now: time.Now, used: make(map[digest]time.Time), most: maxRemembered}
	for _, k := range keys {
		v.keys[Thumbprint(k)] = k
	}
	return v
}

// Verify returns the id of the key that a request is signed with. Else the error wraps one of those of this package.
func (v *Verifier) Verify(r *http.Request) (keyID string, err error) {
	s, err := parse(r.Header)
	if err != nil {
		return "", err
	}
	if err := s.coversEnough(r.Header); err != nil {
		return "", err
	}
	keyID, err = s.text("keyid")
	if err != nil {
		return "", err
	}
	nonce, err := s.text("nonce") // without one, a signature of the same second could not be told from a replay
	if err != nil {
		return "", err
	}
	now := v.now()
	expires, err := s.fresh(now)
	if err != nil {
		return "", err
	}
	if err := s.verify(r, v.keys[keyID]); err != nil {
		return "", err
	}
	return keyID, v.use(sha256.Sum256([]byte(keyID+" "+nonce)), now, expires)
}

// coversEnough checks that a signature is for this host, and for the directory if the request names one: as a whole,
// or by a member of the field. A client whose key is known need not tell where it is published.
func (s *signature) coversEnough(header http.Header) error {
	host, directory := false, false
	for _, c := range s.input.List {
		_, isMember := c.Params.Get("key")
		host = host || c.Value == "@authority" && len(c.Params) == 0
		directory = directory || c.Value == "signature-agent" && (isMember || len(c.Params) == 0)
	}
	switch {
	case !host:
		return fmt.Errorf("%w: @authority", ErrUncovered)
	case !directory && len(header[agentField]) > 0:
		return fmt.Errorf("%w: signature-agent", ErrUncovered)
	}
	return nil
}

// fresh checks that a signature holds now, and returns until when.
func (s *signature) fresh(now time.Time) (expires time.Time, err error) {
	created, err := s.seconds("created")
	if err != nil {
		return expires, err
	}
	until, err := s.seconds("expires")
	if err != nil {
		return expires, err
	}
	expires = time.Unix(until, 0)
	switch {
	case time.Unix(created, 0).After(now.Add(maxAhead)):
		return expires, ErrFuture
	case !expires.After(now) || until <= created:
		return expires, ErrExpired
	case until-created > int64(maxLifetime/time.Second):
		return expires, ErrLifetime
	}
	return expires, nil
}

// verify checks the signature itself.
func (s *signature) verify(r *http.Request, key ed25519.PublicKey) error {
	if alg, given := s.input.Params.Get("alg"); given && (alg.Kind != structured.String || alg.Value != algorithm) {
		return ErrAlgorithm
	}
	if key == nil {
		return ErrKey
	}
	base, err := s.base(r)
	if err != nil {
		return err
	}
	if !ed25519.Verify(key, []byte(base), s.value) {
		return ErrSignature
	}
	return nil
}

// use remembers a signature that was right. Those that have expired are forgotten when there is no room, and where
// that does not help no request is taken until some have.
func (v *Verifier) use(name digest, now, expires time.Time) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if until := v.used[name]; until.After(now) {
		return ErrReplayed
	}
	if len(v.used) >= v.most {
		for other, until := range v.used {
			if !until.After(now) {
				delete(v.used, other)
			}
		}
		if len(v.used) >= v.most {
			return ErrBusy
		}
	}
	v.used[name] = expires
	return nil
}
