package httpsign

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/json"
)

// Thumbprint returns the thumbprint of a key (RFC 7638, RFC 8037 appendix A.3), which is its id: SHA-256 in
// base64url.
func Thumbprint(key ed25519.PublicKey) string {
	return thumbprint(map[string]string{"crv": "Ed25519", "kty": "OKP", "x": encoding.EncodeToString(key)})
}

// thumbprint is of the members of a JWK that are required for its type.
func thumbprint(members map[string]string) string {
	text, err := json.Marshal(members) // in the order of the names and without white space, as RFC 7638 wants it
	if err != nil {
		panic(err) // no map of strings cannot be written
	}
	hash := sha256.Sum256(text)
	return encoding.EncodeToString(hash[:])
}

// Directory returns the key directory of some keys, to be published at [DirectoryPath]: a JSON Web Key Set, without
// private parts.
func Directory(keys ...ed25519.PublicKey) []byte {
	set := struct {
		Keys []jwk `json:"keys"`
	}{Keys: []jwk{}}
	for _, k := range keys {
		set.Keys = append(set.Keys, jwk{Type: "OKP", Curve: "Ed25519", ID: Thumbprint(k), X: encoding.EncodeToString(k), Use: "sig"})
	}
	text, err := json.MarshalIndent(set, "", "  ")
	if err != nil {
		panic(err) // as above
	}
	return append(text, '\n')
}
