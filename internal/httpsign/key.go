package httpsign

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
)

// Key is an Ed25519 key with its private part. That is held where reflection, and so fmt, cannot look.
type Key struct {
	public ed25519.PublicKey
	id     string
	sign   func(message []byte) []byte
	seed   func() []byte
}

// NewKey makes a key.
func NewKey() Key {
	seed := make([]byte, ed25519.SeedSize)
	_, _ = rand.Read(seed) // which never fails
	return keyOf(seed)
}

func keyOf(seed []byte) Key {
	private := ed25519.NewKeyFromSeed(seed)
	public := private.Public().(ed25519.PublicKey)
	return Key{
		public: public, id: Thumbprint(public),
		sign: func(message []byte) []byte { return ed25519.Sign(private, message) },
		seed: func() []byte { return seed },
	}
}

// ID is the thumbprint of the key, by which signatures name it.
func (k Key) ID() string { return k.id }

// Public returns the public part.
func (k Key) Public() ed25519.PublicKey { return k.public }

// Text returns the private part, as the member d of a JWK has it: 32 bytes in base64url. [ParseKey] reads it.
func (k Key) Text() string { return encoding.EncodeToString(k.seed()) }

// encoding is that of JWKs.
var encoding = base64.RawURLEncoding.Strict()

var errKey = errors.New("it is no private Ed25519 key: a file in PEM as openssl genpkey -algorithm ed25519 writes it, " +
	`a JWK with "crv": "Ed25519" and "d", or that d alone (32 bytes in base64url)`)

// ParseKey reads a private key: PEM of PKCS #8, a JWK (RFC 8037), or the member d of one. No error holds anything
// of it.
func ParseKey(text string) (Key, error) {
	text = strings.TrimSpace(text)
	switch {
	case strings.HasPrefix(text, "-----BEGIN"):
		return parsePEM(text)
	case strings.HasPrefix(text, "{"):
		return parseJWK(text)
	}
	seed, err := encoding.DecodeString(text)
	if err != nil || len(seed) != ed25519.SeedSize {
		return Key{}, errKey
	}
	return keyOf(seed), nil
}

func parsePEM(text string) (Key, error) {
	block, rest := pem.Decode([]byte(text))
	if block == nil || len(rest) > 0 {
		return Key{}, errKey
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	private, ok := parsed.(ed25519.PrivateKey)
	if err != nil || !ok {
		return Key{}, errKey
	}
	return keyOf(private.Seed()), nil
}

// jwk are the members of a JSON Web Key that count here.
type jwk struct {
	Type  string `json:"kty"`
	Curve string `json:"crv"`
	ID    string `json:"kid,omitempty"`
	X     string `json:"x"`
	Use   string `json:"use,omitempty"`
	D     string `json:"d,omitempty"`
}

func parseJWK(text string) (Key, error) {
	var j jwk
	if json.Unmarshal([]byte(text), &j) != nil || j.Type != "OKP" || j.Curve != "Ed25519" {
		return Key{}, errKey
	}
	seed, err := encoding.DecodeString(j.D)
	if err != nil || len(seed) != ed25519.SeedSize {
		return Key{}, errKey
	}
	k := keyOf(seed)
	if j.X != "" && j.X != encoding.EncodeToString(k.public) {
		return Key{}, errors.New("the JWK holds parts of two keys: its x is not that of its d")
	}
	return k, nil
}

// ParsePublic reads a public key, as the member x of a JWK has it.
func ParsePublic(x string) (ed25519.PublicKey, error) {
	public, err := encoding.DecodeString(x)
	if err != nil || len(public) != ed25519.PublicKeySize {
		return nil, fmt.Errorf("%.100q is no public Ed25519 key: it is the x of a JWK, 32 bytes in base64url", x)
	}
	return public, nil
}
